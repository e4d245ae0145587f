/** Who may start an update: partition, order, and what already charges the two budgets. */
import type { Index, Rev } from '@omenative/api';
import { charged, fits, type Ledger, resolveBudget } from './budgets.js';
import { restingSet } from './operations/resting.js';
import { isSurging } from './operations/update-surge.js';
import { isInService } from './own-set.js';
import { servesNow } from './readiness.js';
import type { PodView, Snapshot } from './snapshot.js';
import { isTerminal, isTerminating, slotsOf, type Unit } from './units.js';

/**
 * The `partition` lowest-indexed Instances that are not on the target and not on their way to it stay where they are.
 * By count, not by position: indices may have gaps.
 */
export function partitionHeld(snapshot: Snapshot, units: readonly Unit[]): ReadonlySet<Index> {
  const { partition } = snapshot.spec.update;
  const candidates = units
    .filter(({ row }) => isAtRest(row.kind) && row.running !== '')
    .filter(({ row }) => row.running !== snapshot.target)
    // A failed update that keeps its operation has left its revision already.
    .filter(({ row }) => row.kind !== 'failed' || row.kept === undefined);
  const rebuilding = units.filter(
    ({ row }) => row.kind === 'creating' && row.running !== '' && row.op.target !== snapshot.target,
  );
  return new Set(
    [...candidates, ...rebuilding]
      .map((unit) => unit.index)
      .toSorted((a, b) => a - b)
      .slice(0, partition),
  );
}

/** Whether nothing is under way with an Instance of this kind. */
export function isAtRest(kind: Unit['row']['kind']): boolean {
  return kind === 'ready' || kind === 'failed' || kind === 'pending' || kind === 'parked';
}

/**
 * The revision an Instance without pods is built at: the target, unless the partition keeps it on the one it ran, or the
 * target may not be tried now: what ran before is better than nothing.
 */
export function rebuildRevision(
  snapshot: Snapshot,
  unit: Unit,
  held: ReadonlySet<Index>,
  target: 'open' | 'closed',
): Rev {
  const { running } = unit.row;
  const isKept = held.has(unit.index) || target === 'closed';
  const keeps = isKept && running !== '' && snapshot.revisions.get(running) !== 'gone';
  return keeps ? running : snapshot.target;
}

/** What holds surge slots before anything starts. */
export interface SurgeCharge {
  readonly ledger: Ledger;
  /** Instances whose slot is held by a live pod of an earlier attempt: the next start on them takes that slot over. */
  readonly leftovers: ReadonlySet<Index>;
  /** The end of a refusal's text: what holds a slot without being an update; '' when nothing does. */
  readonly because: string;
}

/**
 * Charged: surges in flight, Instances of the target that don't serve, pods beyond an Instance's own count (dying ones until
 * their grace ends), and blind Instances, which count at their worst.
 */
export function surgeCharge(snapshot: Snapshot, units: readonly Unit[]): SurgeCharge {
  const limit = resolveBudget(snapshot.spec.update.maxSurge, snapshot.spec.replicas);
  const leftovers = new Set<Index>();
  let used = 0;
  let because = '';
  for (const unit of units) {
    // The slot of a pair is charged to its source.
    if (unit.row.kind === 'gangTo') continue;
    // One that leaves in mid-surge still has both its pods.
    const isLeaving = unit.row.kind === 'deleting';
    const surges = isSurging(unit.row) || unit.row.kind === 'gangFrom';
    if (!isLeaving && (snapshot.blind.has(unit.index) || surges)) {
      used += 1;
      continue;
    }
    const extra = extraPods(snapshot, unit);
    const isDark = !isLeaving && isRolledDark(snapshot, unit);
    if (extra.length === 0 && !isDark) continue;
    used += 1;
    if (!isLeaving && extra.some((pod) => !isTerminating(pod))) leftovers.add(unit.index);
    because ||= reasonOf(unit, extra[0]);
  }
  return { ledger: { limit, used }, leftovers, because };
}

/** Admits surges one by one against the slots that are left. */
export class SurgeAdmission {
  #ledger: Ledger;
  readonly #leftovers: Set<Index>;
  readonly #because: string;

  constructor(snapshot: Snapshot, units: readonly Unit[]) {
    const { ledger, leftovers, because } = surgeCharge(snapshot, units);
    this.#ledger = ledger;
    this.#leftovers = new Set(leftovers);
    this.#because = because;
  }

