/** A gang is replaced by another one at a new index: each step of the pair, and what may not happen between them. */
import { describe, expect, it } from '@jest/globals';
import type { InstanceRow } from '@omenative/api';
import type { Outcome } from '../effects.js';
import { keyOfCreate } from '../keys.js';
import { plan } from '../plan.js';
import type { PodView, Snapshot } from '../snapshot.js';
import { pair, pairRunners, sourceRow } from '../testing/pairs.js';
import { holdOf, persisted, rowAfter, said, statusAfter, wishes } from '../testing/read.js';
import { dueAt, openedAt } from '../testing/rows.js';
import {
  gangPods,
  noon,
  type PodHealth,
  payload,
  readyRow,
  revisionOf,
  type WorldOptions,
  world,
} from '../testing/world.js';
import type { GangMarkerRow } from './update-gang-surge.js';

const v1 = revisionOf('v1', pairRunners);
const v2 = revisionOf('v2', pairRunners);
const spec = { runners: pairRunners, payload: payload('v2', pairRunners) };
const old = gangPods(0, 1, 'serving');
const next = (health: PodHealth): readonly PodView[] => gangPods(1, 1, health, 'v2');

/** Gang 0 on v1, the component wants v2. */
const toV2 = (options: WorldOptions = {}): Snapshot =>
  world({ rows: [readyRow(0, 'v1', {}, pairRunners)], pods: old, ...options, spec: { ...spec, ...options.spec } });
/** Gang 0 is being replaced by one at index 1. */
const surging = (pods: readonly PodView[], options: WorldOptions = {}): Snapshot =>
  toV2({ rows: pair(0, 1), pods, ...options });
const draining = (pods: readonly PodView[], options: WorldOptions = {}): Snapshot =>
  surging(pods, { rows: pair(0, 1, { op: { step: 'SurgeDrain' } }), ...options });

function held(pods: readonly PodView[]): readonly PodView[] {
  const hold = { writer: 'UpdateSurgeDrain', key: 'gang-surge-source-0' };
  return pods.map((pod) => ({ ...pod, ready: false, gate: { state: 'false', holds: [hold] } }));
}

function rowsAfter(snapshot: Snapshot): readonly InstanceRow[] {
  return [...statusAfter(snapshot).rows.values()];
}

function begun(snapshot: Snapshot): readonly number[] {
  return rowsAfter(snapshot).flatMap(({ kind, index }) => (kind === 'gangFrom' ? [index] : []));
}

describe('a gang surge begins', () => {
  it('with both rows in one write: the claim on a new index, and a first life there [E59]', () => {
    const [source, marker] = rowsAfter(toV2());
    expect(source).toMatchObject({ kind: 'gangFrom', phase: 'Updating', running: v1, target: v2, incarnation: 1 });
    expect(source).toMatchObject({ op: { step: 'Surge', surgeIndex: 1, strategy: 'SurgeThenDrain', target: v2 } });
    expect(marker).toMatchObject({ kind: 'gangTo', index: 1, incarnation: 1, running: '', target: v2 });
    expect(marker).toMatchObject({ op: { step: 'GangSurgeTarget', target: v2, startedAt: noon } });
  });

  it('with a whole gang at that index, made in the name of the marker; the old one stays in rotation', () => {
    const made = plan(toV2());
    expect(wishes(made)).toEqual(['create 1-leader-0', 'create 1-worker-0']);
    const covers = { by: 'operation', index: 1, id: `update-1-${noon}-${v2.slice(-8)}` };
    expect(made.chains.flatMap((chain) => chain.effects)).toMatchObject([{ covers }, { covers }]);
    expect(said(made)[0]).toMatch(/^RecreateUpdateStarted: .*a new gang at index 1 serves before this one leaves/);
  });

  it.each<[string, WorldOptions]>([
    ['a claim has', { rows: [readyRow(0, 'v1', {}, pairRunners), sourceRow(5, 1)], blind: [5] }],
    ['pods of an earlier life have', { pods: [...old, ...gangPods(1, 1, 'starting')] }],
    ['the watch lags on', { blind: [1] }],
    ['another Instance has', { rows: [0, 1].map((index) => readyRow(index, 'v1', {}, pairRunners)) }],
  ])('at no index that %s [E60] [E142]', (_, options) => {
    const { rows } = statusAfter(toV2({ ...options, spec: { replicas: 2 } }));
    expect(rows.get(0)).toMatchObject({ kind: 'gangFrom', op: { surgeIndex: expect.any(Number) } });
    expect(rows.get(0)).not.toMatchObject({ op: { surgeIndex: 1 } });
  });

  it('at index 0 when that is free', () => {
    const rows = [readyRow(3, 'v1', {}, pairRunners)];
    const snapshot = toV2({ rows, pods: gangPods(3, 1, 'serving') });
    expect(rowAfter(snapshot, 3)).toMatchObject({ op: { surgeIndex: 0 } });
    expect(wishes(plan(persisted(snapshot)))).toEqual(['create 0-leader-0', 'create 0-worker-0']);
  });

  it('for as many gangs as maxSurge allows, the slot of a pair counted once [E150]', () => {
    const rows = [0, 1, 2, 3].map((index) => readyRow(index, 'v1', {}, pairRunners));
    const pods = [0, 1, 2, 3].flatMap((index) => gangPods(index, 1, 'serving'));
    const update = { type: 'SurgeThenDrain', partition: 0, inPlace: 'markNotReady', maxSurge: 2 } as const;
    const snapshot = toV2({ rows, pods, spec: { replicas: 4, update } });
    expect(begun(snapshot)).toEqual([0, 1]);
    expect(begun(persisted(snapshot))).toEqual([0, 1]);
  });

  it('without a charge for a marker beside its source, even while the watch lags on both [E150]', () => {
    const rows = [...pair(0, 4), ...[1, 2, 3].map((index) => readyRow(index, 'v1', {}, pairRunners))];
    const pods = [0, 1, 2, 3].flatMap((index) => gangPods(index, 1, 'serving'));
    const update = { type: 'SurgeThenDrain', partition: 0, inPlace: 'markNotReady', maxSurge: 2 } as const;
    expect(begun(toV2({ rows, pods, blind: [4], spec: { replicas: 4, update } }))).toEqual([0, 1]);
  });
});

