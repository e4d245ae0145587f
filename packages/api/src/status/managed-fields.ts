/**
 * How large the API server's record of who wrote which field becomes (`metadata.managedFields`): it names every field of
 * every item of a list with keys, which for a small row is as much again as the row.
 */
import type { StructuralSchema } from '../crds/schema.js';
import { integerBytes, jsonBytes } from './json-bytes.js';
import type { Index, Json } from './rows.js';
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
    bytes += fieldNameBytes(key) + fieldSetBytes(member, field);
  }
  return bytes;
}

/** Bytes of the name of a field and what is around it: `,"f:name":`. */
export function fieldNameBytes(name: string): number {
  return name.length + 6;
}

/** Bytes of the name of a row in `instanceStatuses` and what is around it: `,"k:{\"index\":0}":`. */
export function rowNameBytes(index: Index): number {
  return String.raw`,"k:{\"index\":}":`.length + integerBytes(index);
}

function listFieldSetBytes(items: readonly Json[], schema: StructuralSchema): number {
  const {
    items: itemSchema,
    'x-kubernetes-list-type': type = 'atomic',
    'x-kubernetes-list-map-keys': keys = [],
  } = schema;
  switch (type) {
    case 'set':
      return items.reduce<number>((sum, item) => sum + itemNameBytes('v', item) + leafBytes, selfBytes);
    case 'map':
      return items.reduce<number>((sum, item) => {
        const key = Object.fromEntries(keys.map((name) => [name, (item as JsonObject)[name]]));
        return sum + itemNameBytes('k', key) + fieldSetBytes(item, itemSchema ?? {});
      }, selfBytes);
    case 'atomic':
      return leafBytes;
  }
}

function itemNameBytes(kind: 'k' | 'v', value: Json): number {
  return 2 + jsonBytes(`${kind}:${JSON.stringify(value)}`);
}
