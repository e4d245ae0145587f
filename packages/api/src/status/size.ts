/** How large a status is on the wire, for an admission budget: etcd refuses a request of about 1.5 MiB. */
import { encodeStatus } from './codec.js';
import { encodeRow } from './row-codec.js';
import type { DecodedStatus, InstanceRow, Json } from './rows.js';

/** Characters that JSON writes as one byte each. */
const plain = /^[ !#-[\]-~]*$/;

function textBytes(text: string): number {
  return plain.test(text) ? text.length + 2 : Buffer.byteLength(JSON.stringify(text));
}

/** Bytes of the JSON text of a value, without making the text. */
function jsonBytes(value: Json): number {
  if (typeof value === 'string') return textBytes(value);
  if (typeof value !== 'object' || value === null) return String(value).length;
  let bytes = 2;
  let members = 0;
  if (Array.isArray(value)) {
    for (const item of value) bytes += jsonBytes(item);
    members = value.length;
  } else {
    for (const [key, member] of Object.entries(value)) {
      bytes += textBytes(key) + 1 + jsonBytes(member);
      members += 1;
    }
  }
  return bytes + Math.max(members - 1, 0);
}

/** Bytes of one dense row, its comma included. The sizes of rows can be added up and subtracted. */
export function denseRowBytes(row: InstanceRow): number {
  return jsonBytes(encodeRow(row)) + 1;
}

/**
 * Bytes of the status with dense rows as JSON. What the API server adds, such as managedFields, is not counted.
 * @throws RangeError when a time can't be written.
 */
export function estimateDenseBytes(status: DecodedStatus): number {
  return jsonBytes(encodeStatus(status));
}
