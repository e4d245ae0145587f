/** JSON values: freezing, comparing and reading them. Everything the simulated cluster stores is deeply frozen. */

/** A JSON object whose shape is not known. */
export interface JsonObject {
  readonly [key: string]: unknown;
}

/** A JSON object under construction. */
export interface MutableJson {
  [key: string]: unknown;
}

/** True for a JSON object: not null, not a list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** True for a JSON list. */
export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

/** The value as an object, or an empty one. */
export function asObject(value: unknown): JsonObject {
  return isObject(value) ? value : EMPTY;
}

/** The value as a list, or an empty one. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : NONE;
}

/** The value as text, or an empty one. */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

const EMPTY: JsonObject = Object.freeze({});
const NONE: readonly unknown[] = Object.freeze([]);

/** Freezes a value all the way down and returns it. A frozen part is taken to be frozen below as well. */
export function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const part of Object.values(value)) freeze(part);
  return Object.freeze(value);
}

/**
 * A deep copy as the wire would make it: keys whose value is undefined are left out, undefined list items become null.
 * The copy is not frozen.
 */
export function wireCopy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => (item === undefined ? null : wireCopy(item)));
  if (typeof value !== 'object' || value === null) return value;
  const copy: MutableJson = {};
  for (const [key, part] of Object.entries(value)) {
    if (part !== undefined) copy[key] = wireCopy(part);
  }
  return copy;
}

/** Deep equality of JSON values; the order of keys does not matter. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => equal(item, b[i]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && equal(a[key], b[key]));
}

/** The value under a path of keys, or undefined. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let here: unknown = value;
  for (const key of path) {
    if (Array.isArray(here) && typeof key === 'number') here = here[key];
    else if (isObject(here)) here = here[key];
    else return undefined;
  }
  return here;
}

/** A copy of `object` with the value at `path` replaced, or removed when `value` is undefined. Missing parents appear. */
export function withAt(object: unknown, path: readonly string[], value: unknown): JsonObject {
  const [key, ...rest] = path;
  const copy: MutableJson = { ...asObject(object) };
  if (key === undefined) return asObject(value);
  const next = rest.length === 0 ? value : withAt(copy[key], rest, value);
  if (next === undefined) delete copy[key];
  else copy[key] = next;
  return copy;
}

/** A copy of `object` without one key. */
export function without(object: JsonObject, key: string): JsonObject {
  if (!Object.hasOwn(object, key)) return object;
  const copy: MutableJson = { ...object };
  delete copy[key];
  return copy;
}

/** Text order by UTF-16 code units, which no locale changes. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
