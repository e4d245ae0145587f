/** How a gang surge ends without success: given up for another target, or failed; and what the ladder makes of it. */
import { describe, expect, it } from '@jest/globals';
import type { InstanceRow } from '@omenative/api';
import { plan } from '../plan.js';
import type { PodView, Snapshot } from '../snapshot.js';
import { markerRow, pair, pairRunners, sourceRow } from '../testing/pairs.js';
import { holdOf, kinds, persisted, rowAfter, said, statusAfter, wishes } from '../testing/read.js';
import { chartConfig, gangPods, noon, payload, revisionOf, type WorldOptions, world } from '../testing/world.js';

const v1 = revisionOf('v1', pairRunners);
const v2 = revisionOf('v2', pairRunners);
const old = gangPods(0, 1, 'serving');
const starting = gangPods(1, 1, 'starting', 'v2');
const serving = gangPods(1, 1, 'serving', 'v2');

/** Gang 0 is being replaced by one at index 1, from v1 to v2. */
function surging(pods: readonly PodView[], options: WorldOptions = {}): Snapshot {
  const spec = { runners: pairRunners, payload: payload('v2', pairRunners), ...options.spec };
  return world({ rows: pair(0, 1), pods, ...options, spec });
}

/** The same, while the component wants `image` by now. */
const toward = (image: string, pods: readonly PodView[], options: WorldOptions = {}): Snapshot =>
  surging(pods, { ...options, spec: { payload: payload(image, pairRunners) } });

const cleaning = (options: Parameters<typeof sourceRow>[2] = {}): readonly InstanceRow[] => {
  const source = sourceRow(0, 1, options);
  return [source, markerRow(source, 'GangSurgeTargetCleanup')];
};

/** Containers of the pods wait for `reason`, and have for long enough. */
function stuck(pods: readonly PodView[], reason: string): readonly PodView[] {
  return pods.map((pod) => ({
    ...pod,
    containers: pod.containers.map((one) => ({ ...one, waiting: { reason, message: 'it says why' } })),
  }));
}

describe('another target', () => {
  it('gives up a replacement that is not ready: its pods go, with a short farewell, and the old gang stays [E57] [B05]', () => {
    const made = plan(toward('v3', [...old, ...starting]));
    expect(made.status?.rows.get(1)).toMatchObject({ kind: 'gangTo', op: { step: 'GangSurgeTargetCleanup' } });
    expect(wishes(made)).toEqual(['delete 1-leader-0', 'delete 1-worker-0']);
    expect(made.chains[0]?.effects).toMatchObject([{ graceSeconds: chartConfig.abandonedReplacementGraceSec }]);
  });

  it('is told of, and that was no failure: the Instance is Ready on what it never left, and nothing is held against it [E64]', () => {
    const gone = toward('v3', old, { rows: cleaning() });
    expect(statusAfter(gone)).toMatchObject({ blocks: [] });
    expect(kinds(statusAfter(gone))).toBe('0 ready');
    expect(rowAfter(gone)).toMatchObject({ running: v1, target: '' });
    expect(plan(gone).events).toMatchObject([{ type: 'Normal', reason: 'GangSurgeAbandoned' }]);
    expect(rowAfter(persisted(gone))).toMatchObject({
      kind: 'gangFrom',
      op: { target: revisionOf('v3', pairRunners) },
    });
  });

  it('waits for the proof that the replacement is gone', () => {
    const unproved = toward('v3', old, { rows: cleaning(), proofs: 'none' });
    expect([plan(unproved).reads, kinds(statusAfter(unproved))]).toEqual([
      [{ read: 'podsOfIndex', index: 1 }],
      '0 gangFrom, 1 gangTo',
    ]);
    const dying = starting.map((pod) => ({ ...pod, deletionAt: noon + 20 }));
    expect(holdOf(plan(toward('v3', [...old, ...dying], { rows: cleaning() })), 'PodsTerminating')?.index).toBe(0);
  });

  it.each(['Surge', 'SurgeDrain'] as const)(
    'lets a ready replacement finish what it was made for, at step %s [E67]',
    (step) => {
      const snapshot = toward('v3', [...old, ...serving], { rows: pair(0, 1, { op: { step } }) });
      expect(rowAfter(snapshot)).toMatchObject({ kind: 'gangFrom', op: { step: 'SurgeDrain', target: v2 } });
      const done = toward('v3', serving, { rows: pair(0, 1, { op: { step } }), blind: [] });
      expect(said(plan(done))[0]).toContain(`runs revision ${v2}`);
    },
  );

  it('turns a drain back whose replacement went dark, while the old gang is whole', () => {
    const rows = pair(0, 1, { op: { step: 'SurgeDrain' } });
    expect(rowAfter(toward('v3', [...old, ...starting], { rows }), 1)).toMatchObject({
      op: { step: 'GangSurgeTargetCleanup' },
    });
    const dying = old.map((pod, at) => (at === 0 ? { ...pod, deletionAt: noon + 20 } : pod));
    for (const pods of [dying, old.slice(1), []]) {
      expect(rowAfter(toward('v3', [...pods, ...starting], { rows }), 1)).toMatchObject({
        op: { step: 'GangSurgeTarget' },
      });
    }
  });

  it('changes nothing while the rollout is paused', () => {
    const spec = { payload: payload('v3', pairRunners), pause: 'freeze' } as const;
    const paused = surging([...old, ...starting], { spec });
    expect([rowAfter(paused, 1), wishes(plan(paused))]).toEqual([expect.objectContaining({ kind: 'gangTo' }), []]);
    expect(rowAfter(paused, 1)).toMatchObject({ op: { step: 'GangSurgeTarget' } });
  });
});

