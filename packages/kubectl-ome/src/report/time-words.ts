/** Times and spans for people. */
import type { Sec } from '@omenative/api';

/** `45s`, `4m10s`, `3h5m`, `2d4h`: two units at most, as kubectl writes an age. */
export function span(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const units: readonly (readonly [string, number])[] = [
    ['d', 86_400],
    ['h', 3600],
    ['m', 60],
    ['s', 1],
  ];
  const at = units.findIndex(([, size]) => whole >= size);
  if (at < 0) return '0s';
  const [name, size] = units[at] ?? ['s', 1];
  const count = Math.floor(whole / size);
  const [nextName, nextSize] = units[at + 1] ?? ['', 1];
  const rest = nextName === '' ? 0 : Math.floor((whole - count * size) / nextSize);
  return rest === 0 ? `${count}${name}` : `${count}${name}${rest}${nextName}`;
}

/** `in 45s`, or `now` for a time that has come. */
export function until(at: Sec, now: Sec): string {
  return at <= now ? 'now' : `in ${span(at - now)}`;
}

/** `45s ago`; `just now`. */
export function ago(at: Sec, now: Sec): string {
  return at >= now ? 'just now' : `${span(now - at)} ago`;
}
