/**
 * How large the API server's record of who wrote which field becomes (`metadata.managedFields`): it names every field of
 * every item of a list with keys, which for a small row is as much again as the row.
 */
import { instanceRow } from '../crds/instance-status.js';
import type { StructuralSchema } from '../crds/schema.js';
import { jsonBytes } from './row-bytes.js';
import { encodeRow } from './row-codec.js';
import type { InstanceRow, Json } from './rows.js';
import type { JsonObject } from './wire.js';

/** `{}`: a field without fields of its own. */
const leafBytes = 2;
/** `{".":{}}`: the field itself, before those in it. */
const selfBytes = 8;

/**
 * Bytes of the field set of a value as FieldsV1. Fields that the schema does not have, which the API server drops, and null
 * ones take none.
 */
export function fieldSetBytes(value: Json, schema: StructuralSchema): number {
  if (Array.isArray(value)) return listFieldSetBytes(value, schema);
  const { properties } = schema;
  if (typeof value !== 'object' || value === null || properties === undefined) return leafBytes;
  let bytes = selfBytes;
  for (const key of Object.keys(value)) {
    const member = (value as JsonObject)[key] ?? undefined;
    const field = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (member === undefined || field === undefined) continue;
    bytes += `,"f:":${key}`.length + fieldSetBytes(member, field);
  }
  return bytes;
}

function listFieldSetBytes(items: readonly Json[], schema: StructuralSchema): number {
  const {
    items: itemSchema,
    'x-kubernetes-list-type': type = 'atomic',
    'x-kubernetes-list-map-keys': keys = [],
  } = schema;
  switch (type) {
    case 'set':
      return items.reduce<number>(
        (sum, item) => sum + 2 + jsonBytes(`v:${JSON.stringify(item)}`) + leafBytes,
        selfBytes,
      );
    case 'map':
      return items.reduce<number>((sum, item) => {
        const key = Object.fromEntries(keys.map((name) => [name, (item as JsonObject)[name]]));
        const fields = itemSchema === undefined ? leafBytes : fieldSetBytes(item, itemSchema);
        return sum + 2 + jsonBytes(`k:${JSON.stringify(key)}`) + fields;
      }, selfBytes);
    case 'atomic':
      return leafBytes;
  }
}

const measured = new WeakMap<InstanceRow, number>();

/**
 * Bytes that a row of `instanceStatuses` adds to the field set of the status, a comma included. Remembered for as long as
 * the row lives. As columns, whose lists are replaced whole, rows add none.
 */
export function rowFieldSetBytes(row: InstanceRow): number {
  let bytes = measured.get(row);
  if (bytes === undefined) {
    bytes = String.raw`,"k:{\"index\":${row.index}}":`.length + fieldSetBytes(encodeRow(row), instanceRow);
    measured.set(row, bytes);
  }
  return bytes;
}
