/** Caches, client and clock over a scripted API server, for tests of what the controller sends. */
import { type ApiRequest, type ApiResponse, Client, type EventRecord, testing } from '@omenative/kube';
import { type Caches, createCaches, startCaches, stopCaches, whenCachesSynced } from '../../caches.js';
import { OperatorConfig } from '../../config/operator-config.js';
import type { JsonRecord } from '../../shared/json.js';

/** Objects that are there from the beginning, by the plural of their type. */
export type Objects = Readonly<Record<string, readonly JsonRecord[]>>;

/** The state that all streams are at once they are synced. */
export const head = '200';

export class Harness {
  readonly runtime: testing.VirtualRuntime = new testing.VirtualRuntime();
  readonly transport: testing.ScriptedTransport = new testing.ScriptedTransport();
  readonly client: Client;
  readonly caches: Caches;
  readonly config: OperatorConfig;
  readonly recorded: EventRecord[] = [];
  readonly logged: string[] = [];
  readonly #streams: Map<string, testing.ScriptedStream> = new Map();
  readonly #objects: Objects;

  constructor(objects: Objects = {}) {
    this.#objects = objects;
    this.client = new Client({
      transport: this.transport,
      runtime: this.runtime,
      retry: { maxAttempts: 1, maxWaitMs: 0 },
    });
    this.transport.onWatch((stream) => this.#serve(stream));
    this.caches = createCaches({
      transport: this.transport,
      runtime: this.runtime,
      configNamespace: 'ome',
      report: ({ message }) => this.logged.push(message),
    });
    this.config = new OperatorConfig({ omenativeStatus: '{"instanceStatusEncoding":"DenseV1"}' });
  }

  /** Fills the caches. */
  async sync(): Promise<this> {
    startCaches(this.caches);
    await whenCachesSynced(this.caches);
    return this;
  }

  stop(): void {
    stopCaches(this.caches);
  }

  /** What the test's server answers to everything that is not queued. */
  answer(answerer: (request: ApiRequest) => ApiResponse | Error): this {
    this.transport.answerAll(answerer);
    return this;
  }

  /** An event on the stream of a type. */
  send(plural: string, type: 'ADDED' | 'MODIFIED' | 'DELETED', object: JsonRecord): this {
    this.stream(plural).send(type, object);
    return this;
  }

  stream(plural: string): testing.ScriptedStream {
    const stream = this.#streams.get(plural);
    if (stream === undefined) throw new Error(`nobody watches ${plural}`);
    return stream;
  }

  /** Everything sent, as `VERB path`. */
  get sent(): readonly string[] {
    return this.transport.requests.map((request) => `${request.method} ${request.path}`);
  }

  /** Bodies of the requests of one method. */
  bodies(method: ApiRequest['method']): readonly JsonRecord[] {
    return this.transport.requests
      .filter((request) => request.method === method)
      .map((request) => request.body as JsonRecord);
  }

  #serve(stream: testing.ScriptedStream): void {
    const plural = stream.request.path.split('/').at(-1) ?? '';
    this.#streams.set(plural, stream);
    stream.open();
    for (const object of this.#objects[plural] ?? []) stream.send('ADDED', object);
    stream.endOfInitialEvents(head);
  }
}

/** Lets everything that is not waiting for time run. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
}

/** The object with another version. */
export function at(object: JsonRecord, resourceVersion: string, more: JsonRecord = {}): JsonRecord {
  const metadata = object['metadata'] as JsonRecord;
  return { ...object, ...more, metadata: { ...metadata, ...(more['metadata'] as JsonRecord), resourceVersion } };
}
