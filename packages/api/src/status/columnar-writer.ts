/**
 * The columnar encoding of rows, written: a column groups the indexes that share a value, so that a thousand Instances alike
 * cost as much as one. Rows in one order have exactly one columnar form.
 */
import { IndexSetWriter } from './index-set.js';
import { type Index, type InstanceRow, type Json, phaseOf } from './rows.js';
import type { WireObject } from './wire.js';

type Value = string | number;

/** A column: what it says of a row, and the value that is said by leaving the row out. */
interface Column {
  readonly name: string;
  readonly absent: Value;
  readonly valueOf: (row: InstanceRow) => Value;
}

const columns: readonly Column[] = [
  { name: 'phases', absent: '', valueOf: phaseOf },
  { name: 'runningRevisions', absent: '', valueOf: (row) => row.running },
  { name: 'targetRevisions', absent: '', valueOf: (row) => row.target },
  { name: 'incarnations', absent: 0, valueOf: (row) => row.incarnation },
  { name: 'podCounts', absent: 0, valueOf: (row) => row.published.pods },
  { name: 'servingPodCounts', absent: 0, valueOf: (row) => row.published.serving },
  { name: 'availablePodCounts', absent: 0, valueOf: (row) => row.published.available },
];

/** Texts in the order of their UTF-8 bytes, numbers by value. */
export function compareValues(a: Value, b: Value): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return Buffer.compare(Buffer.from(String(a)), Buffer.from(String(b)));
}

/** Whether columns can say all of a row but the members this version does not know. */
export function fitsColumns({ index, published }: InstanceRow): boolean {
  return index >= 0 && published.pods >= 0 && published.serving >= 0 && published.available >= 0;
}

function groupsOf(ascending: readonly InstanceRow[], column: Column): readonly Json[] {
  const groups = new Map<Value, IndexSetWriter>();
  let value = column.absent;
  let group: IndexSetWriter | undefined;
  for (const row of ascending) {
    const found = column.valueOf(row);
    if (found === column.absent) continue;
    // Neighbours are mostly alike.
    if (group === undefined || found !== value) {
      value = found;
      group = groups.get(found) ?? new IndexSetWriter();
      groups.set(found, group);
    }
    group.add(row.index);
  }
  return [...groups]
    .toSorted(([a], [b]) => compareValues(a, b))
    .map(([groupValue, indexes]) => ({ value: groupValue, indexes: indexes.text() }));
}

function setOf(ascending: readonly InstanceRow[], has: (row: InstanceRow) => boolean): string {
  const indexes = new IndexSetWriter();
  for (const row of ascending) if (has(row)) indexes.add(row.index);
  return indexes.text();
}

/** Rows that fit columns, by ascending index. */
export function ascendingRows(rows: readonly InstanceRow[]): readonly InstanceRow[] {
  return isAscending(rows) ? rows : rows.toSorted((a, b) => a.index - b.index);
}

function isAscending(rows: readonly InstanceRow[]): boolean {
  let previous: Index = -1;
  for (const { index } of rows) {
    if (index <= previous) return false;
    previous = index;
  }
  return true;
}

/**
 * The columns of `rows`, which are in their dense order, all but `entries`. There must be one row at least, and each must
 * fit columns.
 */
export function encodeGroups(rows: readonly InstanceRow[]): WireObject {
  const ascending = ascendingRows(rows);
  const wire: WireObject = { members: setOf(ascending, () => true) };
  if (ascending !== rows) wire['rowOrder'] = rows.map((row) => row.index);
  for (const column of columns) {
    const groups = groupsOf(ascending, column);
    if (groups.length > 0) wire[column.name] = groups;
  }
  const admitted = setOf(ascending, (row) => row.published.admitted);
  const activeOrdinalOne = setOf(ascending, (row) => row.activeOrdinal === 1);
  if (admitted !== '') wire['admitted'] = admitted;
  if (activeOrdinalOne !== '') wire['activeOrdinalOne'] = activeOrdinalOne;
  return wire;
}
