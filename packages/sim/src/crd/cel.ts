/** The CEL rules of a schema (`x-kubernetes-validations`), transition rules included. */

import { Environment } from '@marcbachmann/cel-js';
import type { FieldError } from '../api/errors.js';
import { equal, isObject, type MutableJson } from '../base/json.js';
import { propertySchema, type Schema, type ValidationRule } from './schema.js';
import { itemsByKey, listKey } from './validate.js';

type Program = (context: Record<string, unknown>) => unknown;

/** The broken rules of `value`. `old` is the stored value, undefined at create. */
export function validateRules(value: unknown, schema: Schema, path: string, old: unknown): readonly FieldError[] {
  if (!hasRules(schema)) return [];
  const errors: FieldError[] = [];
  check(value, schema, path, old, errors);
  return errors;
}

const withRules = new WeakMap<Schema, boolean>();

/** True when the schema, or a part of it, has rules. */
export function hasRules(schema: Schema): boolean {
  let known = withRules.get(schema);
  if (known === undefined) {
    const below = [...Object.values(schema.properties ?? {}), schema.items, schema.additionalProperties];
    known =
      (schema['x-kubernetes-validations'] ?? []).length > 0 ||
      below.some((part) => typeof part === 'object' && hasRules(part));
    withRules.set(schema, known);
  }
  return known;
}

function check(value: unknown, schema: Schema, path: string, old: unknown, errors: FieldError[]): void {
  if (value === undefined || value === null || !hasRules(schema)) return;
  if (old !== undefined && equal(value, old)) return;
  for (const rule of schema['x-kubernetes-validations'] ?? []) {
    const error = checkRule(rule, value, schema, path, old);
    if (error !== undefined) errors.push(error);
  }
  if (Array.isArray(value)) {
    const { items } = schema;
    if (items === undefined) return;
    const before = itemsByKey(old, schema);
    value.forEach((item, i) => {
      check(item, items, `${path}[${i}]`, before?.get(listKey(item, schema)), errors);
    });
    return;
  }
  if (!isObject(value)) return;
  for (const [key, part] of Object.entries(value)) {
    const below = propertySchema(schema, key);
    if (below === undefined) continue;
    const here = schema.properties?.[key] === undefined ? `${path}[${key}]` : path === '' ? key : `${path}.${key}`;
    check(part, below, here, isObject(old) ? old[key] : undefined, errors);
  }
}

function checkRule(
  rule: ValidationRule,
  value: unknown,
  schema: Schema,
  path: string,
  old: unknown,
): FieldError | undefined {
  const transition = /\boldSelf\b/.test(rule.rule);
  if (transition && old === undefined && rule.optionalOldSelf !== true) return undefined;
  const context: Record<string, unknown> = { self: celValue(value, schema) };
  if (transition) {
    context['oldSelf'] = oldSelf(rule, schema, old);
    context[OLD_VALUE] = celValue(old, schema);
  }
  const field = rule.fieldPath === undefined ? path : `${path}${rule.fieldPath}`;
  const shown = schema.type ?? typeof value;
  try {
    if (program(rule.rule)(context) === true) return undefined;
    return { field: field === '' ? '<nil>' : field, type: errorType(rule), value: shown, detail: text(rule, context) };
  } catch (cause) {
    const why = cause instanceof Error ? (cause.message.split('\n')[0] ?? '') : String(cause);
    return { field, type: 'Invalid', value: shown, detail: `${why} evaluating rule: ${text(rule, context)}` };
  }
}

function oldSelf(rule: ValidationRule, schema: Schema, old: unknown): unknown {
  if (rule.optionalOldSelf !== true) return celValue(old, schema);
  return old === undefined ? NONE() : OF(celValue(old, schema));
}

const ERROR_TYPES: Readonly<Record<string, FieldError['type']>> = {
  FieldValueForbidden: 'Forbidden',
  FieldValueRequired: 'Required',
  FieldValueDuplicate: 'Duplicate',
};

function errorType(rule: ValidationRule): FieldError['type'] {
  return ERROR_TYPES[rule.reason ?? ''] ?? 'Invalid';
}

function text(rule: ValidationRule, context: Record<string, unknown>): string {
  if (rule.messageExpression !== undefined) {
    try {
      const message = program(rule.messageExpression)(context);
      if (typeof message === 'string' && message !== '') return message;
    } catch {
      // A message that can't be computed falls back to the fixed one, as in the real server.
    }
  }
  return rule.message ?? `failed rule: ${rule.rule}`;
}

const environment = new Environment({
  unlistedVariablesAreDyn: true,
  homogeneousAggregateLiterals: false,
  enableOptionalTypes: true,
});
const programs = new Map<string, Program>();
/** The library's `has` looks into variables only, not into what a call gives back: the call gets a name. */
const OLD_VALUE = 'oldSelfValue';

function program(rule: string): Program {
  let compiled = programs.get(rule);
  if (compiled === undefined) {
    compiled = environment.parse(rule.replaceAll('oldSelf.value()', OLD_VALUE));
    programs.set(rule, compiled);
  }
  return compiled;
}

const NONE = (): unknown => program('optional.none()')({});
const OF = (value: unknown): unknown => program('optional.of(value)')({ value });

/** The value as CEL sees it: whole numbers as BigInt where the schema says integer, names escaped. */
function celValue(value: unknown, schema: Schema | undefined): unknown {
  if (typeof value === 'number') {
    const whole = schema?.type === 'integer' || (schema?.type !== 'number' && Number.isInteger(value));
    return whole ? BigInt(value) : value;
  }
  if (Array.isArray(value)) return value.map((item) => celValue(item, schema?.items));
  if (!isObject(value)) return value;
  const copy: MutableJson = {};
  for (const [key, part] of Object.entries(value)) {
    const declared = schema?.properties?.[key];
    const below = declared ?? (schema === undefined ? undefined : propertySchema(schema, key));
    copy[declared === undefined ? key : escapeName(key)] = celValue(part, below);
  }
  return copy;
}

const RESERVED = new Set(
  `true false null in as break const continue else for function if import let loop package namespace return var void
  while`.split(/\s+/),
);

const escaped = new Map<string, string>();

function escapeName(name: string): string {
  let result = escaped.get(name);
  if (result === undefined) {
    result = escapeAnew(name);
    escaped.set(name, result);
  }
  return result;
}

function escapeAnew(name: string): string {
  if (RESERVED.has(name)) return `__${name}__`;
  return name
    .replaceAll('__', '__underscores__')
    .replaceAll('.', '__dot__')
    .replaceAll('-', '__dash__')
    .replaceAll('/', '__slash__');
}
