/**
 * `status` of an InferenceReplica: wire to rows and back. Decoding accepts every row that is legal JSON, impossible states as
 * `foreign`; a broken encoding fails as a whole, so that nobody acts on half of the Instances.
 */
import { decodeColumns } from './columnar.js';
import {
  decodeCondition,
  decodeMigration,
  decodeRetryBlock,
  decodeRolloutHold,
  encodeCondition,
  encodeMigration,
  encodeRetryBlock,
  encodeRolloutHold,
} from './records.js';
import { decodeRow, encodeRow } from './row-codec.js';
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
  type WireObject,
  withCarry,
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

/** The indexes of all rows in the order they are written: as on the wire, then those that are new, ascending. */
export function writtenOrder(status: Pick<DecodedStatus, 'rows' | 'order'>): readonly Index[] {
  const known = new Set(status.order.filter((index) => status.rows.has(index)));
  const fresh = [...status.rows.keys()].filter((index) => !known.has(index));
  return [...known, ...fresh.toSorted((a, b) => a - b)];
}

/** Rows of the status in the order they are written. */
export function rowsInOrder(status: Pick<DecodedStatus, 'rows' | 'order'>): readonly InstanceRow[] {
  return writtenOrder(status).flatMap((index) => status.rows.get(index) ?? []);
}

/**
 * The wire form, with dense rows whatever the status was stored as. The six counters are always written, zero too, so that
 * no printer column is blank. The result shares members with `status` and must not be changed.
 * @throws RangeError when a time lies outside the years 0000 to 9999.
 */
export function encodeStatus(status: DecodedStatus): Json {
  const { counters } = status;
  const wire: WireObject = {
    replicas: counters.replicas,
    readyReplicas: counters.ready,
    servingReplicas: counters.serving,
    availableReplicas: counters.available,
    updatedReplicas: counters.updated,
    updatedReadyReplicas: counters.updatedReady,
  };
  if (status.observedGeneration !== 0) wire['observedGeneration'] = status.observedGeneration;
  if (status.current !== '') wire['currentRevision'] = status.current;
  if (status.update !== '') wire['updateRevision'] = status.update;
  if (status.collisionCount !== 0) wire['collisionCount'] = status.collisionCount;
  if (status.labelSelector !== '') wire['labelSelector'] = status.labelSelector;
  if (status.rows.size > 0) wire['instanceStatuses'] = rowsInOrder(status).map(encodeRow);
  if (status.blocks.length > 0) wire['retryBlocks'] = status.blocks.map(encodeRetryBlock);
  if (status.migrations.length > 0) wire['migrations'] = status.migrations.map(encodeMigration);
  if (status.conditions.length > 0) wire['conditions'] = status.conditions.map(encodeCondition);
  if (status.rolloutHold !== undefined) wire['rolloutHold'] = encodeRolloutHold(status.rolloutHold);
  return withCarry(wire, status.carry);
}
