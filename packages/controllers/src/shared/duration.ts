/** Durations in the notation of Kubernetes resources, such as `1h2m3.5s`. */

const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};
const term = /([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)/y;

/**
 * Milliseconds, possibly a fraction or negative; undefined when `text` is no duration. A number needs its unit: only `0` may
 * stand alone.
 */
export function parseDurationMs(text: string): number | undefined {
  const sign = /^[+-]/.exec(text)?.[0] ?? '';
  const body = text.slice(sign.length);
  if (body === '0') return 0;
  if (body === '') return undefined;
  let total = 0;
  term.lastIndex = 0;
  while (term.lastIndex < body.length) {
    const match = term.exec(body);
    if (match === null) return undefined;
    total += Number(match[1]) * (unitMs[match[2] ?? ''] ?? 0);
  }
  return sign === '-' ? -total : total;
}
