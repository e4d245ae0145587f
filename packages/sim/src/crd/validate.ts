/** Checks an object against its structural schema, with the messages an API server gives. */

import type { FieldError } from '../api/errors.js';
import { equal, isObject, type JsonObject } from '../base/json.js';
import { parseRfc3339 } from '../base/time.js';
import { propertySchema, type Schema } from './schema.js';

/**
 * The broken rules of `value`. On an update `old` is the stored value: a part that did not change is not checked again,
 * so that a stricter schema does not lock old objects.
 */
export function validateSchema(value: unknown, schema: Schema, path: string, old: unknown): readonly FieldError[] {
  const errors: FieldError[] = [];
  check(value, schema, path, old, errors);
  return errors;
}

function check(value: unknown, schema: Schema, path: string, old: unknown, errors: FieldError[]): void {
  if (old !== undefined && equal(value, old)) return;
  if (value === null && schema.nullable === true) return;
  const wrong = typeFault(value, schema);
  if (wrong !== undefined) {
    errors.push({
      field: path,
      type: 'TypeInvalid',
      value: wrong.found,
      detail: `${path} in body must be of type ${wrong.wanted}: ${JSON.stringify(wrong.found)}`,
    });
    return;
  }
  if (schema.enum !== undefined && !schema.enum.some((choice) => equal(choice, value))) {
    const choices = schema.enum.map((choice) => JSON.stringify(choice)).join(', ');
    errors.push({ field: path, type: 'Unsupported', value, detail: `supported values: ${choices}` });
  }
  if (typeof value === 'string') checkText(value, schema, path, errors);
  else if (typeof value === 'number') checkNumber(value, schema, path, errors);
  else if (Array.isArray(value)) checkList(value, schema, path, old, errors);
  else if (isObject(value)) checkObject(value, schema, path, old, errors);
  checkCombined(value, schema, path, errors);
}

