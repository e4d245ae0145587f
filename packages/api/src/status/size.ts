/**
 * How large a status is, for an admission budget and for metrics, without writing out its rows: etcd refuses a request of
 * 1.5 MiB and more, and the API server a body of 3 MiB.
 */
import { inferenceReplicaStatus } from '../crds/inference-replica.js';
import { encodeHead } from './head.js';
import { jsonBytes } from './json-bytes.js';
import { chosenEncoding, columnarLayout, denseLayout, type EncodeOptions } from './layout.js';
import { fieldSetBytes } from './managed-fields.js';
import type { DecodedStatus, StatusEncoding } from './rows.js';

/**
 * Bytes of the status as JSON in this encoding; exact. A status that columns can't say has the size of its dense form.
 * @throws RangeError when a time of the status lies outside the years 0000 to 9999.
 */
export function statusBytes(status: DecodedStatus, encoding: StatusEncoding): number {
  const layout = encoding === 'ColumnarV2' ? columnarLayout(status) : undefined;
  return jsonBytes(encodeHead(status)) + (layout ?? denseLayout(status)).bytes;
}

/** Bytes of an entry of `managedFields` around its field set. */
const managedEntryBytes = 190;

/**
 * Bytes that this status takes in etcd once it is written: its JSON in the encoding that `chosenEncoding` names, and what the
 * API server notes down of its fields in `managedFields`. Within a tenth of what is stored, and exact but for the escapes
 * and the manager names of a server; metadata and spec are not counted.
 *
 * Past 1.5 MiB the API server leaves `managedFields` away and tries again, so that what decides on a refusal is
 * `statusBytes`.
 *
 * Ten thousand rows take some milliseconds to count, once for each status object.
 * @throws RangeError when a time of the status lies outside the years 0000 to 9999.
 */
export function estimateStatusBytes(status: DecodedStatus, options?: EncodeOptions): number {
  const encoding = chosenEncoding(status, options);
  return statusBytes(status, encoding) + managedFieldsBytes(status, encoding);
}

function managedFieldsBytes(status: DecodedStatus, encoding: StatusEncoding): number {
  const head = encodeHead(status);
  switch (encoding) {
    case 'DenseV1': {
      const { rows, managedBytes } = denseLayout(status);
      const list = rows.length === 0 ? {} : { instanceStatuses: [] };
      return managedEntryBytes + fieldSetBytes({ ...head, ...list }, inferenceReplicaStatus) + managedBytes;
    }
    case 'ColumnarV2': {
      const columns = { ...columnarLayout(status)?.groups, entries: [] };
      const wire = { ...head, instanceStatusEncoding: encoding, instanceStatusColumns: columns };
      return managedEntryBytes + fieldSetBytes(wire, inferenceReplicaStatus);
    }
  }
}
