/**
 * What a conformance case may do, whatever cluster it runs on: requests and streams through the product's own transport
 * interface, and waiting for something to become true.
 */
import type { ApiRequest, ApiResponse, WatchEvent } from '@omenative/kube';

export type Json = Readonly<Record<string, unknown>>;

export interface Answer {
  readonly status: number;
  readonly body: Json;
}

export type Parts = Pick<ApiRequest, 'body' | 'query' | 'contentType' | 'accept'>;

/** An open stream of events. */
export interface Watching {
  /** Everything received so far. */
  readonly events: readonly WatchEvent[];
  /** How the stream ended; undefined while it is open. */
  readonly ended: string | undefined;
  close(): void;
}

/**
 * What a container of a case does; each bed has its own way to make it do that. Programs of a pair have one command and
 * two images, so that one can follow the other in place:
 * - `steady` and `steady v2`; `steady alias` is another name of the image of `steady`, `missing` an image that is nowhere,
 *   and `missing slowly` one whose registry is looked for during some seconds;
 * - `fading`, which passes its readiness probe and fails some seconds later;
 * - `serving`, which has a web server on port 8080;
 * - `changing`, which is steady and ready, and its later images, which crash or never pass their readiness probe.
 */
export type Program =
  | 'steady'
  | 'steady v2'
  | 'steady alias'
  | 'stubborn'
  | 'failing'
  | 'finishing'
  | 'fading'
  | 'missing'
  | 'missing slowly'
  | 'serving'
  | 'changing'
  | 'changing crashes'
  | 'changing unready';

/** The image of pods that `refuse` is about; it exists nowhere. */
export const FORBIDDEN_IMAGE = 'forbidden:v1';

/** Who refuses pods: a policy, with this reason, or a webhook that can't be reached. */
export type Refusing = 'Invalid' | 'Forbidden' | 'unreachable';

/** One cluster, with a namespace for this case alone. */
export interface Bed {
  readonly cluster: 'sim' | 'real';
  readonly namespace: string;
  request(method: ApiRequest['method'], path: string, parts?: Parts): Promise<Answer>;
  watch(path: string, query?: Readonly<Record<string, string>>): Watching;
  /** Asks again and again until there is an answer; fails with `what` when there is none in time (default 20 s). */
  eventually<T>(what: string, probe: () => Promise<T | undefined> | T | undefined, withinMs?: number): Promise<T>;
  /** Time of this cluster, in milliseconds since the epoch. */
  nowMs(): number;
  /** Lets time pass. */
  pause(ms: number): Promise<void>;
  /** From now on pods of the forbidden image are refused, and for no other reason than this. Returns who refuses. */
  refuse(refusing: Refusing): Promise<string>;
  /** The image, and the command where there is one, of a container that behaves so. */
  program(program: Program): { readonly image: string; readonly command?: readonly string[] };
}

/** The readiness probe that the programs `steady`, `changing` and `fading` pass. */
export const READY_FILE: Json = {
  exec: { command: ['test', '-f', '/tmp/ready'] },
  periodSeconds: 1,
  failureThreshold: 1,
};

export interface Case {
  /** Unique; what the table of features of the simulator refers to. */
  readonly id: string;
  readonly title: string;
  /** An API server alone, one with the controllers of Kubernetes, or real nodes. */
  readonly needs: 'api' | 'controllers' | 'nodes';
  /** Takes a minute on a real cluster and shares nothing with other cases, though it needs controllers. */
  readonly isPatient?: boolean;
  run(bed: Bed): Promise<void>;
}

/** The body of an answer as JSON, empty when there was none. */
export function toAnswer(response: ApiResponse): Answer {
  const { status, body } = response;
  return { status, body: typeof body === 'object' && body !== null ? (body as Json) : {} };
}

const GROUPS: Readonly<Record<string, string>> = {
  controllerrevisions: 'apis/apps/v1',
  endpointslices: 'apis/discovery.k8s.io/v1',
  leases: 'apis/coordination.k8s.io/v1',
  poddisruptionbudgets: 'apis/policy/v1',
  widgets: 'apis/conformance.ome.test/v1',
};

/** The path of a resource in the namespace of the bed, of an object of it, or of a subresource of that. */
export function at(bed: Bed, plural: string, name?: string, subresource?: string): string {
  const root = `/${GROUPS[plural] ?? 'api/v1'}/namespaces/${bed.namespace}/${plural}`;
  return [root, name, subresource].filter((part) => part !== undefined).join('/');
}

export const MERGE = 'application/merge-patch+json';
export const STRATEGIC = 'application/strategic-merge-patch+json';
export const JSON_PATCH = 'application/json-patch+json';
export const APPLY = 'application/apply-patch+yaml';

/** A pod that no scheduler will look at. */
export function idlePod(name: string, more: { readonly metadata?: Json; readonly spec?: Json } = {}): Json {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...more.metadata },
    spec: { schedulerName: 'nobody', containers: [{ name: 'main', image: 'busybox:v1' }], ...more.spec },
  };
}

export function configMap(name: string, data: Json = {}, metadata: Json = {}): Json {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata }, data };
}

/** The metadata of an object or of the body of an answer. */
export function metaOf(object: Json): {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation?: number;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly creationTimestamp: string;
  readonly finalizers?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly managedFields?: readonly Json[];
} {
  return object['metadata'] as never;
}

/** Creates an object and returns it as stored. */
export async function make(bed: Bed, plural: string, body: Json): Promise<Json> {
  const answer = await bed.request('POST', at(bed, plural), { body });
  if (answer.status !== 201) throw new Error(`${plural} was refused: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** An object as it is now. */
export async function read(bed: Bed, plural: string, name: string): Promise<Json> {
  const answer = await bed.request('GET', at(bed, plural, name));
  if (answer.status !== 200) throw new Error(`${plural}/${name}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** The types and names of events: `ADDED a`. */
export function outline(events: readonly WatchEvent[]): readonly string[] {
  return events.map(({ type, object }) => `${type} ${metaOf(object as Json).name ?? ''}`.trim());
}

/** Waits for `count` events. */
export function received(bed: Bed, watching: Watching, count: number): Promise<readonly WatchEvent[]> {
  return bed.eventually(`${count} events, have ${outline(watching.events).join(', ')}`, () =>
    watching.events.length >= count ? watching.events : undefined,
  );
}
