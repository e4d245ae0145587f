import { describe, expect, it } from '@jest/globals';
import type { InstanceRow } from '@omenative/api';
import { plan } from './plan.js';
import type { PlanSpec, PodView } from './snapshot.js';
import { holdOf, persisted, statusAfter, wishes } from './testing/read.js';
import { creatingRow, failedRow, retryBlock, surgingRow } from './testing/rows.js';
import { chartConfig, noon, payload, pod, readyRow, revisionOf, type WorldOptions, world } from './testing/world.js';

const v2 = revisionOf('v2');

/** A world whose spec has moved on to v2. */
function moved(
  rows: readonly InstanceRow[],
  update: Partial<PlanSpec['update']>,
  over: WorldOptions = {},
): WorldOptions {
  return {
    ...over,
    rows,
    pods: over.pods ?? rows.map((row) => pod({ index: row.index })),
    spec: {
      replicas: rows.length,
      payload: payload('v2'),
      ...over.spec,
      update: { type: 'SurgeThenDrain', partition: 0, inPlace: 'markNotReady', ...update },
    },
  };
}

const ready = (count: number): readonly InstanceRow[] => Array.from({ length: count }, (_, index) => readyRow(index));
const started = (options: WorldOptions): readonly number[] => {
  const before = new Map((options.rows ?? []).map((row) => [row.index, row.kind]));
  return [...statusAfter(world(options)).rows.values()]
    .filter((row) => row.kind === 'updating' && before.get(row.index) !== 'updating')
    .map(({ index }) => index);
};
const dark = (index: number): PodView => pod({ index, health: 'starting' });

describe('the order of an update', () => {
  it('is ascending, as many as the budget lets start', () => {
    expect(started(moved(ready(4), { maxSurge: 2 }))).toEqual([0, 1]);
    expect(started(moved(ready(4), { maxSurge: '25%' }))).toEqual([0]);
    expect(started(moved(ready(4), {}))).toEqual([0, 1, 2, 3]);
  });

  it('puts what serves nothing first: a broken old revision never blocks its own fix [B01]', () => {
    const pods = [pod({ index: 0 }), pod({ index: 1 }), dark(2)];
    expect(started(moved(ready(3), { maxSurge: 1 }, { pods }))).toEqual([2]);
  });

  it('goes past an Instance that is refused to one that takes over its own leftover', () => {
    const rows = [readyRow(0), failedRow(1, 'v1', 'v0'), readyRow(2)];
    const leftover = pod({ index: 1, ordinal: 1, image: 'v0', health: 'crashLoop' });
    const pods = [...rows.map((row) => pod({ index: row.index })), leftover];
    expect(started(moved(rows, { maxSurge: 1 }, { pods }))).toEqual([1]);
    expect(holdOf(plan(world(moved(rows, { maxSurge: 1 }, { pods }))), 'Budget')?.text).toContain('(would become 2)');
  });

  it('leaves out what is on the target, what is on its way, and what a partition holds', () => {
    const rows = [readyRow(0), readyRow(1, 'v2'), surgingRow(2), readyRow(3), creatingRow(4, 'v2')];
    const pods = [pod({ index: 0 }), pod({ index: 1, image: 'v2' }), pod({ index: 2 }), pod({ index: 3 })];
    expect(started(moved(rows, { partition: 1 }, { pods }))).toEqual([3]);
  });

  it('leaves out what lags behind the watch, and charges for it [B28]', () => {
    expect(started(moved(ready(3), { maxSurge: 2 }, { blind: [0] }))).toEqual([1]);
  });

  it('starts what failed at the same target only when its time has come', () => {
    const rows = [failedRow(0, 'v1', 'v2')];
    const status = { blocks: [retryBlock('v2')] };
    expect(started(moved(rows, {}, { status }))).toEqual([]);
    expect(started(moved(rows, {}, { status, now: noon + 60 }))).toEqual([0]);
  });
});

