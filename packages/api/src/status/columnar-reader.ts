/**
 * The columnar encoding of rows (`status.instanceStatusColumns`), read: each column groups the indexes that share a value.
 * Reading is strict, since a group that names a wrong index would move one Instance's state to another.
 */
import { compareValues } from './columnar-writer.js';
import { countIndexes, type IndexRange, parseIndexSet } from './index-set.js';
import { decodeRowOf, rowKeys } from './row-codec.js';
import { type Index, type InstanceRow, type Json, phases } from './rows.js';
import {
  DecodeError,
  type DecodeReason,
  type JsonObject,
  objectOf,
  oneOf,
  optionalInt32,
  optionalInt32List,
  optionalInteger,
  optionalList,
  requiredInt32,
  requiredText,
  shown,
} from './wire.js';

type Value = string | number;
type GroupedKey = (typeof columns)[number]['rowKey'] | (typeof sets)[number]['rowKey'];
/** What the columns say of one row, under the names of a dense row, and what they can't group. */
type Draft = { readonly index: Index; entry: JsonObject } & Record<GroupedKey, Json>;
/** By index, ascending. */
type Drafts = ReadonlyMap<Index, Draft>;

/** All members are made at once: objects of one shape are filled and read several times faster. */
function newDraft(index: Index): Draft {
  return {
    index,
    entry: noEntry,
    phase: undefined,
    runningRevision: undefined,
    targetRevision: undefined,
    incarnation: undefined,
    podCount: undefined,
    servingPodCount: undefined,
    availablePodCount: undefined,
    admitted: undefined,
    activeOrdinal: undefined,
  };
}

/** A column: the member of a dense row it fills, and how a group's value is read. */
interface Column {
  readonly name: string;
  readonly rowKey: string;
  readonly valueOf: (group: JsonObject, at: string) => Value;
}

function podCount(group: JsonObject, at: string): number {
  const value = optionalInt32(group, 'value', at) ?? 0;
  if (value < 1)
    throw new DecodeError('value_domain', `${at}.value is ${value}, and a count that is written is 1 or more`);
  return value;
}

function incarnation(group: JsonObject, at: string): number {
  const value = optionalInteger(group, 'value', at) ?? 0;
  if (value === 0) throw new DecodeError('value_domain', `${at}.value is 0, which is said by leaving the row out`);
  return value;
}

function revision(group: JsonObject, at: string): string {
  const value = group['value'] ?? undefined;
  if (value === '') throw new DecodeError('value_domain', `${at}.value is empty, which is said by leaving the row out`);
  return requiredText(group, 'value', at);
}

const columns = [
  { name: 'phases', rowKey: 'phase', valueOf: (group, at) => oneOf(group, 'value', at, phases) },
  { name: 'runningRevisions', rowKey: 'runningRevision', valueOf: revision },
  { name: 'targetRevisions', rowKey: 'targetRevision', valueOf: revision },
  { name: 'incarnations', rowKey: 'incarnation', valueOf: incarnation },
  { name: 'podCounts', rowKey: 'podCount', valueOf: podCount },
  { name: 'servingPodCounts', rowKey: 'servingPodCount', valueOf: podCount },
  { name: 'availablePodCounts', rowKey: 'availablePodCount', valueOf: podCount },
] as const satisfies readonly Column[];
const sets = [
  { name: 'admitted', rowKey: 'admitted', value: true },
  { name: 'activeOrdinalOne', rowKey: 'activeOrdinal', value: 1 },
] as const;
const columnKeys = new Set([
  'members',
  'rowOrder',
  'entries',
  ...columns.map((c) => c.name),
  ...sets.map((s) => s.name),
]);
const noEntry: JsonObject = Object.freeze({});
const groupKeys = new Set(['value', 'indexes']);
const recordKeys = new Set(['conditions', 'readySince', 'operation', 'lastFailure', 'announced']);

function fail(reason: DecodeReason, message: string): never {
  throw new DecodeError(reason, message);
}

/** Fails on a member that could hold state of rows in a way this version can't read. */
function refuseUnknown(raw: JsonObject, known: ReadonlySet<string>, at: string): void {
  for (const key of Object.keys(raw)) {
    if (!known.has(key) && (raw[key] ?? undefined) !== undefined) {
      fail('schema', `${at}.${key} is not a member this version knows`);
    }
  }
}

/** The list in `key`, which may be absent but not empty, nor longer than `limit`: each item names at least one row. */
function filledList(raw: JsonObject, key: string, at: string, limit: number): readonly Json[] {
  const items = optionalList(raw, key, at);
  if (items === undefined) return [];
  if (items.length === 0) fail('schema', `${at}.${key} is an empty list; without items it is left out`);
  if (items.length > limit) fail('cardinality_limit', `${at}.${key} has ${items.length} items for ${limit} rows`);
  return items;
}

function rangesOf(raw: JsonObject, key: string, at: string): readonly IndexRange[] {
  const parsed = parseIndexSet(requiredText(raw, key, at));
  return parsed.ok ? parsed.ranges : fail(parsed.reason, `${at}.${key}: ${parsed.message}`);
}

