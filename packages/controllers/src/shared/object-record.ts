/** A cached object of which everything may matter: as the API server sent it, but for what nobody reads. */
import { asRecord, type JsonRecord } from './json.js';
import { metaOf, type ObjectMeta } from './meta.js';

export interface ObjectRecord {
  readonly meta: ObjectMeta;
  /** Without `metadata.managedFields`. */
  readonly raw: JsonRecord;
}

export function objectRecordOf(raw: unknown): ObjectRecord {
  return { meta: metaOf(asRecord(raw)), raw: withoutManagedFields(asRecord(raw)) };
}

/** The object without `metadata.managedFields`, which can be larger than all the rest. */
export function withoutManagedFields(object: JsonRecord): JsonRecord {
  const { managedFields: _managedFields, ...metadata } = asRecord(object['metadata']);
  return { ...object, metadata };
}
