import { describe, expect, it } from '@jest/globals';
import type { InstanceRow } from '@omenative/api';
import { missingPods } from './batches.js';
import { plan } from './plan.js';
import type { IntOrPercent, LifecycleConfig } from './snapshot.js';
import { holdOf, statusAfter, wishes } from './testing/read.js';
import { creatingRow, deletingRow } from './testing/rows.js';
import { chartConfig, gang, gangPods, noon, pod, readyRow, type WorldOptions, world } from './testing/world.js';
import { unitsOf } from './units.js';

const three = gang(2);
const ready = (count: number): readonly InstanceRow[] => Array.from({ length: count }, (_, index) => readyRow(index));
const serving = (count: number) => Array.from({ length: count }, (_, index) => pod({ index }));

/** Indices that a plan starts to create. */
function created(batch: number | undefined, options: WorldOptions): readonly number[] {
  const { scaleUpPodBatch: _, ...rest } = chartConfig;
  const config: LifecycleConfig = batch === undefined ? rest : { ...rest, scaleUpPodBatch: batch };
  const before = new Set((options.rows ?? []).map((row) => row.index));
  return [...statusAfter(world({ ...options, config })).rows.keys()].filter((index) => !before.has(index));
}

/** Indices that a plan starts to delete, in the order they were admitted. */
function deleted(batch: IntOrPercent | undefined, options: WorldOptions): readonly number[] {
  const { scaleDownPodBatch: _, ...rest } = chartConfig;
  const config: LifecycleConfig = batch === undefined ? rest : { ...rest, scaleDownPodBatch: batch };
  return [...statusAfter(world({ ...options, config })).rows.values()]
    .filter((row) => row.kind === 'deleting')
    .map(({ index }) => index);
}

describe('a batch of creations', () => {
  it('takes the first indices up to the pods it may create, in one status [E1]', () => {
    expect(created(2, { spec: { replicas: 5 } })).toEqual([0, 1]);
  });

  it('of 100 takes exactly the first 100 of 2,001 Instances, and says that there are more [E2]', () => {
    const snapshot = world({ spec: { replicas: 2001 } });
    const made = plan(snapshot);
    expect([...(made.status?.rows.keys() ?? [])]).toEqual(Array.from({ length: 100 }, (_, index) => index));
    expect(wishes(made)).toHaveLength(100);
    expect(holdOf(made, 'Batch')?.text).toMatch(/^1901 Instance\(s\) wait/);
  });

  it('has no end without a limit [E3]', () => {
    expect(created(undefined, { spec: { replicas: 300 } })).toHaveLength(300);
  });

  it('of 0 starts nothing, not even a gang that would exceed any limit, and says so [E3]', () => {
    const options = { spec: { replicas: 2, runners: three } };
    expect(created(0, options)).toEqual([]);
    expect(holdOf(plan(world({ ...options, config: { scaleUpPodBatch: 0 } })), 'Batch')).toBeDefined();
  });

  it('takes whole gangs only [E4]', () => {
    expect(created(7, { spec: { replicas: 5, runners: three } })).toEqual([0, 1]);
  });

  it('lets a gang that is larger than the batch go alone [E4]', () => {
    expect(created(2, { spec: { replicas: 5, runners: three } })).toEqual([0]);
  });

  it('counts the pods that earlier starts still lack, and not those that exist', () => {
    const rows = [creatingRow(0), creatingRow(1)];
    expect(created(2, { spec: { replicas: 5 }, rows })).toEqual([]);
    const pods = [pod({ index: 0, health: 'starting' })];
    expect(created(2, { spec: { replicas: 5 }, rows, pods })).toEqual([2]);
    const both = [...pods, pod({ index: 1, health: 'starting' })];
    expect(created(2, { spec: { replicas: 5 }, rows, pods: both })).toEqual([2, 3]);
  });

  it('counts all pods of an Instance that the watch lags on as lacking [B28]', () => {
    const options = { spec: { runners: three }, rows: [creatingRow(0, 'v1', { runners: three })] };
    const lacking = (over: WorldOptions): number => {
      const snapshot = world({ ...options, ...over });
      return missingPods(snapshot, unitsOf(snapshot, snapshot.status.rows));
    };
    expect(lacking({ pods: gangPods(0, 2, 'starting').slice(1) })).toBe(1);
    expect(lacking({ pods: gangPods(0, 2, 'starting'), blind: [0] })).toBe(3);
  });
});

describe('a wave of deletions', () => {
  const scaledDown = { spec: { replicas: 1 }, rows: ready(6), pods: serving(6) };

  it('takes the highest indices up to the pods it may take [E119]', () => {
    expect(deleted(2, scaledDown)).toEqual([4, 5]);
  });

  it('has no end without a limit', () => {
    expect(deleted(undefined, scaledDown)).toEqual([1, 2, 3, 4, 5]);
  });

  it.each<[IntOrPercent, readonly number[]]>([
    ['50%', [3, 4, 5]],
    ['34%', [3, 4, 5]],
    ['1%', [5]],
  ])('of %s is that share of all pods, rounded up and at least one', (batch, indices) => {
    expect(deleted(batch, scaledDown)).toEqual(indices);
  });

  it('waits for the wave before it, and says so', () => {
    const rows = [...ready(5), deletingRow(5)];
    const options = { ...scaledDown, rows };
    expect(deleted(2, options)).toEqual([5]);
    const hold = holdOf(plan(world({ ...options, config: { scaleDownPodBatch: 2 } })), 'DeleteQueue');
    expect(hold?.text).toMatch(/^4 Instance\(s\) wait for the deletions before them/);
  });

  it('lets an Instance that is larger than the wave go alone', () => {
    const rows = [0, 1, 2].map((index) => readyRow(index, 'v1', {}, three));
    const pods = [0, 1, 2].flatMap((index) => gangPods(index, 2, 'serving'));
    expect(deleted(2, { spec: { replicas: 1, runners: three }, rows, pods })).toEqual([2]);
  });

  it('counts the dying pods of an Instance', () => {
    const dying = [0, 1, 2].map((index) => pod({ index, ordinal: 1, over: { deletionAt: noon + 60 } }));
    expect(deleted(2, { spec: { replicas: 1 }, rows: ready(3), pods: [...serving(3), ...dying] })).toEqual([2]);
  });

  it('counts a row without pods as one', () => {
    expect(deleted(2, { spec: { replicas: 1 }, rows: ready(4), proofs: 'none' })).toEqual([2, 3]);
  });
});