describe('a replacement that fails', () => {
  it.each([
    ['ImagePullBackOff', { state: 'Backoff', attempts: 1, nextRetryAt: noon + 60 }],
    ['CrashLoopBackOff', { state: 'Backoff', attempts: 0, nextRetryAt: noon + 60 }],
  ])('by %s fails its source, which keeps its operation, with one warning and one block [E159]', (reason, block) => {
    const snapshot = surging([...old, ...stuck(starting, reason)]);
    const { rows, blocks } = statusAfter(snapshot);
    expect(rows.get(0)).toMatchObject({ kind: 'gangFrom', phase: 'Failed', op: { surgeIndex: 1, target: v2 } });
    expect(rows.get(0)?.lastFailure).toMatchObject({ podName: 'chat-engine-1-leader-0', reason });
    expect(blocks).toMatchObject([{ target: v2, ...block }]);
    expect(said(plan(snapshot)).map((text) => text.split(':')[0])).toEqual(['InstanceFailed']);
    expect(said(plan(persisted(snapshot)))).toEqual([]);
  });

  it('makes no more of its pods from then on', () => {
    const late = pair(0, 1, { op: { deadline: noon } });
    const snapshot = surging([...old, ...starting.slice(0, 1)], { rows: late });
    expect([rowAfter(snapshot), wishes(plan(snapshot))]).toEqual([expect.objectContaining({ phase: 'Failed' }), []]);
  });

  it('takes nothing of the old gang out, and its own pods go [B16]', () => {
    const failed = persisted(surging([...old, ...stuck(starting, 'ImagePullBackOff')]));
    expect(rowAfter(failed, 1)).toMatchObject({ op: { step: 'GangSurgeTargetCleanup' } });
    expect(wishes(plan(failed))).toEqual(['delete 1-leader-0', 'delete 1-worker-0']);
  });

  it('is told of as abandoned once it is gone, with a warning; the Instance is Ready and remembers what it could not become [E64]', () => {
    const lastFailure = { podName: 'p', containerName: '', reason: 'ImagePullBackOff', message: 'm', time: noon };
    const gone = surging(old, { rows: cleaning({ phase: 'Failed', row: { lastFailure } }) });
    expect(kinds(statusAfter(gone))).toContain('0 ready');
    expect(rowAfter(gone)).toMatchObject({ running: v1, target: v2, lastFailure });
    expect(plan(gone).events).toMatchObject([{ type: 'Warning', reason: 'GangSurgeAbandoned' }]);
    expect(said(plan(gone)).join()).not.toContain('Started');
  });

  it('for want of room speaks against no revision, however often that happens [E66]', () => {
    const unschedulable = { since: noon - 1000, message: '0/3 nodes are available' };
    const homeless = starting.map((pod) => ({ ...pod, node: '', phase: 'Pending' as const, unschedulable }));
    const held = surging([...old, ...homeless], { config: { ...chartConfig, unschedulableGraceSec: 2000 } });
    expect(rowAfter(held)).toMatchObject({ phase: 'Updating', op: { waiting: 'Unschedulable' } });
    const failed = surging([...old, ...homeless]);
    expect(rowAfter(failed)).toMatchObject({ phase: 'Failed', lastFailure: { reason: 'Unschedulable' } });
    expect(statusAfter(failed).blocks).toEqual([]);
  });

  it('is never the fault of the old gang', () => {
    const bad = stuck(gangPods(0, 1, 'crashLoop'), 'CrashLoopBackOff');
    expect(rowAfter(surging([...bad, ...starting]))).toMatchObject({ kind: 'gangFrom', phase: 'Updating' });
  });

  it('past its deadline while all of it serves has not failed at all', () => {
    const late = pair(0, 1, { op: { step: 'SurgeDrain', deadline: noon - 1 } });
    expect(rowAfter(surging([...old, ...serving], { rows: late }))).toMatchObject({ phase: 'Updating' });
  });

  it('while its source has lost everything leaves an Instance to be created again at what it ran', () => {
    const rows = cleaning({ phase: 'Failed' });
    const block = { target: v2, state: 'Held', attempts: 3, reason: 'ImagePullBackOff', carry: {} } as const;
    let snapshot = surging([], { rows, status: { blocks: [block] } });
    for (let pass = 0; pass < 3; pass++) snapshot = persisted(snapshot);
    expect(rowAfter(snapshot)).toMatchObject({ kind: 'creating', op: { target: v1 } });
  });
});
