/** The simulated cluster: one world, its parts, and the clients inside the process. */

import type { SimRequest, SimResponse } from './api/call.js';
import { handle, openWatch } from './api/handle.js';
import type { SimWatch } from './api/watch.js';
import type { Entry } from './base/agenda.js';
import { freeze, type JsonObject } from './base/json.js';
import type { KubeObject } from './base/object.js';
import { DEFAULT_OPTIONS, type WorldOptions } from './base/options.js';
import type { Change } from './base/store.js';
import type { TraceLine } from './base/trace.js';
import { World } from './base/world.js';
import { installDefinition } from './crd/install.js';
import { Client } from './face/client.js';
import { type Faults, type Hooks, NO_FAULTS, type WriteAttempt } from './face/faults.js';
import { APPLY, type ApplyArgs, MESSAGE, type Message } from './face/messages.js';
import { type MakeError, SimTransportError } from './face/shapes.js';
import { type NodeShape, nodeObject } from './parts/node-shape.js';
import { PARTS } from './parts/parts.js';
import { type ProbeResult, probe } from './parts/proxy.js';

export interface ClusterInit {
  readonly seed: number;
  /** Where the clock starts, milliseconds since the epoch. */
  readonly startMs: number;
  /** CustomResourceDefinitions that are there from the beginning. */
  readonly crds?: readonly JsonObject[];
  readonly options?: Partial<WorldOptions>;
}

export interface ClientOptions {
  readonly faults?: Partial<Faults>;
  /** The client's own error for a request without an answer. */
  readonly makeError?: MakeError;
}

/** A write as invariants see it. */
export interface AppliedWrite extends Change {
  /** The client or part that made it. */
  readonly by: string;
}

const HOME_NAMESPACES = ['default', 'kube-system', 'kube-node-lease', 'kube-public'];

export class Cluster {
  readonly #world: World;
  readonly #clients = new Map<string, Client>();
  /** Called around the writes of clients; a test sets what it needs. */
  readonly hooks: Hooks = {};
  #clientNumber = 0;
  #touched = false;

