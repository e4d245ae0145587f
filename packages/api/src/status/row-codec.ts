/** One Instance row of `status.instanceStatuses`: wire to row and back. */
import { decodeState, encodeOperationOf } from './operation.js';
import { decodeCondition, decodeTermination, encodeCondition, encodeTermination } from './records.js';
import { type InstanceRow, type Json, phaseOf, phases, type RowBase } from './rows.js';
import { formatTime } from './time.js';
import {
  type Building,
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
  type WireObject,
  withCarry,
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
  const row: Building<RowBase> = {
    index,
    incarnation: optionalInteger(raw, 'incarnation', at) ?? 0,
    activeOrdinal: activeOrdinalOf(raw, at),
    running: textOf(raw, 'runningRevision', at),
    target: textOf(raw, 'targetRevision', at),
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
  const readySince = optionalTime(raw, 'readySince', at);
  const lastFailure = optionalObject(raw, 'lastFailure', at);
  if (readySince !== undefined) row.readySince = readySince;
  if (lastFailure !== undefined) row.lastFailure = decodeTermination(lastFailure, `${at}.lastFailure`);
  const operation = optionalObject(raw, 'operation', at);
  return Object.assign(row, decodeState(index, phase, operation, `${at}.operation`));
}

/** The dense wire form of a row. `readyPodCount`, `scheduledPodCount` and `nodesOccupied` are never written. */
export function encodeRow(row: InstanceRow): Json {
  const { published } = row;
  const wire: WireObject = { index: row.index, phase: phaseOf(row) };
  if (row.incarnation !== 0) wire['incarnation'] = row.incarnation;
  if (row.running !== '') wire['runningRevision'] = row.running;
  if (row.target !== '') wire['targetRevision'] = row.target;
  if (published.pods !== 0) wire['podCount'] = published.pods;
  if (published.serving !== 0) wire['servingPodCount'] = published.serving;
  if (published.available !== 0) wire['availablePodCount'] = published.available;
  if (published.admitted) wire['admitted'] = true;
  if (row.conditions.length > 0) wire['conditions'] = row.conditions.map(encodeCondition);
  if (row.readySince !== undefined) wire['readySince'] = formatTime(row.readySince);
  const operation = encodeOperationOf(row);
  if (operation !== undefined) wire['operation'] = operation;
  if (row.activeOrdinal !== 0) wire['activeOrdinal'] = row.activeOrdinal;
  if (row.lastFailure !== undefined) wire['lastFailure'] = encodeTermination(row.lastFailure);
  if (row.announced.length > 0) wire['announced'] = row.announced;
  return withCarry(wire, row.carry);
}
