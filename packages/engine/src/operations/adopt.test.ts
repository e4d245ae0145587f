import { describe, expect, it } from '@jest/globals';
import { plan } from '../plan.js';
import type { PodView } from '../snapshot.js';
import { kinds, persisted, rowAfter, statusAfter, wishes } from '../testing/read.js';
import {
  gang,
  gangPods,
  noon,
  payload,
  pod,
  readyRow,
  revisionOf,
  type WorldOptions,
  world,
} from '../testing/world.js';

const runners = gang(2);
const taken = (options: WorldOptions, index = 0) => rowAfter(world(options), index);

describe('pods without a row', () => {
  it('are taken in where an Instance is wanted, and none of them is touched [B36] [B21]', () => {
    const lost = world({ spec: { replicas: 2 }, pods: [pod(), pod({ index: 1 })] });
    expect(kinds(statusAfter(lost))).toBe('0 creating, 1 creating');
    expect(wishes(plan(lost))).toEqual([]);
    const found = persisted(persisted(lost));
    expect(kinds(found.status)).toBe('0 ready, 1 ready');
    expect(wishes(plan(found))).toEqual([]);
  });

  it('keep their life: revision, incarnation and slot', () => {
    const one = pod({ ordinal: 1, image: 'v0', over: { incarnation: 3 } });
    expect(taken({ pods: [one] })).toMatchObject({
      kind: 'creating',
      incarnation: 3,
      activeOrdinal: 1,
      op: { target: revisionOf('v0') },
    });
  });

  it.each(['recover', 'freeze'] as const)('are taken in also in a %s pause, which must not cost a pod', (pause) => {
    const lost = world({ spec: { pause }, pods: [pod()] });
    expect(taken({ spec: { pause }, pods: [pod()] })?.kind).toBe('creating');
    expect(wishes(plan(persisted(lost)))).toEqual([]);
  });

  it('are taken in also when their revision was lost with the status, since the spec still names it', () => {
    expect(taken({ pods: [pod()], olderImages: [] })).toMatchObject({
      kind: 'creating',
      op: { target: revisionOf('v1') },
    });
  });

  it('are deleted, by record, where none is wanted', () => {
    const options = { rows: [readyRow(0)], pods: [pod(), pod({ index: 4 })] };
    expect(taken(options, 4)).toMatchObject({ kind: 'deleting', op: { reason: 'pods without a row' } });
    expect(kinds(statusAfter(world(options)))).toBe('0 ready, 4 deleting');
  });

  it('are taken in by the lowest index first when fewer are wanted', () => {
    expect(kinds(statusAfter(world({ pods: [pod({ index: 7 }), pod({ index: 2 })] })))).toBe('2 creating, 7 deleting');
  });

  it.each<[string, PodView]>([
    ['belong to no stored revision', pod({ over: { revisionHash: 'deadbeef' } })],
    ['name no revision', pod({ over: { revisionHash: '' } })],
    ['have ended', pod({ health: 'failed' })],
    ['are going', pod({ over: { deletionAt: noon + 9 } })],
  ])('are deleted by record when they %s, and a new Instance comes elsewhere', (_, one) => {
    expect(kinds(statusAfter(world({ pods: [one] })))).toBe('0 deleting, 1 creating');
  });

  it('of an Instance that the watch lags on are left alone', () => {
    expect(kinds(statusAfter(world({ pods: [pod()], blind: [0] })))).toBe('1 creating');
  });
});

describe('two pods of a single-pod Instance without a row', () => {
  const young = pod({ ordinal: 1, image: 'v2', health: 'starting' });
  const toV2 = { payload: payload('v2') };

  it('are an update whose record is lost: the one that serves is kept, the other removed', () => {
    const lost = world({ spec: toV2, pods: [pod(), young] });
    expect(rowAfter(lost)).toMatchObject({ kind: 'creating', activeOrdinal: 0, op: { target: revisionOf('v1') } });
    expect(wishes(plan(lost))).toEqual(['delete 0-default-1']);
  });

  it('are kept by the newer one when both serve, or neither', () => {
    const both = [pod(), pod({ ordinal: 1, image: 'v2' })];
    const neither = [pod({ health: 'starting' }), young];
    for (const pods of [both, neither]) {
      expect(taken({ spec: toV2, pods })).toMatchObject({ activeOrdinal: 1, op: { target: revisionOf('v2') } });
    }
  });

  it('are kept by the live one when the other is going already', () => {
    const dying = pod({ over: { deletionAt: noon + 600 } });
    const lost = persisted(world({ spec: toV2, pods: [dying, pod({ ordinal: 1, image: 'v2' })] }));
    expect(lost.status.rows.get(0)).toMatchObject({ kind: 'creating', activeOrdinal: 1 });
    expect(wishes(plan(lost))).toEqual([]);
  });
});

const lost = (pods: readonly PodView[]) => taken({ spec: { runners }, pods })?.kind;

describe('a gang without a row', () => {
  const [leader, first, second] = gangPods(0, 2, 'serving') as [PodView, PodView, PodView];

  it('is taken in whole, or with members still to come', () => {
    expect(lost([leader, first, second])).toBe('creating');
    expect(lost([leader, first])).toBe('creating');
  });

  it('is deleted when its members are of two minds, or one has ended', () => {
    expect(lost([leader, first, { ...second, revisionHash: revisionOf('v0', runners).slice(-8) }])).toBe('deleting');
    expect(lost([leader, first, { ...second, incarnation: 2 }])).toBe('deleting');
    expect(lost([leader, first, { ...second, phase: 'Failed' }])).toBe('deleting');
  });
});
