/** Rows in the middle of something, for tests: each opened a minute before noon, with half an hour to go. */
import {
  type CreateOp,
  type DeleteOp,
  type Index,
  type InPlaceOp,
  type InstanceRow,
  newRowBase,
  type ParkedOp,
  type RecreateOp,
  type RetryBlock,
  type Rev,
  type RowBase,
  type SurgeOp,
  type Termination,
} from '@omenative/api';
import type { RunnerSpec } from '../snapshot.js';
import { noon, revisionOf, single } from './world.js';

/** When the operations of these rows were opened. */
export const openedAt: number = noon - 60;
/** When their time is up. */
export const dueAt: number = noon + 1740;

const open = {
  startedAt: openedAt,
  lastProgressAt: openedAt,
  deadline: dueAt,
  retryCount: 0,
  reason: 'test',
  waiting: '',
  carry: {},
} as const;

export interface RowOptions<Op> {
  readonly row?: Partial<RowBase>;
  readonly op?: Partial<Op>;
  readonly runners?: readonly RunnerSpec[];
}

/** An Instance on its way from one revision to another, which has served for ten minutes. */
function between(index: Index, running: Rev, target: Rev, over?: Partial<RowBase>): RowBase {
  return { ...newRowBase(index), running, target, readySince: noon - 600, ...over };
}

function updateOf(index: Index, target: Rev) {
  return { ...open, id: `update-${index}`, type: 'Update', target } as const;
}

function failedBy(reason: string): Termination {
  return { podName: '', containerName: '', reason, message: 'back-off', time: openedAt };
}

/** A Create of `image`. */
export function creatingRow(index: Index, image = 'v1', options: RowOptions<CreateOp> = {}): InstanceRow {
  const target = revisionOf(image, options.runners ?? single);
  return {
    ...newRowBase(index),
    target,
    ...options.row,
    kind: 'creating',
    op: { ...open, id: `create-${index}`, type: 'Create', step: 'CreatePods', target, ...options.op },
  };
}

/** A single-pod surge from one image to another, at step Surge. */
export function surgingRow(index: Index, from = 'v1', to = 'v2', options: RowOptions<SurgeOp> = {}): InstanceRow {
  const target = revisionOf(to);
  return {
    ...between(index, revisionOf(from), target, options.row),
    kind: 'updating',
    op: { ...updateOf(index, target), step: 'Surge', strategy: 'SurgeThenDrain', ...options.op } as SurgeOp,
  };
}

/** The same surge once its old pod leaves rotation. */
export function drainingRow(index: Index, from = 'v1', to = 'v2', options: RowOptions<SurgeOp> = {}): InstanceRow {
  return surgingRow(index, from, to, { ...options, op: { step: 'SurgeDrain', ...options.op } });
}

/** An update in the pod itself, from one image to another. */
export function inPlaceRow(index: Index, from = 'v1', to = 'v2', options: RowOptions<InPlaceOp> = {}): InstanceRow {
  const target = revisionOf(to);
  return {
    ...between(index, revisionOf(from), target, options.row),
    kind: 'updating',
    op: { ...updateOf(index, target), step: 'InPlace', strategy: 'InPlaceIfPossible', ...options.op },
  };
}

/** A recreate from one image to another: the Instance is in its second life. */
export function recreatingRow(index: Index, from = 'v1', to = 'v2', options: RowOptions<RecreateOp> = {}): InstanceRow {
  const runners = options.runners ?? single;
  const target = revisionOf(to, runners);
  return {
    ...between(index, revisionOf(from, runners), target, { incarnation: 2, ...options.row }),
    kind: 'updating',
    op: { ...updateOf(index, target), step: 'Drain', strategy: 'RecreatePod', ...options.op },
  };
}

/** An update whose attempt failed and whose pod is still there; it failed a minute before noon. */
export function parkedRow(index: Index, from = 'v1', to = 'v2', options: RowOptions<ParkedOp> = {}): InstanceRow {
  const target = revisionOf(to);
  const { deadline: _, ...unclocked } = updateOf(index, target);
  return {
    ...between(index, revisionOf(from), target, { lastFailure: failedBy('ImagePullBackOff'), ...options.row }),
    kind: 'parked',
    phase: 'Failed',
    op: {
      ...unclocked,
      startedAt: openedAt - 120,
      step: 'Parked',
      strategy: 'InPlaceIfPossible',
      ...options.op,
    },
  };
}

export function deletingRow(index: Index, image = 'v1', options: RowOptions<DeleteOp> = {}): InstanceRow {
  return {
    ...newRowBase(index),
    running: revisionOf(image, options.runners ?? single),
    ...options.row,
    kind: 'deleting',
    op: { ...open, id: `delete-${index}`, type: 'Delete', step: 'Drain', target: '', ...options.op },
  };
}

/** A Failed row: it runs `running`, or never ran when that is undefined, and failed on its way to `target`. */
export function failedRow(
  index: Index,
  running: string | undefined,
  target: string,
  over: Partial<RowBase> = {},
): InstanceRow {
  return {
    ...newRowBase(index),
    running: running === undefined ? '' : revisionOf(running),
    target: revisionOf(target),
    lastFailure: failedBy('CrashLoopBackOff'),
    ...over,
    kind: 'failed',
  };
}

/** A block of `image`: Backoff after one counted failure a minute ago, with a minute to go. */
export function retryBlock(image = 'v2', over: Partial<RetryBlock> = {}): RetryBlock {
  return {
    target: revisionOf(image),
    state: 'Backoff',
    attempts: 1,
    nextRetryAt: noon + 60,
    firstFailureAt: openedAt,
    lastFailureAt: openedAt,
    reason: 'ImagePullBackOff',
    carry: {},
    ...over,
  };
}

/** A block that only the user ends. */
export function heldBlock(image = 'v2', over: Partial<RetryBlock> = {}): RetryBlock {
  const { nextRetryAt: _, ...block } = retryBlock(image, { state: 'Held', attempts: 3, ...over });
  return block;
}

/** A row whose pods are all lost; it ran `image`. */
export function pendingRow(index: Index, image = 'v1', over: Partial<RowBase> = {}): InstanceRow {
  return { ...newRowBase(index), running: revisionOf(image), ...over, kind: 'pending' };
}
