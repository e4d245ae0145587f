import { describe, expect, it } from '@jest/globals';
import type { InstanceRow } from '@omenative/api';
import { plan } from './plan.js';
import { holdOf, kinds, persisted, statusAfter, wishes } from './testing/read.js';
import { creatingRow, deletingRow, pendingRow, surgingRow } from './testing/rows.js';
import { chartConfig, noon, payload, pod, readyRow, revisionOf, world } from './testing/world.js';

describe('the order of a pass', () => {
  it('scales down before it updates: nothing is spent on what leaves [B07] [B64]', () => {
    const snapshot = world({
      spec: { payload: payload('v2') },
      rows: [readyRow(0), readyRow(1)],
      pods: [pod(), pod({ index: 1 })],
    });
    expect(kinds(statusAfter(snapshot))).toBe('0 updating, 1 deleting');
  });

  it('starts nothing on an Instance that waits for its turn to leave [B07]', () => {
    const config = { ...chartConfig, scaleDownPodBatch: 1 };
    const rows = [readyRow(0), readyRow(1), pendingRow(2), readyRow(3)];
    const pods = [pod(), pod({ index: 1 }), pod({ index: 3 })];
    const after = statusAfter(world({ spec: { payload: payload('v2') }, rows, pods, config }));
    expect(kinds(after)).toBe('0 updating, 1 ready, 2 deleting, 3 ready');
    const next = statusAfter(
      world({ spec: { payload: payload('v2') }, rows: [readyRow(0), pendingRow(1), deletingRow(3)], pods, config }),
    );
    expect(kinds(next)).toBe('0 updating, 1 pending, 3 deleting');
  });

  it('makes lost pods again before it adds Instances, and both within one batch', () => {
    const config = { ...chartConfig, scaleUpPodBatch: 2 };
    const after = statusAfter(world({ spec: { replicas: 3 }, rows: [pendingRow(1)], config }));
    expect(kinds(after)).toBe('0 creating, 1 creating');
  });

  it('takes one step an Instance: what ends in this pass starts nothing in it', () => {
    const done = world({ spec: { payload: payload('v2') }, rows: [creatingRow(0)], pods: [pod()] });
    expect(kinds(statusAfter(done))).toBe('0 ready');
    expect(kinds(statusAfter(persisted(done)))).toBe('0 updating');
  });

  it('lets what can be promoted be promoted, however late', () => {
    const late = world({ rows: [creatingRow(0)], pods: [pod()], now: noon + 1e6 });
    expect(kinds(statusAfter(late))).toBe('0 ready');
  });
});

describe('an Instance that the watch lags on', () => {
  it('is left as it is, and named, while the others go on [B28] [B98]', () => {
    const rows = [creatingRow(0), creatingRow(1)];
    const snapshot = world({ spec: { replicas: 2 }, rows, pods: [pod(), pod({ index: 1 })], blind: [0] });
    expect(kinds(statusAfter(snapshot))).toBe('0 creating, 1 ready');
    expect(holdOf(plan(snapshot), 'Blind')).toMatchObject({ index: 0, wake: [{ on: 'floor', key: '0' }] });
  });

  it('is not taken out by a scale-down, nor is another in its place [B29]', () => {
    const snapshot = world({ rows: [readyRow(0), readyRow(1)], pods: [pod(), pod({ index: 1 })], blind: [1] });
    expect(kinds(statusAfter(snapshot))).toBe('0 ready, 1 ready');
  });

  it('keeps its place in a partition, so that nobody else is held in its stead', () => {
    const update = { type: 'SurgeThenDrain', partition: 1, inPlace: 'markNotReady' } as const;
    const spec = { replicas: 2, payload: payload('v2'), update };
    const snapshot = world({ spec, rows: [readyRow(0), pendingRow(1)], pods: [pod()], blind: [0] });
    expect(statusAfter(snapshot).rows.get(1)).toMatchObject({ kind: 'creating', op: { target: revisionOf('v2') } });
  });
});

describe('a state that this version does not drive', () => {
  const foreign: InstanceRow = {
    ...readyRow(0),
    kind: 'foreign',
    phase: 'Migrating',
    readAs: 'migrate',
    op: { odd: true },
  };

  it('is kept to the letter, counted and named, and holds up nobody', () => {
    const snapshot = world({
      spec: { replicas: 2 },
      rows: [foreign, creatingRow(1)],
      pods: [pod(), pod({ index: 1 })],
    });
    const after = statusAfter(snapshot);
    expect(after.rows.get(0)).toEqual({ ...foreign, published: expect.anything() });
    expect(kinds(after)).toBe('0 foreign, 1 ready');
    expect(holdOf(plan(snapshot), 'Foreign')?.text).toContain('scale it down to replace it');
  });

  it('leaves by scale-down', () => {
    const snapshot = world({ rows: [foreign, readyRow(1)], pods: [pod(), pod({ index: 1 })] });
    expect(kinds(statusAfter(snapshot))).toBe('0 deleting, 1 ready');
  });
});

describe('the published status', () => {
  it('keeps rows in the order they had, and puts new ones last, ascending', () => {
    const status = { order: [5, 1, 9] };
    const rows = [readyRow(1), readyRow(5)];
    const snapshot = world({ spec: { replicas: 4 }, rows, pods: [pod({ index: 1 }), pod({ index: 5 })], status });
    expect(statusAfter(snapshot).order).toEqual([5, 1, 0, 2]);
  });

  it('names the revision of the spec and the generation in the same write as the first rows', () => {
    expect(statusAfter(world({ status: { update: '' }, replica: { generation: 4 } }))).toMatchObject({
      update: revisionOf('v1'),
      observedGeneration: 4,
    });
  });

  it('carries what this version does not know', () => {
    const status = { carry: { traffic: [1] }, migrations: [], collisionCount: 0 };
    expect(statusAfter(world({ status })).carry).toBe(status.carry);
  });

  it('does not rewrite rows that nothing happened to [E212]', () => {
    const published = { pods: 1, serving: 1, available: 1, admitted: true };
    const snapshot = world({
      spec: { replicas: 3 },
      rows: [readyRow(0, 'v1', { published }), readyRow(1, 'v1', { published })],
      pods: [pod(), pod({ index: 1 })],
    });
    const after = statusAfter(snapshot);
    expect(kinds(after)).toBe('0 ready, 1 ready, 2 creating');
    expect(after.rows.get(0)).toBe(snapshot.status.rows.get(0));
    expect(after.rows.get(1)).toBe(snapshot.status.rows.get(1));
  });
});

describe('a deletion in flight', () => {
  it('goes on beside an update', () => {
    const rows = [surgingRow(0), deletingRow(1)];
    const pods = [pod(), pod({ index: 1, health: 'drained' })];
    expect(wishes(plan(world({ spec: { payload: payload('v2') }, rows, pods })))).toEqual([
      'delete 1-default-0',
      'create 0-default-1',
    ]);
  });
});
