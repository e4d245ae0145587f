/**
 * Checks an object against the schema of its kind as the API server does, CEL rules excepted: what a controller reads may
 * have been stored under an older schema, and what it writes should be right before it is sent.
 */
import type { Kind } from '../generated/types.js';
import { schemaOf } from './lookup.js';
import { expected, scalarProblem, shown } from './scalars.js';
import type { StructuralSchema } from './schema.js';

/** One thing that is wrong. */
export interface FieldProblem {
  /** Where: `spec.runners[0].size`. Empty for the object as a whole. */
  readonly path: string;
  /** What is wrong and what is expected; for people. */
  readonly message: string;
}

/** More than this many problems tell nobody more. */
const maxProblems = 20;

type Problems = Generator<FieldProblem, void>;
type Fields = Readonly<Record<string, unknown>>;

/** The problems of an object of `kind`, at most 20 of them; empty when it is fine. */
export function validate(kind: Kind, object: unknown): readonly FieldProblem[] {
  const problems: FieldProblem[] = [];
  for (const problem of problemsOf(withRequiredSpec(schemaOf(kind)), object, '')) {
    problems.push(problem);
    if (problems.length === maxProblems) break;
  }
  return problems;
}

/** One line for a condition or an event: `spec.replicas: must be at least 0, not -1`. */
export function describeProblems(problems: readonly FieldProblem[]): string {
  return problems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; ');
}

/** The CRD asks for a spec by a rule, so that stored objects without one can still be deleted. */
function withRequiredSpec(schema: StructuralSchema): StructuralSchema {
  return { ...schema, required: ['spec'] };
}

function* problemsOf(schema: StructuralSchema, value: unknown, path: string): Problems {
  if (value === null) {
    if (!schema.nullable) yield { path, message: `must not be null; leave it out or write ${expected(schema)}` };
  } else if (schema.type === 'object') {
    yield* isObject(value) ? objectProblems(schema, value, path) : wrongType(schema, value, path);
  } else if (schema.type === 'array') {
    yield* Array.isArray(value) ? listProblems(schema, value, path) : wrongType(schema, value, path);
  } else {
    const message = scalarProblem(schema, value);
    if (message !== undefined) yield { path, message };
  }
}

function* wrongType(schema: StructuralSchema, value: unknown, path: string): Problems {
  yield { path, message: `must be ${expected(schema)}, not ${shown(value)}` };
}

function* objectProblems(schema: StructuralSchema, value: Fields, path: string): Problems {
  const keys = Object.keys(value).filter((key) => value[key] !== undefined);
  for (const name of schema.required ?? []) {
    if (!keys.includes(name)) yield { path: join(path, name), message: 'is required' };
  }
  if (schema.maxProperties !== undefined && keys.length > schema.maxProperties) {
    yield { path, message: `may have ${schema.maxProperties} entries, not ${keys.length}` };
  }
  const { properties = {}, additionalProperties } = schema;
  for (const key of keys) {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (property) yield* problemsOf(property, value[key], join(path, key));
    else if (additionalProperties) yield* problemsOf(additionalProperties, value[key], `${path}[${key}]`);
    else if (schema.properties && !schema['x-kubernetes-preserve-unknown-fields']) {
      yield { path: join(path, key), message: 'is not a field here; check its spelling' };
    }
  }
}

function* listProblems(schema: StructuralSchema, value: readonly unknown[], path: string): Problems {
  const { items, minItems, maxItems } = schema;
  if (minItems !== undefined && value.length < minItems) {
    yield { path, message: `must have at least ${minItems} items, not ${value.length}` };
  }
  if (maxItems !== undefined && value.length > maxItems) {
    yield { path, message: `may have ${maxItems} items, not ${value.length}` };
  }
  if (items) for (const [index, item] of value.entries()) yield* problemsOf(items, item, `${path}[${index}]`);
  yield* repeats(schema, value, path);
}

function* repeats(schema: StructuralSchema, value: readonly unknown[], path: string): Problems {
  const listType = schema['x-kubernetes-list-type'];
  if (listType !== 'set' && listType !== 'map') return;
  const seen = new Set<string>();
  for (const [index, item] of value.entries()) {
    const identity = listType === 'set' ? JSON.stringify(item) : identityOf(schema, item);
    if (seen.has(identity)) yield { path: `${path}[${index}]`, message: `repeats ${identity}; keep one of them` };
    seen.add(identity);
  }
}

/** `name "a"`: the key fields of a list item and their values, defaults included. */
function identityOf(list: StructuralSchema, item: unknown): string {
  const fields = isObject(item) ? item : {};
  return (list['x-kubernetes-list-map-keys'] ?? [])
    .map((key) => `${key} ${JSON.stringify(fields[key] ?? list.items?.properties?.[key]?.default)}`)
    .join(', ');
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`;
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
