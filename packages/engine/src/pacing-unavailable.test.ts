/** Updates that take Instances out of service: who may start, and what a partition holds of every kind of row. */
import { describe, expect, it } from '@jest/globals';
import type { InstanceRow } from '@omenative/api';
import { partitionHeld, UnavailableAdmission } from './pacing.js';
import type { IntOrPercent, PlanSpec, PodView, Snapshot } from './snapshot.js';
import { patched } from './testing/in-place.js';
import { markerRow, pairRunners, sourceRow } from './testing/pairs.js';
import {
  creatingRow,
  deletingRow,
  failedRow,
  inPlaceRow,
  parkedRow,
  recreatingRow,
  surgingRow,
} from './testing/rows.js';
import { gangPods, payload, pod, readyRow, single, type WorldOptions, world } from './testing/world.js';
import { unitsOf } from './units.js';

const policy: PlanSpec['update'] = { type: 'RecreatePod', partition: 0, inPlace: 'markNotReady' };

function snapshotOf(
  rows: readonly InstanceRow[],
  maxUnavailable: IntOrPercent | undefined,
  over: WorldOptions,
): Snapshot {
  const update = maxUnavailable === undefined ? policy : { ...policy, maxUnavailable };
  return world({
    rows,
    pods: rows.map((row) => pod({ index: row.index })),
    ...over,
    spec: { replicas: 4, payload: payload('v2'), update, ...over.spec },
  });
}

/** How many serving Instances may be taken out one after the other; 9 stands for any number. */
function room(rows: readonly InstanceRow[], maxUnavailable: IntOrPercent | undefined, over: WorldOptions = {}): number {
  const snapshot = snapshotOf(rows, maxUnavailable, over);
  const admission = new UnavailableAdmission(snapshot, unitsOf(snapshot, snapshot.status.rows));
  for (let count = 0; count < 9; count++) if (admission.admit('serving') !== undefined) return count;
  return 9;
}

const four = [0, 1, 2, 3].map((index) => readyRow(index));
/** Instance 0 is `row` with `pods`, and three others serve. */
const beside = (row: InstanceRow, pods: readonly PodView[]): [readonly InstanceRow[], WorldOptions] => [
  [row, ...four.slice(1)],
  { pods: [...pods, ...[1, 2, 3].map((index) => pod({ index }))] },
];
const second = pod({ image: 'v2', over: { incarnation: 2 } });

/** Why a serving Instance may not be taken out at a budget of 0. */
function refusal(rows: readonly InstanceRow[], over: WorldOptions = {}): string | undefined {
  const snapshot = snapshotOf(rows, 0, over);
  return new UnavailableAdmission(snapshot, unitsOf(snapshot, snapshot.status.rows)).admit('serving');
}