/**
 * Sets a member of every row that `ranges` name. The walk ends at the first index without a row, so it is never longer than
 * the number of rows, whatever the ranges claim.
 */
function fill(drafts: Drafts, ranges: readonly IndexRange[], key: GroupedKey, value: Value | true, at: string): void {
  for (const { first, last } of ranges) {
    for (let index = first; index <= last; index += 1) {
      const draft = drafts.get(index);
      if (draft === undefined) fail('coverage', `${at} names index ${index}, which is not in members`);
      if (draft[key] !== undefined) {
        fail('coverage', `${at} names index ${index}, which another group of the column has too`);
      }
      draft[key] = value;
    }
  }
}

function fillColumn(drafts: Drafts, column: (typeof columns)[number], raw: JsonObject, at: string): void {
  let previous: Value | undefined;
  for (const [position, item] of filledList(raw, column.name, at, drafts.size).entries()) {
    const groupAt = `${at}.${column.name}[${position}]`;
    const group = objectOf(item, groupAt);
    refuseUnknown(group, groupKeys, groupAt);
    const value = column.valueOf(group, groupAt);
    if (previous !== undefined && compareValues(previous, value) >= 0) {
      fail('canonical_order', `${groupAt}.value is ${shown(value)}, which does not come after ${shown(previous)}`);
    }
    previous = value;
    fill(drafts, rangesOf(group, 'indexes', groupAt), column.rowKey, value, groupAt);
  }
}

/** Adds the records that are not grouped. A record this version does not know is carried with its row. */
function fillEntries(drafts: Drafts, raw: JsonObject, at: string): void {
  let previous = -1;
  for (const [position, item] of filledList(raw, 'entries', at, drafts.size).entries()) {
    const entryAt = `${at}.entries[${position}]`;
    const entry = objectOf(item, entryAt);
    const index = requiredInt32(entry, 'index', entryAt);
    const draft = drafts.get(index);
    if (draft === undefined) fail('coverage', `${entryAt} is of index ${index}, which is not in members`);
    if (index <= previous) {
      fail('canonical_order', `${entryAt} is of index ${index}, which does not come after ${previous}`);
    }
    previous = index;
    checkRecords(entry, entryAt);
    draft.entry = entry;
  }
}

function checkRecords(entry: JsonObject, at: string): void {
  let records = 0;
  for (const key of Object.keys(entry)) {
    const value = entry[key] ?? undefined;
    if (key === 'index' || value === undefined) continue;
    records += 1;
    if (rowKeys.has(key) && !recordKeys.has(key)) fail('schema', `${at}.${key} belongs in a column`);
    if (recordKeys.has(key) && Array.isArray(value) && value.length === 0) {
      fail('schema', `${at}.${key} is an empty list`);
    }
  }
  if (records === 0) fail('schema', `${at} carries no record`);
}

/** The order of the rows: `rowOrder`, which is there only when they do not ascend, else ascending. */
function orderOf(drafts: Drafts, raw: JsonObject, at: string): readonly Index[] {
  const order = optionalInt32List(raw, 'rowOrder', at);
  if (order === undefined) return [...drafts.keys()];
  if (
    order.length !== drafts.size ||
    new Set(order).size !== order.length ||
    !order.every((index) => drafts.has(index))
  ) {
    fail('coverage', `${at}.rowOrder does not name every member exactly once`);
  }
  if (order.every((index, position) => position === 0 || index > (order[position - 1] ?? index))) {
    fail('canonical_order', `${at}.rowOrder ascends; then it is left out`);
  }
  return order;
}

/**
 * The rows that columns say, in their dense order. Nothing is allocated a row before the number of members is known to be at
 * most `maxRows`.
 * @throws DecodeError with the reason; never a part of the rows.
 */
export function decodeColumns(raw: JsonObject, maxRows: number): readonly InstanceRow[] {
  const at = 'status.instanceStatusColumns';
  refuseUnknown(raw, columnKeys, at);
  const members = rangesOf(raw, 'members', at);
  const count = countIndexes(members);
  if (count > maxRows) fail('cardinality_limit', `${at}.members names ${count} rows, more than the ${maxRows} allowed`);

  const drafts = new Map<Index, Draft>();
  for (const { first, last } of members) {
    for (let index = first; index <= last; index += 1) drafts.set(index, newDraft(index));
  }
  for (const column of columns) fillColumn(drafts, column, raw, at);
  for (const { index, phase } of drafts.values()) {
    if (phase === undefined) fail('coverage', `${at}.phases does not name index ${index}`);
  }
  for (const set of sets) {
    if ((raw[set.name] ?? undefined) !== undefined) {
      fill(drafts, rangesOf(raw, set.name, at), set.rowKey, set.value, `${at}.${set.name}`);
    }
  }
  fillEntries(drafts, raw, at);
  return orderOf(drafts, raw, at).flatMap((index) => {
    const draft = drafts.get(index);
    return draft === undefined ? [] : [decodeRowOf(draft, draft.entry, `${at}[index ${index}]`)];
  });
}
