/** RFC 3339 times of the wire as whole seconds since the epoch, and back. */
import type { Sec } from './rows.js';

const secondsPerDay = 86_400;
/** The Gregorian calendar repeats after 400 years of this many days. */
const daysPerCycle = 146_097;
const earliest: Sec = -62_167_219_200; // 0000-01-01T00:00:00Z
const latest: Sec = 253_402_300_799; // 9999-12-31T23:59:59Z

/** The number written in `length` decimal digits at `from`; NaN when one of them is not a digit. */
function digits(text: string, from: number, length: number): number {
  let value = 0;
  for (let at = from; at < from + length; at += 1) {
    const digit = text.charCodeAt(at) - 48;
    if (!(digit >= 0 && digit <= 9)) return Number.NaN;
    value = value * 10 + digit;
  }
  return value;
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Seconds east of UTC of the zone that starts at `from` and ends the text; undefined when it is none. */
function zoneSeconds(text: string, from: number): number | undefined {
  const sign = text[from];
  if (sign === 'Z' || sign === 'z') return text.length === from + 1 ? 0 : undefined;
  if ((sign !== '+' && sign !== '-') || text.length !== from + 6 || text[from + 3] !== ':') return undefined;
  const hours = digits(text, from + 1, 2);
  const minutes = digits(text, from + 4, 2);
  if (!(hours <= 23 && minutes <= 59)) return undefined;
  return (sign === '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
}

/**
 * Seconds since the epoch of an RFC 3339 date-time with any zone; a fraction of a second is floored. `undefined` for any
 * other text, for a date that does not exist, for a leap second, and outside the years 0000 to 9999.
 */
export function parseTime(text: string): Sec | undefined {
  const year = digits(text, 0, 4);
  const month = digits(text, 5, 2);
  const day = digits(text, 8, 2);
  const hour = digits(text, 11, 2);
  const minute = digits(text, 14, 2);
  const second = digits(text, 17, 2);
  if (text[4] !== '-' || text[7] !== '-' || text[13] !== ':' || text[16] !== ':') return undefined;
  if (text[10] !== 'T' && text[10] !== 't') return undefined;
  if (!(month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month))) return undefined;
  if (!(hour <= 23 && minute <= 59 && second <= 59)) return undefined;

  let zoneAt = 19;
  if (text[zoneAt] === '.') {
    zoneAt += 1;
    while (!Number.isNaN(digits(text, zoneAt, 1))) zoneAt += 1;
    if (zoneAt === 20) return undefined;
  }
  const zone = zoneSeconds(text, zoneAt);
  if (zone === undefined) return undefined;

  // Date.UTC reads the years 0 to 99 as 1900 to 1999: compute one calendar cycle later and go back.
  const cycleLater = Date.UTC(year + 400, month - 1, day, hour, minute, second) / 1000;
  const seconds = cycleLater - daysPerCycle * secondsPerDay - zone;
  return seconds >= earliest && seconds <= latest ? seconds : undefined;
}

/**
 * RFC 3339 in UTC with whole seconds: `2026-11-30T18:47:05Z`.
 * @throws RangeError when `seconds` is not an integer within the years 0000 to 9999: such a time can't be written.
 */
export function formatTime(seconds: Sec): string {
  if (!Number.isInteger(seconds) || seconds < earliest || seconds > latest) {
    throw new RangeError(`${seconds} is not a whole second within the years 0000 to 9999`);
  }
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
}
