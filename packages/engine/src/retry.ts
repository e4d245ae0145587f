/**
 * The retry ladder of a revision. A failure that the revision itself caused costs it an attempt; when they are used up it is
 * Held until the user publishes another revision or releases it. Any other failure of an attempt is retried with a growing
 * delay and is never Held. One block a revision, shared by all Instances, so that a new index can't evade it.
 */
import type { InstanceRow, RetryBlock, Rev, Sec } from '@omenative/api';
import { type Cause, causeOf } from './failure.js';
import type { LifecycleConfig } from './snapshot.js';

type RetryPolicy = NonNullable<LifecycleConfig['updateRetry']>;

/** One failed attempt at a revision. */
export interface Wave {
  readonly rev: Rev;
  /** The `reason` of its `lastFailure`. */
  readonly reason: string;
  readonly cause: Cause;
  readonly startedAt: Sec;
}

/**
 * `blocks` after a failed attempt; the same array when nothing changes. Attempts that began before the last failure are of the
 * same wave and count once. A reason of the environment says nothing about the revision.
 */
export function withFailure(
  blocks: readonly RetryBlock[],
  wave: Wave,
  policy: RetryPolicy | undefined,
  now: Sec,
): readonly RetryBlock[] {
  const old = blockOf(blocks, wave.rev);
  if (wave.cause === 'environment' || old?.state === 'Held') return blocks;
  if (old?.lastFailureAt !== undefined && wave.startedAt <= old.lastFailureAt) return blocks;
  if (wave.cause === 'unattributed' && policy === undefined) return blocks;
  const attempts = (old?.attempts ?? 0) + (wave.cause === 'workload' ? 1 : 0);
  const isHeld = wave.cause === 'workload' && (policy === undefined || attempts >= policy.maxAttempts);
  const delay = policy === undefined ? 0 : delayAfter(wave.cause, attempts, old, policy);
  const next: RetryBlock = {
    target: wave.rev,
    state: isHeld ? 'Held' : 'Backoff',
    attempts,
    ...(isHeld ? {} : { nextRetryAt: now + delay }),
    firstFailureAt: old?.firstFailureAt ?? now,
    lastFailureAt: now,
    reason: wave.reason,
    carry: old?.carry ?? {},
  };
  return old === undefined ? [...blocks, next] : blocks.map((block) => (block === old ? next : block));
}

/** A counted failure climbs a rung of the ladder; any other one stretches the pause before it. */
function delayAfter(cause: Cause, attempts: number, old: RetryBlock | undefined, policy: RetryPolicy): number {
  if (cause === 'workload') return retryDelaySec(policy, attempts);
  const { nextRetryAt, lastFailureAt } = old ?? {};
  if (nextRetryAt === undefined || lastFailureAt === undefined) return retryDelaySec(policy, 1);
  const stretched = Math.ceil((nextRetryAt - lastFailureAt) * policy.multiplier);
  return Math.max(retryDelaySec(policy, 1), Math.min(policy.maxDelaySec, stretched));
}

/** `min(maxDelay, initialDelay × multiplier^(attempt-1))`, seconds, rounded up. */
export function retryDelaySec(policy: RetryPolicy, attempt: number): number {
  const delay = policy.initialDelaySec * policy.multiplier ** (attempt - 1);
  return Math.ceil(delay > 0 ? Math.min(policy.maxDelaySec, delay) : policy.maxDelaySec);
}

export function blockOf(blocks: readonly RetryBlock[], rev: Rev): RetryBlock | undefined {
  return blocks.find((block) => block.target === rev);
}

export function withoutBlock(blocks: readonly RetryBlock[], rev: Rev): readonly RetryBlock[] {
  return blockOf(blocks, rev) === undefined ? blocks : blocks.filter((block) => block.target !== rev);
}

/** Whether an attempt at a revision may start now. */
export type LadderVerdict =
  | { readonly is: 'open' }
  /** Only the user ends it: `text` for people, as the gate's reason. */
  | { readonly is: 'Held'; readonly text: string }
  /** `at`: when time alone ends it; absent while it is another attempt that must end first. */
  | { readonly is: 'RetryBlock'; readonly text: string; readonly at?: Sec };

export function ladderOf(
  blocks: readonly RetryBlock[],
  rows: Iterable<InstanceRow>,
  rev: Rev,
  now: Sec,
): LadderVerdict {
  const block = blockOf(blocks, rev);
  if (block === undefined) return { is: 'open' };
  const after = `after ${block.attempts} failed attempt(s): ${block.reason}`;
  switch (block.state) {
    case 'Held':
      return { is: 'Held', text: `update to ${rev} held ${after}` };
    case 'Backoff': {
      const at = block.nextRetryAt;
      if (at === undefined || now >= at) return { is: 'open' };
      return { is: 'RetryBlock', text: `update to ${rev} in backoff ${after}`, at };
    }
    case 'RetryInProgress':
      // A token that nobody holds any more denies nothing: its attempt may have been scaled away.
      if (![...rows].some((row) => attemptedRevision(row) === rev)) return { is: 'open' };
      return { is: 'RetryBlock', text: `update to ${rev} retrying one attempt at a time ${after}` };
  }
}

/** `blocks` once an attempt at `rev` has started: a block that was due gives its one token away. */
export function withAttempt(blocks: readonly RetryBlock[], rev: Rev): readonly RetryBlock[] {
  const block = blockOf(blocks, rev);
  if (block === undefined || block.state !== 'Backoff') return blocks;
  return blocks.map((other) => (other === block ? { ...block, state: 'RetryInProgress' } : other));
}

/** The revision that an open operation of the row tries; undefined for a row that tries none. */
export function attemptedRevision(row: InstanceRow): Rev | undefined {
  switch (row.kind) {
    case 'creating':
    case 'updating':
    case 'restarting':
      return row.op.target;
    case 'gangFrom':
      return row.phase === 'Updating' ? row.op.target : undefined;
    case 'ready':
    case 'pending':
    case 'failed':
    case 'parked':
    case 'gangTo':
    case 'migrateFrom':
    case 'migrateTo':
    case 'deleting':
    case 'foreign':
      return undefined;
  }
}

/** When an Instance that failed at `rev` may try it again. */
export type RetryTime =
  | { readonly is: 'asLadderSays' }
  | { readonly is: 'at'; readonly at: Sec }
  | { readonly is: 'never' };

/**
 * A block paces the retries of its revision. Without one, a failure that was the revision's own fault has been released; a
 * failure of the environment is retried after the first delay; and without a retry policy nothing else is tried again.
 */
export function retryTimeOf(
  row: InstanceRow,
  blocks: readonly RetryBlock[],
  rev: Rev,
  policy: RetryPolicy | undefined,
): RetryTime {
  if (row.target !== rev || blockOf(blocks, rev) !== undefined) return { is: 'asLadderSays' };
  if (row.lastFailure === undefined || causeOf(row.lastFailure.reason) === 'workload') return { is: 'asLadderSays' };
  if (policy === undefined) return { is: 'never' };
  return { is: 'at', at: row.lastFailure.time + retryDelaySec(policy, 1) };
}
