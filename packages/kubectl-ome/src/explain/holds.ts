/** The waits of a replica, each with its reason, its beginning, its end, and what comes after. */
import { type DecodedStatus, formatTime, type Index, type InstanceRow, type Sec } from '@omenative/api';
import type { Hold, Snapshot } from '@omenative/engine';
import { nextStepOf } from './next-step.js';
import { type WakeReport, wakesOf } from './wakes.js';

export interface HoldReport {
  readonly reason: Hold['is'];
  /** Absent: the replica itself waits. */
  readonly instance?: Index;
  /** RFC 3339; absent: nothing tells. */
  readonly since?: string;
  readonly text: string;
  /** At least one. */
  readonly wakes: readonly WakeReport[];
  /** What is done once it is over. */
  readonly next: string;
}

/** The holds of a plan, Instances ascending, the replica's own first. */
export function holdReports(snapshot: Snapshot, status: DecodedStatus, holds: readonly Hold[]): readonly HoldReport[] {
  return holds
    .map((hold) => holdReport(snapshot, status, hold))
    .toSorted((a, b) => (a.instance ?? -1) - (b.instance ?? -1));
}

function holdReport(snapshot: Snapshot, status: DecodedStatus, hold: Hold): HoldReport {
  const row = hold.index === undefined ? undefined : status.rows.get(hold.index);
  const since = sinceOf(snapshot, status, hold, row);
  return {
    reason: hold.is,
    ...(hold.index === undefined ? {} : { instance: hold.index }),
    ...(since === undefined ? {} : { since: formatTime(since) }),
    text: hold.text,
    wakes: wakesOf(hold.wake, snapshot.now),
    next: row === undefined ? nextOfReplica(hold) : nextStepOf(row, snapshot.spec.minReadySeconds),
  };
}

/** The latest moment that the objects tell of at which this wait can have begun. */
function sinceOf(snapshot: Snapshot, status: DecodedStatus, hold: Hold, row: InstanceRow | undefined): Sec | undefined {
  const { rolloutHold } = status;
  if (rolloutHold !== undefined && rolloutHold.gate === hold.is) return rolloutHold.since;
  if (row === undefined) return undefined;
  if (hold.is === 'Failed') return row.lastFailure?.time;
  const pods = snapshot.pods.get(row.index) ?? [];
  if (hold.is === 'MinReady') return latest(pods.map((pod) => (pod.ready ? pod.readyChangedAt : undefined)));
  const op = row.kind === 'foreign' || !('op' in row) ? undefined : row.op;
  return op?.lastProgressAt ?? op?.startedAt;
}

function latest(times: readonly (Sec | undefined)[]): Sec | undefined {
  const known = times.filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

const moves = 'the next Instances are moved to the target';

/** What follows a wait of the replica itself; `the replica goes on` where it goes without saying. */
const nextWords: Partial<Readonly<Record<Hold['is'], string>>> = {
  Batch: 'the next batch of Instances is created',
  DeleteQueue: 'the next batch of Instances is drained and deleted',
  Teardown: 'the replica is removed once its last Instance is',
  Stray: 'the pods are taken into account again',
  RetryBlock: 'the next attempt at the revision is begun',
  Held: 'nothing by itself: publish a corrected revision, or release this one',
  Budget: moves,
  Plan: moves,
  Pairing: moves,
  Ratio: moves,
  Sequential: moves,
};

function nextOfReplica(hold: Hold): string {
  return nextWords[hold.is] ?? 'the replica goes on';
}
