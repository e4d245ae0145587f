/** One Instance row of `status.instanceStatuses`: wire to row and back. */
import { decodeState, encodeOperationOf } from './operation.js';
import {
  decodeCondition,
  decodeTermination,
  encodeCondition,
  encodeTermination,
  putNonZero,
  putTime,
  type WireObject,
} from './records.js';
import { type InstanceRow, type Json, phaseOf, phases, type RowBase } from './rows.js';
import {
  carryOf,
  DecodeError,
  flagOf,
  int32Of,
  type JsonObject,
  listOf,
  oneOf,
  optionalInteger,
  optionalObject,
  optionalTime,
  requiredInt32,
  textList,
  textOf,
} from './wire.js';

/** Members of a row that are never written: a reader can count pods, and thousands of rows can't afford them. */
const unwrittenKeys = ['readyPodCount', 'scheduledPodCount', 'nodesOccupied'] as const;

/** Every member of a row this version knows. */
export const rowKeys: ReadonlySet<string> = new Set([
  'index',
  'phase',
  'incarnation',
  'runningRevision',
  'targetRevision',
  'podCount',
  'servingPodCount',
  'availablePodCount',
  'admitted',
  'activeOrdinal',
  'conditions',
  'readySince',
  'operation',
  'lastFailure',
  'announced',
  ...unwrittenKeys,
]);

function activeOrdinalOf(raw: JsonObject, at: string): 0 | 1 {
  const ordinal = int32Of(raw, 'activeOrdinal', at);
  if (ordinal === 0 || ordinal === 1) return ordinal;
  throw new DecodeError('value_domain', `${at}.activeOrdinal is ${ordinal}, not 0 or 1`);
}

/**
 * The row that a dense wire row says. `at` is its path, for messages.
 * @throws DecodeError when a member has the wrong type or a value outside its domain; an impossible state is no error.
 */
export function decodeRow(raw: JsonObject, at: string): InstanceRow {
  const index = requiredInt32(raw, 'index', at);
  const phase = oneOf(raw, 'phase', at, phases);
  const readySince = optionalTime(raw, 'readySince', at);
  const lastFailure = optionalObject(raw, 'lastFailure', at);
  const operation = optionalObject(raw, 'operation', at);
  const base: RowBase = {
    index,
    incarnation: optionalInteger(raw, 'incarnation', at) ?? 0,
    activeOrdinal: activeOrdinalOf(raw, at),
    running: textOf(raw, 'runningRevision', at),
    target: textOf(raw, 'targetRevision', at),
    ...(readySince === undefined ? {} : { readySince }),
    ...(lastFailure === undefined ? {} : { lastFailure: decodeTermination(lastFailure, `${at}.lastFailure`) }),
    announced: textList(raw, 'announced', at),
    conditions: listOf(raw, 'conditions', at, decodeCondition),
    published: {
      pods: int32Of(raw, 'podCount', at),
      serving: int32Of(raw, 'servingPodCount', at),
      available: int32Of(raw, 'availablePodCount', at),
      admitted: flagOf(raw, 'admitted', at),
    },
    carry: carryOf(raw, rowKeys),
  };
  return { ...base, ...decodeState(index, phase, operation, `${at}.operation`) };
}

/** The dense wire form of a row. `readyPodCount`, `scheduledPodCount` and `nodesOccupied` are never written. */
export function encodeRow(row: InstanceRow): Json {
  const wire: WireObject = { ...row.carry, index: row.index, phase: phaseOf(row) };
  putNonZero(wire, 'incarnation', row.incarnation);
  putNonZero(wire, 'runningRevision', row.running);
  putNonZero(wire, 'targetRevision', row.target);
  putNonZero(wire, 'podCount', row.published.pods);
  putNonZero(wire, 'servingPodCount', row.published.serving);
  putNonZero(wire, 'availablePodCount', row.published.available);
  putNonZero(wire, 'admitted', row.published.admitted);
  if (row.conditions.length > 0) wire['conditions'] = row.conditions.map(encodeCondition);
  putTime(wire, 'readySince', row.readySince);
  const operation = encodeOperationOf(row);
  if (operation !== undefined) wire['operation'] = operation;
  putNonZero(wire, 'activeOrdinal', row.activeOrdinal);
  if (row.lastFailure !== undefined) wire['lastFailure'] = encodeTermination(row.lastFailure);
  if (row.announced.length > 0) wire['announced'] = row.announced;
  return wire;
}
