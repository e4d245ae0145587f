/** When what has failed may be updated again, and what a rollout says while it may not. */
import { describe, expect, it } from '@jest/globals';
import type { InstanceRow, RetryBlock } from '@omenative/api';
import { plan } from './plan.js';
import type { Snapshot } from './snapshot.js';
import { holdOf, kinds, persisted, rowAfter, statusAfter, wishes } from './testing/read.js';
import { failedRow, heldBlock, recreatingRow, retryBlock, surgingRow } from './testing/rows.js';
import {
  chartConfig,
  gang,
  gangPods,
  noon,
  payload,
  pod,
  readyRow,
  revisionOf,
  type WorldOptions,
  world,
} from './testing/world.js';

const v2 = revisionOf('v2');
const { updateRetry: _policy, ...withoutRetry } = chartConfig;

/** Two Instances that serve v1, of which v2 is wanted. */
const rolling = (block: RetryBlock, options: WorldOptions = {}): Snapshot =>
  world({
    rows: [readyRow(0), readyRow(1)],
    pods: [pod(), pod({ index: 1 })],
    status: { blocks: [block] },
    ...options,
    spec: { replicas: 2, payload: payload('v2'), ...options.spec },
  });

describe('a target that may not be tried', () => {
  it('because it is held starts no Instance, whether it has failed there or not, until the user acts [B03]', () => {
    const held = rolling(heldBlock('v2'));
    expect(kinds(statusAfter(held))).toBe('0 ready, 1 ready');
    expect(statusAfter(held).rolloutHold).toEqual({
      gate: 'Held',
      reason: `update to ${v2} held after 3 failed attempt(s): ImagePullBackOff`,
      target: v2,
      since: noon,
    });
    const hold = holdOf(plan(held), 'Held');
    expect(hold?.wake).toEqual([{ on: 'pod', key: '*' }, { user: 'spec' }, { user: 'annotation' }]);
    expect(plan(held).wakeAt).toBeUndefined();
  });

  it('because of its pause starts no Instance before that is over, and wakes the plan then [B03]', () => {
    const early = rolling(retryBlock('v2'));
    expect(statusAfter(early).rolloutHold).toMatchObject({
      gate: 'RetryBlock',
      reason: `update to ${v2} in backoff after 1 failed attempt(s): ImagePullBackOff`,
    });
    expect(plan(early).wakeAt).toBe(noon + 60);
  });

  it('costs an update to another revision nothing', () => {
    expect(kinds(statusAfter(rolling(heldBlock('v9'))))).toBe('0 updating, 1 updating');
  });
});

describe('a target whose pause is over', () => {
  it('is tried on one Instance, in the write that takes its token; the others wait for that one', () => {
    const due = rolling(retryBlock('v2'), { now: noon + 60 });
    expect(kinds(statusAfter(due))).toBe('0 updating, 1 ready');
    expect(statusAfter(due).blocks).toMatchObject([{ state: 'RetryInProgress', attempts: 1 }]);
    expect(holdOf(plan(due), 'RetryBlock')?.text).toBe(
      `update to ${v2} retrying one attempt at a time after 1 failed attempt(s): ImagePullBackOff`,
    );
    expect(kinds(statusAfter(persisted(due)))).toBe('0 updating, 1 ready');
  });

  it('is not tried where another tries it already, and is where nobody does [E164]', () => {
    const trying = retryBlock('v2', { state: 'RetryInProgress' });
    expect(kinds(statusAfter(rolling(trying, { rows: [surgingRow(0), readyRow(1)] })))).toBe('0 updating, 1 ready');
    expect(kinds(statusAfter(rolling(trying)))).toBe('0 updating, 1 ready');
  });

  it('is proved by the first Instance that gets there, and goes on with all the others [E163]', () => {
    const trying = retryBlock('v2', { state: 'RetryInProgress' });
    const pods = [pod({ over: { deletionAt: noon + 9 } }), pod({ ordinal: 1, image: 'v2' }), pod({ index: 1 })];
    const done = persisted(
      rolling(trying, { rows: [surgingRow(0, 'v1', 'v2', { op: { step: 'SurgeDrain' } }), readyRow(1)], pods }),
    );
    expect(done.status).toMatchObject({ blocks: [] });
    expect(kinds(statusAfter(done))).toBe('0 ready, 1 updating');
  });
});

/** The row with this as its last failure, at noon. */
const failedFor = (reason: string, row: InstanceRow = failedRow(0, 'v1', 'v2')): InstanceRow => ({
  ...row,
  lastFailure: { podName: '', containerName: '', reason, message: '', time: noon },
});
const alone = (row: InstanceRow, options: WorldOptions = {}): Snapshot =>
  world({ rows: [row], pods: [pod()], ...options, spec: { payload: payload('v2'), ...options.spec } });

