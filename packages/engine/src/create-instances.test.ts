import { describe, expect, it } from '@jest/globals';
import type { RetryBlock } from '@omenative/api';
import { plan } from './plan.js';
import type { Snapshot } from './snapshot.js';
import { holdOf, kinds, persisted, rowAfter, said, statusAfter, wishes } from './testing/read.js';
import { creatingRow, failedRow, heldBlock, openedAt, pendingRow, retryBlock } from './testing/rows.js';
import { chartConfig, noon, payload, pod, readyRow, revisionOf, type WorldOptions, world } from './testing/world.js';

const v1 = revisionOf('v1');
const { updateRetry: _policy, ...withoutRetry } = chartConfig;
/** One Instance that failed before it ever ran, at the revision that is wanted. */
const failed = (blocks: readonly RetryBlock[], options: WorldOptions = {}): Snapshot =>
  world({ rows: [failedRow(0, undefined, 'v1')], status: { blocks }, ...options });
/** Two Instances are missing. */
const missing = (blocks: readonly RetryBlock[], options: WorldOptions = {}): Snapshot =>
  world({ spec: { replicas: 2 }, status: { blocks }, ...options });
const failedFor = (reason: string, time = openedAt) =>
  failedRow(0, undefined, 'v1', { lastFailure: { podName: '', containerName: '', reason, message: '', time } });

describe('an Instance that failed before it ever ran', () => {
  it('is left alone while its revision is held: no pod, no write, no wake, no second warning [E9]', () => {
    const held = persisted(failed([heldBlock('v1')]));
    const made = plan({ ...held, now: noon + 1e6 });
    expect(made).toMatchObject({ chains: [], events: [] });
    expect(made.status).toBeUndefined();
    expect(made.wakeAt).toBeUndefined();
    expect(holdOf(made, 'Held')).toMatchObject({
      text: `no Instance is created at it: update to ${v1} held after 3 failed attempt(s): ImagePullBackOff`,
      wake: [{ user: 'spec' }, { user: 'annotation' }, { on: 'pod', key: '*' }],
    });
  });

  it('is created again when the pause of its revision is over, and wakes the plan then [E12] [B03]', () => {
    expect(rowAfter(failed([retryBlock('v1')]))?.kind).toBe('failed');
    expect(plan(failed([retryBlock('v1')])).wakeAt).toBe(noon + 60);
    expect(rowAfter(failed([retryBlock('v1')], { now: noon + 60 }))).toMatchObject({
      kind: 'creating',
      incarnation: 1,
      op: { target: v1, reason: 'it is tried again', deadline: noon + 1860 },
    });
  });

  it('goes on with the pods that are there, and makes those that are lost', () => {
    const due = failed([retryBlock('v1')], { now: noon + 60, pods: [pod({ health: 'crashLoop' })] });
    const opened = persisted(due);
    expect(opened.status.rows.get(0)?.kind).toBe('creating');
    expect(wishes(plan(opened))).toEqual([]);
    expect(wishes(plan({ ...opened, pods: new Map() }))).toEqual(['create 0-default-0']);
  });

  it('is created at once at a corrected revision, whatever the other one is held for [E11]', () => {
    const corrected = world({ rows: [failedRow(0, undefined, 'v0')], status: { blocks: [heldBlock('v0')] } });
    expect(rowAfter(corrected)).toMatchObject({ kind: 'creating', op: { target: v1 } });
    expect(statusAfter(corrected).blocks).not.toContainEqual(expect.objectContaining({ target: v1 }));
  });

  it('and that no block paces, for the cluster failed it, is created again after the first pause', () => {
    const homeless = world({ rows: [failedFor('Unschedulable', noon)], now: noon + 59 });
    expect(rowAfter(homeless)?.kind).toBe('failed');
    expect(plan(homeless).wakeAt).toBe(noon + 60);
    expect(rowAfter({ ...homeless, now: noon + 60 })?.kind).toBe('creating');
  });

  it('is created once without a retry policy, unless its revision is to blame and was released', () => {
    const never = world({ rows: [failedFor('CrashLoopBackOff')], config: withoutRetry, now: noon + 1e6 });
    expect(rowAfter(never)?.kind).toBe('failed');
    expect(plan(never).wakeAt).toBeUndefined();
    expect(rowAfter(world({ rows: [failedFor('ErrImagePull')], config: withoutRetry }))?.kind).toBe('creating');
  });

  it('waits for the end of a pause of the rollout', () => {
    expect(rowAfter(failed([], { spec: { pause: 'recover' } }))?.kind).toBe('failed');
    expect(rowAfter(failed([]))?.kind).toBe('creating');
  });
});

