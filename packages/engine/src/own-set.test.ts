import { describe, expect, it } from '@jest/globals';
import type { InstanceRow } from '@omenative/api';
import { isInService } from './own-set.js';
import type { PodView } from './snapshot.js';
import { drained, patched } from './testing/in-place.js';
import { markerRow, pairRunners, sourceRow } from './testing/pairs.js';
import {
  creatingRow,
  deletingRow,
  drainingRow,
  failedRow,
  inPlaceRow,
  parkedRow,
  pendingRow,
  recreatingRow,
  surgingRow,
} from './testing/rows.js';
import { gangPods, payload, pod, readyRow, type WorldOptions, world } from './testing/world.js';
import { unitsOf } from './units.js';

/** Whether requests reach Instance 0. */
function serves(rows: readonly InstanceRow[], pods: readonly PodView[], options: WorldOptions = {}): boolean {
  const snapshot = world({ rows, pods, ...options, spec: { payload: payload('v2'), ...options.spec } });
  const [unit] = unitsOf(snapshot, snapshot.status.rows);
  if (unit === undefined) throw new Error('no unit');
  return isInService(snapshot, unit);
}

const replacement = pod({ ordinal: 1, image: 'v2' });
const second = pod({ image: 'v2', over: { incarnation: 2 } });
const { op } = recreatingRow(0) as InstanceRow & { readonly kind: 'updating' };
const keeping: InstanceRow = { ...failedRow(0, 'v1', 'v2', { incarnation: 2 }), kept: op } as InstanceRow;

describe('an Instance is in service', () => {
  it.each<[string, InstanceRow, readonly PodView[]]>([
    ['at rest, through its own pod', readyRow(0), [pod()]],
    ['failed, as long as its pod serves', failedRow(0, 'v1', 'v2'), [pod()]],
    ['failed for the first time, through what it was to become', failedRow(0, undefined, 'v2'), [pod({ image: 'v2' })]],
    ['being created', creatingRow(0, 'v2'), [pod({ image: 'v2' })]],
    ['being deleted, while its pod is still in', deletingRow(0), [pod()]],
    ['in a surge, through its old pod', surgingRow(0), [pod(), pod({ ordinal: 1, image: 'v2', health: 'starting' })]],
    ['in a surge, through its new pod', drainingRow(0), [drained, replacement]],
    ['changed in place, before and after', inPlaceRow(0), [pod()]],
    ['changed in place, whatever its label says', inPlaceRow(0), [pod({ image: 'v2' })]],
    ['created again, through its new pod', recreatingRow(0), [second]],
    ['parked, through the pod that failed to change', parkedRow(0), [pod({ image: 'v2' })]],
    ['failed with its operation, through what that has made', keeping, [second]],
  ])('%s', (_, row, pods) => {
    expect(serves([row], pods)).toBe(true);
  });

  it.each<[string, InstanceRow, readonly PodView[]]>([
    ['without pods', pendingRow(0), []],
    ['whose pod is out of rotation', readyRow(0), [drained]],
    ['whose pod is going', readyRow(0), [pod({ over: { deletionAt: 5 } })]],
    ['whose pod is of another revision', readyRow(0), [pod({ image: 'v0' })]],
    ['beside whose slot a pod serves', readyRow(0), [pod({ ordinal: 1 })]],
    ['whose old pods still serve while it is created again', recreatingRow(0), [pod()]],
    ['whose pod is patched', inPlaceRow(0), [patched()]],
  ])('is not one %s', (_, row, pods) => {
    expect(serves([row], pods)).toBe(false);
  });
});

describe('a gang', () => {
  const spec = { runners: pairRunners, payload: payload('v2', pairRunners) };
  const source = sourceRow(0, 1);
  const rows = [source, markerRow(source)];

  it('is in service with all of its pods, and not with some of them', () => {
    const row = [readyRow(0, 'v1', {}, pairRunners)];
    const all = gangPods(0, 1, 'serving');
    expect([serves(row, all, { spec }), serves(row, all.slice(0, 1), { spec })]).toEqual([true, false]);
  });

  it('that is replaced is in service through either half, and its marker never counts on its own [B62]', () => {
    expect(serves(rows, gangPods(0, 1, 'serving'), { spec })).toBe(true);
    expect(serves(rows, gangPods(1, 1, 'serving', 'v2'), { spec })).toBe(true);
    expect(serves(rows, gangPods(1, 1, 'starting', 'v2'), { spec })).toBe(false);
    expect(serves([markerRow(sourceRow(1, 0))], gangPods(0, 1, 'serving', 'v2'), { spec })).toBe(false);
  });
});
