/** The fields that every operation begins with. */
import { type OperationBase, type Rev, revisionHashOf } from '@omenative/api';
import { deadlineFrom } from '../clock.js';
import type { Snapshot } from '../snapshot.js';

/** What tells one operation from the next. */
interface Identity {
  readonly verb: 'create' | 'update' | 'delete';
  readonly index: number;
  /** '' for an operation that aims at no revision. */
  readonly target: Rev | '';
}

/**
 * An operation that starts now, with its whole window ahead. Its identity is the index, the second and the revision, so that
 * what became of an attempt is never taken for the fate of one that replaces it within the same second.
 */
export function newOperation(snapshot: Snapshot, { verb, index, target }: Identity, reason: string): OperationBase {
  const { now, spec } = snapshot;
  const aim = target === '' ? '' : `-${revisionHashOf(target)}`;
  return {
    id: `${verb}-${index}-${now}${aim}`,
    startedAt: now,
    lastProgressAt: now,
    retryCount: 0,
    target,
    reason,
    waiting: '',
    carry: {},
    ...deadlineFrom(now, spec.instanceReadyTimeoutSec),
  };
}
