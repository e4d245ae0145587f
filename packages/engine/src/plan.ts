/**
 * One plan: transition, then demand. Pure: no I/O, no clock, no randomness, and the snapshot is never changed. Planning
 * again over the status that a plan persisted changes nothing and asks for the same effects.
 */
import type { DecodedStatus, InstanceRow } from '@omenative/api';
import { teardownFinalizer } from '@omenative/api';
import { availableAt } from './counts.js';
import { demand } from './demand.js';
import type { Effect } from './effects.js';
import { isEqual } from './equal.js';
import type { Hold } from './hold.js';
import { keyOfObject } from './keys.js';
import { expiryWake, isAttempt } from './operations/expire.js';
import type { Plan } from './plan-types.js';
import { aggregated } from './say.js';
import type { Snapshot } from './snapshot.js';
import { reportTeardown } from './teardown.js';
import { transition } from './transition.js';
import { unitsOf } from './units.js';

/** Without our finalizer a dying replica is the garbage collector's business. */
const leftAlone: Plan = { reads: [], prepare: [], urgency: 'coalesce', chains: [], events: [], holds: [] };

export function plan(snapshot: Snapshot): Plan {
  const { replica } = snapshot;
  if (replica.deletingSince !== undefined && replica.finalizer === 'absent') return leftAlone;
  const { status, draft } = transition(snapshot);
  const wanted = demand(snapshot, status);
  const teardown = reportTeardown(snapshot, status);
  const holds = [...draft.holds, ...strayHolds(snapshot), ...wanted.holds, ...teardown.holds];
  const changed = !isEqual(snapshot.status, status);
  const wakeAt = earliest([
    ...holds.flatMap((hold) => hold.wake.flatMap((wake) => ('at' in wake ? [wake.at] : []))),
    ...expiries(snapshot, status),
    availableAt(snapshot),
  ]);
  return {
    reads: [...draft.reads.values()],
    prepare: prepare(snapshot),
    ...(changed ? { status } : {}),
    urgency: isMoreThanCounters(snapshot.status, status) ? 'now' : 'coalesce',
    chains: wanted.chains,
    events: aggregated(snapshot, [...draft.events, ...teardown.events]),
    holds,
    ...(wakeAt === undefined ? {} : { wakeAt }),
  };
}

/** What must exist before the status may speak of it. */
function prepare(snapshot: Snapshot): readonly Effect[] {
  if (snapshot.replica.deletingSince !== undefined) return [];
  const covers = { by: 'rule', rule: 'object' } as const;
  const effects: Effect[] = [];
  if (snapshot.replica.finalizer === 'absent') {
    effects.push({
      do: 'finalizer',
      key: keyOfObject('finalizer-add', teardownFinalizer),
      covers,
      change: 'add',
    });
  }
  const stored = snapshot.revisions.get(snapshot.specRevision);
  if (stored === undefined || stored === 'gone') {
    effects.push({
      do: 'createRevision',
      key: keyOfObject('createRevision', snapshot.specRevision),
      covers,
      rev: snapshot.specRevision,
    });
  }
  return effects;
}

/** Pods of ours that say no index: nobody can tell what they stand for, so nothing is done to them. */
function strayHolds(snapshot: Snapshot): readonly Hold[] {
  if (snapshot.strays.length === 0) return [];
  const names = snapshot.strays.map((pod) => pod.name).join(', ');
  return [
    {
      is: 'Stray',
      text: `owned pod(s) without a usable ome.io/instance-index label: ${names}; label or delete them`,
      wake: [{ on: 'pod', key: '*' }],
    },
  ];
}

/** When an attempt may end without any event. */
function expiries(snapshot: Snapshot, status: DecodedStatus): readonly (number | undefined)[] {
  if (snapshot.spec.pause !== 'running' || snapshot.replica.deletingSince !== undefined) return [];
  return unitsOf(snapshot, status.rows).map((unit) => {
    const { row } = unit;
    if (snapshot.blind.has(unit.index)) return undefined;
    const at = isAttempt(row) ? expiryWake(snapshot, unit, row) : undefined;
    // What this pass has moved is judged by the next, though its time is up.
    return at === undefined ? undefined : Math.max(at, snapshot.now + 1);
  });
}

function earliest(times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** Counters, conditions and published pod counts may wait for company; everything else is written at once. */
function isMoreThanCounters(before: DecodedStatus, after: DecodedStatus): boolean {
  return !isEqual(essence(before), essence(after));
}

function essence(status: DecodedStatus): unknown {
  const { counters: _, conditions: __, ...rest } = status;
  return { ...rest, rows: [...status.rows.values()].map(withoutCounts) };
}

function withoutCounts(row: InstanceRow): unknown {
  const { published: _, ...rest } = row;
  return rest;
}
