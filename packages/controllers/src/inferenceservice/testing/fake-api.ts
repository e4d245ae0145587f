/** A small API server over a scripted transport: what a controller reads it wrote, and others can write beside it. */
import { type ApiRequest, type ApiResponse, testing } from '@omenative/kube';
import { asRecord, asRecords, asText, isRecord, type JsonRecord } from '../../shared/json.js';

interface Target {
  readonly plural: string;
  readonly namespace: string;
  readonly name: string;
  readonly subresource: string;
}

const labelled = ['pods', 'services', 'endpointslices', 'controllerrevisions'];

export class FakeApi {
  readonly transport: testing.ScriptedTransport;
  /** Writes as `VERB plural/name`, those of the test not among them. */
  readonly writes: string[] = [];
  /** Plurals whose streams say nothing at present. */
  readonly muted: Set<string> = new Set();
  /** Asked before each write of a controller: an answer takes the place of the server's. */
  intercept: (request: ApiRequest) => ApiResponse | Error | undefined = () => undefined;
  readonly #objects: Map<string, JsonRecord> = new Map();
  readonly #streams: Map<string, testing.ScriptedStream> = new Map();
  #version = 100;
  #uids = 0;

  constructor() {
    this.transport = new testing.ScriptedTransport((request) => this.#answer(request));
    this.transport.onWatch((stream) => this.#open(stream));
  }

  get(plural: string, name: string, namespace = 'lab'): JsonRecord | undefined {
    return this.#objects.get(`${plural}/${namespace}/${name}`);
  }

  names(plural: string): readonly string[] {
    const keys = [...this.#objects.keys()].filter((key) => key.startsWith(`${plural}/`));
    return keys.map((key) => key.split('/').at(-1) ?? '').toSorted();
  }

  /** Writes an object as somebody else would: created, or its members replaced. */
  put(plural: string, object: JsonRecord): void {
    const { name, namespace } = asRecord(object['metadata']);
    const key = `${plural}/${asText(namespace)}/${asText(name)}`;
    const held = this.#objects.get(key);
    const isSpecChanged = JSON.stringify(held?.['spec']) !== JSON.stringify(object['spec']);
    this.#store(key, held, { ...held, ...object }, isSpecChanged);
  }

  /** Removes an object at once, whatever its finalizers say. */
  remove(plural: string, name: string, namespace = 'lab'): void {
    const key = `${plural}/${namespace}/${name}`;
    const held = this.#objects.get(key);
    if (held === undefined) return;
    this.#objects.delete(key);
    this.#version++;
    const metadata = { ...asRecord(held['metadata']), resourceVersion: String(this.#version) };
    this.#tell(plural, 'DELETED', { ...held, metadata });
  }

  #answer(request: ApiRequest): ApiResponse | Error {
    const target = targetOf(request.path);
    const key = `${target.plural}/${target.namespace}/${target.name}`;
    if (request.method === 'GET') return target.name === '' ? this.#list(target) : this.#read(key);
    const body = asRecord(request.body);
    const name = target.name === '' ? asText(asRecord(body['metadata'])['name']) : target.name;
    if (target.plural !== 'events') this.writes.push(`${request.method} ${target.plural}/${name}`);
    return (
      this.intercept(request) ??
      this.#write(request.method, target, `${target.plural}/${target.namespace}/${name}`, body)
    );
  }

  #write(method: ApiRequest['method'], target: Target, key: string, body: JsonRecord): ApiResponse {
    const held = this.#objects.get(key);
    if (method === 'POST') {
      if (held !== undefined) return testing.failure(409, 'AlreadyExists', 'already exists');
      return testing.ok(this.#store(key, undefined, body, true), 201);
    }
    if (held === undefined) return testing.failure(404, 'NotFound', 'not found');
    const wanted = asRecord(method === 'DELETE' ? body['preconditions'] : body['metadata']);
    const { uid, resourceVersion } = asRecord(held['metadata']);
    const isOther = wanted['uid'] !== undefined && wanted['uid'] !== uid;
    const isOld = wanted['resourceVersion'] !== undefined && wanted['resourceVersion'] !== resourceVersion;
    if (isOther || isOld) return testing.failure(409, 'Conflict', 'the object has been modified');
    if (method === 'DELETE') return this.#delete(key, held);
    if (target.subresource === 'status')
      return testing.ok(this.#store(key, held, { ...held, status: body['status'] }, false));
    return testing.ok(this.#store(key, held, asRecord(mergePatch(held, body)), body['spec'] !== undefined));
  }

  #delete(key: string, held: JsonRecord): ApiResponse {
    const metadata = asRecord(held['metadata']);
    if (Array.isArray(metadata['finalizers']) && metadata['finalizers'].length > 0) {
      return testing.ok(
        this.#store(
          key,
          held,
          { ...held, metadata: { ...metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } },
          false,
        ),
      );
    }
    const [plural = '', namespace = '', name = ''] = key.split('/');
    this.remove(plural, name, namespace);
    return testing.ok({ kind: 'Status', status: 'Success' });
  }

  /** Stores and tells, unless nothing changed. */
  #store(key: string, held: JsonRecord | undefined, object: JsonRecord, isSpecChanged: boolean): JsonRecord {
    const before = asRecord(held?.['metadata']);
    if (held !== undefined && JSON.stringify(held) === JSON.stringify(object)) return held;
    this.#version++;
    const generation = Number(before['generation'] ?? 0) + (isSpecChanged ? 1 : 0);
    const metadata = {
      ...asRecord(object['metadata']),
      uid: before['uid'] ?? asRecord(object['metadata'])['uid'] ?? `uid-${++this.#uids}`,
      generation,
      resourceVersion: String(this.#version),
    };
    const stored = { ...object, metadata };
    this.#objects.set(key, stored);
    this.#tell(key.split('/')[0] ?? '', held === undefined ? 'ADDED' : 'MODIFIED', stored);
    return stored;
  }

  #read(key: string): ApiResponse {
    const held = this.#objects.get(key);
    return held === undefined ? testing.failure(404, 'NotFound', `${key} not found`) : testing.ok(held);
  }

  #list(target: Target): ApiResponse {
    const items = [...this.#objects].filter(([key]) => key.startsWith(`${target.plural}/`)).map(([, object]) => object);
    return testing.listOf(items, String(this.#version));
  }

  #open(stream: testing.ScriptedStream): void {
    const { plural } = targetOf(stream.request.path);
    this.#streams.set(plural, stream);
    stream.open();
    for (const [key, object] of this.#objects)
      if (key.startsWith(`${plural}/`) && isSelected(plural, object)) stream.send('ADDED', object);
    stream.endOfInitialEvents(String(this.#version));
  }

  /** Every stream hears of every version, as by bookmarks: so no test waits for one. */
  #tell(plural: string, type: 'ADDED' | 'MODIFIED' | 'DELETED', object: JsonRecord): void {
    const stream = this.muted.has(plural) ? undefined : this.#streams.get(plural);
    if (isSelected(plural, object)) stream?.send(type, object);
    else if (type === 'MODIFIED') stream?.send('DELETED', object);
    for (const other of this.#streams.values()) if (other !== stream) other.bookmark(String(this.#version));
  }
}

function isSelected(plural: string, object: JsonRecord): boolean {
  const labels = asRecord(asRecord(object['metadata'])['labels']);
  return !labelled.includes(plural) || labels['ome.io/managed-by'] === 'OMENative';
}

/** `/api/{version}` or `/apis/{group}/{version}`, then a namespace or none, then the rest. */
function targetOf(path: string): Target {
  const parts = path
    .split('/')
    .filter((part) => part !== '')
    .map(decodeURIComponent);
  const rest = parts.slice(parts[0] === 'api' ? 2 : 3);
  const namespace = rest[0] === 'namespaces' && rest.length > 2 ? (rest[1] ?? '') : '';
  const [plural = '', name = '', subresource = ''] = namespace === '' ? rest : rest.slice(2);
  return { plural, namespace, name, subresource };
}

/** RFC 7386. */
function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const merged: Record<string, unknown> = { ...asRecord(target) };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete merged[key];
    else merged[key] = mergePatch(merged[key], value);
  }
  return merged;
}

/** The conditions of an object, as `type=status/reason`. */
export function conditionsOf(object: JsonRecord | undefined): readonly string[] {
  return asRecords(asRecord(object?.['status'])['conditions']).map((item) => {
    const reason = asText(item['reason']);
    return `${asText(item['type'])}=${asText(item['status'])}${reason === '' ? '' : `/${reason}`}`;
  });
}