describe('what failed without a block', () => {
  it('because of the cluster pauses on its own Instance only', () => {
    const options = { rows: [failedFor('Unschedulable'), readyRow(1)], status: {}, now: noon + 59 };
    const early = rolling(retryBlock('v2'), options);
    expect(kinds(statusAfter(early))).toBe('0 failed, 1 updating');
    expect(plan(early).wakeAt).toBe(noon + 60);
    expect(kinds(statusAfter({ ...early, now: noon + 60 }))).toBe('0 updating, 1 updating');
  });

  it('is not tried again without a retry policy, says so, and is at another target', () => {
    const once = alone(failedFor('CrashLoopBackOff'), { config: withoutRetry, now: noon + 1e6 });
    expect(rowAfter(once)?.kind).toBe('failed');
    expect(plan(once).holds.map(({ text }) => text)).toContain(
      `Instance 0 failed at revision ${v2} and, without lifecycle.updateRetry, is not tried again`,
    );
    expect(plan(once).wakeAt).toBeUndefined();
    const next = alone(failedFor('CrashLoopBackOff'), { config: withoutRetry, spec: { payload: payload('v3') } });
    expect(rowAfter(next)?.kind).toBe('updating');
  });

  it('is tried once a user has released it, with or without a policy', () => {
    expect(rowAfter(alone(failedFor('ErrImagePull')))?.kind).toBe('updating');
    expect(rowAfter(alone(failedFor('ErrImagePull'), { config: withoutRetry }))?.kind).toBe('updating');
  });

  it('pauses on a gang that is Ready again on what it ran, too', () => {
    const runners = gang(1);
    const target = revisionOf('v2', runners);
    const row = failedFor('Unschedulable', readyRow(0, 'v1', { target }, runners));
    const spec = { runners, payload: payload('v2', runners) };
    const back = alone(row, { spec, pods: gangPods(0, 1, 'serving'), now: noon + 59 });
    expect(rowAfter(back)?.kind).toBe('ready');
    expect(plan(back).wakeAt).toBe(noon + 60);
    expect(rowAfter({ ...back, now: noon + 60 })?.kind).toBe('gangFrom');
  });
});

describe('a gang that failed while it was recreated', () => {
  const runners = gang(1);
  const { op, ...row } = recreatingRow(0, 'v1', 'v2', { runners }) as InstanceRow & { kind: 'updating' };
  /** It has been tried so many times before. */
  const failed = (retryCount: number, options: WorldOptions = {}): Snapshot => {
    const lastFailure = { podName: '', containerName: '', reason: 'Unschedulable', message: '', time: noon };
    const kept = { ...row, kind: 'failed', lastFailure, kept: { ...op, retryCount } } as InstanceRow;
    const update = { type: 'RecreatePod', partition: 0, inPlace: 'markNotReady' } as const;
    return world({ spec: { runners, payload: payload('v2', runners), update }, rows: [kept], ...options });
  };

  it('is tried again at once, in a new life, and the tries are counted', () => {
    expect(rowAfter(failed(0))).toMatchObject({
      kind: 'updating',
      incarnation: 3,
      op: { step: 'Drain', retryCount: 1, startedAt: noon },
    });
  });

  it.each([
    [1, 60],
    [2, 120],
    [9, 1800],
  ])('after %p tries waits %p s', (tries, seconds) => {
    expect(rowAfter(failed(tries, { now: noon + seconds - 1 }))?.kind).toBe('failed');
    expect(plan(failed(tries, { now: noon + seconds - 1 })).wakeAt).toBe(noon + seconds);
    expect(rowAfter(failed(tries, { now: noon + seconds }))?.kind).toBe('updating');
  });

  it('is tried once more without a retry policy, and then no more [B101]', () => {
    expect(rowAfter(failed(0, { config: withoutRetry }))?.kind).toBe('updating');
    const never = failed(1, { config: withoutRetry, now: noon + 1e6 });
    expect(rowAfter(never)?.kind).toBe('failed');
    expect(plan(never).wakeAt).toBeUndefined();
  });

  it('waits for the ladder of its revision as all others do', () => {
    const blocks = [{ ...retryBlock('v2'), target: op.target }];
    expect(rowAfter(failed(0, { status: { blocks } }))?.kind).toBe('failed');
  });

  it('starts to count anew at another revision', () => {
    const update = { type: 'RecreatePod', partition: 0, inPlace: 'markNotReady' } as const;
    const spec = { runners, payload: payload('v3', runners), update };
    const other = failed(9, { now: noon });
    const next = world({ spec, rows: [...other.status.rows.values()] });
    expect(rowAfter(next)).toMatchObject({ kind: 'updating', op: { retryCount: 0 } });
  });

  it('is Ready when its pods come right by themselves', () => {
    const pods = gangPods(0, 1, 'serving', 'v2').map((one) => ({ ...one, incarnation: 2 }));
    const healed = failed(9, { pods });
    expect(rowAfter(healed)).toMatchObject({ kind: 'ready', running: op.target });
    const late = gangPods(0, 1, 'containersReady', 'v2').map((one) => ({ ...one, incarnation: 2 }));
    expect(wishes(plan(failed(9, { pods: late })))).toEqual(['in 0-worker-0', 'in 0-leader-0']);
  });
});
