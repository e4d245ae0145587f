/** The rows of a status in each encoding: what they take, and which of the two is written. */
import { ascendingRows, encodeGroups, fitsColumns } from './columnar-writer.js';
import { defaultMaxDecodedInstances } from './decode.js';
import { jsonBytes, rowBytes } from './row-bytes.js';
import { hasCarry } from './row-codec.js';
import { rowsInOrder } from './row-order.js';
import type { DecodedStatus, InstanceRow, StatusEncoding } from './rows.js';
import type { WireObject } from './wire.js';

/** How rows are to be stored: the operator's `omenativeStatus` setting. */
export interface EncodeOptions {
  /** `ColumnarV2`: as columns wherever that is smaller. `DenseV1`: never as columns. */
  readonly encoding: StatusEncoding;
  /** Most rows that are written as columns. */
  readonly maxDecodedInstances: number;
}

/** What the chart configures. */
export const defaultEncodeOptions: EncodeOptions = {
  encoding: 'ColumnarV2',
  maxDecodedInstances: defaultMaxDecodedInstances,
};

/** Rows in one encoding. */
interface Layout {
  /** In the order in which they are listed. */
  readonly rows: readonly InstanceRow[];
  /** Bytes of the members of `status` that hold the rows, as JSON, each with a comma. */
  readonly bytes: number;
}

export interface ColumnarLayout extends Layout {
  /** All columns but `entries`. */
  readonly groups: WireObject;
}

/** Statuses never change, so each is laid out once. */
function remembered<T>(layOut: (status: DecodedStatus) => T): (status: DecodedStatus) => T {
  const known = new WeakMap<DecodedStatus, { readonly layout: T }>();
  return (status) => {
    let found = known.get(status);
    if (found === undefined) {
      found = { layout: layOut(status) };
      known.set(status, found);
    }
    return found.layout;
  };
}

/** Bytes of a list of JSON items in a member, with a comma: `,"name":[items]`. */
function listBytes(name: string, count: number, itemBytes: number): number {
  return count === 0 ? 0 : `,"${name}":[]`.length + itemBytes + count - 1;
}

/**
 * The rows one after the other.
 * @throws RangeError when a time of a row lies outside the years 0000 to 9999.
 */
export const denseLayout: (status: DecodedStatus) => Layout = remembered((status) => {
  const rows = rowsInOrder(status);
  let bytes = 0;
  for (const row of rows) bytes += rowBytes(row).dense;
  return { rows, bytes: listBytes('instanceStatuses', rows.length, bytes) };
});

/**
 * The rows as columns; undefined when columns can't say them: there are none, or one has a negative index or count, which
 * only foreign writers produce.
 * @throws RangeError when a time of a row lies outside the years 0000 to 9999.
 */
export const columnarLayout: (status: DecodedStatus) => ColumnarLayout | undefined = remembered((status) => {
  const { rows } = denseLayout(status);
  if (rows.length === 0 || !rows.every(fitsColumns)) return undefined;
  const groups = encodeGroups(rows);
  let count = 0;
  let bytes = 0;
  for (const row of rows) {
    const { entry } = rowBytes(row);
    if (entry === 0) continue;
    count += 1;
    bytes += entry;
  }
  const members = ',"instanceStatusEncoding":"ColumnarV2","instanceStatusColumns":'.length;
  return {
    rows: ascendingRows(rows),
    groups,
    bytes: members + jsonBytes(groups) + listBytes('entries', count, bytes),
  };
});

/**
 * The encoding in which a status is written: columns when they are asked for, can say every row and are strictly smaller.
 * Rows with members that this version does not know stay as they were found, since nobody can tell whether the schema that
 * brought them has a place for them in the other encoding too.
 * @throws RangeError when a time of a row lies outside the years 0000 to 9999.
 */
export function chosenEncoding(status: DecodedStatus, options: EncodeOptions = defaultEncodeOptions): StatusEncoding {
  if (options.encoding === 'DenseV1' || status.rows.size > options.maxDecodedInstances) return 'DenseV1';
  const columnar = columnarLayout(status);
  if (columnar === undefined) return 'DenseV1';
  if (columnar.rows.some(hasCarry)) return status.stored;
  return columnar.bytes < denseLayout(status).bytes ? 'ColumnarV2' : 'DenseV1';
}
