/** Typed reading of the members of a JSON object that came over the wire; null is read as absent everywhere. */
import type { Carry, Json, Sec } from './rows.js';
import { parseTime } from './time.js';

/**
 * Why a status could not be decoded. `schema`: a member has the wrong JSON type or is missing. `value_domain`: the right type,
 * a value nobody may write. The others are about the encoding of the rows.
 */
export type DecodeReason =
  | 'representation_union'
  | 'unknown_encoding'
  | 'range_syntax'
  | 'range_order'
  | 'range_overflow'
  | 'canonical_order'
  | 'cardinality_limit'
  | 'coverage'
  | 'value_domain'
  | 'schema';

/** Ends the decoding of a whole status; `decodeStatus` turns it into its result, nobody else sees it. */
export class DecodeError extends Error {
  readonly reason: DecodeReason;

  constructor(reason: DecodeReason, message: string) {
    super(message);
    this.name = 'DecodeError';
    this.reason = reason;
  }
}

export type JsonObject = Readonly<Record<string, Json>>;

/** A wire object under construction. */
export type WireObject = Record<string, Json>;

/** Largest int32, the largest index there is. */
export const maxInt32 = 2_147_483_647;
const minInt32 = -2_147_483_648;
const noCarry: Carry = Object.freeze({});

