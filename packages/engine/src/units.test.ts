import { describe, expect, it } from '@jest/globals';
import { revisionHashOf } from '@omenative/api';
import type { PodView, StoredRevision } from './snapshot.js';
import { shortName } from './testing/read.js';
import { gang, gangPods, noon, payload, pod, readyRow, revisionOf, world } from './testing/world.js';
import {
  areProvedAbsent,
  extrasOf,
  isLive,
  isServing,
  occupantOf,
  podsWithoutRow,
  runnersOf,
  slotsOf,
  type Unit,
} from './units.js';

const names = (slots: readonly { readonly name: string }[]): readonly string[] =>
  slots.map((slot) => shortName(slot.name));
const unitWith = (...pods: readonly PodView[]): Unit => ({ index: 0, row: readyRow(0), pods });

describe('slots', () => {
  it('follow the active ordinal of a single-pod Instance [E20]', () => {
    expect(names(slotsOf(world(), 3, 0, revisionOf('v1')))).toEqual(['3-default-0']);
    expect(names(slotsOf(world(), 3, 1, revisionOf('v1')))).toEqual(['3-default-1']);
  });

  it('name the leader, then the workers, whatever the active ordinal', () => {
    const snapshot = world({ spec: { runners: gang(2) } });
    expect(names(slotsOf(snapshot, 3, 1, snapshot.target))).toEqual(['3-leader-0', '3-worker-0', '3-worker-1']);
  });

  it('have the size of the revision that the Instance runs, not of the spec', () => {
    const old = revisionOf('v1', gang(1));
    const stored = { name: old, uid: 'u', hash: revisionHashOf(old), number: 1, payload: payload('v1', gang(1)) };
    const snapshot = world({ spec: { runners: gang(3) } });
    const revisions = new Map<string, StoredRevision | 'gone'>([
      [old, stored],
      ['chat-engine-deadbeef', 'gone'],
    ]);
    expect(runnersOf({ ...snapshot, revisions }, old).map(({ size }) => size)).toEqual([1, 1]);
    expect(runnersOf({ ...snapshot, revisions }, 'chat-engine-deadbeef')).toEqual(gang(3));
    expect(runnersOf({ ...snapshot, revisions }, '')).toEqual(gang(3));
  });
});

describe('what stands in a slot', () => {
  const slot = slotsOf(world(), 0, 0, revisionOf('v1'))[0] as { name: string; runner: 'default'; ordinal: number };

  it.each<[string, readonly PodView[], string]>([
    ['nothing', [], 'missing'],
    ['another name', [pod({ ordinal: 1 })], 'missing'],
    ['a pod of the revision and the life', [pod()], 'live'],
    ['a pod that names no revision', [pod({ over: { revisionHash: '' } })], 'live'],
    ['a pod of another revision', [pod({ image: 'v2' })], 'stale'],
    ['a pod of another life', [pod({ over: { incarnation: 2 } })], 'stale'],
    ['a pod that has ended [E19]', [pod({ health: 'failed' })], 'terminal'],
    ['a pod that has succeeded [E19]', [pod({ over: { phase: 'Succeeded' } })], 'terminal'],
    ['a pod that is being deleted', [pod({ over: { deletionAt: noon } })], 'terminating'],
    [
      'a pod that has ended and is being deleted',
      [pod({ health: 'failed', over: { deletionAt: noon } })],
      'terminating',
    ],
  ])('sees %s', (_, pods, is) => {
    expect(occupantOf(unitWith(...pods), slot, revisionOf('v1'), 1).is).toBe(is);
  });

  it('takes a pod without an incarnation for one of this life', () => {
    const { incarnation: _, ...unlabelled } = pod();
    expect(occupantOf(unitWith(unlabelled), slot, revisionOf('v1'), 7).is).toBe('live');
  });

  it('leaves over what stands in no slot', () => {
    expect(names(extrasOf(unitWith(pod(), pod({ ordinal: 1 })), [slot]))).toEqual(['0-default-1']);
  });
});

describe('a pod', () => {
  it('serves when it is Ready, let in and staying', () => {
    expect(isServing(pod())).toBe(true);
    expect(isServing(pod({ over: { deletionAt: noon + 30 } }))).toBe(false);
    expect(isServing(pod({ over: { phase: 'Failed' } }))).toBe(false);
    expect(isServing(pod({ gate: { state: 'malformed', message: '' } }))).toBe(false);
  });

  it('in phase Unknown is alive: its node may come back', () => {
    expect(isLive(pod({ over: { phase: 'Unknown' } }))).toBe(true);
  });
});

describe('absence', () => {
  const slots = slotsOf(world({ spec: { runners: gang(1) } }), 0, 0, '');

  it('is proved by a live read of the Instance, or by having seen each pod go', () => {
    const seen = (...absent: readonly string[]): boolean =>
      areProvedAbsent(world({ proofs: { absentPods: new Set(absent), readIndices: new Set() } }), 0, slots);
    expect(seen('chat-engine-0-leader-0', 'chat-engine-0-worker-0')).toBe(true);
    expect(seen('chat-engine-0-leader-0')).toBe(false);
    expect(areProvedAbsent(world({ proofs: { absentPods: new Set(), readIndices: new Set([0]) } }), 0, slots)).toBe(
      true,
    );
    expect(areProvedAbsent(world({ proofs: { absentPods: new Set(), readIndices: new Set([1]) } }), 0, slots)).toBe(
      false,
    );
  });
});

describe('pods without a row', () => {
  it('are found by index, ascending', () => {
    const snapshot = world({ rows: [readyRow(1)], pods: [pod({ index: 4 }), pod({ index: 1 }), pod({ index: 0 })] });
    expect(podsWithoutRow(snapshot, snapshot.status.rows).map(({ index }) => index)).toEqual([0, 4]);
  });

  it('leave gangs whole', () => {
    const snapshot = world({ spec: { runners: gang(2) }, pods: gangPods(0, 2, 'serving') });
    expect(podsWithoutRow(snapshot, new Map())[0]?.pods).toHaveLength(3);
  });
});
