/** Checks a single value, one without parts, against its schema. */
import type { StructuralSchema } from './schema.js';

/** What is wrong with a value that is neither object, list nor null; undefined when nothing is. */
export function scalarProblem(schema: StructuralSchema, value: unknown): string | undefined {
  if (schema['x-kubernetes-int-or-string']) return intOrStringProblem(schema, value);
  const { type } = schema;
  if (type === 'string') return stringProblem(schema, value);
  if (type === 'integer' || type === 'number') return numberProblem(schema, value);
  if (type === 'boolean' && typeof value !== 'boolean') return `must be true or false, not ${shown(value)}`;
  return undefined;
}

/** What one writes for a schema: "a number", "text". */
export function expected(schema: StructuralSchema): string {
  if (schema['x-kubernetes-int-or-string']) return 'a number or text';
  return nouns[schema.type ?? 'object'];
}

const nouns = {
  object: 'an object',
  array: 'a list',
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
} as const;

/** A value as JSON, cut to a length that fits a message. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 64 ? `${text.slice(0, 61)}...` : text;
}

function stringProblem(schema: StructuralSchema, value: unknown): string | undefined {
  if (typeof value !== 'string') return `must be text, not ${shown(value)}`;
  if (schema.enum && !schema.enum.includes(value)) {
    return `must be one of ${schema.enum.map((one) => `"${one}"`).join(', ')}, not ${shown(value)}`;
  }
  const length = codePoints(value);
  if (schema.minLength !== undefined && length < schema.minLength) {
    return schema.minLength === 1 ? 'must not be empty' : `must have at least ${schema.minLength} characters`;
  }
  if (schema.maxLength !== undefined && length > schema.maxLength) {
    return `may have ${schema.maxLength} characters, not ${length}`;
  }
  if (schema.format === 'date-time' && !rfc3339.test(value)) {
    return `must be a time such as 2026-01-02T15:04:05Z, not ${shown(value)}`;
  }
  return patternProblem(schema, value);
}

const rfc3339 = /^\d{4}-\d{2}-\d{2}t\d{2}:\d{2}:\d{2}(\.\d+)?(z|[+-]\d{2}:\d{2})$/i;

/** Length as the API server counts it. */
function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count++;
  return count;
}

function numberProblem(schema: StructuralSchema, value: unknown): string | undefined {
  if (typeof value !== 'number') return `must be a number, not ${shown(value)}`;
  if (schema.type === 'integer' && !Number.isInteger(value)) return `must be a whole number, not ${value}`;
  if (schema.format === 'int32' && (value < -(2 ** 31) || value >= 2 ** 31))
    return `must fit into 32 bits, not ${value}`;
  if (schema.minimum !== undefined && value < schema.minimum) return `must be at least ${schema.minimum}, not ${value}`;
  if (schema.maximum !== undefined && value > schema.maximum) return `must be at most ${schema.maximum}, not ${value}`;
  return undefined;
}

function intOrStringProblem(schema: StructuralSchema, value: unknown): string | undefined {
  if (typeof value === 'string') return patternProblem(schema, value);
  return Number.isInteger(value) ? undefined : `must be a whole number or text, not ${shown(value)}`;
}

const compiled = new Map<string, RegExp>();

function patternProblem({ pattern }: StructuralSchema, value: string): string | undefined {
  if (pattern === undefined) return undefined;
  let expression = compiled.get(pattern);
  if (!expression) {
    expression = new RegExp(pattern);
    compiled.set(pattern, expression);
  }
  return expression.test(value) ? undefined : `must match ${pattern}, and ${shown(value)} does not`;
}
