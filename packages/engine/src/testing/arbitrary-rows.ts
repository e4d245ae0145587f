/** Random rows of every kind, alone and in pairs, legal or not. */
import {
  type GangFromOp,
  type GangToOp,
  type Index,
  type InstanceRow,
  newRowBase,
  type OperationBase,
  type Rev,
  type RowBase,
  revisionHashOf,
  type Strategy,
} from '@omenative/api';
import fc from 'fast-check';
import { noon } from './world.js';

type MaybeRevision = fc.Arbitrary<Rev | ''>;

export const time: fc.Arbitrary<number> = fc.integer({ min: noon - 4000, max: noon + 4000 });
const past = fc.integer({ min: noon - 4000, max: noon });
const optional = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(of, { nil: undefined });
/** Indices stay below six so that rows and pods meet. */
export const index: fc.Arbitrary<Index> = fc.integer({ min: 0, max: 5 });
const reason = fc.constantFrom('ImagePullBackOff', 'CrashLoopBackOff', 'Unschedulable', 'DeadlineExceeded');
const strategy = fc.constantFrom<Strategy>('SurgeThenDrain', 'RecreatePod', 'InPlaceIfPossible', 'InPlaceOnly');

/** What has been said about an Instance, and which of its pods it has sentenced. */
const announced = fc.constantFrom<readonly string[]>(
  [],
  [],
  ['DrainOverdue@op-1'],
  ['InstanceReset@uid-chat-engine-0-default-0', 'TerminalPodRecycled@uid-chat-engine-1-default-0'],
  ['LeftoverEvicted@uid-chat-engine-0-default-1', 'InstanceReset@uid-chat-engine-1-leader-0'],
);

function arbitraryBase(revision: MaybeRevision): fc.Arbitrary<RowBase> {
  return fc
    .record({
      index,
      incarnation: fc.integer({ min: 1, max: 2 }),
      activeOrdinal: fc.constantFrom(0, 1 as const),
      running: revision,
      target: revision,
      readySince: optional(time),
      failure: optional(fc.record({ reason, time: past })),
      announced,
    })
    .map(({ readySince, failure, ...rest }) => ({
      ...newRowBase(rest.index),
      ...rest,
      ...(readySince === undefined ? {} : { readySince }),
      ...(failure === undefined
        ? {}
        : { lastFailure: { podName: '', containerName: '', message: 'told before', ...failure } }),
    }));
}

/** An operation of an Instance; its identity is the Instance's, as in life. */
function arbitraryOp(revision: MaybeRevision): fc.Arbitrary<(of: Index) => OperationBase> {
  return fc
    .record({
      startedAt: time,
      deadline: optional(time),
      target: revision,
      retryCount: fc.constantFrom(0, 0, 1, 3),
      waiting: fc.constantFrom('', 'Paused', 'Odd', 'QuotaExceeded'),
      strategy: optional(strategy),
    })
    .map(({ deadline, strategy: pinned, ...rest }) => (of) => ({
      id: `op-${of}`,
      lastProgressAt: rest.startedAt,
      reason: 'test',
      carry: {},
      ...rest,
      ...(pinned === undefined ? {} : { strategy: pinned }),
      ...(deadline === undefined ? {} : { deadline }),
    }));
}

/**
 * Rows of one to five indices. Halves of a gang surge come bound to each other, alone, and beside strangers. `singles` are the
 * revisions of one pod, the only ones that a surge inside an Instance can be about; absent when there are none.
 */
export function arbitraryRows(
  revision: MaybeRevision,
  singles: MaybeRevision | undefined,
): fc.Arbitrary<readonly InstanceRow[]> {
  const base = arbitraryBase(revision);
  const op = arbitraryOp(revision);
  const alone = fc.oneof(
    { weight: 8, arbitrary: arbitraryResting(base, op) },
    { weight: 8, arbitrary: arbitraryAttempt(base, op) },
    { weight: 2, arbitrary: arbitraryNotDriven(base, op) },
    ...(singles === undefined
      ? []
      : [{ weight: 3, arbitrary: arbitrarySurge(arbitraryBase(singles), arbitraryOp(singles)) }]),
  );
  const one = fc.oneof(
    { weight: 5, arbitrary: alone.map((row): readonly InstanceRow[] => [row]) },
    { weight: 2, arbitrary: arbitraryPair(base, op) },
  );
  return fc.array(one, { maxLength: 5 }).map((groups) => {
    const rows = new Map<Index, InstanceRow>();
    for (const row of groups.flat()) if (!rows.has(row.index)) rows.set(row.index, row);
    return [...rows.values()];
  });
}

