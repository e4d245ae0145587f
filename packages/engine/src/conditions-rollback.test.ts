/** Conditions where the rollout does not end at the revision of the spec, and where what failed keeps its operation. */
import { describe, expect, it } from '@jest/globals';
import type { Condition, InstanceRow } from '@omenative/api';
import { statusAfter } from './testing/read.js';
import { failedRow, heldBlock, inPlaceRow, parkedRow } from './testing/rows.js';
import { ToyCluster } from './testing/toy-cluster.js';
import { gang, gangPods, noon, payload, pod, readyRow, revisionOf, type WorldOptions, world } from './testing/world.js';

const v1 = revisionOf('v1');
const v2 = revisionOf('v2');
const update = { type: 'SurgeThenDrain', partition: 0, maxSurge: 0, inPlace: 'markNotReady' } as const;

/** The spec says v2, and the user goes back to v1. */
function rollback(rows: readonly InstanceRow[], over: WorldOptions = {}): WorldOptions {
  return {
    rows,
    pods: rows.map((row) => pod({ index: row.index, image: row.running === v2 ? 'v2' : 'v1' })),
    ...over,
    spec: { replicas: rows.length, payload: payload('v2'), rollbackTo: v1, update, ...over.spec },
  };
}

function condition(type: string, options: WorldOptions): Partial<Condition> | undefined {
  const found = statusAfter(world(options)).conditions.find((one) => one.type === type);
  return found && { status: found.status, reason: found.reason, message: found.message };
}

describe('a rollback', () => {
  it('is in progress, towards the revision it goes back to, until every Instance is Ready on that [E192]', () => {
    expect(condition('Ready', rollback([readyRow(0), readyRow(1, 'v2')], { status: { current: v2 } }))).toEqual({
      status: 'Unknown',
      reason: 'RolloutInProgress',
      message: `Rolling out ${v1} (1/2 Instances on target)`,
    });
  });

  it('ends: then what serves is all that counts, though the spec says another revision [E192]', () => {
    const done = rollback([readyRow(0), readyRow(1)], { status: { current: '' } });
    expect(statusAfter(world(done))).toMatchObject({ current: v1, update: v2 });
    expect(condition('Ready', done)).toEqual({
      status: 'True',
      reason: 'AllInstancesReady',
      message: '2/2 Instances Ready',
    });
    const short = {
      ...done,
      pods: [pod({ index: 0 }), pod({ index: 1, health: 'starting' })],
      status: { current: v1 },
    };
    expect(condition('Ready', short)).toMatchObject({ status: 'False', reason: 'ReplicaCountMismatch' });
  });

  it('has stages like any rollout', () => {
    const spec = { update: { ...update, partition: 1 } };
    expect(condition('Ready', rollback([readyRow(0, 'v2'), readyRow(1)], { spec, status: { current: v2 } }))).toEqual({
      status: 'True',
      reason: 'Staged',
      message: `Staged at partition 1: 1/2 Instances on ${v1}, 1 held on the prior revision`,
    });
  });

  it('withdraws the claim that the Instances run the spec, and what it has claimed itself [E191]', () => {
    const halfway = [readyRow(0), readyRow(1, 'v2')];
    expect(statusAfter(world(rollback(halfway, { status: { current: v2 } }))).current).toBe('');
    expect(statusAfter(world(rollback(halfway, { status: { current: v1 } }))).current).toBe('');
  });

  it('keeps what the Instances ran before both', () => {
    const v0 = revisionOf('v0');
    expect(statusAfter(world(rollback([readyRow(0, 'v2')], { status: { current: v0 } }))).current).toBe(v0);
  });

  it('is not stalled by what failed at the revision it leaves', () => {
    const rows = [failedRow(0, 'v1', 'v2'), readyRow(1, 'v2')];
    expect(condition('RolloutStalled', rollback(rows, { status: { current: '' } }))?.status).toBe('False');
  });

  it('in a cluster ends Ready, and so does the way forward again', () => {
    const cluster = new ToyCluster({ spec: { replicas: 2 } });
    const reason = (): unknown => cluster.status.conditions.find(({ type }) => type === 'Ready')?.reason;
    cluster.settle();
    cluster.edit({ image: 'v2' });
    cluster.settle();
    expect([cluster.status.current, reason()]).toEqual([cluster.revision('v2'), 'AllInstancesReady']);
    cluster.edit({ rollbackTo: cluster.revision('v1') });
    cluster.step();
    expect(reason()).toBe('RolloutInProgress');
    cluster.settle();
    expect([cluster.status.current, reason()]).toEqual([cluster.revision('v1'), 'AllInstancesReady']);
    cluster.edit({ rollbackTo: cluster.revision('v2') });
    cluster.step();
    expect(reason()).toBe('RolloutInProgress');
    cluster.settle();
    expect([cluster.status.current, reason()]).toEqual([cluster.revision('v2'), 'AllInstancesReady']);
  });
});

describe('an update that failed and keeps its operation', () => {
  const toV2 = { payload: payload('v2'), replicas: 1, update: { ...update, type: 'InPlaceIfPossible' } } as const;
  const blocked = { current: v1, blocks: [heldBlock('v2')] };
  const stuck = pod({ image: 'v2', health: 'starting' });

  it('counts as Failed while its phase says so [E192]', () => {
    const options = { spec: toV2, rows: [parkedRow(0)], pods: [stuck], status: blocked };
    expect(condition('Ready', options)).toMatchObject({ status: 'False', reason: 'InstanceFailed' });
    const serving = { ...options, pods: [pod()] };
    expect(condition('Ready', serving)).toMatchObject({ status: 'Unknown', reason: 'RolloutInProgress' });
  });

  it('stalls the rollout whatever its phase says; one that is tried again does not', () => {
    const options = { spec: toV2, rows: [parkedRow(0)], pods: [pod()], status: blocked };
    expect(condition('RolloutStalled', options)).toEqual({
      status: 'True',
      reason: 'InstancesFailing',
      message: `1/1 Instance(s) failing rollout to ${v2} (ImagePullBackOff x1)`,
    });
    expect(condition('RolloutStalled', { ...options, rows: [inPlaceRow(0)], status: { current: v1 } })?.status).toBe(
      'False',
    );
  });

  it('stalls the rollout as a gang that is Ready on its old revision again', () => {
    const runners = gang(1);
    const [from, to] = [revisionOf('v1', runners), revisionOf('v2', runners)];
    const lastFailure = { podName: '', containerName: '', reason: 'ErrImagePull', message: '', time: noon - 5 };
    const options = (target: string): WorldOptions => ({
      spec: { runners, payload: payload('v2', runners) },
      rows: [readyRow(0, 'v1', { target, lastFailure }, runners)],
      pods: gangPods(0, 1, 'serving'),
      status: { current: from, blocks: [heldBlock('v2', { target: to })] },
    });
    expect(condition('RolloutStalled', options(to))).toMatchObject({ status: 'True', reason: 'InstancesFailing' });
    expect(condition('RolloutStalled', options(''))?.status).toBe('False');
  });
});
