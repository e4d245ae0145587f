import { describe, expect, it } from '@jest/globals';
import type { Cover, Outcome } from '../effects.js';
import { plan } from '../plan.js';
import type { PodView, StoredRevision } from '../snapshot.js';
import { holdOf, wishes } from '../testing/read.js';
import { creatingRow } from '../testing/rows.js';
import {
  chartConfig,
  gang,
  gangPods,
  noon,
  pod,
  readyRow,
  revisionOf,
  type WorldOptions,
  world,
} from '../testing/world.js';
import { isDrained, remove } from './pods.js';
import { deleteDrainHold } from './writers.js';

const covers: Cover = { by: 'operation', index: 0, id: 'op-1' };
const hold = deleteDrainHold(0);
const runners = gang(2);
const key = 'createPod/chat-engine-0-default-0/create-0';

/** A Create whose pod was refused like this. */
function refused(as: Outcome['as'], over: Partial<Outcome> & WorldOptions = {}) {
  const { repeats, now = noon, ...options } = over;
  const outcome: Outcome = { as, at: noon - 1, detail: 'no', ...(repeats === undefined ? {} : { repeats }) };
  return plan(world({ rows: [creatingRow(0)], now, ...options, inbox: new Map([[key, outcome]]) }));
}

describe('making pods', () => {
  it('asks for the pods that are missing, leader first, and for no other', () => {
    const rows = [creatingRow(0, 'v1', { runners })];
    expect(wishes(plan(world({ spec: { runners }, rows })))).toEqual([
      'create 0-leader-0',
      'create 0-worker-0',
      'create 0-worker-1',
    ]);
    const pods = [gangPods(0, 2, 'starting')[1] as PodView];
    expect(wishes(plan(world({ spec: { runners }, rows, pods })))).toEqual(['create 0-leader-0', 'create 0-worker-1']);
  });

  it('puts the pods of a gang in one chain, so that what cannot be completed is not begun', () => {
    const { chains } = plan(world({ spec: { runners }, rows: [creatingRow(0, 'v1', { runners })] }));
    expect(chains.map((chain) => [chain.lane, chain.effects.length])).toEqual([['create', 3]]);
  });

  it('asks for nothing in a slot that is taken, whatever stands there', () => {
    const dying = pod({ over: { deletionAt: noon + 60 } });
    expect(wishes(plan(world({ rows: [creatingRow(0)], pods: [dying] })))).toEqual([]);
  });

  it('gives pods the revision and the life of their row', () => {
    const row = creatingRow(0, 'v1', { row: { incarnation: 3, activeOrdinal: 1 } });
    expect(plan(world({ rows: [row] })).chains[0]?.effects[0]).toMatchObject({
      name: 'chat-engine-0-default-1',
      incarnation: 3,
      ordinal: 1,
      rev: revisionOf('v1'),
      covers: { by: 'operation', index: 0, id: 'create-0' },
    });
  });

  it.each(['quota', 'throttled', 'namespaceTerminating'] as const)(
    'stops all creations of the pass at %s [E18] [B93]',
    (as) => {
      const rows = [creatingRow(0), creatingRow(1)];
      for (const chain of plan(world({ spec: { replicas: 2 }, rows })).chains) expect(chain.stopLaneOn).toContain(as);
    },
  );
});

describe('a pod that was refused', () => {
  it.each(['quota', 'admissionUnavailable', 'nameTaken', 'throttled', 'transient'] as const)(
    'for %s is asked for again after a pause that grows from 5 to 60 seconds [B93]',
    (as) => {
      const pauses = [1, 2, 3, 4, 5, 50].map((repeats) => (refused(as, { repeats }).wakeAt ?? 0) - (noon - 1));
      expect(pauses).toEqual([5, 10, 20, 40, 60, 60]);
      expect(wishes(refused(as))).toEqual([]);
      expect(wishes(refused(as, { now: noon + 4 }))).toEqual(['create 0-default-0']);
    },
  );

  it('is told with the words of the API server', () => {
    expect(holdOf(refused('quota'), 'ApiRefused')?.text).toBe('pod chat-engine-0-default-0 was refused (quota): no');
    expect(holdOf(refused('nameTaken'), 'NameTaken')?.index).toBe(0);
  });

  it.each(['ok', 'exists', 'gone', 'conflict', 'guardFailed', 'skipped', 'unknown'] as const)(
    'in no way but %s is asked for at once: its name makes that harmless [B28]',
    (as) => expect(wishes(refused(as))).toEqual(['create 0-default-0']),
  );

  it('keeps the rest of its gang from being begun', () => {
    const refusedWorker: Outcome = { as: 'quota', at: noon - 1, detail: 'no' };
    const inbox = new Map([['createPod/chat-engine-0-worker-0/create-0', refusedWorker]]);
    const rows = [creatingRow(0, 'v1', { runners })];
    expect(wishes(plan(world({ spec: { runners }, rows, inbox })))).toEqual(['create 0-leader-0']);
  });

  it('holds nobody but its own Instance', () => {
    const rows = [creatingRow(0), creatingRow(1)];
    expect(wishes(refused('nameTaken', { spec: { replicas: 2 }, rows }))).toEqual(['create 1-default-0']);
  });
});

