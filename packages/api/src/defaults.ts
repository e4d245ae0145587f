/** Fills in the defaults of a schema as the API server does when it stores an object. */
import { schemaOf } from './crds/lookup.js';
import type { StructuralSchema } from './crds/schema.js';
import type { Kind, Kinds } from './generated/types.js';

/**
 * The object with every absent field that has a default. Only what a schema defaults is added; parts that stay the same are
 * shared with the argument, which is returned itself when nothing was absent.
 */
export function applyDefaults<K extends Kind>(kind: K, object: Kinds[K]): Kinds[K] {
  return filled(schemaOf(kind), object) as Kinds[K];
}

function filled(schema: StructuralSchema, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !hasDefaults(schema)) return value;
  if (Array.isArray(value)) {
    const { items } = schema;
    if (!items) return value;
    const result = value.map((item: unknown) => filled(items, item));
    return result.some((item, index) => item !== value[index]) ? result : value;
  }
  return filledObject(schema, value as Readonly<Record<string, unknown>>);
}

function filledObject(schema: StructuralSchema, value: Readonly<Record<string, unknown>>): unknown {
  const changes: Record<string, unknown> = {};
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    const present = Object.hasOwn(value, key) ? value[key] : undefined;
    // A null is as good as absent where null is not a value and there is a default.
    const absent = present === undefined || (present === null && !property.nullable && property.default !== undefined);
    const next = absent ? property.default : filled(property, present);
    if (next !== present) changes[key] = next;
  }
  const { additionalProperties } = schema;
  if (additionalProperties) {
    for (const [key, present] of Object.entries(value)) {
      const next = filled(additionalProperties, present);
      if (next !== present) changes[key] = next;
    }
  }
  return Object.keys(changes).length === 0 ? value : { ...value, ...changes };
}

const known = new WeakMap<StructuralSchema, boolean>();

/** Whether anything below a schema has a default: most of an object need not be looked at. */
function hasDefaults(schema: StructuralSchema): boolean {
  const before = known.get(schema);
  if (before !== undefined) return before;
  const below = [...Object.values(schema.properties ?? {}), schema.additionalProperties, schema.items];
  const result = below.some((part) => part && (part.default !== undefined || hasDefaults(part)));
  known.set(schema, result);
  return result;
}