function typeFault(value: unknown, schema: Schema): { readonly found: string; readonly wanted: string } | undefined {
  const found = typeName(value);
  if (schema['x-kubernetes-int-or-string'] === true) {
    const fits = found === 'string' || (found === 'number' && Number.isInteger(value)) || found === 'integer';
    return fits ? undefined : { found, wanted: 'integer,string' };
  }
  if (schema.type === undefined || schema.type === found) return undefined;
  if (schema.type === 'number' && found === 'integer') return undefined;
  return { found, wanted: schema.type };
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function checkText(value: string, schema: Schema, path: string, errors: FieldError[]): void {
  const { minLength, maxLength, pattern, format } = schema;
  const add = (detail: string): void => {
    errors.push({ field: path, type: 'Invalid', value, detail: `${path} in body ${detail}` });
  };
  if (maxLength !== undefined && value.length > maxLength) {
    errors.push({ field: path, type: 'TooLong', detail: `may not be more than ${maxLength} bytes` });
  }
  if (minLength !== undefined && value.length < minLength) add(`should be at least ${minLength} chars long`);
  if (pattern !== undefined && !regExp(pattern).test(value)) add(`should match '${pattern}'`);
  if (format === 'date-time' && parseRfc3339(value) === undefined) {
    add(`must be of type date-time: ${JSON.stringify(value)}`);
  }
}

const patterns = new Map<string, RegExp>();

function regExp(pattern: string): RegExp {
  let compiled = patterns.get(pattern);
  if (compiled === undefined) {
    compiled = new RegExp(pattern);
    patterns.set(pattern, compiled);
  }
  return compiled;
}

function checkNumber(value: number, schema: Schema, path: string, errors: FieldError[]): void {
  const { minimum, maximum, multipleOf } = schema;
  const add = (detail: string): void => {
    errors.push({ field: path, type: 'Invalid', value, detail: `${path} in body ${detail}` });
  };
  if (minimum !== undefined && (schema.exclusiveMinimum === true ? value <= minimum : value < minimum)) {
    add(`should be greater than ${schema.exclusiveMinimum === true ? '' : 'or equal to '}${minimum}`);
  }
  if (maximum !== undefined && (schema.exclusiveMaximum === true ? value >= maximum : value > maximum)) {
    add(`should be less than ${schema.exclusiveMaximum === true ? '' : 'or equal to '}${maximum}`);
  }
  if (multipleOf !== undefined && value % multipleOf !== 0) add(`should be a multiple of ${multipleOf}`);
  if (schema.format === 'int32' && (value > 2_147_483_647 || value < -2_147_483_648)) {
    add(`must be of type int32: ${JSON.stringify(String(value))}`);
  }
}

function checkList(value: readonly unknown[], schema: Schema, path: string, old: unknown, errors: FieldError[]): void {
  const { minItems, maxItems, items } = schema;
  if (maxItems !== undefined && value.length > maxItems) {
    errors.push({ field: path, type: 'TooMany', detail: `${value.length}: must have at most ${maxItems} items` });
  }
  if (minItems !== undefined && value.length < minItems) {
    const detail = `${path} in body should have at least ${minItems} items`;
    errors.push({ field: path, type: 'Invalid', value: value.length, detail });
  }
  checkDuplicates(value, schema, path, errors);
  if (items === undefined) return;
  const before = itemsByKey(old, schema);
  value.forEach((item, i) => {
    check(item, items, `${path}[${i}]`, before?.get(listKey(item, schema)), errors);
  });
}

/** The items of a list-map by key: how an item of the new list finds its old self. */
export function itemsByKey(list: unknown, schema: Schema): ReadonlyMap<string, unknown> | undefined {
  if (!Array.isArray(list) || schema['x-kubernetes-list-type'] !== 'map') return undefined;
  return new Map(list.map((item) => [listKey(item, schema), item]));
}

/** The key of an item among those of its list-map, as text. */
export function listKey(item: unknown, schema: Schema): string {
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  return JSON.stringify(keys.map((key) => (isObject(item) ? (item[key] ?? null) : null)));
}

function checkDuplicates(value: readonly unknown[], schema: Schema, path: string, errors: FieldError[]): void {
  const type = schema['x-kubernetes-list-type'];
  if (type !== 'map' && type !== 'set') return;
  const seen = new Set<string>();
  value.forEach((item, i) => {
    const key = type === 'map' ? listKey(item, schema) : JSON.stringify(item);
    if (!seen.has(key)) {
      seen.add(key);
      return;
    }
    const shown = type === 'map' ? keyObject(item, schema) : item;
    errors.push({ field: `${path}[${i}]`, type: 'Duplicate', value: shown, detail: '' });
  });
}

function keyObject(item: unknown, schema: Schema): JsonObject {
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  return Object.fromEntries(keys.map((key) => [key, isObject(item) ? item[key] : undefined]));
}

function checkObject(value: JsonObject, schema: Schema, path: string, old: unknown, errors: FieldError[]): void {
  const prefix = path === '' ? '' : `${path}.`;
  for (const key of schema.required ?? []) {
    if (value[key] === undefined) errors.push({ field: `${prefix}${key}`, type: 'Required', detail: '' });
  }
  const size = Object.keys(value).length;
  if (schema.maxProperties !== undefined && size > schema.maxProperties) {
    const detail = `${size}: must have at most ${schema.maxProperties} items`;
    errors.push({ field: path, type: 'TooMany', detail });
  }
  if (schema.minProperties !== undefined && size < schema.minProperties) {
    const detail = `${path} in body should have at least ${schema.minProperties} properties`;
    errors.push({ field: path, type: 'Invalid', value: size, detail });
  }
  for (const [key, part] of Object.entries(value)) {
    const below = propertySchema(schema, key);
    if (below === undefined) continue;
    check(part, below, `${prefix}${key}`, isObject(old) ? old[key] : undefined, errors);
  }
}

function checkCombined(value: unknown, schema: Schema, path: string, errors: FieldError[]): void {
  const passes = (part: Schema): boolean => validateSchema(value, part, path, undefined).length === 0;
  const add = (detail: string): void => {
    errors.push({
      field: path === '' ? '<nil>' : path,
      type: 'Invalid',
      value: '',
      detail: `${JSON.stringify(path)} ${detail}`,
    });
  };
  for (const part of schema.allOf ?? []) errors.push(...validateSchema(value, part, path, undefined));
  if (schema.anyOf !== undefined && !schema.anyOf.some(passes)) add('must validate at least one schema (anyOf)');
  if (schema.oneOf !== undefined) {
    const count = schema.oneOf.filter(passes).length;
    if (count !== 1) add('must validate one and only one schema (oneOf)');
  }
  if (schema.not !== undefined && passes(schema.not)) add('must not validate the schema (not)');
}
