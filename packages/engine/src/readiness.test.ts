import { describe, expect, it } from '@jest/globals';
import { isContainersReady, promotionOf, servesNow } from './readiness.js';
import type { PodView } from './snapshot.js';
import { gang, gangPods, noon, pod, readyRow, revisionOf, world } from './testing/world.js';
import { type PodSet, podSetOf, slotsOf } from './units.js';

function setOf(pods: readonly PodView[], workers = 0): PodSet {
  const runners = workers === 0 ? undefined : gang(workers);
  const snapshot = world({ spec: runners === undefined ? {} : { runners }, pods });
  const rev = revisionOf('v1', runners);
  return podSetOf({ index: 0, row: readyRow(0), pods }, slotsOf(snapshot, 0, 0, rev), rev, 1);
}

describe('promotion', () => {
  it('comes at once when every pod is Ready in rotation and nothing more is asked', () => {
    expect(promotionOf(setOf([pod({ readyFor: 0 })]), 0, noon)).toEqual({ is: 'now', readySince: noon });
  });

  it('waits for pods whose containers are ready and whose gate is not open yet [E52] [E7]', () => {
    const waiting = pod({ health: 'containersReady' });
    expect(promotionOf(setOf([waiting]), 0, noon)).toEqual({ is: 'never', lacking: [waiting] });
  });

  it.each<[string, PodView]>([
    ['is Ready without an open gate', pod({ gate: { state: 'absent' } })],
    ['has a gate nobody can read', pod({ gate: { state: 'malformed', message: '?' } })],
    ['is held by another writer', pod({ gate: { state: 'false', holds: [{ writer: 'Somebody', key: '1' }] } })],
    ['has its gate open and is not Ready', pod({ health: 'containersReady', gate: { state: 'true' } })],
    ['is being deleted', pod({ over: { deletionAt: noon + 30 } })],
  ])('does not come while a pod %s', (_, one) => {
    expect(promotionOf(setOf([one]), 0, noon).is).toBe('never');
  });

  it('does not come while a member of the gang is missing', () => {
    expect(promotionOf(setOf(gangPods(0, 2, 'serving').slice(0, 2), 2), 0, noon).is).toBe('never');
  });

  it('measures minReadySeconds from the Ready transition of the newest pod, to the second [E52]', () => {
    const [leader, ...workers] = gangPods(0, 2, 'serving');
    const set = setOf([{ ...(leader as PodView), readyChangedAt: noon - 10 }, ...workers], 2);
    expect(promotionOf(set, 30, noon + 19)).toEqual({ is: 'later', at: noon + 20 });
    expect(promotionOf(set, 30, noon + 20)).toEqual({ is: 'now', readySince: noon + 20 });
  });

  it('never dates itself before a Ready transition that a fast clock of the kubelet puts into the future', () => {
    const early = pod({ over: { readyChangedAt: noon + 40 } });
    expect(promotionOf(setOf([early]), 0, noon)).toEqual({ is: 'now', readySince: noon + 40 });
  });
});

describe('a pod set', () => {
  it('is ready to enter rotation only when the containers of every member are [E195]', () => {
    expect(isContainersReady(setOf(gangPods(0, 2, 'containersReady'), 2))).toBe(true);
    const [leader, first] = gangPods(0, 2, 'containersReady');
    const late = gangPods(0, 2, 'starting')[2] as PodView;
    expect(isContainersReady(setOf([leader as PodView, first as PodView, late], 2))).toBe(false);
    expect(isContainersReady(setOf([leader as PodView, first as PodView], 2))).toBe(false);
  });

  it('serves when all of it does', () => {
    expect(servesNow(setOf(gangPods(0, 2, 'serving'), 2))).toBe(true);
    expect(servesNow(setOf(gangPods(0, 2, 'serving').slice(1), 2))).toBe(false);
    expect(servesNow(setOf([]))).toBe(false);
  });
});
