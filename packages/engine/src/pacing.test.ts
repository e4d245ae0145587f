import { describe, expect, it } from '@jest/globals';
import type { InstanceRow } from '@omenative/api';
import { partitionHeld, rebuildRevision, SurgeAdmission, slotFreedAt, surgeCharge } from './pacing.js';
import type { IntOrPercent, PlanSpec, PodView, Snapshot, StoredRevision } from './snapshot.js';
import { creatingRow, deletingRow, drainingRow, failedRow, pendingRow, surgingRow } from './testing/rows.js';
import { noon, payload, pod, readyRow, revisionOf, type WorldOptions, world } from './testing/world.js';
import { unitsOf } from './units.js';

const v2 = payload('v2');
const update = (over: Partial<PlanSpec['update']>): PlanSpec['update'] => ({
  type: 'SurgeThenDrain',
  partition: 0,
  inPlace: 'markNotReady',
  ...over,
});

function held(partition: number, rows: readonly InstanceRow[], over: WorldOptions = {}): readonly number[] {
  const snapshot = world({ ...over, spec: { payload: v2, update: update({ partition }) }, rows });
  return [...partitionHeld(snapshot, unitsOf(snapshot, snapshot.status.rows))].toSorted((a, b) => a - b);
}

describe('partition', () => {
  it('holds the lowest indices that are not on the target, by count and not by position [E148] [B08]', () => {
    expect(held(2, [readyRow(1), readyRow(4), readyRow(9)])).toEqual([1, 4]);
  });

  it('does not count what is on the target already [E148] [B08]', () => {
    expect(held(2, [readyRow(0, 'v2'), readyRow(1), readyRow(2), readyRow(3)])).toEqual([1, 2]);
  });

  it.each<[string, InstanceRow]>([
    ['is on its way', surgingRow(0)],
    ['is being deleted', deletingRow(0)],
    ['never ran', failedRow(0, undefined, 'v1')],
    ['is created at the target', creatingRow(0, 'v2', { row: { running: revisionOf('v1') } })],
  ])('does not spend a place on an Instance that %s [E148]', (_, row) => {
    expect(held(1, [row, readyRow(1)])).toEqual([1]);
  });

  it.each<[string, InstanceRow]>([
    ['failed on its way', failedRow(0, 'v1', 'v2')],
    ['lost its pods', pendingRow(0)],
    ['is being made again as it was', creatingRow(0, 'v1', { row: { running: revisionOf('v1') } })],
  ])('holds an Instance that %s where it is [E148]', (_, row) => {
    expect(held(1, [row, readyRow(1)])).toEqual([0]);
  });

  it('of 0 holds nobody', () => {
    expect(held(0, [readyRow(0), readyRow(1)])).toEqual([]);
  });
});

const rev = (of: Snapshot, heldBack: readonly number[]): string =>
  rebuildRevision(of, { index: 0, row: pendingRow(0), pods: [] }, new Set(heldBack), 'open');

describe('the revision that lost pods are made from', () => {
  const snapshot = world({ spec: { payload: v2 }, rows: [pendingRow(0)] });

  it('is the target', () => {
    expect(rev(snapshot, [])).toBe(revisionOf('v2'));
  });

  it('is the one that ran where a partition holds the Instance, as long as it is stored', () => {
    expect(rev(snapshot, [0])).toBe(revisionOf('v1'));
    const revisions = new Map<string, StoredRevision | 'gone'>([...snapshot.revisions, [revisionOf('v1'), 'gone']]);
    expect(rev({ ...snapshot, revisions }, [0])).toBe(revisionOf('v2'));
  });
});

function charge(rows: readonly InstanceRow[], over: WorldOptions = {}): ReturnType<typeof surgeCharge> {
  const snapshot = world({
    ...over,
    spec: { payload: v2, replicas: 4, update: update({ maxSurge: 2 }), ...over.spec },
    rows,
  });
  return surgeCharge(snapshot, unitsOf(snapshot, snapshot.status.rows));
}

