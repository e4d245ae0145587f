import { describe, expect, it } from '@jest/globals';
import type { InstanceRow, RetryBlock } from '@omenative/api';
import {
  attemptedRevision,
  blockOf,
  ladderOf,
  retryDelaySec,
  retryTimeOf,
  type Wave,
  withAttempt,
  withFailure,
  withoutBlock,
} from './retry.js';
import type { LifecycleConfig } from './snapshot.js';
import {
  creatingRow,
  deletingRow,
  drainingRow,
  failedRow,
  heldBlock,
  inPlaceRow,
  parkedRow,
  recreatingRow,
  retryBlock,
  surgingRow,
} from './testing/rows.js';
import { noon, readyRow, revisionOf } from './testing/world.js';

const v1 = revisionOf('v1');
const v2 = revisionOf('v2');
const policy = { maxAttempts: 3, initialDelaySec: 60, maxDelaySec: 1800, multiplier: 2 };
type Policy = LifecycleConfig['updateRetry'];

const wave = (over: Partial<Wave> = {}): Wave => ({
  rev: v2,
  reason: 'ImagePullBackOff',
  cause: 'workload',
  startedAt: noon - 30,
  ...over,
});
const crash = wave({ reason: 'CrashLoopBackOff', cause: 'unattributed' });

/** The block of v2 after these waves, each an hour after the one before. */
function after(waves: readonly Wave[], config: LifecycleConfig = { updateRetry: policy }): RetryBlock | undefined {
  let blocks: readonly RetryBlock[] = [];
  waves.forEach((one, at) => {
    blocks = withFailure(blocks, { ...one, startedAt: noon + at * 3600 - 30 }, config.updateRetry, noon + at * 3600);
  });
  return blockOf(blocks, v2);
}

/** How long the block makes the next attempt wait. */
const pauseOf = (block: RetryBlock | undefined): number | undefined =>
  block?.nextRetryAt === undefined ? undefined : block.nextRetryAt - (block.lastFailureAt ?? 0);

describe('a failure that the revision caused', () => {
  it('costs it an attempt, and the next may start after a pause that doubles [E152]', () => {
    expect(after([wave()])).toEqual({
      target: v2,
      state: 'Backoff',
      attempts: 1,
      nextRetryAt: noon + 60,
      firstFailureAt: noon,
      lastFailureAt: noon,
      reason: 'ImagePullBackOff',
      carry: {},
    });
    expect(pauseOf(after([wave(), wave()]))).toBe(120);
  });

  it('holds the revision when it was the last of its attempts [E65]', () => {
    const held = after([wave(), wave(), wave({ reason: 'ErrImagePull' })]);
    expect(held).toMatchObject({
      state: 'Held',
      attempts: 3,
      reason: 'ErrImagePull',
      firstFailureAt: noon,
      lastFailureAt: noon + 7200,
    });
    expect(held?.nextRetryAt).toBeUndefined();
  });

  it('holds it at once without a retry policy [E152]', () => {
    expect(after([wave()], {})).toMatchObject({ state: 'Held', attempts: 1 });
  });

  it('changes nothing about a revision that is held already, nor about others', () => {
    const blocks = [heldBlock('v2'), retryBlock('v9')];
    expect(withFailure(blocks, wave({ startedAt: noon }), policy, noon + 9)).toBe(blocks);
    expect(withFailure([retryBlock('v9')], wave(), policy, noon)[0]).toEqual(retryBlock('v9'));
  });

  it('counts once for a wave of Instances that failed together, stragglers included [E163]', () => {
    const first = withFailure([], wave({ startedAt: noon - 90 }), policy, noon);
    expect(withFailure(first, wave({ startedAt: noon - 90 }), policy, noon)).toBe(first);
    expect(withFailure(first, wave({ startedAt: noon - 1 }), policy, noon + 50)).toBe(first);
    expect(withFailure(first, wave({ startedAt: noon }), policy, noon + 50)).toBe(first);
    expect(blockOf(withFailure(first, wave({ startedAt: noon + 60 }), policy, noon + 90), v2)?.attempts).toBe(2);
  });

  it('does not charge a straggler of the first wave to the second attempt [E163]', () => {
    const trying = withAttempt([retryBlock('v2', { lastFailureAt: noon, nextRetryAt: noon + 60 })], v2);
    expect(withFailure(trying, wave({ startedAt: noon - 90 }), policy, noon + 70)).toBe(trying);
  });
});

describe('a failure of no known cause', () => {
  it('costs no attempt, and the pause grows to its longest and stays there: never held', () => {
    const pauses = Array.from({ length: 8 }, (_, at) => pauseOf(after(Array.from({ length: at + 1 }, () => crash))));
    expect(pauses).toEqual([60, 120, 240, 480, 960, 1800, 1800, 1800]);
    expect(after(Array.from({ length: 50 }, () => crash))).toMatchObject({ state: 'Backoff', attempts: 0 });
  });

  it('stretches the pause that counted failures have reached, without an attempt', () => {
    expect(after([wave(), wave(), crash])).toMatchObject({ state: 'Backoff', attempts: 2, reason: 'CrashLoopBackOff' });
    expect(pauseOf(after([wave(), wave(), crash]))).toBe(240);
  });

  it('is not recorded without a retry policy', () => {
    expect(after([crash], {})).toBeUndefined();
  });
});

describe('a failure of the environment', () => {
  it('says nothing about the revision, however often it comes [E66]', () => {
    const homeless = wave({ reason: 'Unschedulable', cause: 'environment' });
    expect(after([homeless, homeless, homeless, homeless])).toBeUndefined();
    const blocks = [retryBlock('v2')];
    expect(withFailure(blocks, { ...homeless, startedAt: noon + 1 }, policy, noon + 9)).toBe(blocks);
  });
});