describe('a budget that is used up', () => {
  const refused = moved(ready(2), { maxSurge: 0 });

  it('is published, with what would become of it and since when [A5] [B02]', () => {
    expect(statusAfter(world(refused)).rolloutHold).toEqual({
      gate: 'Budget',
      reason: 'per-Component surge budget 0 exhausted (would become 1)',
      target: v2,
      since: noon,
    });
  });

  it('is said once, however many wait', () => {
    expect(plan(world(moved(ready(9), { maxSurge: 0 }))).holds.filter((hold) => hold.is === 'Budget')).toHaveLength(1);
  });

  it('keeps since until gate or target changes [E165]', () => {
    const later = { ...persisted(world(refused)), now: noon + 500 };
    expect(statusAfter(later).rolloutHold?.since).toBe(noon);
    const other = {
      ...later,
      status: { ...later.status, rolloutHold: { gate: 'Held' as const, reason: '', target: v2, since: 7 } },
    };
    expect(statusAfter(other).rolloutHold?.since).toBe(noon + 500);
    const earlier = { ...later.status, rolloutHold: { gate: 'Budget' as const, reason: '', target: 'v9', since: 7 } };
    expect(statusAfter({ ...later, status: earlier }).rolloutHold?.since).toBe(noon + 500);
  });

  it('is withdrawn when nothing waits any more, and while something moves [E165]', () => {
    const held = { rolloutHold: { gate: 'Budget' as const, reason: '', target: v2, since: 7 } };
    expect(statusAfter(world({ ...moved([readyRow(0, 'v2')], {}), status: held })).rolloutHold).toBeUndefined();
    const moving = moved([surgingRow(0), readyRow(1)], { maxSurge: 1 }, { status: held });
    expect(statusAfter(world(moving)).rolloutHold).toBeUndefined();
  });

  it('wakes with the pods and the spec, and when the grace of a dying pod ends [B03]', () => {
    const pods = [pod(), pod({ ordinal: 1, over: { deletionAt: noon + 60 } })];
    const made = plan(world(moved(ready(1), { maxSurge: 1 }, { pods })));
    expect(holdOf(made, 'Budget')?.wake).toEqual([{ on: 'pod', key: '*' }, { user: 'spec' }, { at: noon + 60 }]);
    expect(made.status?.rolloutHold?.reason).toContain('until its deletion grace elapses');
    expect(made.wakeAt).toBe(noon + 60);
  });
});

describe('a strategy', () => {
  it.each([
    ['SurgeThenDrain', 'Surge'],
    ['RecreatePod', 'Drain'],
    ['InPlaceIfPossible', 'InPlace'],
    ['InPlaceOnly', 'InPlace'],
  ] as const)('%s opens an Update at step %s', (type, step) => {
    const row = statusAfter(world(moved(ready(1), { type }))).rows.get(0);
    expect(row).toMatchObject({ kind: 'updating', op: { step, strategy: type, target: v2 } });
  });

  it('that can not make the update leaves the Instance untouched and waits under a name [E38]', () => {
    const template = { spec: { containers: [{ name: 'ome-container', image: 'v2', args: ['--new'] }] } };
    const spec = { payload: { runners: [{ name: 'default', size: 1, template }] } } as const;
    const made = plan(world(moved(ready(1), { type: 'InPlaceOnly' }, { spec })));
    expect(made.chains).toEqual([]);
    expect(made.status?.rows.get(0)?.kind).toBe('ready');
    expect(made.status?.rolloutHold).toMatchObject({ gate: 'Plan', reason: expect.stringContaining('InPlaceOnly') });
    expect(holdOf(made, 'Plan')?.wake).toContainEqual({ user: 'spec' });
  });

  it('is not spoken of when there is nothing to update', () => {
    expect(
      plan(world(moved([readyRow(0, 'v2')], { type: 'RecreatePod' }, { pods: [pod({ image: 'v2' })] }))).holds,
    ).toEqual([]);
  });
});

describe('a rollback', () => {
  it('goes to the revision it names, while the status keeps speaking of the spec', () => {
    const options = moved(
      [readyRow(0, 'v2')],
      {},
      { spec: { rollbackTo: revisionOf('v1') }, pods: [pod({ image: 'v2' })] },
    );
    const after = statusAfter(world(options));
    expect(after.rows.get(0)).toMatchObject({ kind: 'updating', op: { target: revisionOf('v1') } });
    expect(after.update).toBe(v2);
  });

  it('makes pods of the revision it goes to', () => {
    const options = moved(
      [readyRow(0, 'v2')],
      {},
      { spec: { rollbackTo: revisionOf('v1') }, pods: [pod({ image: 'v2' })], config: chartConfig },
    );
    expect(plan(world(options)).chains[0]?.effects).toMatchObject([{ do: 'createPod', rev: revisionOf('v1') }]);
    expect(wishes(plan(world(options)))).toEqual(['create 0-default-1']);
  });
});
