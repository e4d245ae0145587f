import { describe, expect, it } from '@jest/globals';
import { type InstanceRow, newRowBase } from '@omenative/api';
import { planIndices } from './scale.js';
import type { PodView, Snapshot } from './snapshot.js';
import { creatingRow, deletingRow, failedRow, pendingRow, surgingRow } from './testing/rows.js';
import { noon, pod, readyRow, revisionOf, type WorldOptions, world } from './testing/world.js';
import { unitsOf } from './units.js';

const indices = (snapshot: Snapshot): ReturnType<typeof planIndices> =>
  planIndices(snapshot, unitsOf(snapshot, snapshot.status.rows));
const missing = (options: WorldOptions): readonly number[] => indices(world(options)).missing;
const extras = (options: WorldOptions): readonly number[] => indices(world(options)).extras;

/** Two serving Instances, of which the first has one more pod on a cordoned node. */
function withDrained(over: Partial<PodView>): readonly PodView[] {
  return [pod({ index: 0 }), pod({ index: 0, ordinal: 1, over: { node: 'drained', ...over } }), pod({ index: 1 })];
}

/** The source of a migration from `index` to `surgeIndex`. */
function migrating(index: number, surgeIndex: number): InstanceRow {
  const op = {
    id: 'm',
    type: 'Migrate',
    step: 'CreateSurge',
    retryCount: 0,
    target: '',
    reason: '',
    waiting: '',
    carry: {},
    requestUUID: 'u',
  } as const;
  return { ...newRowBase(index), running: revisionOf('v1'), kind: 'migrateFrom', op: { ...op, surgeIndex } };
}

describe('scaling up', () => {
  it('takes the lowest indices that nothing uses [E142]', () => {
    expect(missing({ spec: { replicas: 4 }, rows: [readyRow(1), readyRow(3)] })).toEqual([0, 2]);
  });

  it('leaves the index of an Instance that is being deleted alone [E142]', () => {
    expect(missing({ spec: { replicas: 2 }, rows: [deletingRow(0), readyRow(1)] })).toEqual([2]);
  });

  it('leaves an index alone that pods without a row still use', () => {
    expect(missing({ spec: { replicas: 1 }, pods: [pod({ index: 0 })] })).toEqual([1]);
  });

  it('leaves the index alone that a hand-over has claimed and not used yet [E142]', () => {
    expect(missing({ spec: { replicas: 2 }, rows: [migrating(1, 0)] })).toEqual([2]);
  });

  it('leaves an index alone for as long as the watch has not shown what our last write there came to [B28]', () => {
    expect(missing({ blind: [0] })).toEqual([1]);
  });

  it('adds nothing when there are enough', () => {
    expect(missing({ spec: { replicas: 2 }, rows: [readyRow(5), readyRow(9)] })).toEqual([]);
  });
});

const serving = (...of: readonly number[]) => of.map((index) => pod({ index }));

