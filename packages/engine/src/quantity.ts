/** Resource quantities by their amount: `1000m`, `1` and `1e0` are one. */

const powers: Readonly<Record<string, readonly [base: bigint, exponent: number]>> = {
  n: [10n, -9],
  u: [10n, -6],
  m: [10n, -3],
  '': [10n, 0],
  k: [10n, 3],
  M: [10n, 6],
  G: [10n, 9],
  T: [10n, 12],
  P: [10n, 15],
  E: [10n, 18],
  Ki: [2n, 10],
  Mi: [2n, 20],
  Gi: [2n, 30],
  Ti: [2n, 40],
  Pi: [2n, 50],
  Ei: [2n, 60],
};

/** Quantities know nothing smaller. */
const nanoDigits = 9;
/** An exponent beyond this is no amount of anything; what it would say is left as it is written. */
const maxExponent = 30;

/** The amount in nano-units, rounded up; undefined when `value` is no quantity. */
export function quantityInNanos(value: unknown): bigint | undefined {
  if (typeof value !== 'number' && typeof value !== 'string') return undefined;
  const parts = /^([+-]?)([0-9]*)\.?([0-9]*)([eE][+-]?[0-9]+|[A-Za-z]*)$/.exec(String(value));
  if (parts === null) return undefined;
  const [, sign = '', whole = '', fraction = '', suffix = ''] = parts;
  const power = powerOf(suffix);
  if (power === undefined || (whole === '' && fraction === '')) return undefined;
  const [base, exponent] = power;
  const digits = BigInt(whole + fraction);
  const up = exponent > 0 ? digits * base ** BigInt(exponent) : digits;
  const nanos = up * 10n ** BigInt(nanoDigits);
  const down = 10n ** BigInt(fraction.length + (exponent < 0 ? -exponent : 0));
  const amount = (nanos + down - 1n) / down;
  return sign === '-' ? -amount : amount;
}

function powerOf(suffix: string): readonly [base: bigint, exponent: number] | undefined {
  if (!/^[eE][+-]?[0-9]/.test(suffix)) return powers[suffix];
  const exponent = Number(suffix.slice(1));
  return Math.abs(exponent) > maxExponent ? undefined : [10n, exponent];
}