/** What came of a pod that was made in the name of a marker with the id `theirs`. */
function refusedTheirs(as: Outcome['as']): Snapshot['inbox'] {
  return new Map([[keyOfCreate('chat-engine-1-leader-0', 'theirs'), { as, at: noon, detail: 'no' }]]);
}

describe('a replacement comes up', () => {
  it('and enters rotation as one, workers first', () => {
    const half = [...old, ...next('containersReady').slice(0, 1), ...next('starting').slice(1)];
    expect(wishes(plan(surging(half)))).toEqual([]);
    expect(wishes(plan(surging([...old, ...next('containersReady')])))).toEqual(['in 1-worker-0', 'in 1-leader-0']);
  });

  it('and the old gang stays until it has been Ready for minReadySeconds [E68]', () => {
    const young = next('serving').map((pod) => ({ ...pod, readyChangedAt: noon - 29 }));
    const made = plan(surging([...old, ...young], { spec: { minReadySeconds: 30 } }));
    expect([wishes(made), holdOf(made, 'MinReady')?.wake]).toEqual([[], expect.arrayContaining([{ at: noon + 1 }])]);
    const later = { ...surging([...old, ...young], { spec: { minReadySeconds: 30 } }), now: noon + 1 };
    expect(rowAfter(later)).toMatchObject({ op: { step: 'SurgeDrain' } });
    expect(wishes(plan(later))).toEqual(['out 0-leader-0', 'out 0-worker-0']);
  });

  it('and stops before the drain while the rollout is paused', () => {
    const paused = surging([...old, ...next('serving')], { spec: { pause: 'recover' } });
    expect([wishes(plan(paused)), rowAfter(paused)]).toEqual([[], expect.objectContaining({ kind: 'gangFrom' })]);
    expect(rowAfter(paused)).toMatchObject({ op: { step: 'Surge', waiting: 'Paused' } });
  });

  it('waits for quota, and its source waits with it: one clock, and it stands still [E70] [E204]', () => {
    const refused = surging(old, {
      inbox: new Map([
        [
          keyOfCreate('chat-engine-1-leader-0', `update-1-${openedAt}-${v2.slice(-8)}`),
          { as: 'quota', at: noon - 1, detail: 'exceeded quota: gpus' },
        ],
      ]),
    });
    const { op } = rowAfter(refused) as InstanceRow & { readonly kind: 'gangFrom' };
    expect(op).toMatchObject({ waiting: 'QuotaExceeded', capacityRefusedAt: noon - 1 });
    expect(op.deadline).toBeUndefined();
    const longAfter = { ...persisted(refused), now: dueAt + 4000, inbox: new Map() };
    expect(rowAfter(longAfter)).toMatchObject({ phase: 'Updating' });
  });

  it('hears what the API server says of pods that another version of the controller began to make [E70]', () => {
    const [source, marker] = pair(0, 1);
    const foreign = { ...marker, op: { ...(marker as GangMarkerRow).op, id: 'theirs' } } as InstanceRow;
    const rows = [source as InstanceRow, foreign];
    expect(rowAfter(surging(old, { rows, inbox: refusedTheirs('quota') }))).toMatchObject({
      op: { waiting: 'QuotaExceeded' },
    });
    expect(rowAfter(surging(old, { rows, inbox: refusedTheirs('invalid') }))).toMatchObject({
      phase: 'Failed',
      lastFailure: { reason: 'InvalidPodSpec' },
    });
  });

  it('has what ended in it recycled on the account of its source [E72]', () => {
    const ended = [...next('failed').slice(0, 1), ...next('starting').slice(1)];
    const snapshot = surging([...old, ...ended]);
    const made = plan(snapshot);
    expect(rowAfter(snapshot)).toMatchObject({
      op: { retryCount: 1, lastProgressAt: noon },
      announced: ['TerminalPodRecycled@uid-chat-engine-1-leader-0'],
      lastFailure: { podName: 'chat-engine-1-leader-0' },
    });
    expect([wishes(made), said(made)[0]]).toEqual([['delete 1-leader-0'], expect.stringContaining('instance=1')]);
  });

  it('is not touched while the watch lags on either half [E72]', () => {
    const ended = next('failed');
    for (const blind of [[0], [1]]) {
      const snapshot = surging([...old, ...ended], { blind });
      expect([wishes(plan(snapshot)), rowAfter(snapshot)]).toEqual([[], expect.objectContaining({ announced: [] })]);
    }
  });
});