describe('scaling down', () => {
  it('takes the highest indices of Instances that are alike', () => {
    expect(
      extras({ spec: { replicas: 1 }, rows: [0, 1, 2].map((index) => readyRow(index)), pods: serving(0, 1, 2) }),
    ).toEqual([2, 1]);
  });

  it.each<[string, InstanceRow]>([
    ['is being created', creatingRow(0)],
    ['is being updated', surgingRow(0)],
    ['failed', failedRow(0, 'v1', 'v2')],
    ['has lost its pods', pendingRow(0)],
  ])('takes an Instance that %s before a Ready one [E144]', (_, row) => {
    expect(extras({ rows: [row, readyRow(1)], pods: serving(0, 1) })).toEqual([0]);
  });

  it('keeps the oldest of those that are not Ready when none is [E144]', () => {
    expect(extras({ rows: [creatingRow(0), creatingRow(1)] })).toEqual([1]);
  });

  it.each<[string, Parameters<typeof pod>[0]]>([
    ['is not Ready', { health: 'containersReady', gate: { state: 'true' } }],
    ['is held out of rotation', { gate: { state: 'false', holds: [{ writer: 'Somebody', key: '1' }] } }],
    ['is being deleted', { over: { deletionAt: noon + 30 } }],
  ])('takes an Instance whose pod %s before a healthy one [E145]', (_, options) => {
    expect(
      extras({ rows: [readyRow(0), readyRow(1)], pods: [pod({ index: 0, ...options }), pod({ index: 1 })] }),
    ).toEqual([0]);
  });

  it('takes an Instance whose pods are all lost before a healthy one, unless it never had any [E145]', () => {
    const published = { pods: 1, serving: 1, available: 1, admitted: true };
    const rows = [readyRow(0, 'v1', { published }), readyRow(1)];
    expect(extras({ rows, pods: serving(1) })).toEqual([0]);
    expect(extras({ rows: [readyRow(0), readyRow(1)], pods: serving(1) })).toEqual([1]);
  });

  it.each(['Held', 'Backoff'] as const)(
    'takes a serving Instance of a revision in %s before one of a sound revision [E145]',
    (state) => {
      const block = { target: revisionOf('v1'), state, attempts: 1, reason: '', carry: {} };
      const rows = [readyRow(0), readyRow(1, 'v0')];
      const pods = [pod({ index: 0 }), pod({ index: 1, image: 'v0' })];
      expect(extras({ rows, pods, status: { blocks: [block] } })).toEqual([0]);
      expect(extras({ rows, pods, status: { blocks: [{ ...block, state: 'RetryInProgress' }] } })).toEqual([1]);
    },
  );

  it('does not hold the dying old pod of a finished update against its Instance', () => {
    const pods = [
      pod({ index: 0, ordinal: 1 }),
      pod({ index: 0, over: { deletionAt: noon + 600 } }),
      pod({ index: 1 }),
    ];
    expect(extras({ rows: [readyRow(0, 'v1', { activeOrdinal: 1 }), readyRow(1)], pods })).toEqual([1]);
  });

  it('keeps a failed update whose old pod serves before an Instance that serves nothing', () => {
    expect(extras({ rows: [creatingRow(0), failedRow(1, 'v1', 'v2')], pods: serving(1) })).toEqual([0]);
  });

  it('takes a failed Instance that serves nothing before one that is still being created', () => {
    expect(extras({ rows: [failedRow(0, undefined, 'v1'), creatingRow(1)] })).toEqual([0]);
  });

  it('does not count Instances that leave already, and takes no other in their place', () => {
    expect(extras({ rows: [readyRow(0), deletingRow(1)] })).toEqual([]);
    expect(missing({ rows: [readyRow(0), deletingRow(1)] })).toEqual([]);
  });

  it('keeps both halves of a migration and counts only its source [E143]', () => {
    const rows = [readyRow(0), migrating(1, 7), creatingRow(7)];
    expect(extras({ spec: { replicas: 2 }, rows, pods: serving(0, 1) })).toEqual([]);
    expect(extras({ spec: { replicas: 1 }, rows, pods: serving(0, 1) })).toEqual([0]);
  });

  it('does not pin a single-pod surge: it may leave like every other [E144]', () => {
    expect(extras({ rows: [readyRow(0), surgingRow(1)], pods: serving(0, 1) })).toEqual([1]);
  });

  it('lets an Instance on a cordoned node leave before a Ready one elsewhere, whatever its index [E146]', () => {
    const pods = [pod({ index: 0, over: { node: 'drained' } }), pod({ index: 1 }), pod({ index: 2 })];
    const rows = [readyRow(0), readyRow(1), readyRow(2)];
    expect(extras({ spec: { replicas: 2 }, rows, pods, cordoned: ['drained'] })).toEqual([0]);
    expect(extras({ spec: { replicas: 2 }, rows, pods })).toEqual([2]);
    // It is kept when the others do not fill the places.
    expect(extras({ spec: { replicas: 3 }, rows, pods, cordoned: ['drained'] })).toEqual([]);
  });

  it('holds a cordon against bound pods that are neither ending nor ended, and against no others [E147]', () => {
    const rows = [readyRow(0), readyRow(1)];
    const leaving = (over: Partial<PodView>) => extras({ rows, pods: withDrained(over), cordoned: ['drained'] });
    expect(leaving({})).toEqual([0]);
    expect(leaving({ deletionAt: noon + 30 })).toEqual([1]);
    expect(leaving({ phase: 'Failed' })).toEqual([1]);
    expect(leaving({ node: '' })).toEqual([1]);
  });
});
