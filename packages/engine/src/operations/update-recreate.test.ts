import { describe, expect, it } from '@jest/globals';
import { plan } from '../plan.js';
import type { PodView, Snapshot } from '../snapshot.js';
import { holdOf, holdsOf, persisted, rowAfter, said, statusAfter, wishes } from '../testing/read.js';
import { dueAt, recreatingRow } from '../testing/rows.js';
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

const [v1, v2, v3] = [revisionOf('v1'), revisionOf('v2'), revisionOf('v3')];
const update = { type: 'RecreatePod', partition: 0, inPlace: 'markNotReady' } as const;
const spec = { payload: payload('v2'), update };
const over = { incarnation: 2 } as const;
const served = pod({ image: 'v2', over });
const old = pod({
  health: 'drained',
  gate: { state: 'false', holds: [{ writer: 'UpdateRecreateDrain', key: '0-2' }] },
});

/** A recreate from v1 to v2 with these pods. */
const recreating = (pods: readonly PodView[], options: WorldOptions = {}): Snapshot =>
  world({ rows: [recreatingRow(0)], pods, ...options, spec: { ...spec, ...options.spec } });

describe('a recreate begins', () => {
  const start = world({ spec, rows: [readyRow(0)], pods: [pod()] });

  it('with its record: the next life of the Instance, under the same names', () => {
    expect(rowAfter(start)).toMatchObject({
      kind: 'updating',
      running: v1,
      target: v2,
      incarnation: 2,
      activeOrdinal: 0,
      op: {
        id: `update-0-${noon}-${v2.slice(-8)}`,
        step: 'Drain',
        strategy: 'RecreatePod',
        target: v2,
        deadline: noon + 1800,
        reason: `revision ${v1} -> ${v2}`,
      },
    });
    expect(wishes(plan(start))).toEqual(['out 0-default-0']);
    expect(said(plan(start))).toEqual([
      `RecreateUpdateStarted: OMENative component=engine instance=0: its pods are deleted and created again at revision ${v2}`,
    ]);
  });

  it('once, however often it is planned [E211]', () => {
    const again = persisted(persisted(start));
    expect(rowAfter(again)?.incarnation).toBe(2);
    expect(said(plan(again))).toEqual([]);
  });

  it('moves a whole gang, leader and workers', () => {
    const runners = gang(2);
    const rows = [readyRow(0, 'v1', {}, runners)];
    const of = { ...spec, runners, payload: payload('v2', runners) };
    const made = plan(world({ spec: of, rows, pods: gangPods(0, 2, 'serving') }));
    expect(wishes(made)).toEqual(['out 0-leader-0', 'out 0-worker-0', 'out 0-worker-1']);
  });
});

describe('the old pods', () => {
  it('that serve are no reason to call the update done, however long they are Ready [E79] [B14]', () => {
    expect(rowAfter(recreating([pod({ readyFor: 9999 })]))).toMatchObject({ kind: 'updating', op: { step: 'Drain' } });
    expect(holdsOf(plan(recreating([pod()])))).toBe('Draining');
  });

  it('that die are waited for, with no failure and no block, even beside a new one that has ended [E81]', () => {
    const runners = gang(1);
    const [leader, worker] = gangPods(0, 1, 'drained') as [PodView, PodView];
    const dying = { ...leader, deletionAt: noon - 500 };
    const ended = { ...worker, incarnation: 2, phase: 'Failed' as const };
    const rows = [recreatingRow(0, 'v1', 'v2', { runners })];
    const of = { ...spec, runners, payload: payload('v2', runners) };
    const made = plan(world({ spec: of, rows, pods: [dying, ended] }));
    expect(holdsOf(made)).toBe('PodsTerminating');
    expect(wishes(made)).toEqual([]);
    expect(made.status?.rows.get(0)).not.toHaveProperty('lastFailure');
    expect(made.status?.blocks).toEqual([]);
  });

  it('that are gone are proved so before a new one is made', () => {
    const unproved = plan(recreating([], { proofs: 'none' }));
    expect([unproved.reads, wishes(unproved)]).toEqual([[{ read: 'podsOfIndex', index: 0 }], []]);
    expect(wishes(plan(recreating([])))).toEqual(['create 0-default-0']);
  });

  it('whose gate can not be read are named, with the way out', () => {
    const made = plan(recreating([pod({ gate: { state: 'malformed', message: 'x' } })]));
    expect(holdOf(made, 'GateUnreadable')?.text).toContain('set its message to [] or delete the pod');
  });

  it('that name no life block the update: they are never deleted, and it is said once [E85]', () => {
    const { incarnation: _, ...orphan } = pod();
    const blocked = recreating([orphan]);
    expect(said(plan(blocked))).toEqual([
      expect.stringMatching(/^FoundOrphan: .*pod chat-engine-0-default-0 has no ome.io\/instance-incarnation label/),
    ]);
    const later = persisted(blocked);
    expect([said(plan(later)), holdsOf(plan(later)), wishes(plan(later))]).toEqual([[], 'Orphan', []]);
  });
});