  constructor(init: ClusterInit | World) {
    this.#world = init instanceof World ? init : newWorld(init);
    this.#world.admit = (review) => this.hooks.admit?.(review);
    this.#world.onClientEntry = (entry) => this.#runClientEntry(entry);
    this.#world.listen((change) => {
      for (const client of this.#clients.values()) client.onChange(change);
    });
  }

  /** Virtual time, milliseconds since the epoch. */
  get nowMs(): number {
    return this.#world.nowMs;
  }

  /** The version of the last write. */
  get resourceVersion(): number {
    return this.#world.store.rv;
  }

  /** One hash over everything that was written and when: equal for equal seeds. */
  get traceHash(): string {
    return this.#world.trace.hash();
  }

  /** True when the last step called into a client, whose microtasks should run before the next. */
  get touchedClient(): boolean {
    return this.#touched;
  }

  /** The last lines of what happened. */
  trace(limit: number): readonly TraceLine[] {
    return this.#world.trace.lines(limit);
  }

  /** Puts a person's remark into the trace. */
  note(text: string): void {
    this.#world.trace.add(this.nowMs, `# ${text}`);
  }

  /** The time of the next agenda entry; undefined when nothing is due, ever. */
  nextAtMs(): number | undefined {
    return this.#world.nextAtMs();
  }

  /** Runs the next agenda entry; false when there is none. */
  step(): boolean {
    this.#touched = false;
    return this.#world.step() !== undefined;
  }

  /** Runs everything due up to a time and sets the clock to it. For clusters without asynchronous clients. */
  runUntil(atMs: number): void {
    while ((this.nextAtMs() ?? Number.POSITIVE_INFINITY) <= atMs) this.step();
    this.#world.advanceTo(atMs);
  }

  /** Sets the clock forward when nothing is due before that time. */
  advanceTo(atMs: number): void {
    if ((this.nextAtMs() ?? Number.POSITIVE_INFINITY) >= atMs) this.#world.advanceTo(atMs);
  }

  /** Puts an entry on the agenda: `nodeStop`, `nodeCrash`, `nodeStart` with `{name}`, `request` with a request. */
  schedule(atMs: number, kind: string, args: unknown): void {
    this.#world.schedule(atMs, kind, args);
  }

  /** Answers a request at once, at the present moment. */
  handle(request: SimRequest): SimResponse {
    return handle(this.#world, request);
  }

  /** Opens a watch at the present moment, or answers why not. */
  openWatch(request: SimRequest): SimWatch | SimResponse {
    return openWatch(this.#world, request);
  }

  /** Hears every write until the returned function is called. */
  onApplied(listener: (write: AppliedWrite) => void): () => void {
    return this.#world.listen((change, by) => listener({ ...change, by }));
  }

  /** The same cluster from here on a path of its own: no clients, but the requests they have under way. */
  fork(): Cluster {
    const fork = new Cluster(this.#world.fork((entry) => entry.kind !== MESSAGE));
    if (this.hooks.admit !== undefined) fork.hooks.admit = this.hooks.admit;
    return fork;
  }

  /** A new client. Clients of one name are different processes. */
  client(name: string, options: ClientOptions = {}): Client {
    this.#clientNumber += 1;
    const id = `${name}#${this.#clientNumber}`;
    const makeError: MakeError =
      options.makeError ?? ((message, kind, sent) => new SimTransportError(message, kind, sent));
    const faults = { ...NO_FAULTS, ...options.faults };
    const client = new Client({ world: this.#world, id, name, faults, hooks: this.hooks, makeError });
    this.#clients.set(id, client);
    return client;
  }

  /** The objects of a resource (`pods`, `inferenceservices.ome.io`) as they are now, in order of their keys. */
  objects(resource: string, namespace?: string): readonly KubeObject[] {
    const objects = [...this.#world.store.list(resource)].filter(
      (object) => namespace === undefined || object.metadata.namespace === namespace,
    );
    return objects.toSorted((a, b) => (fullName(a) < fullName(b) ? -1 : 1));
  }

  /** One object as it is now; `key` is `namespace/name`, or `name` for a cluster-scoped one. */
  object(resource: string, key: string): KubeObject | undefined {
    return this.#world.store.get(resource, key);
  }

  /** Objects of a resource as they were at a version; undefined when that is forgotten. */
  objectsAt(resource: string, resourceVersion: number): readonly KubeObject[] | undefined {
    const objects = this.#world.store.listAt(resource, resourceVersion);
    return objects === undefined ? undefined : [...objects.values()];
  }

  /** Adds a node whose kubelet runs from the first moment. */
  addNode(shape: NodeShape): void {
    const answer = this.handle({ method: 'POST', path: '/api/v1/nodes', body: nodeObject(shape), user: 'cluster' });
    if (answer.status !== 201) throw new Error(`sim: node ${shape.name} was refused: ${JSON.stringify(answer.body)}`);
  }

  /** Sends one request of traffic to a Service (`namespace/name`) through a lagging copy of its endpoints. */
  probe(service: string): ProbeResult {
    return probe(this.#world, service);
  }

  /** Forgets the past: lists and watches at older versions get 410. */
  compact(): void {
    this.#world.store.compact();
  }

  #runClientEntry(entry: Entry): void {
    switch (entry.kind) {
      case APPLY:
        this.#apply(entry.args as ApplyArgs);
        return;
      case 'request':
        handle(this.#world, entry.args as SimRequest);
        return;
      case MESSAGE: {
        const message = entry.args as Message;
        const client = this.#clients.get(message.client);
        if (client?.alive !== true) return;
        this.#touched = true;
        client.run(message);
        return;
      }
      default:
        throw new Error(`sim: nobody knows what to do with an agenda entry of kind ${entry.kind}`);
    }
  }

  #apply(args: ApplyArgs): void {
    const { write, request } = args;
    const client = this.#clients.get(args.client);
    const attempt: WriteAttempt = { client: client?.name ?? args.client, n: write, request };
    if (write > 0 && this.hooks.beforeWrite?.(attempt) === 'drop') return;
    const response = handle(this.#world, staleRead(request, client?.behindRv));
    if (write > 0 && this.hooks.afterWrite?.(attempt, response.status) === 'drop') return;
    if (args.answered && client?.alive === true) client.answer(args.token, freeze(response));
  }
}

/** A list that any version will do for is answered from what a server that lags has seen. */
function staleRead(request: SimRequest, behindRv: number | undefined): SimRequest {
  const { query = {} } = request;
  const asked = query['resourceVersion'];
  if (behindRv === undefined || request.method !== 'GET' || asked === undefined) return request;
  if (Number(asked) > behindRv || query['resourceVersionMatch'] === 'Exact') return request;
  const { limit: _limit, ...rest } = query;
  return { ...request, query: { ...rest, resourceVersion: String(behindRv), resourceVersionMatch: 'Exact' } };
}

function fullName(object: KubeObject): string {
  return `${object.metadata.namespace ?? ''}/${object.metadata.name}`;
}

function newWorld(init: ClusterInit): World {
  const options = { ...DEFAULT_OPTIONS, ...init.options };
  const world = new World({ seed: init.seed, startMs: init.startMs, options, parts: PARTS });
  const post = (path: string, body: JsonObject): void => {
    const answer = handle(world, { method: 'POST', path, body, user: 'cluster' });
    if (answer.status !== 201) throw new Error(`sim: the cluster could not be set up: ${JSON.stringify(answer.body)}`);
  };
  for (const name of HOME_NAMESPACES) {
    post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  }
  for (const crd of init.crds ?? []) installDefinition(world, crd);
  return world;
}
