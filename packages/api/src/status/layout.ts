/** The rows of a status in each encoding: what they take, and which of the two is written. */
import { ascendingRows, encodeGroups, fitsColumns } from './columnar-writer.js';
import { defaultMaxDecodedInstances } from './decode.js';
import { jsonBytes } from './json-bytes.js';
import { rowBytes } from './row-bytes.js';
import { rowsInOrder } from './row-order.js';
import type { DecodedStatus, InstanceRow, StatusEncoding } from './rows.js';
import { isEmpty, type WireObject } from './wire.js';

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

/** Rows as a list. */
interface DenseLayout {
  readonly rows: readonly InstanceRow[];
  /** Bytes of the member `instanceStatuses` as JSON, a comma included. */
  readonly bytes: number;
  /** Bytes that the rows take in `managedFields`. */
  readonly managedBytes: number;
  /** Bytes of the member `entries` of columns, a comma included. */
  readonly entriesBytes: number;
  /** Whether a row has members that this version does not know. */
  readonly hasCarry: boolean;
  /** Whether columns can say all rows, of which there is one at least. */
  readonly isColumnar: boolean;
}

/** Rows as columns. */
export interface ColumnarLayout {
  /** By ascending index. */
  readonly rows: readonly InstanceRow[];
  /** All columns but `entries`. */
  readonly groups: WireObject;
  /** Bytes of the members `instanceStatusEncoding` and `instanceStatusColumns` as JSON, with their commas. */
  readonly bytes: number;
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

/** The rows one after the other, and what they take. */
export const denseLayout: (status: DecodedStatus) => DenseLayout = remembered((status) => {
  const rows = rowsInOrder(status);
  let denseBytes = 0;
  let managedBytes = 0;
  let entryBytes = 0;
  let entries = 0;
  let hasCarry = false;
  let isColumnar = rows.length > 0;
  for (const row of rows) {
    const { dense, managed, entry } = rowBytes(row);
    denseBytes += dense;
    managedBytes += managed;
    entryBytes += entry;
    if (entry > 0) entries += 1;
    hasCarry ||= !isEmpty(row.carry);
    isColumnar &&= fitsColumns(row);
  }
  return {
    rows,
    bytes: listBytes('instanceStatuses', rows.length, denseBytes),
    managedBytes,
    entriesBytes: listBytes('entries', entries, entryBytes),
    hasCarry,
    isColumnar,
  };
});

/**
 * The rows as columns; undefined when columns can't say them: there are none, or one has a negative index or count, which
 * only foreign writers produce.
 */
export const columnarLayout: (status: DecodedStatus) => ColumnarLayout | undefined = remembered((status) => {
  const { rows, entriesBytes, isColumnar } = denseLayout(status);
  if (!isColumnar) return undefined;
  const groups = encodeGroups(rows);
  const members = ',"instanceStatusEncoding":"ColumnarV2","instanceStatusColumns":'.length;
  return { rows: ascendingRows(rows), groups, bytes: members + jsonBytes(groups) + entriesBytes };
});

/**
 * The encoding in which a status is written: columns when they are asked for, can say every row and are strictly smaller.
 * Rows with members that this version does not know stay as they were found, since nobody can tell whether the schema that
 * brought them has a place for them in the other encoding too.
 */
export function chosenEncoding(status: DecodedStatus, options: EncodeOptions = defaultEncodeOptions): StatusEncoding {
  if (options.encoding === 'DenseV1' || status.rows.size > options.maxDecodedInstances) return 'DenseV1';
  const columnar = columnarLayout(status);
  if (columnar === undefined) return 'DenseV1';
  if (denseLayout(status).hasCarry) return status.stored;
  return columnar.bytes < denseLayout(status).bytes ? 'ColumnarV2' : 'DenseV1';
}