describe('an Instance that is missing', () => {
  it('is not created at a held revision either [E10]', () => {
    const made = plan(missing([heldBlock('v1')]));
    expect(kinds(statusAfter(missing([heldBlock('v1')])))).toBe('');
    expect(made.chains).toEqual([]);
    expect(made.holds.filter((hold) => hold.is === 'Held')).toHaveLength(1);
  });

  it('waits out the pause of its revision and wakes then [E12] [B03]', () => {
    const made = plan(missing([retryBlock('v1')]));
    expect(wishes(made)).toEqual([]);
    expect(made.wakeAt).toBe(noon + 60);
  });

  it('takes the one token of a revision whose pause is over, in the write that opens it; the next one waits [E13]', () => {
    const due = missing([retryBlock('v1')], { now: noon + 60 });
    const after = statusAfter(due);
    expect(kinds(after)).toBe('0 creating');
    expect(after.blocks).toEqual([retryBlock('v1', { state: 'RetryInProgress' })]);
    expect(holdOf(plan(due), 'RetryBlock')).toMatchObject({ text: expect.stringContaining('one attempt at a time') });
    expect(kinds(statusAfter(persisted(due)))).toBe('0 creating');
  });

  it('waits while another one tries the revision, and not for a token that nobody holds [E15] [E164]', () => {
    const trying = [retryBlock('v1', { state: 'RetryInProgress' })];
    expect(kinds(statusAfter(missing(trying, { rows: [creatingRow(0)] })))).toBe('0 creating');
    expect(kinds(statusAfter(missing(trying)))).toBe('0 creating');
    expect(kinds(statusAfter(missing(trying, { rows: [readyRow(0)], pods: [pod()] })))).toBe('0 ready, 1 creating');
  });

  it('writes no block where there is none [E14]', () => {
    const fresh = missing([]);
    expect(kinds(statusAfter(fresh))).toBe('0 creating, 1 creating');
    expect(statusAfter(fresh).blocks).toEqual([]);
  });

  it('is not held up by the block of another revision [E11]', () => {
    expect(kinds(statusAfter(missing([heldBlock('v9')])))).toBe('0 creating, 1 creating');
  });
});