describe('the unavailability budget', () => {
  it.each<[IntOrPercent | undefined, number]>([
    [undefined, 9],
    [0, 0],
    [2, 2],
    ['25%', 1],
    ['26%', 2],
    [-3, 0],
    ['250%', 4],
  ])('of %p lets %p of four serving Instances go [E150]', (budget, count) => {
    expect(room(four, budget)).toBe(count);
  });

  it.each<[number, string, InstanceRow, readonly PodView[]]>([
    [2, 'an Instance that serves', readyRow(0), [pod()]],
    [1, 'one that does not, whoever took it out', readyRow(0), [pod({ health: 'starting' })]],
    [1, 'one that is created', creatingRow(0), []],
    [1, 'one that is created again', recreatingRow(0), [pod()]],
    [1, 'one that is created again and serves, but not yet for good', recreatingRow(0), [second]],
    [1, 'one that is changed in place', inPlaceRow(0), [patched()]],
    [1, 'one whose pod failed to change', parkedRow(0), [patched()]],
    [2, 'one whose pod failed to change and serves', parkedRow(0), [pod({ image: 'v2' })]],
    [2, 'one that surges: its old pod serves', surgingRow(0), [pod()]],
    [1, 'one that leaves', deletingRow(0), [pod()]],
    [2, 'one that failed and serves', failedRow(0, 'v1', 'v2'), [pod()]],
  ])('of 2 has room for %p more beside %s [E150]', (count, _, row, pods) => {
    const [rows, over] = beside(row, pods);
    expect(room(rows, 2, over)).toBe(count);
  });

  it('counts an Instance that is missing, and one that the watch lags on [B28]', () => {
    expect(room(four.slice(0, 3), 2)).toBe(1);
    expect(room(four, 2, { blind: [0] })).toBe(1);
  });

  it('counts a gang that is replaced by its half that serves, and no marker', () => {
    const source = sourceRow(0, 4);
    const ready = [1, 2, 3].map((index) => readyRow(index, 'v1', {}, pairRunners));
    const pods = [0, 1, 2, 3].flatMap((index) => gangPods(index, 1, 'serving'));
    const spec = { runners: pairRunners, payload: payload('v2', pairRunners) };
    expect(room([source, markerRow(source), ...ready], 1, { spec, pods })).toBe(1);
    expect(room([source, markerRow(source), ...ready], 1, { spec, pods: pods.slice(2) })).toBe(0);
  });

  it('lends nothing to those who stay from an Instance too many', () => {
    expect(room([...four, readyRow(4)], 1)).toBe(1);
  });

  it('costs nothing for an Instance that serves nothing, however many are out [B01]', () => {
    const snapshot = snapshotOf(four, 0, { pods: [] });
    const admission = new UnavailableAdmission(snapshot, unitsOf(snapshot, snapshot.status.rows));
    expect([admission.admit('dark'), admission.admit('dark')]).toEqual([undefined, undefined]);
    expect(admission.admit('serving')).toMatch(/^per-Component unavailability budget 0 exhausted \(would become 5\)/);
  });

  it('says what would become of it, and who moved and does not serve [A5] [B02]', () => {
    expect(refusal(four)).toBe('per-Component unavailability budget 0 exhausted (would become 1)');
    const [rows, over] = beside(readyRow(0, 'v2'), [pod({ image: 'v2', health: 'starting' })]);
    expect(refusal(rows, over)).toBe(
      'per-Component unavailability budget 0 exhausted (would become 2); Instance 0 runs the target and does not serve',
    );
  });
});

/** Whom a partition of 1 holds. */
function held(rows: readonly InstanceRow[], runners = pairRunners): readonly number[] {
  const spec = { runners, payload: payload('v2', runners), update: { ...policy, partition: 1 } };
  const snapshot = world({ spec, rows });
  return [...partitionHeld(snapshot, unitsOf(snapshot, snapshot.status.rows))];
}

describe('a partition', () => {
  const last = readyRow(7);
  const lastGang = readyRow(7, 'v1', {}, pairRunners);
  const source = sourceRow(0, 1);
  const { op } = recreatingRow(0) as InstanceRow & { readonly kind: 'updating' };

  it.each<[string, InstanceRow]>([
    ['is changed in place', inPlaceRow(0)],
    ['is created again', recreatingRow(0)],
    ['failed and keeps its update', { ...failedRow(0, 'v1', 'v2'), kept: op } as InstanceRow],
  ])('spends no place on an Instance that %s: it has left its revision [E148]', (_, row) => {
    expect(held([row, last], single)).toEqual([7]);
  });

  it('spends none on either half of a gang that is replaced [E148]', () => {
    expect(held([source, markerRow(source), lastGang])).toEqual([7]);
  });

  it.each(['migrateFrom', 'migrateTo', 'restarting'] as const)('spends none on a row that is %s [E148]', (kind) => {
    const moving = { ...source, kind, op: { ...source.op, type: 'Migrate', step: 'CreateSurge' } } as never;
    expect(held([moving, lastGang])).toEqual([7]);
  });

  it('holds a parked Instance: it may still be left where it is [E148]', () => {
    expect(held([parkedRow(0), last], single)).toEqual([0]);
  });

  it('does not hold an Instance whose revision is not known', () => {
    expect(held([readyRow(0, 'v1', { running: '' }), last], single)).toEqual([7]);
  });
});
