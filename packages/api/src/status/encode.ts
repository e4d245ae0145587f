/** `status` of an InferenceReplica, written. */
import { encodeHead } from './head.js';
import { type ColumnarLayout, chosenEncoding, columnarLayout, denseLayout, type EncodeOptions } from './layout.js';
import { encodeEntry, encodeRow } from './row-codec.js';
import type { DecodedStatus, Json, StatusEncoding } from './rows.js';
import { statusBytes } from './size.js';
import type { WireObject } from './wire.js';

export interface EncodedStatus {
  /** The wire form. It shares members with the status it was made of and must not be changed. */
  readonly status: Json;
  /** Bytes of it as JSON. */
  readonly bytes: number;
  readonly encoding: StatusEncoding;
}

/**
 * The wire form of a status in the encoding that `chosenEncoding` names for it.
 * @throws RangeError when a time lies outside the years 0000 to 9999.
 */
export function encodeStatus(status: DecodedStatus, options?: EncodeOptions): EncodedStatus {
  return encodeAs(status, chosenEncoding(status, options));
}

/**
 * The wire form of a status in this encoding, whatever its size. What columns can't say is written dense.
 * @throws RangeError when a time lies outside the years 0000 to 9999.
 */
export function encodeAs(status: DecodedStatus, encoding: StatusEncoding): EncodedStatus {
  const columnar = encoding === 'ColumnarV2' ? columnarLayout(status) : undefined;
  const rows = columnar === undefined ? denseMembers(status) : columnarMembers(columnar);
  const written = columnar === undefined ? 'DenseV1' : encoding;
  return { status: { ...encodeHead(status), ...rows }, bytes: statusBytes(status, written), encoding: written };
}

function denseMembers(status: DecodedStatus): WireObject {
  return status.rows.size === 0 ? {} : { instanceStatuses: denseLayout(status).rows.map(encodeRow) };
}

function columnarMembers({ rows, groups }: ColumnarLayout): WireObject {
  const entries = rows.flatMap((row) => encodeEntry(row) ?? []);
  return {
    instanceStatusEncoding: 'ColumnarV2',
    instanceStatusColumns: entries.length === 0 ? groups : { ...groups, entries },
  };
}
