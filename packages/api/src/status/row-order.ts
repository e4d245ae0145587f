/** The order in which rows are written. */
import type { DecodedStatus, Index, InstanceRow } from './rows.js';

/** The indexes of all rows in the order they are written: as on the wire, then those that are new, ascending. */
export function writtenOrder(status: Pick<DecodedStatus, 'rows' | 'order'>): readonly Index[] {
  const known = new Set<Index>();
  for (const index of status.order) if (status.rows.has(index)) known.add(index);
  if (known.size === status.rows.size) return [...known];
  const fresh = [...status.rows.keys()].filter((index) => !known.has(index));
  return [...known, ...fresh.toSorted((a, b) => a - b)];
}

/** Rows of the status in the order they are written. */
export function rowsInOrder(status: Pick<DecodedStatus, 'rows' | 'order'>): readonly InstanceRow[] {
  const rows: InstanceRow[] = [];
  for (const index of writtenOrder(status)) {
    const row = status.rows.get(index);
    if (row !== undefined) rows.push(row);
  }
  return rows;
}
