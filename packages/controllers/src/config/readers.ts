/** Readers of single values: JSON in, a value in the unit of the code out, or an error that says what to write instead. */
import type { IntOrPercent } from '@omenative/engine';
import { parseDurationMs } from '../shared/duration.js';
import { isRecord } from '../shared/json.js';

/** A value that cannot be used. The message is a sentence about the value, without the key. */
export class ValueError extends Error {
  override readonly name = 'ValueError';
}

/** Reads one value; undefined means that it is not set. */
export type Reader<T> = (value: unknown) => T | undefined;

/** Absent, null and empty text count as not set, whatever the type. */
export function optional<T>(read: (value: unknown) => T | undefined): Reader<T> {
  return (value) => (value === undefined || value === null || value === '' ? undefined : read(value));
}

/** Whole seconds, rounded up; zero counts as not set, because a limit of nothing is no limit that anyone wants. */
export const durationSec: Reader<number> = optional((value) => {
  const ms = durationMs(value);
  return ms === undefined ? undefined : Math.ceil(ms / 1000);
});

/** Milliseconds; zero counts as not set. */
export const durationMs: Reader<number> = optional((value) => {
  const ms = parse(value);
  if (ms < 0)
    throw new ValueError(`${show(value)} is negative: write a positive duration, or leave it out to turn it off`);
  return ms === 0 ? undefined : ms;
});

export function integer(min: number): Reader<number> {
  return optional((value) => {
    if (typeof value !== 'number' || !Number.isSafeInteger(value))
      throw new ValueError(`${show(value)} is not a whole number`);
    if (value < min) throw new ValueError(`must be >= ${min}, got ${value}`);
    return value;
  });
}

export function oneOf<const T extends string>(...allowed: readonly T[]): Reader<T> {
  return optional((value) => {
    const found = allowed.find((candidate) => candidate === value);
    if (found === undefined) throw new ValueError(`must be ${allowed.join(' or ')}, got ${show(value)}`);
    return found;
  });
}

export const boolean: Reader<boolean> = optional((value) => {
  if (typeof value !== 'boolean') throw new ValueError(`${show(value)} is not true or false`);
  return value;
});

/** A positive count, or a percentage from 1% to 100%. */
export const countOrPercent: Reader<IntOrPercent> = optional((value) => {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value;
  if (typeof value === 'string' && /^(?:100|[1-9][0-9]?)%$/.test(value)) return value;
  throw new ValueError(`must be a count above 0 or a percentage from 1% to 100%, got ${show(value)}`);
});

/** A count from 0, or a percentage from 0% to 100%. */
export const budget: Reader<IntOrPercent> = optional((value) => {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  if (typeof value === 'string' && /^(?:100|[1-9]?[0-9])%$/.test(value)) return value;
  throw new ValueError(`must be a non-negative integer or a percentage from 0% to 100%, got ${show(value)}`);
});

export const names: Reader<readonly string[]> = optional((value) => {
  if (
    !Array.isArray(value) ||
    !value.every((name) => typeof name === 'string' && name !== '' && name.trim() === name)
  ) {
    throw new ValueError(`${show(value)} is not a list of names without surrounding whitespace`);
  }
  return value as readonly string[];
});

interface Member<T> {
  /** Its name in the document. */
  readonly name: string;
  readonly read: Reader<T>;
}

type Group<T> = { readonly [K in keyof T]: Member<T[K]> };

/** An object whose members only make sense together: absent as a whole, or every member set. */
export function group<T extends object>(
  members: Group<T>,
  check: (value: T) => string | undefined = () => undefined,
): Reader<T> {
  return optional((value) => {
    if (!isRecord(value)) throw new ValueError(`${show(value)} is not an object`);
    const entries = Object.entries<Member<unknown>>(members);
    const read = entries.map(
      ([key, member]) => [key, member.name, readMember(member.name, member.read, value)] as const,
    );
    if (read.every(([, name]) => value[name] === undefined || value[name] === null)) return undefined;
    const missing = read.filter(([, , found]) => found === undefined).map(([, name]) => name);
    if (missing.length > 0) throw new ValueError(`needs ${missing.join(' and ')} too`);
    const whole = Object.fromEntries(read.map(([key, , found]) => [key, found])) as T;
    const complaint = check(whole);
    if (complaint !== undefined) throw new ValueError(complaint);
    return whole;
  });
}

function readMember(name: string, read: Reader<unknown>, object: Readonly<Record<string, unknown>>): unknown {
  try {
    return read(object[name]);
  } catch (error) {
    if (error instanceof ValueError) throw new ValueError(`${name}: ${error.message}`);
    throw error;
  }
}

/** A bare number is refused: nobody can tell whether `30` means seconds, minutes or nanoseconds. */
function parse(value: unknown): number {
  if (typeof value === 'number') throw new ValueError(`${value} has no unit: write it as text, such as "${value}s"`);
  const ms = typeof value === 'string' ? parseDurationMs(value) : undefined;
  if (ms !== undefined) return ms;
  if (typeof value === 'string' && /^[0-9]+$/.test(value))
    throw new ValueError(`"${value}" has no unit: write "${value}s"`);
  throw new ValueError(`${show(value)} is not a duration such as "30s", "15m" or "1h30m"`);
}

/** A value as it stands in the document. */
export function show(value: unknown): string {
  return JSON.stringify(value) ?? String(value);
}
