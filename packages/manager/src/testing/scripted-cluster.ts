/** The few answers that a manager needs of an API server: a ConfigMap, a Lease, lists, streams and definitions. */
import { type ApiRequest, type ApiResponse, testing } from '@omenative/kube';

type Json = Readonly<Record<string, unknown>>;

/** Where every collection stands: nothing is written to one that a stream shows. */
const head = '100';

export const encoding: Readonly<Record<string, string>> = {
  omenativeStatus: '{"instanceStatusEncoding":"DenseV1"}',
};

export class ScriptedCluster {
  readonly transport: testing.ScriptedTransport;
  /** Writes as `VERB path`; those of the Lease are not among them. */
  readonly writes: string[] = [];
  /** Bodies of the writes of the Lease, in order. */
  readonly leaseWrites: Json[] = [];
  /** `data` of the ConfigMap; undefined: there is none. */
  settings: Readonly<Record<string, string>> | undefined = encoding;
  /** Objects that the streams show from the beginning, by plural. */
  readonly objects: Readonly<Record<string, readonly Json[]>>;
  /** Asked before anything else is answered. */
  intercept: (request: ApiRequest) => testing.ScriptedAnswer | Promise<testing.ScriptedAnswer> | undefined = () =>
    undefined;
  readonly #streams: Map<string, testing.ScriptedStream> = new Map();
  #lease: Json | undefined;
  #version = 100;

  constructor(objects: Readonly<Record<string, readonly Json[]>> = {}) {
    this.objects = objects;
    this.transport = new testing.ScriptedTransport((request) => {
      if (request.method !== 'GET' && !request.path.includes('/leases'))
        this.writes.push(`${request.method} ${request.path}`);
      return this.intercept(request) ?? this.#answer(request);
    });
    this.transport.onWatch((stream) => {
      const plural = pluralOf(stream.request.path);
      this.#streams.set(plural, stream);
      stream.open();
      for (const object of this.objects[plural] ?? []) stream.send('ADDED', object);
      stream.endOfInitialEvents(head);
    });
  }

  /** Somebody else holds the Lease now, or nobody with ''. */
  giveLeaseTo(holderIdentity: string): void {
    this.#storeLease({ spec: { holderIdentity, leaseDurationSeconds: 15, renewTime: `beat ${this.#version}` } });
  }

  /** An edit of the ConfigMap, as its stream tells it. */
  edit(settings: Readonly<Record<string, string>>): void {
    this.settings = settings;
    this.#version++;
    this.#streams.get('configmaps')?.send('MODIFIED', this.#configMap(settings));
  }

  #answer(request: ApiRequest): ApiResponse {
    const { method, path } = request;
    if (path.includes('/leases')) return this.#answerLease(request);
    if (path.endsWith('/configmaps/inferenceservice-config') && method === 'GET') {
      return this.settings === undefined
        ? testing.failure(404, 'NotFound', 'no such ConfigMap')
        : testing.ok(this.#configMap(this.settings));
    }
    if (method === 'GET') return testing.listOf([], head);
    const held = Object.values(this.objects)
      .flat()
      .find((object) => path.includes(`/${nameOf(object)}`));
    return testing.ok(
      stamped({ ...held, ...(request.body as Json), ...onlyMetadataOf(held) }, ++this.#version),
      method === 'POST' ? 201 : 200,
    );
  }

  #answerLease({ method, body }: ApiRequest): ApiResponse {
    if (method === 'GET')
      return this.#lease === undefined ? testing.failure(404, 'NotFound', 'no lease') : testing.ok(this.#lease);
    const wanted = body as Json;
    this.leaseWrites.push(wanted);
    const version = (wanted['metadata'] as Json)['resourceVersion'];
    if (this.#lease !== undefined && version !== (this.#lease['metadata'] as Json)['resourceVersion']) {
      return testing.failure(409, 'Conflict', 'the lease has changed');
    }
    return testing.ok(this.#storeLease(wanted));
  }

  #storeLease(lease: Json): Json {
    const metadata = { name: 'ome-controller-manager-leader-lock', namespace: 'ome' };
    this.#lease = stamped({ ...lease, metadata }, ++this.#version);
    return this.#lease;
  }

  #configMap(data: Readonly<Record<string, string>>): Json {
    const metadata = {
      name: 'inferenceservice-config',
      namespace: 'ome',
      uid: 'uid-config',
      resourceVersion: String(this.#version),
    };
    return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
  }
}

function nameOf(object: Json): string {
  return String((object['metadata'] as Json)['name']);
}

/** A write of the status leaves all metadata but the version as it is. */
function onlyMetadataOf(object: Json | undefined): Json {
  return object === undefined ? {} : { metadata: object['metadata'] };
}

function pluralOf(path: string): string {
  return path.split('/').at(-1) ?? '';
}

function stamped(object: Json, version: number): Json {
  const metadata = object['metadata'] as Json | undefined;
  return { ...object, metadata: { uid: `uid-${version}`, ...metadata, resourceVersion: String(version) } };
}
