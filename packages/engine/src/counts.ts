/** Rows and pods → the counters that the status publishes. Always derived, never incremented. */
import { type Counters, type Index, type InstanceRow, revisionHashOf, scaleSelector } from '@omenative/api';
import type { PodView, Snapshot } from './snapshot.js';
import { isServing, isTerminating, runnersOf, type Unit, unitsOf } from './units.js';

export interface Counted {
  readonly rows: ReadonlyMap<Index, InstanceRow>;
  readonly counters: Counters;
  readonly labelSelector: string;
}

/** Counts Instances: one counts for a state when at least its own number of pods do, so a surge never hides it. */
export function publishCounts(snapshot: Snapshot, rows: ReadonlyMap<Index, InstanceRow>): Counted {
  const published = new Map<Index, InstanceRow>();
  const counters = { replicas: rows.size, ready: 0, serving: 0, available: 0, updated: 0, updatedReady: 0 };
  for (const unit of unitsOf(snapshot, rows)) {
    const counts = podCounts(snapshot, unit);
    const wanted = runnersOf(snapshot, unit.row.running || unit.row.target).reduce((sum, { size }) => sum + size, 0);
    const enough = (pods: number): number => Number(counts.pods > 0 && pods >= wanted);
    const isUpdated = unit.row.running === snapshot.specRevision;
    counters.ready += enough(counts.ready);
    counters.serving += enough(counts.serving);
    counters.available += enough(counts.available);
    counters.updated += Number(isUpdated);
    counters.updatedReady += isUpdated ? enough(counts.updatedReady) : 0;
    published.set(unit.index, withCounts(unit.row, counts));
  }
  const { owner, component } = snapshot.spec;
  return { rows: published, counters, labelSelector: scaleSelector(owner, component) };
}

interface PodCounts {
  readonly pods: number;
  readonly ready: number;
  readonly updatedReady: number;
  readonly serving: number;
  readonly available: number;
  readonly admitted: boolean;
}

function podCounts(snapshot: Snapshot, unit: Unit): PodCounts {
  const count = (test: (pod: PodView) => boolean): number => unit.pods.filter(test).length;
  // A gang serves only through its leader: without it, what the workers say is of no use to anybody.
  const leaderless =
    unit.pods.some((pod) => pod.runner === 'worker') &&
    !unit.pods.some((pod) => pod.runner === 'leader' && isServing(pod));
  const updatedHash = revisionHashOf(snapshot.specRevision);
  return {
    pods: unit.pods.length,
    ready: count((pod) => pod.containersReady),
    updatedReady: count((pod) => pod.containersReady && pod.revisionHash === updatedHash),
    serving: leaderless ? 0 : count(isServing),
    available: count((pod) => isAvailable(snapshot, pod)),
    admitted: unit.pods.length > 0 && unit.pods.every((pod) => !pod.gated),
  };
}

/** Listed by the headless Service, staying, and Ready for as long as `minReadySeconds` asks. */
function isAvailable(snapshot: Snapshot, pod: PodView): boolean {
  if (!snapshot.discoverable.has(pod.uid) || isTerminating(pod)) return false;
  const { minReadySeconds } = snapshot.spec;
  if (minReadySeconds === 0) return true;
  return pod.ready && pod.readyChangedAt !== undefined && pod.readyChangedAt + minReadySeconds <= snapshot.now;
}

/** The next moment at which time alone makes a pod available. */
export function availableAt(snapshot: Snapshot): number | undefined {
  const { minReadySeconds } = snapshot.spec;
  if (minReadySeconds === 0) return undefined;
  const times = [...snapshot.pods.values()]
    .flat()
    .filter((pod) => pod.ready && !isTerminating(pod) && snapshot.discoverable.has(pod.uid))
    .map((pod) => (pod.readyChangedAt ?? 0) + minReadySeconds)
    .filter((at) => at > snapshot.now);
  return times.length === 0 ? undefined : Math.min(...times);
}

function withCounts(row: InstanceRow, counts: PodCounts): InstanceRow {
  const { pods, serving, available, admitted } = row.published;
  const same =
    pods === counts.pods &&
    serving === counts.serving &&
    available === counts.available &&
    admitted === counts.admitted;
  if (same) return row;
  return {
    ...row,
    published: {
      pods: counts.pods,
      serving: counts.serving,
      available: counts.available,
      admitted: counts.admitted,
    },
  };
}
