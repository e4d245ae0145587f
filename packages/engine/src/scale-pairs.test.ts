/** Scaling while gangs are being replaced: a pair keeps its place, a failed one competes for it, and its halves leave together. */
import { describe, expect, it } from '@jest/globals';
import type { InstanceRow } from '@omenative/api';
import { plan } from './plan.js';
import { planIndices } from './scale.js';
import type { PodView, Snapshot } from './snapshot.js';
import { markerRow, pair, pairRunners, sourceRow } from './testing/pairs.js';
import { kinds, statusAfter, wishes } from './testing/read.js';
import { gangPods, noon, payload, readyRow, type WorldOptions, world } from './testing/world.js';
import { unitsOf } from './units.js';

const spec = { runners: pairRunners, payload: payload('v2', pairRunners) };
const ready = (index: number): InstanceRow => readyRow(index, 'v2', {}, pairRunners);
const podsOf = (...indices: readonly number[]): readonly PodView[] =>
  indices.flatMap((index) => gangPods(index, 1, 'serving', 'v2'));
const failed = (index: number, surgeIndex: number): readonly InstanceRow[] => {
  const source = sourceRow(index, surgeIndex, { phase: 'Failed' });
  return [source, markerRow(source, 'GangSurgeTargetCleanup')];
};

function component(rows: readonly InstanceRow[], replicas: number, options: WorldOptions = {}): Snapshot {
  return world({ rows, ...options, spec: { ...spec, replicas, ...options.spec } });
}

function planned(snapshot: Snapshot): ReturnType<typeof planIndices> {
  return planIndices(snapshot, unitsOf(snapshot, snapshot.status.rows));
}

describe('a pair in flight', () => {
  it('keeps both its halves when the component shrinks; a Ready Instance goes instead [E74]', () => {
    const pods = [...gangPods(2, 1, 'serving'), ...gangPods(3, 1, 'starting', 'v2'), ...podsOf(0, 1)];
    const snapshot = component([ready(0), ready(1), ...pair(2, 3)], 2, { pods });
    expect(planned(snapshot)).toEqual({ missing: [], extras: [1] });
    expect(kinds(statusAfter(snapshot))).toBe('0 ready, 1 deleting, 2 gangFrom, 3 gangTo');
  });

  it('is kept even when more pairs are in flight than Instances are wanted [E74]', () => {
    expect(planned(component([...pair(0, 2), ...pair(1, 3)], 1)).extras).toEqual([]);
  });

  it('counts as one Instance, and nobody else gets its index [E60] [E142]', () => {
    expect(planned(component([...pair(0, 1)], 3)).missing).toEqual([2, 3]);
    expect(planned(component([sourceRow(0, 1)], 2)).missing).toEqual([2]);
  });

  it('is kept on a cordoned node too [E146]', () => {
    const pods = [...gangPods(0, 1, 'serving'), ...podsOf(2)].map((pod) => ({ ...pod, node: `node-${pod.index}` }));
    const snapshot = component([...pair(0, 1), ready(2)], 1, { pods, cordoned: ['node-0'] });
    expect(planned(snapshot).extras).toEqual([2]);
  });
});

describe('a failed pair', () => {
  const pods = [...gangPods(0, 1, 'serving'), ...gangPods(2, 1, 'starting', 'v2'), ...podsOf(1)];

  it('pins nothing and stands behind what is Ready [E73]', () => {
    expect(planned(component([...failed(0, 2), ready(1)], 1, { pods })).extras).toEqual([0]);
    expect(planned(component([...failed(0, 2), ready(1)], 2, { pods })).extras).toEqual([]);
  });

  it.each(['GangSurgeTarget', 'GangSurgeTargetCleanup'] as const)(
    'leaves with both halves in one write, and grows no more, with its marker at step %s [E73]',
    (step) => {
      const source = sourceRow(0, 2, { phase: 'Failed' });
      const partial = pods.filter((pod) => pod.name !== 'chat-engine-2-worker-0');
      const snapshot = component([source, markerRow(source, step), ready(1)], 1, { pods: partial });
      expect(kinds(statusAfter(snapshot))).toBe('0 deleting, 1 ready, 2 deleting');
      expect(wishes(plan(snapshot))).toEqual(['out 0-leader-0', 'out 0-worker-0', 'delete 2-leader-0']);
    },
  );

  it('stands as cordoned when either half does [E73]', () => {
    const rows = [...failed(0, 3), ...failed(1, 4)];
    const all = [...gangPods(0, 1, 'serving'), ...gangPods(1, 1, 'serving'), ...podsOf(3, 4)];
    const on = all.map((pod) => ({ ...pod, node: `node-${pod.index}` }));
    expect(planned(component(rows, 1, { pods: on })).extras).toEqual([1]);
    expect(planned(component(rows, 1, { pods: on, cordoned: ['node-0'] })).extras).toEqual([0]);
    expect(planned(component(rows, 1, { pods: on, cordoned: ['node-3'] })).extras).toEqual([0]);
  });

  it('outlasts a failed Instance that serves nothing', () => {
    const row: InstanceRow = { ...ready(1), kind: 'failed' };
    expect(planned(component([row, ...failed(2, 3)], 1, { pods: gangPods(2, 1, 'serving') })).extras).toEqual([1]);
  });
});

describe('a component that ends', () => {
  it('takes both halves of every pair with it [B67]', () => {
    const replica = { deletingSince: noon - 1 };
    const pods = [...gangPods(0, 1, 'serving'), ...gangPods(1, 1, 'starting', 'v2')];
    const snapshot = component(pair(0, 1), 1, { pods, replica });
    expect(kinds(statusAfter(snapshot))).toBe('0 deleting, 1 deleting');
    expect(wishes(plan(snapshot)).filter((wish) => wish.startsWith('create'))).toEqual([]);
  });
});
