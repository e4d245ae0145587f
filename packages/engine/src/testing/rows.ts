/** Rows in the middle of something, for tests: each opened a minute before noon, with half an hour to go. */
import {
  type CreateOp,
  type DeleteOp,
  type Index,
  type InstanceRow,
  newRowBase,
  type RowBase,
  type SurgeOp,
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
    ...newRowBase(index),
    running: revisionOf(from),
    target,
    readySince: noon - 600,
    ...options.row,
    kind: 'updating',
    op: {
      ...open,
      id: `update-${index}`,
      type: 'Update',
      step: 'Surge',
      strategy: 'SurgeThenDrain',
      target,
      ...options.op,
    } as SurgeOp,
  };
}

/** The same surge once its old pod leaves rotation. */
export function drainingRow(index: Index, from = 'v1', to = 'v2', options: RowOptions<SurgeOp> = {}): InstanceRow {
  return surgingRow(index, from, to, { ...options, op: { step: 'SurgeDrain', ...options.op } });
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
    lastFailure: { podName: '', containerName: '', reason: 'CrashLoopBackOff', message: 'back-off', time: openedAt },
    ...over,
    kind: 'failed',
  };
}

/** A row whose pods are all lost; it ran `image`. */
export function pendingRow(index: Index, image = 'v1', over: Partial<RowBase> = {}): InstanceRow {
  return { ...newRowBase(index), running: revisionOf(image), ...over, kind: 'pending' };
}