  /** Undefined: the Instance may start, and is charged; else the reason why it may not, for people. */
  admit(index: Index): string | undefined {
    // The slot of a leftover is freed by the next start on its own Instance and by nothing else. So leftovers never refuse
    // each other, or a corrected revision could not replace what a failed one left behind.
    const takesOver = this.#leftovers.has(index);
    const rival = takesOver ? { ...this.#ledger, used: this.#ledger.used - this.#leftovers.size } : this.#ledger;
    if (!fits(rival, 1)) {
      const { limit, used } = rival;
      return `per-Component surge budget ${limit} exhausted (would become ${used + 1})${this.#because}`;
    }
    if (takesOver) this.#leftovers.delete(index);
    else this.#ledger = charged(this.#ledger, 1);
    return undefined;
  }
}

/**
 * Admits updates that take an Instance out of service. What is out of service counts, whoever took it out: an update must not
 * take the last one that the budget wants serving. An Instance that serves nothing costs nothing to replace.
 */
export class UnavailableAdmission {
  #ledger: Ledger;
  readonly #because: string;

  constructor(snapshot: Snapshot, units: readonly Unit[]) {
    const { replicas, update } = snapshot.spec;
    const inService = units.filter(
      (unit) =>
        unit.row.kind !== 'deleting' &&
        !snapshot.blind.has(unit.index) &&
        isInService(snapshot, unit) &&
        !isGoing(unit),
    ).length;
    this.#ledger = { limit: resolveBudget(update.maxUnavailable, replicas), used: Math.max(0, replicas - inService) };
    const dark = units.find((unit) => unit.row.kind !== 'deleting' && isRolledDark(snapshot, unit));
    this.#because = dark === undefined ? '' : `; Instance ${dark.index} runs the target and does not serve`;
  }

  /** Undefined: the Instance may start, and is charged; else the reason why it may not, for people. */
  admit(serves: 'serving' | 'dark'): string | undefined {
    if (serves === 'dark') return undefined;
    if (!fits(this.#ledger, 1)) {
      const { limit, used } = this.#ledger;
      return `per-Component unavailability budget ${limit} exhausted (would become ${used + 1})${this.#because}`;
    }
    this.#ledger = charged(this.#ledger, 1);
    return undefined;
  }
}

/** Its operation is about to take it out of service, or has not brought it back for good. */
function isGoing(unit: Unit): boolean {
  const { row } = unit;
  return row.kind === 'restarting' || (row.kind === 'updating' && !isSurging(row));
}

/** It was moved to the target and does not serve on it: the rollout goes no further while that is so. */
function isRolledDark(snapshot: Snapshot, unit: Unit): boolean {
  return (
    unit.row.running === snapshot.target &&
    unit.row.kind !== 'gangFrom' &&
    !servesNow(restingSet(snapshot, unit, unit.row))
  );
}

function reasonOf(unit: Unit, extra: PodView | undefined): string {
  if (extra === undefined) return `; Instance ${unit.index} runs the target and does not serve`;
  if (isTerminating(extra)) {
    return `; Terminating pod ${extra.name} still counts against the surge budget until its deletion grace elapses`;
  }
  const until = unit.row.kind === 'deleting' ? 'its Instance is deleted' : 'a start on its Instance replaces it';
  return `; extra pod ${extra.name} holds a surge slot until ${until}`;
}

/**
 * Pods in no slot of the row's own life that still count: live, or dying within their grace. A dying pod whose containers
 * have ended is there for some moments more, in which somebody who counts pods would see one too many.
 */
function extraPods(snapshot: Snapshot, unit: Unit): readonly PodView[] {
  const own = new Set(slotsOf(snapshot, unit.index, unit.row.activeOrdinal, unit.row.running).map((slot) => slot.name));
  return unit.pods.filter(
    (pod) => !own.has(pod.name) && (pod.deletionAt === undefined ? !isTerminal(pod) : pod.deletionAt > snapshot.now),
  );
}

/** The next moment at which a dying pod stops holding a slot. */
export function slotFreedAt(snapshot: Snapshot, units: readonly Unit[]): number | undefined {
  const times = units
    .flatMap((unit) => extraPods(snapshot, unit))
    .flatMap((pod) => (pod.deletionAt === undefined ? [] : [pod.deletionAt]));
  return times.length === 0 ? undefined : Math.min(...times);
}
