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
  return decodeRowOf(raw, raw, at);
}

/**
 * The row whose members are in two objects: those that columns group, and its own records, with what is not known.
 * @throws DecodeError like `decodeRow`.
 */
export function decodeRowOf(grouped: JsonObject, records: JsonObject, at: string): InstanceRow {
  const index = requiredInt32(grouped, 'index', at);
  const phase = oneOf(grouped, 'phase', at, phases);
  const row: Building<RowBase> = {
    index,
    incarnation: optionalInteger(grouped, 'incarnation', at) ?? 0,
    activeOrdinal: activeOrdinalOf(grouped, at),
    running: textOf(grouped, 'runningRevision', at),
    target: textOf(grouped, 'targetRevision', at),
    announced: textList(records, 'announced', at),
    conditions: listOf(records, 'conditions', at, decodeCondition),
    published: {
      pods: int32Of(grouped, 'podCount', at),
      serving: int32Of(grouped, 'servingPodCount', at),
      available: int32Of(grouped, 'availablePodCount', at),
      admitted: flagOf(grouped, 'admitted', at),
    },
    carry: carryOf(records, rowKeys),
  };
  const readySince = optionalTime(records, 'readySince', at);
  const lastFailure = optionalObject(records, 'lastFailure', at);
  if (readySince !== undefined) row.readySince = readySince;
  if (lastFailure !== undefined) row.lastFailure = decodeTermination(lastFailure, `${at}.lastFailure`);
  const operation = optionalObject(records, 'operation', at);
  return Object.assign(row, decodeState(index, phase, operation, `${at}.operation`));
}

/** The members of a dense row that columns group, in a new object. */
export function encodeGrouped(row: InstanceRow): WireObject {
  const { published } = row;
  const wire: WireObject = { index: row.index, phase: phaseOf(row) };
  if (row.incarnation !== 0) wire['incarnation'] = row.incarnation;
  if (row.running !== '') wire['runningRevision'] = row.running;
  if (row.target !== '') wire['targetRevision'] = row.target;
  if (published.pods !== 0) wire['podCount'] = published.pods;
  if (published.serving !== 0) wire['servingPodCount'] = published.serving;
  if (published.available !== 0) wire['availablePodCount'] = published.available;
  if (published.admitted) wire['admitted'] = true;
  if (row.activeOrdinal !== 0) wire['activeOrdinal'] = row.activeOrdinal;
  return wire;
}

/** `wire` with what a row has of its own: its records, and the members this version does not know. */
function withRecords(wire: WireObject, row: InstanceRow): WireObject {
  if (row.conditions.length > 0) wire['conditions'] = row.conditions.map(encodeCondition);
  if (row.readySince !== undefined) wire['readySince'] = formatTime(row.readySince);
  const operation = encodeOperationOf(row);
  if (operation !== undefined) wire['operation'] = operation;
  if (row.lastFailure !== undefined) wire['lastFailure'] = encodeTermination(row.lastFailure);
  if (row.announced.length > 0) wire['announced'] = row.announced;
  return withCarry(wire, row.carry);
}

/** The dense wire form of a row. `readyPodCount`, `scheduledPodCount` and `nodesOccupied` are never written. */
export function encodeRow(row: InstanceRow): Json {
  return withRecords(encodeGrouped(row), row);
}

/** What columns can't group of a row, as its entry; undefined when there is nothing. */
export function encodeEntry(row: InstanceRow): Json {
  const wire = withRecords({ index: row.index }, row);
  return Object.keys(wire).length === 1 ? undefined : wire;
}