describe('the old gang leaves', () => {
  it('as a whole: out of rotation first, leader before workers, and deleted once all of it is out', () => {
    expect(wishes(plan(draining([...old, ...next('serving')])))).toEqual(['out 0-leader-0', 'out 0-worker-0']);
    const half = [...held(old.slice(0, 1)), ...old.slice(1)];
    expect(wishes(plan(draining([...half, ...next('serving')])))).toEqual(['out 0-worker-0']);
    const made = plan(draining([...held(old), ...next('serving')]));
    expect(wishes(made)).toEqual(['delete 0-leader-0', 'delete 0-worker-0']);
    expect(made.chains.flatMap((chain) => chain.effects)).toMatchObject([
      { guard: 'unroutedLive' },
      { guard: 'unroutedLive' },
    ]);
  });

  it('stops in the middle of that when the rollout is paused', () => {
    const made = plan(draining([...held(old), ...next('serving')], { spec: { pause: 'freeze' } }));
    expect([wishes(made), holdOf(made, 'Paused')?.text]).toEqual([[], expect.stringContaining('to be resumed')]);
  });

  it('comes back when the replacement goes dark, and leaves again when that serves', () => {
    const dark = plan(draining([...held(old), ...next('starting')]));
    expect(wishes(dark)).toEqual(['in 0-worker-0', 'in 0-leader-0']);
    expect(holdOf(dark, 'ReplacementDark')?.wake.length).toBeGreaterThan(0);
    // What it has lost since is not made good: it was on its way out.
    expect(wishes(plan(draining([...held(old.slice(0, 1)), ...next('starting')])))).toEqual(['in 0-leader-0']);
    expect(wishes(plan(draining([...old, ...next('serving')])))).toEqual(['out 0-leader-0', 'out 0-worker-0']);
  });

  it('with its row, in the write that makes the replacement an Instance, and says so once [E63]', () => {
    const done = draining(next('serving'));
    const { rows, blocks } = statusAfter(done);
    expect([[...rows.keys()], blocks]).toEqual([[1], []]);
    expect(rows.get(1)).toMatchObject({ kind: 'ready', running: v2, target: '', incarnation: 1, readySince: noon });
    expect(said(plan(done)).map((text) => text.split(':')[0])).toEqual(['RecreateUpdateCompleted']);
    expect(said(plan(persisted(done)))).toEqual([]);
  });

  it('only when its last pod is proved gone; a lag of the cache proves nothing', () => {
    const unproved = plan(draining(next('serving'), { proofs: 'none' }));
    expect([unproved.reads, unproved.status?.rows.has(0)]).toEqual([[{ read: 'podsOfIndex', index: 0 }], true]);
    const dying = old.slice(0, 1).map((pod) => ({ ...pod, deletionAt: noon + 30 }));
    const waiting = plan(draining([...dying, ...next('serving')]));
    expect(holdOf(waiting, 'PodsTerminating')?.text).toContain('when its old pods have ended: chat-engine-0-leader-0');
  });

  it('at once when others have taken it away, at the full bar of the replacement', () => {
    const early = surging(next('serving'), { spec: { minReadySeconds: 90 } });
    expect(rowAfter(early)).toMatchObject({ kind: 'gangFrom', op: { step: 'Surge' } });
    expect([...statusAfter({ ...early, now: noon + 30 }).rows.keys()]).toEqual([1]);
  });
});