describe('an Instance that lost all its pods', () => {
  const toV2 = { spec: { payload: payload('v2') } };

  it.each([
    ['held', heldBlock('v2')],
    ['in its pause', retryBlock('v2')],
    ['being tried by another', retryBlock('v2', { state: 'RetryInProgress' })],
  ])('is created at what it ran while the target is %s', (_, block) => {
    const rows = [pendingRow(0), creatingRow(1, 'v2')];
    const lost = world({ spec: { ...toV2.spec, replicas: 2 }, rows, status: { blocks: [block] } });
    expect(rowAfter(lost)).toMatchObject({ kind: 'creating', running: v1, op: { target: v1 } });
    expect(said(plan(lost))[0]).toBe(
      `InstanceCreated: OMENative component=engine instance=0: its pods are created at revision ${v1} (the Instance lost its pods)`,
    );
  });

  it('is created at the target where that may be tried, and takes its token', () => {
    const due = world({ ...toV2, rows: [pendingRow(0)], status: { blocks: [retryBlock('v2')] }, now: noon + 60 });
    expect(rowAfter(due)).toMatchObject({ kind: 'creating', op: { target: revisionOf('v2') } });
    expect(statusAfter(due).blocks).toMatchObject([{ state: 'RetryInProgress' }]);
  });

  it('in a failed update is created at what it ran as well, once that is proved', () => {
    const lost: WorldOptions = { ...toV2, rows: [failedRow(0, 'v1', 'v2')], status: { blocks: [retryBlock('v2')] } };
    expect(rowAfter(world(lost))).toMatchObject({ kind: 'creating', op: { target: v1 } });
    const unproved = world({ ...lost, proofs: 'none' });
    expect(rowAfter(unproved)?.kind).toBe('failed');
    expect(plan(unproved).reads).toEqual([{ read: 'podsOfIndex', index: 0 }]);
  });

  it('is created at what it ran though the update is not tried again: there is no retry policy', () => {
    const lost = world({ ...toV2, rows: [failedRow(0, 'v1', 'v2')], config: withoutRetry });
    expect(rowAfter(lost)).toMatchObject({ kind: 'creating', running: v1, op: { target: v1 } });
  });

  it('and ran the target already gets them back without a retry policy too', () => {
    const lost = world({ rows: [failedRow(0, 'v1', 'v1')], config: withoutRetry });
    expect(rowAfter(lost)).toMatchObject({ kind: 'creating', op: { target: v1 } });
  });

  it.each(['Unschedulable', 'NamespaceTerminating'])(
    'and that the cluster failed (%s) waits at every revision [B91]',
    (reason) => {
      const lastFailure = { podName: '', containerName: '', reason, message: '', time: noon };
      const lost = world({ ...toV2, rows: [failedRow(0, 'v1', 'v2', { lastFailure })] });
      expect(rowAfter(lost)?.kind).toBe('failed');
      expect(plan(lost).wakeAt).toBe(noon + 60);
      const never = world({ ...toV2, rows: [failedRow(0, 'v1', 'v2', { lastFailure })], config: withoutRetry });
      expect(rowAfter({ ...never, now: noon + 1e6 })?.kind).toBe('failed');
    },
  );

  it('waits at the revision that a partition keeps it on while that is held or in its pause [B101]', () => {
    const update = { type: 'SurgeThenDrain', partition: 1, inPlace: 'markNotReady' } as const;
    const kept: WorldOptions = { spec: { ...toV2.spec, update }, rows: [pendingRow(0)] };
    expect(rowAfter(world(kept))).toMatchObject({ kind: 'creating', op: { target: v1 } });
    const held = world({ ...kept, status: { blocks: [heldBlock('v1')] } });
    expect(rowAfter(held)?.kind).toBe('pending');
    expect(holdOf(plan(held), 'Held')).toMatchObject({ target: v1 });
    const early = world({ ...kept, status: { blocks: [retryBlock('v1')] } });
    expect(rowAfter(early)?.kind).toBe('pending');
    expect(plan(early).wakeAt).toBe(noon + 60);
  });

  it('is not created again and again at a revision that a partition keeps it on and the API server refuses [B101]', () => {
    const update = { type: 'SurgeThenDrain', partition: 1, inPlace: 'markNotReady' } as const;
    const refused = failedRow(0, 'v1', 'v1', {
      lastFailure: { podName: '', containerName: '', reason: 'InvalidPodSpec', message: '', time: noon },
    });
    const blocks = [retryBlock('v1', { reason: 'InvalidPodSpec', lastFailureAt: noon })];
    const snapshot = world({ spec: { ...toV2.spec, update }, rows: [refused], status: { blocks } });
    expect(rowAfter(snapshot)?.kind).toBe('failed');
    expect(rowAfter({ ...snapshot, now: noon + 60 })?.kind).toBe('creating');
  });
});

describe('an attempt to create', () => {
  it('at a revision nobody wants any more goes on while the wanted one may not be tried', () => {
    const unwanted: WorldOptions = { spec: { payload: payload('v2') }, rows: [creatingRow(0)] };
    const held = world({ ...unwanted, status: { blocks: [heldBlock('v2')] } });
    expect(rowAfter(held)).toMatchObject({ op: { target: v1 } });
    expect(rowAfter(world(unwanted))).toMatchObject({ op: { target: revisionOf('v2') } });
  });

  it('that succeeds clears its revision of everything [E163]', () => {
    const trying = [retryBlock('v1', { state: 'RetryInProgress' })];
    const done = world({ rows: [creatingRow(0)], pods: [pod()], status: { blocks: trying } });
    expect(statusAfter(done)).toMatchObject({ blocks: [] });
  });

  it('frees the token when its Instance is scaled away [E164]', () => {
    const rows = [readyRow(0), creatingRow(1)];
    const trying = [retryBlock('v1', { state: 'RetryInProgress' })];
    const shrunk = persisted(world({ rows, pods: [pod()], status: { blocks: trying } }));
    const grown = { ...shrunk, spec: { ...shrunk.spec, replicas: 3 } };
    expect(kinds(shrunk.status)).toBe('0 ready, 1 deleting');
    expect(kinds(statusAfter(grown))).toBe('0 ready, 1 creating');
  });
});
