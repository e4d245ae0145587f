/** Counts and percentages of Instances: both budgets round up, negatives are zero, a percentage stops at 100. */
import type { IntOrPercent } from './snapshot.js';

/** `value` of `total`, or undefined when there is no limit. Text that is no percentage allows nothing. */
export function resolveBudget(value: IntOrPercent | undefined, total: number): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'number') return Math.max(0, Math.trunc(value));
  const percent = /^(-?\d+)%$/.exec(value)?.[1];
  if (percent === undefined) return 0;
  const clamped = Math.min(100, Math.max(0, Number(percent)));
  return Math.ceil((total * clamped) / 100);
}

/** A budget that starts are charged to, in the order they are admitted. */
export interface Ledger {
  /** Undefined: no limit. */
  readonly limit: number | undefined;
  readonly used: number;
}

export function fits(ledger: Ledger, amount: number): boolean {
  return ledger.limit === undefined || ledger.used + amount <= ledger.limit;
}

export function charged(ledger: Ledger, amount: number): Ledger {
  return { limit: ledger.limit, used: ledger.used + amount };
}

/**
 * Takes candidates in order as long as they fit. A candidate is never split; the first may exceed the limit and then goes
 * alone; the first that does not fit ends the selection, so that a large one is not starved by small ones behind it.
 * A limit of 0 selects nothing.
 */
export function selectPrefix<T>(
  candidates: readonly T[],
  costOf: (candidate: T) => number,
  ledger: Ledger,
): readonly T[] {
  if (ledger.limit === 0) return [];
  const selected: T[] = [];
  let used = ledger.used;
  for (const candidate of candidates) {
    const cost = costOf(candidate);
    const over = ledger.limit !== undefined && used + cost > ledger.limit;
    if (over && !(used === 0 && selected.length === 0)) break;
    selected.push(candidate);
    used += cost;
  }
  return selected;
}
