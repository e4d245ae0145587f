/** Which indices the component should have: what is kept, what is added, and who leaves first. */
import type { Index, InstanceRow } from '@omenative/api';
import { claims, FreeIndices } from './free-indices.js';
import { restingSet } from './operations/resting.js';
import { servesNow } from './readiness.js';
import type { Snapshot } from './snapshot.js';
import { isLive, type Unit } from './units.js';

export interface IndexPlan {
  /** New Instances, ascending: the lowest indices that no row, claim, pod or write of ours on its way uses. */
  readonly missing: readonly Index[];
  /** Rows without a place, the first to leave first: worst rank, then highest index. */
  readonly extras: readonly Index[];
}

/** The wanted count against the rows there are. Rows that are already being deleted have no place and free none. */
export function planIndices(snapshot: Snapshot, units: readonly Unit[]): IndexPlan {
  const wanted = snapshot.spec.replicas;
  const staying = units.filter((unit) => unit.row.kind !== 'deleting');
  const pins = pinned(staying);
  const ranked = staying
    // The marker of a failed pair has no place of its own: it goes with its source's operation.
    .filter((unit) => !pins.has(unit.index) && unit.row.kind !== 'gangTo')
    .map((unit) => ({ index: unit.index, rank: rankOf(snapshot, unit) }))
    .toSorted((a, b) => a.rank - b.rank || a.index - b.index);
  // Only the sources of a hand-over count against the wanted number: its other half is the transient one more.
  const sources = staying.filter(({ index, row }) => pins.has(index) && isSource(row)).length;
  const places = Math.max(0, wanted - sources);
  const extras = ranked.slice(places).toReversed();
  const free = new FreeIndices(snapshot, new Map(units.map(({ index, row }) => [index, row])));
  const missing = Array.from({ length: Math.max(0, places - ranked.length) }, () => free.take());
  return { missing, extras: extras.map(({ index }) => index) };
}

function pinned(units: readonly Unit[]): ReadonlySet<Index> {
  // A failed gang surge pins nothing: its two halves compete for a place like everybody else.
  const sources = units.filter(({ row }) => isSource(row) && !(row.kind === 'gangFrom' && row.phase === 'Failed'));
  const replacements = units.filter(({ row }) => row.kind === 'migrateTo');
  return new Set([
    ...claims(sources.map(({ row }) => row)),
    ...[...sources, ...replacements].map((unit) => unit.index),
  ]);
}

function isSource(row: InstanceRow): boolean {
  return row.kind === 'migrateFrom' || row.kind === 'gangFrom';
}

/** Ready first, whatever else is said of it; then what serves all the same, as the source of an update does. */
function standingOf(row: InstanceRow, serves: boolean): number {
  if (row.kind === 'ready') return 0;
  if (row.kind === 'updating' || serves) return 1;
  return row.kind === 'failed' ? 3 : 2;
}

/**
 * 0 stays longest: Ready, on no cordoned node, on a revision that nothing speaks against, and serving. Among Instances that
 * stand alike, one that its node's drain would take anyway leaves first.
 */
function rankOf(snapshot: Snapshot, unit: Unit): number {
  const { row, pods } = unit;
  // An old pod that an update leaves to its grace says nothing about the Instance.
  const serves = servesNow(restingSet(snapshot, unit, row));
  const healthy = row.kind === 'ready' && (pods.length === 0 ? row.published.pods === 0 : serves);
  // What a Ready Instance failed to become says nothing about what it is.
  const revision = row.kind === 'ready' || row.target === '' ? row.running : row.target;
  const blocked = snapshot.status.blocks.some(
    (block) => block.target === revision && block.state !== 'RetryInProgress',
  );
  // A pair leaves together, so what is said of one half is said of both.
  const others = row.kind === 'gangFrom' ? (snapshot.pods.get(row.op.surgeIndex) ?? []) : [];
  const cordoned = [...pods, ...others].some(
    (pod) => isLive(pod) && pod.node !== '' && snapshot.cordoned.has(pod.node),
  );
  return standingOf(row, serves) * 8 + (cordoned ? 4 : 0) + (blocked ? 2 : 0) + (healthy ? 0 : 1);
}
