/** How large a status is on the wire, for an admission budget: etcd refuses a request of about 1.5 MiB. */
import { encodeStatus } from './codec.js';
import { encodeRow } from './row-codec.js';
import type { DecodedStatus, InstanceRow } from './rows.js';

/**
 * Bytes of one dense row as JSON, the comma before it included: how much a status grows by it.
 * @throws RangeError when a time of the row can't be written.
 */
export function denseRowBytes(row: InstanceRow): number {
  return Buffer.byteLength(JSON.stringify(encodeRow(row))) + 1;
}

/**
 * Bytes of the status with dense rows as JSON. An estimate of what is stored: what the
 * API server adds, such as managedFields, is not counted.
 * @throws RangeError when a time of the status can't be written.
 */
export function estimateDenseBytes(status: DecodedStatus): number {
  return Buffer.byteLength(JSON.stringify(encodeStatus(status)));
}