describe('the pause before a retry', () => {
  it.each([
    [1, 60],
    [2, 120],
    [5, 960],
    [6, 1800],
    [1000, 1800],
  ])('after failure %p is %p s', (attempt, seconds) => {
    expect(retryDelaySec(policy, attempt)).toBe(seconds);
  });

  it('is whole seconds, rounded up, and the longest there is when the first is nothing', () => {
    expect(retryDelaySec({ ...policy, initialDelaySec: 1, multiplier: 1.5 }, 2)).toBe(2);
    expect(retryDelaySec({ ...policy, initialDelaySec: 0 }, 1)).toBe(1800);
  });
});

/** What the ladder of v2 says with this one block. */
const at = (block: RetryBlock | undefined, now: number, rows: readonly InstanceRow[] = []) =>
  ladderOf(block === undefined ? [] : [block], rows, v2, now);

describe('the ladder', () => {
  const trying = retryBlock('v2', { state: 'RetryInProgress' });

  it('is open without a block, and for a block of another revision [E11]', () => {
    expect(at(undefined, noon)).toEqual({ is: 'open' });
    expect(at(heldBlock('v9'), noon)).toEqual({ is: 'open' });
  });

  it('is closed while Held, until the user opens it', () => {
    expect(at(heldBlock('v2'), noon + 1e9)).toEqual({
      is: 'Held',
      text: `update to ${v2} held after 3 failed attempt(s): ImagePullBackOff`,
    });
  });

  it('is closed until the pause is over, to the second, and says when that is [E12]', () => {
    expect(at(retryBlock('v2'), noon + 59)).toEqual({
      is: 'RetryBlock',
      text: `update to ${v2} in backoff after 1 failed attempt(s): ImagePullBackOff`,
      at: noon + 60,
    });
    expect(at(retryBlock('v2'), noon + 60)).toEqual({ is: 'open' });
  });

  it('lets one attempt at a time through while a retry is under way [E15]', () => {
    expect(at(trying, noon, [creatingRow(0, 'v2')])).toEqual({
      is: 'RetryBlock',
      text: `update to ${v2} retrying one attempt at a time after 1 failed attempt(s): ImagePullBackOff`,
    });
  });

  it.each<[string, readonly InstanceRow[]]>([
    ['no attempt at all', []],
    ['an attempt at another revision', [creatingRow(0, 'v1')]],
    ['an attempt that has failed', [failedRow(0, 'v1', 'v2'), parkedRow(1)]],
    ['an Instance that leaves', [deletingRow(0, 'v2')]],
  ])('is not closed for ever by a token that nobody holds: %s [E164]', (_, rows) => {
    expect(at(trying, noon, rows)).toEqual({ is: 'open' });
  });

  it('gives its one token away with the attempt that takes it [E13]', () => {
    const blocks = [retryBlock('v9'), retryBlock('v2')];
    expect(withAttempt(blocks, v2)).toEqual([retryBlock('v9'), trying]);
    expect(withAttempt([trying], v2)).toEqual([trying]);
    expect(withAttempt([heldBlock('v2')], v2)).toEqual([heldBlock('v2')]);
    expect(withAttempt([], v2)).toEqual([]);
  });

  it('forgets a revision that has proved itself, and no other [E163]', () => {
    expect(withoutBlock([heldBlock('v9'), retryBlock('v2')], v2)).toEqual([heldBlock('v9')]);
    const others = [heldBlock('v9')];
    expect(withoutBlock(others, v2)).toBe(others);
  });
});

describe('the revision that a row tries', () => {
  it.each<[string, InstanceRow, string | undefined]>([
    ['a Create', creatingRow(0, 'v2'), v2],
    ['a surge', surgingRow(0), v2],
    ['a surge that drains', drainingRow(0), v2],
    ['a recreate', recreatingRow(0), v2],
    ['an update in place', inPlaceRow(0), v2],
    ['a Ready Instance', readyRow(0), undefined],
    ['a Failed one', failedRow(0, 'v1', 'v2'), undefined],
    ['a parked one', parkedRow(0), undefined],
    ['one that leaves', deletingRow(0, 'v2'), undefined],
  ])('%s', (_, row, rev) => {
    expect(attemptedRevision(row)).toBe(rev);
  });
});

const failed = (reason: string): InstanceRow =>
  failedRow(0, 'v1', 'v2', { lastFailure: { podName: '', containerName: '', reason, message: '', time: noon } });

describe('the time of the next try', () => {
  it.each<[string, InstanceRow, readonly RetryBlock[], Policy, unknown]>([
    ['a block paces it', failed('CrashLoopBackOff'), [retryBlock('v2')], policy, { is: 'asLadderSays' }],
    ['what failed is another revision', failedRow(0, 'v1', 'v9'), [], policy, { is: 'asLadderSays' }],
    ['a hold was released', failed('ImagePullBackOff'), [], policy, { is: 'asLadderSays' }],
    ['the environment failed it', failed('Unschedulable'), [], policy, { is: 'at', at: noon + 60 }],
    ['there is no policy', failed('CrashLoopBackOff'), [], undefined, { is: 'never' }],
    ['a hold was released and there is no policy', failed('ErrImagePull'), [], undefined, { is: 'asLadderSays' }],
    ['it has not failed', readyRow(0, 'v1', { target: v2 }), [], policy, { is: 'asLadderSays' }],
  ])('when %s', (_, row, blocks, updateRetry, wanted) => {
    expect(retryTimeOf(row, blocks, v2, updateRetry)).toEqual(wanted);
  });

  it('is nobody else’s: what failed at one revision may try another', () => {
    expect(retryTimeOf(failed('CrashLoopBackOff'), [], v1, undefined)).toEqual({ is: 'asLadderSays' });
  });
});
