/** Makes an object with every field of a schema, to show that what a schema names is stored as it was written. */
import type { StructuralSchema } from '@omenative/api';

/** How an example differs from "everything at once", where fields exclude each other. Paths are as in `fieldsOf`. */
export interface Variation {
  readonly omit?: readonly string[];
  readonly values?: Readonly<Record<string, unknown>>;
}

/** Text that meets a pattern, by the beginning of the pattern. */
const patterned: readonly (readonly [string, string])[] = [
  ['^(0|[1-9]', '0-2,4'],
  ['^[a-f0-9]{64}', 'a'.repeat(64)],
  ['^/', '/healthz'],
  ['^[A-Za-z0-9](', 'kv-v1'],
  ['^[A-Za-z](', 'AllGood'],
  ['^([a-z0-9](', 'Ready'],
];

/** Every field below `path`, as `spec.runners[].name` and `spec.model.labels{}`. */
export function* fieldsOf(schema: StructuralSchema, path: string): Generator<string> {
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    yield `${path}.${key}`;
    yield* fieldsOf(property, `${path}.${key}`);
  }
  if (schema.items) yield* fieldsOf(schema.items, `${path}[]`);
  if (schema.additionalProperties) yield* fieldsOf(schema.additionalProperties, `${path}{}`);
}

/** A valid value with every field but the omitted ones; adds the paths it uses to `used`. */
export function exampleOf(schema: StructuralSchema, path: string, variation: Variation, used: Set<string>): unknown {
  if (variation.values && Object.hasOwn(variation.values, path)) return variation.values[path];
  if (schema.enum) return schema.enum.find((value) => value !== '');
  if (schema.pattern !== undefined && schema.type === 'string') return textFor(schema.pattern);
  if (schema['x-kubernetes-int-or-string']) return schema.pattern === undefined ? '25%' : '500m';
  switch (schema.type ?? 'object') {
    case 'string':
      return schema.format === 'date-time' ? '2026-01-02T15:04:05Z' : '30s';
    case 'integer':
    case 'number':
      return schema.minimum ?? 1;
    case 'boolean':
      return true;
    case 'array':
      return schema.items ? [exampleOf(schema.items, `${path}[]`, variation, used)] : [];
    case 'object':
      return exampleObject(schema, path, variation, used);
  }
}

function exampleObject(schema: StructuralSchema, path: string, variation: Variation, used: Set<string>): unknown {
  const result: Record<string, unknown> = {};
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    const at = `${path}.${key}`;
    if (variation.omit?.includes(at)) continue;
    used.add(at);
    result[key] = exampleOf(property, at, variation, used);
  }
  if (schema.additionalProperties) {
    result['free-key'] = exampleOf(schema.additionalProperties, `${path}{}`, variation, used);
  }
  if (schema['x-kubernetes-preserve-unknown-fields']) result['notInTheSchema'] = { kept: [1, 'two', { three: null }] };
  return result;
}

function textFor(pattern: string): string {
  const found = patterned.find(([start]) => pattern.startsWith(start));
  if (!found) throw new Error(`example.ts has no text for the pattern ${pattern}`);
  return found[1];
}
