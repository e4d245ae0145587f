/** Kubernetes timestamps from milliseconds and back, without a clock: RFC 3339, always in UTC. */

const dayMs = 86_400_000;

/** `metav1.Time`: whole seconds, rounded down. */
export function formatTime(epochMs: number): string {
  return `${secondsOf(epochMs)}Z`;
}

/** `metav1.MicroTime`. Milliseconds are the finest this program has. */
export function formatMicroTime(epochMs: number): string {
  return `${secondsOf(epochMs)}.${pad(modulo(Math.floor(epochMs), 1000), 3)}000Z`;
}

const pattern = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(Z|[+-]\d{2}:\d{2})$/;

/** Milliseconds since the epoch, rounded down; undefined for what is no RFC 3339 timestamp. */
export function parseTime(text: string): number | undefined {
  const found = pattern.exec(text);
  if (found === null) return undefined;
  const [, year, month, day, hours, minutes, seconds, fraction = '', zone = 'Z'] = found;
  const days = daysFromCivil(Number(year), Number(month), Number(day));
  const inDayMs = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
  return days * dayMs + inDayMs + Number(fraction.padEnd(3, '0').slice(0, 3)) - zoneOffsetMs(zone);
}

function zoneOffsetMs(zone: string): number {
  if (zone === 'Z') return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4, 6));
  return (zone.startsWith('-') ? -minutes : minutes) * 60_000;
}

function secondsOf(epochMs: number): string {
  const days = Math.floor(epochMs / dayMs);
  const { year, month, day } = civilFromDays(days);
  const seconds = Math.floor((epochMs - days * dayMs) / 1000);
  const clock = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
    .map((n) => pad(n, 2))
    .join(':');
  return `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}T${clock}`;
}

/** Days since 1970-01-01 in the Gregorian calendar. Years are counted from March, so that the leap day comes last. */
function daysFromCivil(year: number, month: number, day: number): number {
  const marchYear = month <= 2 ? year - 1 : year;
  const era = Math.floor(marchYear / 400);
  const yearOfEra = marchYear - era * 400;
  const dayOfYear = Math.floor((153 * modulo(month - 3, 12) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

function civilFromDays(days: number): { readonly year: number; readonly month: number; readonly day: number } {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const leapDays = Math.floor(dayOfEra / 1460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leapDays) / 365);
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1;
  const month = modulo(marchMonth + 2, 12) + 1;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}

function modulo(n: number, by: number): number {
  return ((n % by) + by) % by;
}

function pad(n: number, width: number): string {
  return String(n).padStart(width, '0');
}