function arbitraryResting(
  base: fc.Arbitrary<RowBase>,
  op: fc.Arbitrary<(of: Index) => OperationBase>,
): fc.Arbitrary<InstanceRow> {
  return fc.oneof(
    base.map((row): InstanceRow => ({ ...row, kind: 'ready' })),
    base.map((row): InstanceRow => ({ ...row, kind: 'pending' })),
    base.map((row): InstanceRow => ({ ...row, kind: 'failed' })),
    fc.tuple(base, op, fc.constantFrom('Surge', 'Drain', 'InPlace' as const)).map(
      ([row, o, step]): InstanceRow => ({
        ...row,
        kind: 'failed',
        kept: { ...o(row.index), type: 'Update', step },
      }),
    ),
    fc.tuple(base, op).map(
      ([row, o]): InstanceRow => ({
        ...row,
        kind: 'failed',
        kept: { ...o(row.index), type: 'Restart', step: 'Drain' },
      }),
    ),
    fc.tuple(base, op).map(
      ([row, o]): InstanceRow => ({
        ...row,
        kind: 'failed',
        kept: { ...o(row.index), type: 'Create', step: 'CreatePods' },
      }),
    ),
    fc.tuple(base, op, fc.constantFrom('Updating', 'Failed' as const)).map(
      ([row, o, phase]): InstanceRow => ({
        ...row,
        kind: 'parked',
        phase,
        op: { ...o(row.index), type: 'Update', step: 'Parked' },
      }),
    ),
  );
}

function arbitraryAttempt(
  base: fc.Arbitrary<RowBase>,
  op: fc.Arbitrary<(of: Index) => OperationBase>,
): fc.Arbitrary<InstanceRow> {
  return fc.oneof(
    fc.tuple(base, op).map(
      ([row, o]): InstanceRow => ({
        ...row,
        kind: 'creating',
        op: { ...o(row.index), type: 'Create', step: 'CreatePods' },
      }),
    ),
    fc.tuple(base, op, fc.constantFrom('Drain', 'InPlace' as const)).map(
      ([row, o, step]): InstanceRow => ({
        ...row,
        kind: 'updating',
        op: { ...o(row.index), type: 'Update', step },
      }),
    ),
    fc.tuple(base, op).map(
      ([row, o]): InstanceRow => ({
        ...row,
        kind: 'deleting',
        op: { ...o(row.index), type: 'Delete', step: 'Drain' },
      }),
    ),
  );
}

/** A single pod that is replaced by one in the other slot. */
function arbitrarySurge(
  base: fc.Arbitrary<RowBase>,
  op: fc.Arbitrary<(of: Index) => OperationBase>,
): fc.Arbitrary<InstanceRow> {
  return fc.tuple(base, op, fc.constantFrom('Surge', 'SurgeDrain', 'SurgeDrainSettle' as const)).map(
    ([row, o, step]): InstanceRow => ({
      ...row,
      kind: 'updating',
      op: { ...o(row.index), type: 'Update', step },
    }),
  );
}

/** States that this version keeps and does not advance. */
function arbitraryNotDriven(
  base: fc.Arbitrary<RowBase>,
  op: fc.Arbitrary<(of: Index) => OperationBase>,
): fc.Arbitrary<InstanceRow> {
  return fc.oneof(
    fc.tuple(base, op).map(
      ([row, o]): InstanceRow => ({
        ...row,
        kind: 'restarting',
        op: { ...o(row.index), type: 'Restart', step: 'Drain' },
      }),
    ),
    base.map((row): InstanceRow => ({ ...row, kind: 'foreign', phase: 'Migrating', readAs: 'migrate' })),
  );
}

/** What stands at the index that a source claims. */
const companions = ['marker', 'marker', 'marker', 'cleanup', 'promoted', 'nothing', 'other target'] as const;

/** A source and what stands at the index it claims; now and then the marker without its source. */
function arbitraryPair(
  base: fc.Arbitrary<RowBase>,
  op: fc.Arbitrary<(of: Index) => OperationBase>,
): fc.Arbitrary<readonly InstanceRow[]> {
  return fc
    .record({
      base,
      marker: base,
      op,
      surgeIndex: index,
      step: fc.constantFrom<GangFromOp['step']>('Surge', 'SurgeDrain'),
      phase: fc.constantFrom('Updating', 'Updating', 'Failed' as const),
      companion: fc.constantFrom(...companions),
      keeps: fc.constantFrom('both', 'both', 'both', 'both', 'marker' as const),
    })
    .map(({ base: row, marker, op: o, surgeIndex, step, phase, companion, keeps }) => {
      const fields = { ...o(row.index), type: 'Update' as const };
      const source: InstanceRow = { ...row, kind: 'gangFrom', phase, op: { ...fields, step, surgeIndex } };
      const other = { ...marker, index: surgeIndex };
      const halves = [source, ...companionOf(other, fields, companion)];
      return keeps === 'both' ? halves : halves.slice(1);
    });
}

function companionOf(
  row: RowBase,
  op: OperationBase & { readonly type: 'Update' },
  companion: (typeof companions)[number],
): readonly InstanceRow[] {
  const id = `update-${row.index}-${op.startedAt ?? 0}-${revisionHashOf(op.target)}`;
  const marker = (step: GangToOp['step'], target: Rev | ''): InstanceRow => ({
    ...row,
    incarnation: 1,
    running: '',
    target,
    kind: 'gangTo',
    phase: 'Creating',
    op: { ...op, target, id, step },
  });
  switch (companion) {
    case 'marker':
      return [marker('GangSurgeTarget', op.target)];
    case 'cleanup':
      return [marker('GangSurgeTargetCleanup', op.target)];
    case 'other target':
      return [marker('GangSurgeTarget', row.target)];
    case 'promoted':
      return [{ ...row, kind: 'ready', running: op.target, target: '' }];
    case 'nothing':
      return [];
  }
}
