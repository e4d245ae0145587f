/** RFC 3339 times of the wire as whole seconds since the epoch, and back. */
import type { Sec } from './rows.js';

const secondsPerDay = 86_400;
/** Days from 0000-01-01 to the epoch. */
const epochDay = 719_528;
/** Days of a common year before each month. */
const daysBefore = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334] as const;
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

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return isLeap(year) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Days from the epoch to a date of the Gregorian calendar. Not by Date, which reads the year 99 as 1999. */
function daysSinceEpoch(year: number, month: number, day: number): number {
  const leapDays = Math.ceil(year / 4) - Math.ceil(year / 100) + Math.ceil(year / 400); // before 1 January
  const beforeMonth = (daysBefore[month - 1] ?? 0) + (month > 2 && isLeap(year) ? 1 : 0);
  return year * 365 + leapDays + beforeMonth + day - 1 - epochDay;
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

  const seconds = daysSinceEpoch(year, month, day) * secondsPerDay + hour * 3600 + minute * 60 + second - zone;
  return seconds >= earliest && seconds <= latest ? seconds : undefined;
}

function two(value: number): string {
  return value < 10 ? `0${value}` : `${value}`;
}

/** `2026-11-30` of a day counted from the epoch. */
function formatDate(day: number): string {
  let year = 1970 + Math.floor(day / 365.2425);
  if (daysSinceEpoch(year, 1, 1) > day) year -= 1;
  else if (daysSinceEpoch(year + 1, 1, 1) <= day) year += 1;
  let month = 12;
  while (daysSinceEpoch(year, month, 1) > day) month -= 1;
  return `${String(year).padStart(4, '0')}-${two(month)}-${two(day - daysSinceEpoch(year, month, 1) + 1)}`;
}

/** The date that was written last: the times of a status are mostly of one day. */
let lastDate = { day: 0, text: '1970-01-01' };

/**
 * RFC 3339 in UTC with whole seconds: `2026-11-30T18:47:05Z`.
 * @throws RangeError when `seconds` is not an integer within the years 0000 to 9999: such a time can't be written.
 */
export function formatTime(seconds: Sec): string {
  if (!Number.isInteger(seconds) || seconds < earliest || seconds > latest) {
    throw new RangeError(`${seconds} is not a whole second within the years 0000 to 9999`);
  }
  const day = Math.floor(seconds / secondsPerDay);
  const second = seconds - day * secondsPerDay;
  if (day !== lastDate.day) lastDate = { day, text: formatDate(day) };
  return `${lastDate.text}T${two(Math.floor(second / 3600))}:${two(Math.floor(second / 60) % 60)}:${two(second % 60)}Z`;
}
