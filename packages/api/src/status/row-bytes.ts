/** How large a row is as JSON. Rows never change, so each is written out once for it. */
import { encodeEntry, encodeGrouped } from './row-codec.js';
import type { InstanceRow, Json } from './rows.js';

/** Bytes of one row as JSON. */
export interface RowBytes {
  /** As an item of `instanceStatuses`. */
  readonly dense: number;
  /** As an item of `instanceStatusColumns.entries`; 0 when columns say all of it. Its part of the columns is not in it. */
  readonly entry: number;
}

const measured = new WeakMap<InstanceRow, RowBytes>();

/**
 * Bytes of a row, exact, without the comma that separates it from the next. Remembered for as long as the row lives.
 * @throws RangeError when a time of the row lies outside the years 0000 to 9999.
 */
export function rowBytes(row: InstanceRow): RowBytes {
  let bytes = measured.get(row);
  if (bytes === undefined) {
    bytes = measure(row);
    measured.set(row, bytes);
  }
  return bytes;
}

function measure(row: InstanceRow): RowBytes {
  const grouped = jsonBytes(encodeGrouped(row));
  const entry = encodeEntry(row);
  if (entry === undefined) return { dense: grouped, entry: 0 };
  const bytes = jsonBytes(entry);
  // A dense row has the members of both, and the index that both have once.
  return { dense: grouped + bytes - `{"index":${row.index}}`.length, entry: bytes };
}

/** Bytes of a JSON value in UTF-8. */
export function jsonBytes(value: Json): number {
  return Buffer.byteLength(JSON.stringify(value));
}
