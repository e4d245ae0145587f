/** What all updates have in common: how one is opened, and what its end does to the row. */
import {
  type InstanceRow,
  type OperationBase,
  type Rev,
  revisionHashOf,
  type Sec,
  type Strategy,
} from '@omenative/api';
import { deadlineFrom } from '../clock.js';
import { onPods, type Step } from '../draft.js';
import type { Snapshot } from '../snapshot.js';
import { rest } from './row.js';

/**
 * The fields of a fresh update. Its identity is the index, the second and the revision, so that what became of an attempt is
 * never taken for the fate of one that replaces it within the same second.
 */
export function newUpdate(
  snapshot: Snapshot,
  row: Pick<InstanceRow, 'index' | 'running'>,
  target: Rev,
  strategy: Strategy,
): OperationBase & { readonly type: 'Update' } {
  const { now, spec } = snapshot;
  return {
    type: 'Update',
    id: `update-${row.index}-${now}-${revisionHashOf(target)}`,
    startedAt: now,
    lastProgressAt: now,
    retryCount: 0,
    target,
    reason: `revision ${row.running || 'unknown'} -> ${target}`,
    waiting: '',
    strategy,
    carry: {},
    ...deadlineFrom(now, spec.instanceReadyTimeoutSec),
  };
}

/** The row of an Instance that runs what its update aimed at. */
export function updated(row: InstanceRow, target: Rev, readySince: Sec): InstanceRow {
  return { ...rest(row), kind: 'ready', running: target, target: '', readySince };
}

/** The same operation type is never opened twice on one index in one second: its identity would be the same. */
export function mayReopen(op: OperationBase, now: Sec): boolean {
  return op.startedAt !== now;
}

export function reopensNextSecond(snapshot: Snapshot, row: InstanceRow): Step {
  return {
    to: 'wait',
    hold: {
      is: 'Starting',
      index: row.index,
      text: `Instance ${row.index} starts over at ${snapshot.target} in the next second`,
      wake: [{ at: snapshot.now + 1 }, onPods(row.index)],
    },
  };
}
