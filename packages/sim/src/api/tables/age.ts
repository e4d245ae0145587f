/** Durations as `kubectl get` shows them. */

import { parseRfc3339 } from '../../base/time.js';

/** `45s`, `3m20s`, `2h5m`, `6d3h`, `40d`. */
export function humanDuration(durationMs: number): string {
  const seconds = Math.floor(durationMs / 1000);
  if (seconds < 0) return '0s';
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return withRest(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return withRest(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (days < 8) return withRest(days, 'd', hours % 24, 'h');
  if (days < 730) return `${days}d`;
  return withRest(Math.floor(days / 365), 'y', days % 365, 'd');
}

function withRest(whole: number, unit: string, rest: number, restUnit: string): string {
  return rest === 0 ? `${whole}${unit}` : `${whole}${unit}${rest}${restUnit}`;
}

/** How long ago a time was, or `<unknown>`. */
export function age(time: unknown, nowMs: number): string {
  const atMs = parseRfc3339(time);
  return atMs === undefined ? '<unknown>' : humanDuration(nowMs - atMs);
}
