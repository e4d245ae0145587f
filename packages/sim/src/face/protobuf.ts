/**
 * Request bodies in the protobuf form that Go clients prefer for built-in kinds. Only what kubectl and helm send is
 * known: a namespace, a secret, a config map, the options of a delete. Answers are JSON, which those clients accept.
 */

import { asText, type JsonObject, type MutableJson } from '../base/json.js';

export const PROTOBUF_TYPE = 'application/vnd.kubernetes.protobuf';

/** The media type in which kubectl asks for OpenAPI version 2. */
export const OPENAPI_V2_TYPE = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

/**
 * An OpenAPI 2 document that describes nothing: version, a title, no paths. With it kubectl has a schema to look in, finds
 * nothing there, and leaves the validation of a list to the server.
 */
export const OPENAPI_V2: Buffer = message(
  text(1, '2.0'),
  nested(2, message(text(1, 'Kubernetes, simulated'), text(2, 'v1.34.4'))),
  nested(8, message()),
);

function message(...parts: readonly Buffer[]): Buffer {
  return Buffer.concat(parts);
}

// Short ones only: the length is one byte.
function nested(field: number, bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from([(field << 3) | 2, bytes.length]), bytes]);
}

function text(field: number, value: string): Buffer {
  return nested(field, Buffer.from(value));
}

type FieldType =
  | 'text'
  | 'base64'
  | 'integer'
  | 'boolean'
  | { readonly message: Fields }
  | { readonly mapOf: 'text' | 'base64' };

/** By field number: the JSON name and the type; a name that ends in `[]` repeats. */
type Fields = Readonly<Record<number, readonly [name: string, type: FieldType]>>;

const OWNER: Fields = {
  1: ['kind', 'text'],
  3: ['name', 'text'],
  4: ['uid', 'text'],
  5: ['apiVersion', 'text'],
  6: ['controller', 'boolean'],
  7: ['blockOwnerDeletion', 'boolean'],
};

const METADATA: Fields = {
  1: ['name', 'text'],
  2: ['generateName', 'text'],
  3: ['namespace', 'text'],
  5: ['uid', 'text'],
  6: ['resourceVersion', 'text'],
  11: ['labels', { mapOf: 'text' }],
  12: ['annotations', { mapOf: 'text' }],
  13: ['ownerReferences[]', { message: OWNER }],
  14: ['finalizers[]', 'text'],
};

const DELETE_OPTIONS: Fields = {
  1: ['gracePeriodSeconds', 'integer'],
  2: ['preconditions', { message: { 1: ['uid', 'text'], 2: ['resourceVersion', 'text'] } }],
  4: ['propagationPolicy', 'text'],
  5: ['dryRun[]', 'text'],
};

const metadata = ['metadata', { message: METADATA }] as const;

const KINDS: Readonly<Record<string, Fields>> = {
  Namespace: { 1: metadata, 2: ['spec', { message: { 1: ['finalizers[]', 'text'] } }] },
  Secret: {
    1: metadata,
    2: ['data', { mapOf: 'base64' }],
    3: ['type', 'text'],
    4: ['stringData', { mapOf: 'text' }],
    5: ['immutable', 'boolean'],
  },
  ConfigMap: {
    1: metadata,
    2: ['data', { mapOf: 'text' }],
    3: ['binaryData', { mapOf: 'base64' }],
    4: ['immutable', 'boolean'],
  },
  ServiceAccount: { 1: metadata, 4: ['automountServiceAccountToken', 'boolean'] },
  DeleteOptions: DELETE_OPTIONS,
  Eviction: { 1: metadata, 2: ['deleteOptions', { message: DELETE_OPTIONS }] },
  Scale: { 1: metadata, 2: ['spec', { message: { 1: ['replicas', 'integer'] } }] },
  SelfSubjectAccessReview: { 1: metadata },
};

const ENVELOPE: Fields = {
  1: ['type', { message: { 1: ['apiVersion', 'text'], 2: ['kind', 'text'] } }],
  2: ['raw', 'base64'],
};

/** The JSON of a protobuf body; undefined when it is of a kind that is not known here. */
export function fromProtobuf(body: Buffer): JsonObject | undefined {
  if (body.subarray(0, 4).toString('latin1') !== 'k8s\0') return undefined;
  const envelope = decode(body.subarray(4), ENVELOPE);
  const type = envelope['type'] as { readonly apiVersion?: string; readonly kind?: string } | undefined;
  const fields = KINDS[type?.kind ?? ''];
  if (fields === undefined) return undefined;
  const object = decode(Buffer.from(asText(envelope['raw']), 'base64'), fields);
  return { apiVersion: type?.apiVersion, kind: type?.kind, ...object };
}

/** Reads one message; fields it does not know are passed over. Go writes empty texts for fields that are not set. */
function decode(bytes: Buffer, fields: Fields): MutableJson {
  const reader = { bytes, at: 0 };
  const object: MutableJson = {};
  while (reader.at < bytes.length) {
    const tag = varint(reader);
    const wire = tag & 7;
    const field = fields[tag >> 3];
    const raw = wire === 0 ? varint(reader) : wire === 2 ? chunk(reader) : skip(reader, wire);
    if (field === undefined || raw === undefined) continue;
    add(object, field[0], fieldValue(raw, field[1]));
  }
  return object;
}

function add(object: MutableJson, name: string, value: unknown): void {
  if (value === undefined) return;
  const list = name.endsWith('[]');
  const key = list ? name.slice(0, -2) : name;
  const before = object[key];
  if (list) object[key] = [...(Array.isArray(before) ? before : []), value];
  else if (typeof before === 'object' && typeof value === 'object') object[key] = { ...before, ...value };
  else object[key] = value;
}

function fieldValue(raw: number | Buffer, type: FieldType): unknown {
  if (typeof raw === 'number') return type === 'boolean' ? raw !== 0 : raw;
  if (type === 'text') return raw.length === 0 ? undefined : raw.toString('utf8');
  if (type === 'base64') return raw.toString('base64');
  if (type === 'integer' || type === 'boolean') return undefined;
  if ('message' in type) return decode(raw, type.message);
  const entry = decode(raw, { 1: ['key', 'text'], 2: ['value', type.mapOf] });
  return { [asText(entry['key'])]: entry['value'] ?? '' };
}

interface Reader {
  readonly bytes: Buffer;
  at: number;
}

// Numbers beyond 53 bits do not occur in the fields above.
function varint(reader: Reader): number {
  let value = 0;
  let scale = 1;
  for (;;) {
    const byte = reader.bytes[reader.at] ?? 0;
    reader.at += 1;
    value += (byte & 127) * scale;
    if (byte < 128) return value;
    scale *= 128;
  }
}

function chunk(reader: Reader): Buffer {
  const length = varint(reader);
  const bytes = reader.bytes.subarray(reader.at, reader.at + length);
  reader.at += length;
  return bytes;
}

function skip(reader: Reader, wire: number): undefined {
  reader.at += wire === 1 ? 8 : 4;
}