/** A short rendering of a wire value for a message. */
export function shown(value: Json): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 57)}...` : text;
}

function wrongType(at: string, wanted: string, found: Json): DecodeError {
  return new DecodeError('schema', `${at} is ${shown(found)}, wanted ${wanted}`);
}

/** `value` as a JSON object. `at` is its path, for the message. */
export function objectOf(value: Json, at: string): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw wrongType(at, 'an object', value);
  return value as JsonObject;
}

export function optionalObject(raw: JsonObject, key: string, at: string): JsonObject | undefined {
  const value = raw[key] ?? undefined;
  return value === undefined ? undefined : objectOf(value, `${at}.${key}`);
}

/** The list in `key`; undefined when absent. */
export function optionalList(raw: JsonObject, key: string, at: string): readonly Json[] | undefined {
  const value = raw[key] ?? undefined;
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) throw wrongType(`${at}.${key}`, 'a list', value);
  return value;
}

/** Every item of the list in `key`, decoded; an absent list is empty. */
export function listOf<T>(
  raw: JsonObject,
  key: string,
  at: string,
  decode: (item: JsonObject, at: string) => T,
): readonly T[] {
  const items = optionalList(raw, key, at) ?? [];
  return items.map((item, position) => {
    const itemAt = `${at}.${key}[${position}]`;
    return decode(objectOf(item, itemAt), itemAt);
  });
}

/** The list of texts in `key`; an absent list is empty. */
export function textList(raw: JsonObject, key: string, at: string): readonly string[] {
  const items = optionalList(raw, key, at) ?? [];
  return items.map((item, position) => {
    if (typeof item !== 'string') throw wrongType(`${at}.${key}[${position}]`, 'a text', item);
    return item;
  });
}

/** The text in `key`; '' when absent. */
export function textOf(raw: JsonObject, key: string, at: string): string {
  const value = raw[key] ?? '';
  if (typeof value !== 'string') throw wrongType(`${at}.${key}`, 'a text', value);
  return value;
}

/** The text in `key`, which must be there and not be empty. */
export function requiredText(raw: JsonObject, key: string, at: string): string {
  const value = textOf(raw, key, at);
  if (value === '') throw new DecodeError('schema', `${at}.${key} is missing`);
  return value;
}

/** The text in `key`, which must be one of `values`. */
export function oneOf<T extends string>(raw: JsonObject, key: string, at: string, values: readonly T[]): T {
  const value = requiredText(raw, key, at);
  for (const known of values) if (known === value) return known;
  throw new DecodeError('value_domain', `${at}.${key} is ${shown(value)}, not one of ${values.join(', ')}`);
}

/** The truth value in `key`; false when absent. */
export function flagOf(raw: JsonObject, key: string, at: string): boolean {
  const value = raw[key] ?? false;
  if (typeof value !== 'boolean') throw wrongType(`${at}.${key}`, 'true or false', value);
  return value;
}

function notAnInteger(value: Json, at: string): DecodeError {
  if (typeof value !== 'number') return wrongType(at, 'an integer', value);
  const why = Number.isInteger(value) ? 'outside the integers that can be kept exactly' : 'not an integer';
  return new DecodeError('value_domain', `${at} is ${shown(value)}, ${why}`);
}

/**
 * The int64 in `key`; undefined when absent. JSON.parse has already rounded what lies outside the safe integers, so such a
 * number fails: writing it back would change it.
 */
export function optionalInteger(raw: JsonObject, key: string, at: string): number | undefined {
  const value = raw[key] ?? undefined;
  if (value === undefined || isSafeInteger(value)) return value;
  throw notAnInteger(value, `${at}.${key}`);
}

function isSafeInteger(value: Json): value is number {
  return Number.isSafeInteger(value);
}

function isInt32(value: Json): value is number {
  return isSafeInteger(value) && value >= minInt32 && value <= maxInt32;
}

function notAnInt32(value: Json, at: string): DecodeError {
  if (!isSafeInteger(value)) return notAnInteger(value, at);
  return new DecodeError('value_domain', `${at} is ${value}, outside the 32-bit integers`);
}

/** The int32 in `key`; undefined when absent. */
export function optionalInt32(raw: JsonObject, key: string, at: string): number | undefined {
  const value = raw[key] ?? undefined;
  if (value === undefined || isInt32(value)) return value;
  throw notAnInt32(value, `${at}.${key}`);
}

/** The list of int32 in `key`; undefined when absent. */
export function optionalInt32List(raw: JsonObject, key: string, at: string): readonly number[] | undefined {
  return optionalList(raw, key, at)?.map((item, position) => {
    if (isInt32(item)) return item;
    throw notAnInt32(item, `${at}.${key}[${position}]`);
  });
}

/** The int32 in `key`; 0 when absent. */
export function int32Of(raw: JsonObject, key: string, at: string): number {
  return optionalInt32(raw, key, at) ?? 0;
}

/** The int32 in `key`, which must be there. */
export function requiredInt32(raw: JsonObject, key: string, at: string): number {
  const value = optionalInt32(raw, key, at);
  if (value === undefined) throw new DecodeError('schema', `${at}.${key} is missing`);
  return value;
}

/** The time in `key`; undefined when absent. */
export function optionalTime(raw: JsonObject, key: string, at: string): Sec | undefined {
  const value = raw[key] ?? undefined;
  if (value === undefined) return undefined;
  if (typeof value !== 'string') throw wrongType(`${at}.${key}`, 'an RFC 3339 time', value);
  const seconds = parseTime(value);
  if (seconds === undefined) {
    throw new DecodeError('value_domain', `${at}.${key} is ${shown(value)}, not an RFC 3339 time`);
  }
  return seconds;
}

/** Like `T`, while it is being built. */
export type Building<T> = { -readonly [K in keyof T]: T[K] };

/** The members of `raw` that are not `known`, verbatim; null ones are left out. */
export function carryOf(raw: JsonObject, known: ReadonlySet<string>): Carry {
  let unknown: [string, Json][] | undefined;
  for (const key of Object.keys(raw)) {
    if (known.has(key) || (raw[key] ?? undefined) === undefined) continue;
    unknown ??= [];
    unknown.push([key, raw[key]]);
  }
  // Not by assignment: a key may be `__proto__`.
  return unknown === undefined ? noCarry : Object.fromEntries(unknown);
}

/** Like `carryOf`, but undefined when there is nothing to carry. */
export function optionalCarryOf(raw: JsonObject, known: ReadonlySet<string>): Carry | undefined {
  const carry = carryOf(raw, known);
  return carry === noCarry ? undefined : carry;
}

/** Whether nothing is carried. */
export function isEmpty(carry: Carry): boolean {
  return carry === noCarry || Object.keys(carry).length === 0;
}

/** `wire` and what was carried; a member that both have is that of `wire`. */
export function withCarry(wire: WireObject, carry: Carry = noCarry): WireObject {
  return isEmpty(carry) ? wire : { ...carry, ...wire };
}
