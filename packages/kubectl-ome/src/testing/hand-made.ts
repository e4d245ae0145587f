/**
 * A cluster made by hand: a map of objects behind the paths of the API, and a transport that answers from it. Writes are
 * answered as dry runs, and refused when they are anything else.
 */
import { type ApiRequest, type ApiResponse, Client, labelQuery, type Transport, testing } from '@omenative/kube';
import type { Reach } from '../cluster/look.js';
import { merged } from '../plan/merge-patch.js';

type Raw = Readonly<Record<string, unknown>>;
interface Meta {
  readonly name: string;
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
}

export class HandMade {
  /** Time of all reports, milliseconds since the epoch: 2026-06-01T00:00:00Z. */
  static readonly nowMs: number = 1_780_272_000_000;
  /** `METHOD path`, in order. */
  readonly asked: string[] = [];
  /** Collections that may not be read, by their plural. */
  readonly forbidden: Set<string> = new Set();
  /** Answers every write so, in place of a dry run. */
  refusal: ApiResponse | undefined;
  readonly #objects: Map<string, Raw> = new Map();

  /** Puts objects into a collection, such as `/api/v1/namespaces/prod/pods`. */
  put(collection: string, ...objects: readonly Raw[]): this {
    for (const object of objects) this.#objects.set(`${collection}/${metaOf(object).name}`, object);
    return this;
  }

  reach(): Reach {
    const runtime = new testing.VirtualRuntime();
    const transport: Transport = {
      request: async (request) => this.#answer(request),
      watch: () => {
        throw new Error('nothing is watched');
      },
    };
    const frozen = { ...runtimeOf(runtime), nowMs: () => HandMade.nowMs };
    return {
      transport,
      runtime: frozen,
      client: new Client({ transport, runtime: frozen }),
      namespace: 'prod',
      omeNamespace: 'ome',
    };
  }

  #answer(request: ApiRequest): ApiResponse {
    const { method, path, query = {} } = request;
    this.asked.push(`${method} ${path}`);
    const plural = path.split('/').find((part) => this.forbidden.has(part));
    if (plural !== undefined) {
      return testing.failure(403, 'Forbidden', `${plural} is forbidden: User "ann" cannot list resource "${plural}"`);
    }
    if (method !== 'GET') return this.#dryRun(request);
    const object = this.#objects.get(path);
    if (object !== undefined) return testing.ok(object);
    const isNamed = /\/(pods|nodes|services|inference\w+|\w*servingruntimes|\w*basemodels|configmaps)\/[^/]+$/.test(
      path,
    );
    if (isNamed) return testing.failure(404, 'NotFound', `${path} not found`);
    return testing.listOf(this.#list(path, query['labelSelector'] ?? ''), '100');
  }

  #list(collection: string, selector: string): readonly Raw[] {
    const wanted = selector.split(',').filter((term) => term !== '');
    return [...this.#objects]
      .filter(([path]) => path.slice(0, path.lastIndexOf('/')) === collection)
      .map(([, object]) => object)
      .filter((object) => {
        const has = Object.entries(metaOf(object).labels ?? {}).map(([key, value]) => labelQuery({ [key]: value }));
        return wanted.every((term) => has.includes(term));
      });
  }

  #dryRun({ method, path, query = {}, body }: ApiRequest): ApiResponse {
    if (query['dryRun'] !== 'All') throw new Error(`${method} ${path} is not a dry run`);
    if (this.refusal !== undefined) return this.refusal;
    if (method === 'POST') return testing.ok(merged(body, { metadata: { uid: 'new', generation: 1 } }), 201);
    return testing.ok(merged(this.#objects.get(path), body));
  }
}

function metaOf(object: Raw): Meta {
  return object['metadata'] as Meta;
}

function runtimeOf(runtime: InstanceType<typeof testing.VirtualRuntime>): Reach['runtime'] {
  return {
    nowMs: () => runtime.nowMs(),
    monotonicMs: () => runtime.monotonicMs(),
    setTimer: (delayMs, fire) => runtime.setTimer(delayMs, fire),
    random: () => runtime.random(),
  };
}
