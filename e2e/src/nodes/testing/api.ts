/** A namespace of a cluster as a suite uses it: short verbs over the client, waits with a deadline, tables. */
import {
  Client,
  classify,
  collectionPath,
  connectionFromKubeconfig,
  HttpTransport,
  type Json,
  type KubeObject,
  type ListOptions,
  type ResourceType,
  type Runtime,
  sleep,
  systemRuntime,
  type WriteOptions,
} from '@omenative/kube';

const pollMs = 200;

/** An object as somebody writes it down. */
export type Manifest = KubeObject & Readonly<Record<string, unknown>>;

export class Api {
  readonly runtime: Runtime;
  readonly transport: HttpTransport;
  readonly client: Client;
  readonly namespace: string;

  private constructor(transport: HttpTransport, runtime: Runtime, namespace: string) {
    this.runtime = runtime;
    this.transport = transport;
    this.client = new Client({ transport, runtime, fieldManager: 'e2e' });
    this.namespace = namespace;
  }

  /** @throws Error when the kubeconfig can't be used. */
  static async connect(kubeconfig: string, namespace: string): Promise<Api> {
    const runtime = systemRuntime();
    const connection = await connectionFromKubeconfig({ runtime, path: kubeconfig });
    return new Api(new HttpTransport({ connection, runtime, userAgent: 'omenative-e2e' }), runtime, namespace);
  }

  close(): void {
    this.transport.close();
  }

  get<T extends KubeObject>(type: ResourceType<T>, name: string): Promise<T> {
    return this.client.get(type, { namespace: this.namespace, name });
  }

  /** The object, or undefined when there is none. */
  async find<T extends KubeObject>(type: ResourceType<T>, name: string): Promise<T | undefined> {
    try {
      return await this.get(type, name);
    } catch (error) {
      if (classify(error) === 'notFound') return undefined;
      throw error;
    }
  }

  async list<T extends KubeObject>(type: ResourceType<T>, options: ListOptions = {}): Promise<readonly T[]> {
    return (await this.client.list(type, { namespace: this.namespace, ...options })).items;
  }

  create<T extends KubeObject>(type: ResourceType<T>, object: Manifest): Promise<T> {
    const here = { ...object, metadata: { ...object.metadata, namespace: this.namespace } };
    return this.client.create(type, here as KubeObject as T);
  }

  merge<T extends KubeObject>(type: ResourceType<T>, name: string, body: Json, options: WriteOptions = {}): Promise<T> {
    return this.client.patch(type, { namespace: this.namespace, name }, { kind: 'merge', body }, options);
  }

  /** Asks for the deletion; an object that is gone already is what was wanted. */
  async delete(type: ResourceType, name: string): Promise<void> {
    try {
      await this.client.delete(type, { namespace: this.namespace, name });
    } catch (error) {
      if (classify(error) !== 'notFound') throw error;
    }
  }

  /** Resolves with the first thing that `probe` finds. @throws Error naming `what`, after `withinMs` milliseconds. */
  async waitFor<T>(what: string, withinMs: number, probe: () => Promise<T | undefined | false>): Promise<T> {
    const deadlineMs = this.runtime.monotonicMs() + withinMs;
    for (;;) {
      const found = await probe();
      if (found !== undefined && found !== false) return found;
      if (this.runtime.monotonicMs() > deadlineMs) throw new Error(`not within ${withinMs / 1000} s: ${what}`);
      await sleep(this.runtime, pollMs);
    }
  }

  /** Waits until an object exists and is as it should be, and resolves with it. */
  waitUntil<T extends KubeObject>(
    type: ResourceType<T>,
    name: string,
    what: string,
    withinMs: number,
    isSo: (object: T) => boolean,
  ): Promise<T> {
    return this.waitFor(`${type.kind} ${name} ${what}`, withinMs, async () => {
      const object = await this.find(type, name);
      return object !== undefined && isSo(object) ? object : undefined;
    });
  }

  /** What `kubectl get` prints: the columns' names, and the cells of each object, in the order of the list. */
  async table(type: ResourceType): Promise<{ readonly columns: readonly string[]; readonly rows: readonly Json[][] }> {
    const body = await this.client.raw({
      method: 'GET',
      path: collectionPath(type, this.namespace),
      accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
    });
    const { columnDefinitions, rows } = body as {
      readonly columnDefinitions: readonly { readonly name: string }[];
      readonly rows: readonly { readonly cells: Json[] }[];
    };
    return { columns: columnDefinitions.map(({ name }) => name), rows: rows.map(({ cells }) => cells) };
  }
}