describe('the surge budget', () => {
  it.each<[IntOrPercent | undefined, number | undefined]>([
    [undefined, undefined],
    [0, 0],
    ['25%', 1],
    ['26%', 2],
  ])('of %p allows %p of four Instances [E150]', (maxSurge, limit) => {
    const spec = { update: update(maxSurge === undefined ? {} : { maxSurge }) };
    expect(charge([], { spec }).ledger.limit).toBe(limit);
  });

  it.each<[number, string, InstanceRow, WorldOptions]>([
    [1, 'a surge that is under way [E150]', surgingRow(0), { pods: [pod()] }],
    [1, 'a surge whose old pod drains [E150]', drainingRow(0), { pods: [pod()] }],
    [0, 'an Instance at rest', readyRow(0), { pods: [pod()] }],
    [
      1,
      'an Instance that was moved and does not serve',
      readyRow(0, 'v2'),
      { pods: [pod({ image: 'v2', health: 'starting' })] },
    ],
    [1, 'an Instance that was moved and lost its pods', pendingRow(0, 'v2'), {}],
    [0, 'an Instance that was moved and serves', readyRow(0, 'v2'), { pods: [pod({ image: 'v2' })] }],
    [0, 'an Instance that was not moved and does not serve', readyRow(0), { pods: [pod({ health: 'starting' })] }],
    [0, 'a new Instance', creatingRow(0, 'v2'), {}],
    [
      1,
      'an old pod that ends within its grace',
      readyRow(0),
      { pods: [pod(), pod({ ordinal: 1, over: { deletionAt: noon + 1 } })] },
    ],
    [
      1,
      'an old pod whose containers have ended and that is not gone yet',
      readyRow(0),
      { pods: [pod(), pod({ ordinal: 1, health: 'failed', over: { deletionAt: noon + 1 } })] },
    ],
    [
      0,
      'an old pod that lingers after its grace',
      readyRow(0),
      { pods: [pod(), pod({ ordinal: 1, over: { deletionAt: noon } })] },
    ],
    [
      1,
      'a leftover of a failed attempt',
      failedRow(0, 'v1', 'v2'),
      { pods: [pod(), pod({ ordinal: 1, image: 'v2', health: 'starting' })] },
    ],
    [
      0,
      'a leftover that has ended',
      failedRow(0, 'v1', 'v2'),
      { pods: [pod(), pod({ ordinal: 1, image: 'v2', health: 'failed' })] },
    ],
    [1, 'an Instance that the watch lags on [B28]', readyRow(0), { pods: [pod()], blind: [0] }],
    [1, 'an Instance that leaves with both pods of a surge', deletingRow(0), { pods: [pod(), pod({ ordinal: 1 })] }],
    [
      0,
      'an Instance that leaves with its own pod',
      deletingRow(0, 'v2'),
      { pods: [pod({ image: 'v2', health: 'drained' })] },
    ],
  ])('charges %p for %s', (used, _, row, options) => {
    expect(charge([row], options).ledger.used).toBe(used);
  });

  it.each<[string, InstanceRow, WorldOptions, string]>([
    [
      'a dying pod',
      readyRow(0),
      { pods: [pod(), pod({ ordinal: 1, over: { deletionAt: noon + 60 } })] },
      '; Terminating pod chat-engine-0-default-1 still counts against the surge budget until its deletion grace elapses',
    ],
    [
      'a leftover',
      failedRow(0, 'v1', 'v0'),
      { pods: [pod(), pod({ ordinal: 1, image: 'v0', health: 'starting' })] },
      '; extra pod chat-engine-0-default-1 holds a surge slot until a start on its Instance replaces it',
    ],
    [
      'an Instance that leaves in mid-surge',
      deletingRow(0),
      { pods: [pod(), pod({ ordinal: 1, image: 'v2' })] },
      '; extra pod chat-engine-0-default-1 holds a surge slot until its Instance is deleted',
    ],
    [
      'an Instance that does not serve',
      readyRow(0, 'v2'),
      { pods: [pod({ image: 'v2', health: 'starting' })] },
      '; Instance 0 runs the target and does not serve',
    ],
  ])('says when %s holds a slot', (_, row, options, because) => {
    expect(charge([row], options).because).toBe(because);
  });

  it('wakes the plan when the grace of a dying pod ends', () => {
    const pods = [
      pod(),
      pod({ ordinal: 1, over: { deletionAt: noon + 60 } }),
      pod({ index: 1, ordinal: 1, over: { deletionAt: noon + 9 } }),
    ];
    const snapshot = world({ rows: [readyRow(0), readyRow(1)], pods });
    expect(slotFreedAt(snapshot, unitsOf(snapshot, snapshot.status.rows))).toBe(noon + 9);
    expect(slotFreedAt(world(), [])).toBeUndefined();
  });
});

/** An Instance with its own pod and what a failed attempt at v2 left. */
const leftover = (index: number) => [pod({ index }), pod({ index, ordinal: 1, image: 'v2', health: 'starting' })];

function admission(maxSurge: number, rows: readonly InstanceRow[], pods: readonly PodView[]): SurgeAdmission {
  const spec = { replicas: 4, payload: payload('v3'), update: update({ maxSurge }) };
  const snapshot = world({ spec, rows, pods });
  return new SurgeAdmission(snapshot, unitsOf(snapshot, snapshot.status.rows));
}

describe('admission of surges', () => {
  it('takes starts until the budget is used up and then says what would become of it [E150]', () => {
    const surges = admission(
      2,
      [readyRow(0), readyRow(1), readyRow(2)],
      [0, 1, 2].map((index) => pod({ index })),
    );
    expect(surges.admit(0)).toBeUndefined();
    expect(surges.admit(1)).toBeUndefined();
    expect(surges.admit(2)).toBe('per-Component surge budget 2 exhausted (would become 3)');
  });

  it('lets a start take over the slot of its own leftover, where others are refused [B06]', () => {
    const surges = admission(1, [readyRow(0), failedRow(1, 'v1', 'v2')], [pod(), ...leftover(1)]);
    expect(surges.admit(0)).toMatch(
      /^per-Component surge budget 1 exhausted \(would become 2\); extra pod chat-engine-1-default-1/,
    );
    expect(surges.admit(1)).toBeUndefined();
    expect(surges.admit(0)).toMatch(/would become 2/);
  });

  it('lets leftovers go one after the other when the budget was lowered meanwhile', () => {
    const surges = admission(1, [failedRow(0, 'v1', 'v2'), failedRow(1, 'v1', 'v2')], [...leftover(0), ...leftover(1)]);
    expect(surges.admit(0)).toBeUndefined();
    expect(surges.admit(1)).toMatch(/^per-Component surge budget 1 exhausted/);
  });

  it('lets no leftover take the slot of an Instance that leaves in mid-surge', () => {
    const surges = admission(1, [deletingRow(0), failedRow(1, 'v1', 'v2')], [...leftover(0), ...leftover(1)]);
    expect(surges.admit(1)).toBeDefined();
  });

  it('lets nothing move at a budget of 0, leftover or not', () => {
    const surges = admission(0, [readyRow(0), failedRow(1, 'v1', 'v2')], [pod(), ...leftover(1)]);
    expect(surges.admit(0)).toBeDefined();
    expect(surges.admit(1)).toBeDefined();
  });
});
