/** The order in which rows are written. */
import type { DecodedStatus, Index, InstanceRow } from './rows.js';

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