describe('a revision that is gone', () => {
  it('makes no pods, and says what to do', () => {
    const row = creatingRow(0, 'v1', { row: { running: revisionOf('v1') } });
    const snapshot = world({ spec: { pause: 'recover', payload: { runners: [] } }, rows: [row] });
    const revisions = new Map<string, StoredRevision | 'gone'>([[revisionOf('v1'), 'gone']]);
    const made = plan({ ...snapshot, revisions });
    expect(wishes(made)).toEqual([]);
    expect(holdOf(made, 'RevisionGone')?.text).toContain('publish a new revision');
  });
});

describe('a pod is drained', () => {
  const drained = pod({ health: 'drained' });
  const out = new Map([[drained.uid, 'out' as const]]);

  it('when our hold is on it, Ready is taken back and no Service lists it', () => {
    expect(isDrained({ ...world(), rotation: out }, drained, hold)).toBe(true);
  });

  it.each<[string, PodView, ReadonlyMap<string, 'in' | 'out'>]>([
    [
      'our hold is not on it',
      pod({ health: 'drained', gate: { state: 'false', holds: [{ writer: 'Somebody', key: '0' }] } }),
      out,
    ],
    ['the kubelet has not taken Ready back', { ...drained, ready: true }, out],
    ['a Service lists it', drained, new Map([[drained.uid, 'in' as const]])],
    ['nobody knows whether a Service lists it', drained, new Map()],
    ['its gate cannot be read [E193]', pod({ health: 'drained', gate: { state: 'malformed', message: '?' } }), out],
  ])('not while %s', (_, one, rotation) => {
    expect(isDrained({ ...world(), rotation }, one, hold)).toBe(false);
  });
});

const removal = (one: PodView, options: WorldOptions = {}) =>
  remove(world({ pods: [one], ...options }), one, hold, covers);

describe('removing a pod', () => {
  it('first takes it out of rotation', () => {
    expect(removal(pod())).toMatchObject({ isOut: false, out: [{ change: 'add' }], gone: [] });
  });

  it('then deletes it by its UID, looking live once more [B29]', () => {
    const one = pod({ health: 'drained' });
    expect(removal(one)).toMatchObject({
      isOut: true,
      out: [],
      gone: [{ guard: 'unroutedLive', pod: { uid: one.uid } }],
    });
  });

  it('keeps it while nobody knows whether it is routed', () => {
    expect(removal(pod({ health: 'drained' }), { rotation: 'unknown' })).toMatchObject({ isOut: false, gone: [] });
  });

  it.each<[string, PodView]>([
    ['was never let in', pod({ health: 'starting' })],
    ['has ended', pod({ health: 'failed', gate: { state: 'true' } })],
  ])('deletes one at once that %s', (_, one) => {
    expect(removal(one)).toMatchObject({ isOut: true, out: [], gone: [{ guard: 'none' }] });
  });

  it('asks for nothing when it is going already', () => {
    expect(removal(pod({ over: { deletionAt: noon + 9 } }))).toEqual({ out: [], gone: [], isOut: true });
  });
});

const member = (createdAt: number): readonly PodView[] => [
  ...gangPods(0, 2, 'serving').slice(0, 2),
  { ...(gangPods(0, 2, 'failed')[2] as PodView), createdAt },
];

const wish = (createdAt: number, config = chartConfig) =>
  plan(world({ spec: { runners }, rows: [readyRow(0, 'v1', {}, runners)], pods: member(createdAt), config }));

describe('an ended pod of an Instance at rest', () => {
  it('is replaced at once when it has lived for a while', () => {
    expect(wishes(wish(noon - 60))).toEqual(['delete 0-worker-1']);
  });

  it('is replaced only after a pause when it ended as soon as it was made, as when its node rejects it [B53]', () => {
    const made = wish(noon - 1);
    expect(wishes(made)).toEqual([]);
    expect(holdOf(made, 'RecyclePacing')?.wake).toContainEqual({ at: noon + 59 });
    expect(made.wakeAt).toBe(noon + 59);
  });

  it('waits for nothing without a retry policy', () => {
    const { updateRetry: _, ...config } = chartConfig;
    expect(wishes(wish(noon - 1, config))).toEqual(['delete 0-worker-1']);
  });
});