describe('a write that conflicts', () => {
  it('changes neither phase nor step nor life, charges nobody, and is tried again [E83]', () => {
    const key = 'gate/chat-engine-0-default-0/uid-chat-engine-0-default-0/add-UpdateRecreateDrain';
    const inbox = new Map([[key, { as: 'conflict' as const, at: noon, detail: '' }]]);
    const made = plan(recreating([pod()], { inbox }));
    expect(made.status?.rows.get(0)).toMatchObject({ kind: 'updating', incarnation: 2, op: { step: 'Drain' } });
    expect(made.status?.blocks).toEqual([]);
    expect(wishes(made)).toEqual(['out 0-default-0']);
  });
});

describe('the new pods', () => {
  it('end the update when they are Ready in rotation, not when their containers are [E80]', () => {
    const ready = pod({ image: 'v2', health: 'containersReady', over });
    expect(rowAfter(recreating([ready]))?.kind).toBe('updating');
    expect(wishes(plan(recreating([ready])))).toEqual(['in 0-default-0']);
    expect(rowAfter(recreating([{ ...served, ready: false }]))?.kind).toBe('updating');
    expect(rowAfter(recreating([served]))).toMatchObject({ kind: 'ready', running: v2, target: '', incarnation: 2 });
  });

  it('must stay Ready for minReadySeconds [E80]', () => {
    const young = recreating([{ ...served, readyChangedAt: noon - 9 }], { spec: { minReadySeconds: 10 } });
    expect(rowAfter(young)?.kind).toBe('updating');
    expect(holdOf(plan(young), 'MinReady')?.wake).toContainEqual({ at: noon + 1 });
    expect(rowAfter({ ...young, now: noon + 1 })?.kind).toBe('ready');
  });

  it('that end are recycled [E81]', () => {
    const ended = recreating([pod({ image: 'v2', health: 'failed', over })]);
    expect(said(plan(ended))).toEqual([expect.stringMatching(/^TerminalPodRecycled: /)]);
    expect(wishes(plan(ended))).toEqual(['delete 0-default-0']);
  });

  it('say so when the Instance runs them', () => {
    expect(said(plan(recreating([served])))).toEqual([
      `RecreateUpdateCompleted: OMENative component=engine instance=0: runs revision ${v2}`,
    ]);
  });
});

/** The row after a plan, and what it asks for. */
function decided(snapshot: Snapshot): readonly unknown[] {
  return [rowAfter(snapshot), wishes(plan(snapshot))];
}

describe('what it decides', () => {
  const moments: readonly [string, readonly PodView[]][] = [
    ['an old pod in rotation', [pod()]],
    ['an old pod that is out', [old]],
    ['no pod', []],
    ['a new pod that starts', [pod({ image: 'v2', health: 'starting', over })]],
    ['a new pod that serves', [served]],
  ];

  it.each(moments)('with %s does not hang on the settings of the operator [E82]', (_, pods) => {
    const before = decided(recreating(pods));
    for (const config of [{}, { updateRetry: { maxAttempts: 1, initialDelaySec: 1, maxDelaySec: 1, multiplier: 1 } }]) {
      expect(decided(recreating(pods, { config }))).toEqual(before);
    }
  });

  it.each(moments)('with %s does not hang on a strategy that was edited meanwhile [E54] [B90]', (_, pods) => {
    const before = decided(recreating(pods));
    for (const type of ['SurgeThenDrain', 'InPlaceIfPossible', 'InPlaceOnly'] as const) {
      expect(decided(recreating(pods, { spec: { update: { ...update, type, maxSurge: 0 } } }))).toEqual(before);
    }
  });
});

