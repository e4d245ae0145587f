/** Unknown fields of a custom resource are dropped; missing ones get their defaults. */

import { isObject, type JsonObject, type MutableJson } from '../base/json.js';
import { propertySchema, type Schema } from './schema.js';

const ROOT_KEYS = ['apiVersion', 'kind', 'metadata'];

/** The object without the fields its schema does not know. Each dropped path is told to `onDrop`: `spec.colour`. */
export function prune(object: JsonObject, schema: Schema, onDrop: (path: string) => void): JsonObject {
  const kept = pruneValue(object, schema, '', onDrop, ROOT_KEYS);
  return isObject(kept) ? kept : object;
}

function pruneValue(
  value: unknown,
  schema: Schema,
  path: string,
  onDrop: (path: string) => void,
  alsoKnown: readonly string[],
): unknown {
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === undefined) return value;
    return value.map((item, i) => pruneValue(item, items, `${path}[${i}]`, onDrop, []));
  }
  if (!isObject(value)) return value;
  const keepsAll = schema['x-kubernetes-preserve-unknown-fields'] === true || schema.additionalProperties === true;
  const known = schema['x-kubernetes-embedded-resource'] === true ? ROOT_KEYS : alsoKnown;
  const kept: MutableJson = {};
  for (const [key, part] of Object.entries(value)) {
    const here = path === '' ? key : `${path}.${key}`;
    const below = propertySchema(schema, key);
    if (known.includes(key)) kept[key] = part;
    else if (below !== undefined) kept[key] = pruneValue(part, below, here, onDrop, []);
    else if (keepsAll) kept[key] = part;
    else onDrop(here);
  }
  return kept;
}

/** The object with the defaults of its schema filled in, where the parent of the field exists. */
export function applyDefaults(object: JsonObject, schema: Schema): JsonObject {
  const filled = defaultValue(object, schema);
  return isObject(filled) ? filled : object;
}

function defaultValue(value: unknown, schema: Schema): unknown {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined ? value : value.map((item) => defaultValue(item, items));
  }
  if (!isObject(value)) return value;
  const filled: MutableJson = {};
  for (const [key, part] of Object.entries(value)) {
    const below = propertySchema(schema, key);
    // An explicit null of a field that may not be null counts as absent.
    if (part === null && below !== undefined && below.nullable !== true) continue;
    filled[key] = below === undefined ? part : defaultValue(part, below);
  }
  for (const [key, below] of Object.entries(schema.properties ?? {})) {
    if (filled[key] === undefined && below.default !== undefined) filled[key] = defaultValue(below.default, below);
  }
  return filled;
}
