/**
 * `status` of an InferenceReplica, read: every row that is legal JSON is accepted, impossible states as `foreign`; a broken
 * encoding fails as a whole, so that nobody acts on half of the Instances.
 */
import { decodeColumns } from './columnar-reader.js';
import { decodeCondition, decodeMigration, decodeRetryBlock, decodeRolloutHold } from './records.js';
import { decodeRow } from './row-codec.js';
import { type DecodedStatus, emptyStatus, type Index, type InstanceRow, type Json } from './rows.js';
import {
  carryOf,
  DecodeError,
  type DecodeReason,
  int32Of,
  type JsonObject,
  listOf,
  objectOf,
  optionalInteger,
  optionalObject,
  shown,
  textOf,
} from './wire.js';

export type { DecodeReason };

/** Rows a columnar status may hold when nothing else is configured. */
export const defaultMaxDecodedInstances = 20_000;

export interface DecodeOptions {
  /** Most rows that columns may name: a few bytes can name any number. Default: `defaultMaxDecodedInstances`. */
  readonly maxDecodedInstances?: number;
}

export type DecodeResult =
  | { readonly ok: true; readonly status: DecodedStatus }
  | {
      readonly ok: false;
      readonly reason: DecodeReason;
      /** For people: the path of the member and what was found there. */
      readonly message: string;
    };

const statusKeys: ReadonlySet<string> = new Set([
  'observedGeneration',
  'replicas',
  'readyReplicas',
  'servingReplicas',
  'availableReplicas',
  'updatedReplicas',
  'updatedReadyReplicas',
  'currentRevision',
  'updateRevision',
  'collisionCount',
  'labelSelector',
  'instanceStatuses',
  'instanceStatusEncoding',
  'instanceStatusColumns',
  'retryBlocks',
  'migrations',
  'conditions',
  'rolloutHold',
]);

function rowsByIndex(rows: readonly InstanceRow[]): ReadonlyMap<Index, InstanceRow> {
  const byIndex = new Map<Index, InstanceRow>();
  for (const row of rows) {
    if (byIndex.has(row.index)) {
      throw new DecodeError('schema', `status.instanceStatuses has two rows of index ${row.index}`);
    }
    byIndex.set(row.index, row);
  }
  return byIndex;
}

/** Reads the rows from the one encoding the status declares; more than one, or less, is an error. */
function decodeRows(
  raw: JsonObject,
  maxRows: number,
): Pick<DecodedStatus, 'stored'> & { readonly list: readonly InstanceRow[] } {
  const marker = raw['instanceStatusEncoding'] ?? undefined;
  const columns = optionalObject(raw, 'instanceStatusColumns', 'status');
  if (marker === undefined) {
    if (columns === undefined) return { stored: 'DenseV1', list: listOf(raw, 'instanceStatuses', 'status', decodeRow) };
    const message = 'status.instanceStatusColumns is there without status.instanceStatusEncoding';
    throw new DecodeError('representation_union', message);
  }
  if (marker !== 'ColumnarV2') {
    throw new DecodeError('unknown_encoding', `status.instanceStatusEncoding is ${shown(marker)}, not ColumnarV2`);
  }
  if (columns === undefined || (raw['instanceStatuses'] ?? undefined) !== undefined) {
    const found = columns === undefined ? 'no status.instanceStatusColumns' : 'status.instanceStatuses too';
    throw new DecodeError('representation_union', `status.instanceStatusEncoding is ColumnarV2, and there is ${found}`);
  }
  return { stored: 'ColumnarV2', list: decodeColumns(columns, maxRows) };
}

function decodeObject(raw: JsonObject, maxRows: number): DecodedStatus {
  const at = 'status';
  const { stored, list } = decodeRows(raw, maxRows);
  const hold = optionalObject(raw, 'rolloutHold', at);
  return {
    observedGeneration: optionalInteger(raw, 'observedGeneration', at) ?? 0,
    counters: {
      replicas: int32Of(raw, 'replicas', at),
      ready: int32Of(raw, 'readyReplicas', at),
      serving: int32Of(raw, 'servingReplicas', at),
      available: int32Of(raw, 'availableReplicas', at),
      updated: int32Of(raw, 'updatedReplicas', at),
      updatedReady: int32Of(raw, 'updatedReadyReplicas', at),
    },
    labelSelector: textOf(raw, 'labelSelector', at),
    ...(hold === undefined ? {} : { rolloutHold: decodeRolloutHold(hold, `${at}.rolloutHold`) }),
    rows: rowsByIndex(list),
    order: list.map((row) => row.index),
    blocks: listOf(raw, 'retryBlocks', at, decodeRetryBlock),
    migrations: listOf(raw, 'migrations', at, decodeMigration),
    conditions: listOf(raw, 'conditions', at, decodeCondition),
    current: textOf(raw, 'currentRevision', at),
    update: textOf(raw, 'updateRevision', at),
    collisionCount: int32Of(raw, 'collisionCount', at),
    stored,
    carry: carryOf(raw, statusKeys),
  };
}

/**
 * Decodes `status` as it came from the API server; undefined and null are the status nobody has written yet. Never throws for
 * any JSON value. The result shares members with `wire`, which must not be changed afterwards.
 */
export function decodeStatus(wire: Json, options: DecodeOptions = {}): DecodeResult {
  if ((wire ?? undefined) === undefined) return { ok: true, status: emptyStatus };
  const maxRows = options.maxDecodedInstances ?? defaultMaxDecodedInstances;
  try {
    return { ok: true, status: decodeObject(objectOf(wire, 'status'), maxRows) };
  } catch (error) {
    if (error instanceof DecodeError) return { ok: false, reason: error.reason, message: error.message };
    throw error;
  }
}