describe('a new target in mid-update', () => {
  const toV3: WorldOptions = { olderImages: ['v1', 'v2', 'v3'], spec: { payload: payload('v3') } };
  const half = pod({ image: 'v2', health: 'starting', over });

  it('begins another life and tears the half-built set down [E84] [B05]', () => {
    const made = plan(recreating([half], toV3));
    expect(made.status?.rows.get(0)).toMatchObject({
      incarnation: 3,
      target: v3,
      op: { id: `update-0-${noon}-${v3.slice(-8)}`, target: v3, startedAt: noon, deadline: noon + 1800 },
    });
    expect(wishes(made)).toEqual(['delete 0-default-0']);
  });

  it('lets a set finish first that is about to serve', () => {
    const about = pod({ image: 'v2', health: 'containersReady', over });
    expect(rowAfter(recreating([about], toV3))).toMatchObject({ incarnation: 2, op: { target: v2 } });
    expect(rowAfter(recreating([served], toV3))).toMatchObject({ kind: 'ready', running: v2 });
  });

  it('waits for the next second when the attempt is of this one, and for the end of a pause', () => {
    const rows = [recreatingRow(0, 'v1', 'v2', { op: { startedAt: noon } })];
    const made = plan(recreating([half], { ...toV3, rows }));
    expect(made.status?.rows.get(0)).toMatchObject({ incarnation: 2 });
    expect(holdOf(made, 'Starting')?.wake).toContainEqual({ at: noon + 1 });
    const paused = recreating([half], { ...toV3, spec: { ...toV3.spec, pause: 'recover' } });
    expect(rowAfter(paused)).toMatchObject({ incarnation: 2, op: { target: v2 } });
  });
});

describe('a paused rollout', () => {
  it('lets a recreate that is under way finish, old pods out and new ones in', () => {
    const paused: WorldOptions = { spec: { pause: 'recover' } };
    expect(wishes(plan(recreating([old], paused)))).toEqual(['delete 0-default-0']);
    expect(wishes(plan(recreating([], paused)))).toEqual(['create 0-default-0']);
    expect(rowAfter(recreating([served], paused))?.kind).toBe('ready');
  });
});

/** A recreate whose time is up. */
function late(pods: readonly PodView[]): Snapshot {
  return { ...recreating(pods), now: dueAt };
}

describe('a recreate that fails', () => {
  it('of a single pod is parked with the pod that it made', () => {
    expect(rowAfter(late([pod({ image: 'v2', health: 'starting', over })]))).toMatchObject({
      kind: 'parked',
      running: v1,
      incarnation: 2,
      op: { step: 'Parked', target: v2 },
      lastFailure: { reason: 'ContainersNotReady' },
    });
  });

  it('without any pod keeps nothing', () => {
    const row = rowAfter(late([]));
    expect(row).toMatchObject({ kind: 'failed', target: v2, lastFailure: { reason: 'DeadlineExceeded' } });
    expect(row).not.toHaveProperty('kept');
  });

  it('of a gang keeps its operation, whatever pods there are', () => {
    const runners = gang(1);
    const rows = [recreatingRow(0, 'v1', 'v2', { runners })];
    const of = { ...spec, runners, payload: payload('v2', runners) };
    const [leader] = gangPods(0, 1, 'starting', 'v2') as [PodView, PodView];
    const made = { ...world({ spec: of, rows, pods: [{ ...leader, incarnation: 2 }] }), now: dueAt };
    expect(statusAfter(made).rows.get(0)).toMatchObject({ kind: 'failed', kept: { type: 'Update', step: 'Drain' } });
  });
});
