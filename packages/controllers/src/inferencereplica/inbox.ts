/**
 * What came of effects, kept between passes so that a refusal is not asked for again at once. Soft: it may be lost at any
 * moment without harm.
 */
import type { Sec } from '@omenative/api';
import type { EffectKey, Outcome } from '@omenative/engine';

/** Seconds after which an outcome is of no use: longer than any pause between two tries. */
const keptSec = 600;

export class Inbox {
  readonly #replicas: Map<string, Map<EffectKey, Outcome>> = new Map();

  of(replicaUid: string): ReadonlyMap<EffectKey, Outcome> {
    return this.#replicas.get(replicaUid) ?? new Map();
  }

  /** Books outcomes; the same answer again counts as a repeat. */
  book(replicaUid: string, outcomes: ReadonlyMap<EffectKey, Omit<Outcome, 'repeats'>>, now: Sec): void {
    if (outcomes.size === 0) return;
    const booked = new Map([...this.of(replicaUid)].filter(([, outcome]) => now - outcome.at < keptSec));
    for (const [key, outcome] of outcomes) {
      const before = booked.get(key);
      const repeats = before?.as === outcome.as ? (before.repeats ?? 1) + 1 : 1;
      booked.set(key, { ...outcome, repeats });
    }
    this.#replicas.set(replicaUid, booked);
  }

  forget(replicaUid: string): void {
    this.#replicas.delete(replicaUid);
  }
}
