/**
 * Writes a status: whole, and only over the version that it was planned on. A draft is never written again over another
 * version; whoever gets anything but `written` or `unchanged` looks and plans anew.
 */
import { type DecodedStatus, type EncodedStatus, type EncodeOptions, encodeStatus } from '@omenative/api';
import { isEqual } from '@omenative/engine';
import { type Client, classify, type ErrorClass, mayHaveBeenApplied } from '@omenative/kube';
import type { Caches } from '../caches.js';
import { asText, type JsonRecord } from '../shared/json.js';
import { inferenceReplicaType } from '../shared/resources.js';
import type { ReplicaMetrics, StatusWriteResult } from './metrics.js';
import { type ReplicaRecord, replicaRecordOf } from './replica-record.js';

export interface PersistOptions {
  /** Its writes are refused, unsent, once the lease is not held. */
  readonly client: Client;
  readonly replicas: Caches['replicas'];
  readonly metrics: ReplicaMetrics;
  /** How rows are to be stored. */
  readonly statusEncoding: EncodeOptions;
}

export type Persisted =
  | { readonly is: 'written' | 'unchanged'; readonly replica: ReplicaRecord }
  /** Another version is there, or may be; it has been read and taken in. Nothing of the draft may be acted upon. */
  | { readonly is: 'stale'; readonly found?: DecodedStatus }
  /** The object is gone, or another one has its name: its status is nobody's business any more. */
  | { readonly is: 'gone' }
  /** Nothing was written, and what is there could not be read: try later. */
  | { readonly is: 'unreachable' };

/**
 * Writes `next` over the status of `replica`.
 *
 * @throws ApiError when the server refuses the status as it is, such as for its size.
 */
export async function persistStatus(
  options: PersistOptions,
  replica: ReplicaRecord,
  next: DecodedStatus,
): Promise<Persisted> {
  if (replica.status.ok && isEqual(replica.status.status, next)) return { is: 'unchanged', replica };
  const { client, replicas, metrics, statusEncoding } = options;
  const encoded = encode(options, next);
  const { status, encoding } = encoded;
  metrics.statusWritten(encoding, 'attempt');
  try {
    const draft: JsonRecord = { ...replica.base, status };
    const reply = await client.replaceStatus(inferenceReplicaType, draft);
    replicas.takeIn(reply);
    metrics.statusWritten(encoding, 'committed');
    reportStored(options, replica, next, encoded);
    return { is: 'written', replica: replicaRecordOf(reply, statusEncoding.maxDecodedInstances) };
  } catch (error) {
    if (mayHaveBeenApplied(error)) {
      const persisted = await look(options, replica);
      const isThere = persisted.is === 'stale' && isEqual(persisted.found, { ...next, stored: encoding });
      metrics.statusWritten(encoding, isThere ? 'confirmed' : 'error');
      if (isThere) reportStored(options, replica, next, encoded);
      return persisted;
    }
    const as = classify(error);
    metrics.statusWritten(encoding, resultOf(as));
    if (as === 'notFound') return gone(options, replica);
    if (as === 'conflict') return look(options, replica);
    if (passing.has(as)) return { is: 'unreachable' };
    throw error;
  }
}

function encode({ metrics, statusEncoding }: PersistOptions, next: DecodedStatus): EncodedStatus {
  try {
    return encodeStatus(next, statusEncoding);
  } catch (error) {
    metrics.codecFailed('value_domain');
    throw error;
  }
}

function reportStored(
  { metrics }: PersistOptions,
  replica: ReplicaRecord,
  next: DecodedStatus,
  { bytes, encoding }: EncodedStatus,
): void {
  const { namespace, name } = replica.meta;
  const before = replica.status.ok ? replica.status.status : undefined;
  const isConverted = next.rows.size > 0 && before !== undefined && before.rows.size > 0 && before.stored !== encoding;
  metrics.statusStored({
    namespace,
    name,
    component: asText(replica.spec['component']),
    encoding,
    bytes,
    ...(isConverted ? { convertedFrom: before.stored } : {}),
  });
}

/** Refusals that say nothing about the status itself. */
const passing: ReadonlySet<ErrorClass> = new Set([
  'unavailable',
  'throttled',
  'fenced',
  'admissionUnavailable',
  'unauthorized',
]);

function resultOf(as: ErrorClass): StatusWriteResult {
  return as === 'conflict' ? 'conflict' : as === 'tooLarge' ? 'rejected' : 'error';
}

/** Reads what is there now. */
async function look(options: PersistOptions, replica: ReplicaRecord): Promise<Persisted> {
  const { namespace, name } = replica.meta;
  try {
    const raw = await options.client.get(inferenceReplicaType, { namespace, name });
    if (raw.metadata?.uid !== replica.meta.uid) return gone(options, replica);
    options.replicas.takeIn(raw);
    const { status } = replicaRecordOf(raw, options.statusEncoding.maxDecodedInstances);
    return { is: 'stale', ...(status.ok ? { found: status.status } : {}) };
  } catch (error) {
    return classify(error) === 'notFound' ? gone(options, replica) : { is: 'unreachable' };
  }
}

function gone(options: PersistOptions, replica: ReplicaRecord): Persisted {
  options.replicas.takeInDeletion(`${replica.meta.namespace}/${replica.meta.name}`, replica.meta.uid);
  return { is: 'gone' };
}
