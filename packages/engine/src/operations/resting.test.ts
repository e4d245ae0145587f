import { describe, expect, it } from '@jest/globals';
import { plan } from '../plan.js';
import type { PodView, StoredRevision } from '../snapshot.js';
import { holdOf, kinds, persisted, rowAfter, said, statusAfter, wishes } from '../testing/read.js';
import { failedRow, heldBlock, retryBlock } from '../testing/rows.js';
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

const v1 = revisionOf('v1');
const runners = gang(2);
const dying = pod({ over: { deletionAt: noon + 30 } });

describe('a Ready Instance', () => {
  it('that is well is left alone: no write, no wish, no wait [E189] [B23] [B101]', () => {
    const steady = persisted(world({ rows: [readyRow(0)], pods: [pod()] }));
    const made = plan({ ...steady, now: noon + 1000 });
    expect(made).toMatchObject({ reads: [], prepare: [], chains: [], events: [], holds: [] });
    expect(made.status).toBeUndefined();
    expect(made.wakeAt).toBeUndefined();
  });

  it('stays Ready while its pods are there, serving or not', () => {
    expect(rowAfter(world({ rows: [readyRow(0)], pods: [pod({ health: 'starting' })] }))?.kind).toBe('ready');
  });

  it.each<[string, readonly PodView[]]>([
    ['are gone', []],
    ['have ended [B48]', [pod({ health: 'failed' })]],
    ['are being deleted', [dying]],
  ])('whose pods %s is Pending first, and made again by a recorded Create', (_, pods) => {
    const lost = persisted(world({ rows: [readyRow(0)], pods }));
    expect(lost.status.rows.get(0)).toMatchObject({ kind: 'pending', running: v1 });
    expect(rowAfter(lost)).toMatchObject({ kind: 'creating', op: { reason: 'the Instance lost its pods' } });
  });

  it('is believed to have lost its pods only when that is proved [B28]', () => {
    const unproved = world({ rows: [readyRow(0)], proofs: 'none' });
    expect(rowAfter(unproved)?.kind).toBe('ready');
    expect(plan(unproved).reads).toEqual([{ read: 'podsOfIndex', index: 0 }]);
    expect(wishes(plan(unproved))).toEqual([]);
  });

  it('says once that it lost them', () => {
    expect(said(plan(world({ rows: [readyRow(0)] })))).toEqual([
      'InstanceDemoted: OMENative component=engine instance=0: no live pods back the Ready phase; it is created again',
    ]);
  });

  it.each(['recover', 'freeze'] as const)(
    'that lost its pods stays Pending while the rollout is in a %s pause',
    (pause) => {
      const lost = persisted(world({ rows: [readyRow(0)], spec: { pause } }));
      expect(kinds(lost.status)).toBe('0 pending');
      expect(kinds(statusAfter(lost))).toBe('0 pending');
      expect(kinds(statusAfter({ ...lost, spec: { ...lost.spec, pause: 'running' } }))).toBe('0 creating');
    },
  );
});

describe('a gang that lost a member', () => {
  const [leader, first] = gangPods(0, 2, 'serving') as [PodView, PodView];
  const rows = [readyRow(0, 'v1', {}, runners)];
  const lacking = (options: WorldOptions = {}) =>
    world({ rows, pods: [leader, first], ...options, spec: { runners, ...options.spec } });

  it('gets it back without an operation, and only it', () => {
    expect(wishes(plan(lacking()))).toEqual(['create 0-worker-1']);
    expect(kinds(statusAfter(lacking()))).toBe('0 ready');
    expect(plan(lacking()).chains[0]?.effects[0]?.covers).toEqual({ by: 'rule', rule: 'refill' });
  });

  it('is let into rotation again when the new one is ready', () => {
    const fresh = gangPods(0, 2, 'containersReady')[2] as PodView;
    expect(wishes(plan(lacking({ pods: [leader, first, fresh] })))).toEqual(['in 0-worker-1']);
  });

  it('is demoted when it lost all, like every other', () => {
    expect(kinds(statusAfter(lacking({ pods: [] })))).toBe('0 pending');
  });

  it.each<['recover' | 'freeze', 'None' | 'RecreateInstanceOnPodRestart', readonly string[]]>([
    ['recover', 'RecreateInstanceOnPodRestart', ['create 0-worker-1']],
    ['recover', 'None', []],
    ['freeze', 'RecreateInstanceOnPodRestart', []],
    ['freeze', 'None', []],
  ])('in a %s pause under policy %s asks for %p', (pause, restartPolicy, wanted) => {
    expect(wishes(plan(lacking({ spec: { pause, restartPolicy } })))).toEqual(wanted);
  });
});

describe('a Ready row without a running revision', () => {
  const row = readyRow(0, 'v1', { running: '' });

  it('takes that of its pods when they agree and are ready; nothing is rolled', () => {
    const snapshot = world({ rows: [row], pods: [pod()] });
    expect(rowAfter(snapshot)).toMatchObject({ kind: 'ready', running: v1 });
    expect(wishes(plan(persisted(snapshot)))).toEqual([]);
  });

  it('takes an older one as well, and is then updated like every other', () => {
    const snapshot = world({ spec: { payload: payload('v2') }, rows: [row], pods: [pod()] });
    expect(rowAfter(snapshot)).toMatchObject({ kind: 'ready', running: v1 });
    expect(rowAfter(persisted(snapshot))).toMatchObject({
      kind: 'updating',
      running: v1,
      op: { target: revisionOf('v2') },
    });
  });

  it.each<[string, PodView]>([
    ['names no revision', pod({ over: { revisionHash: '' } })],
    ['is not ready', pod({ health: 'starting' })],
    ['names one that is not stored', pod({ over: { revisionHash: 'deadbeef' } })],
  ])('takes none from a pod that %s; an update finds out, and nothing is taken away before it', (_, one) => {
    const snapshot = world({ rows: [row], pods: [one] });
    expect(rowAfter(snapshot)).toMatchObject({ kind: 'updating', running: '' });
    expect(wishes(plan(snapshot)).filter((wish) => /^(out|delete)/.test(wish))).toEqual([]);
  });

  it('takes none that is gone', () => {
    const snapshot = world({ rows: [row], pods: [pod()] });
    const revisions = new Map<string, StoredRevision | 'gone'>([[v1, 'gone']]);
    expect(rowAfter({ ...snapshot, revisions })?.running).toBe('');
  });
});

describe('a Failed Instance', () => {
  it('is Ready again by itself when its pods are', () => {
    const snapshot = world({ rows: [failedRow(0, undefined, 'v1')], pods: [pod()] });
    expect(rowAfter(snapshot)).toMatchObject({ kind: 'ready', running: v1, target: '', readySince: noon });
    expect(said(plan(snapshot))[0]).toMatch(/^InstanceReady: .* after it had failed$/);
  });

  it('keeps the record of its failure', () => {
    const snapshot = world({ rows: [failedRow(0, undefined, 'v1')], pods: [pod()] });
    expect(rowAfter(snapshot)?.lastFailure?.reason).toBe('CrashLoopBackOff');
  });

  it('is let into rotation for that', () => {
    const snapshot = world({ rows: [failedRow(0, undefined, 'v1')], pods: [pod({ health: 'containersReady' })] });
    expect(wishes(plan(snapshot))).toEqual(['in 0-default-0']);
  });

  it('waits for minReadySeconds like every other, and wakes then', () => {
    const options = {
      spec: { minReadySeconds: 30 },
      rows: [failedRow(0, undefined, 'v1')],
      pods: [pod({ readyFor: 20 })],
    };
    const made = plan(world(options));
    expect(rowAfter(world(options))?.kind).toBe('failed');
    expect(holdOf(made, 'Failed')?.wake).toContainEqual({ at: noon + 10 });
  });

  it('is Ready at once when the user goes back to what it runs, and what failed is removed [B16]', () => {
    const leftover = pod({ ordinal: 1, image: 'v2', health: 'crashLoop' });
    const back = world({ rows: [failedRow(0, 'v1', 'v2')], pods: [pod(), leftover] });
    expect(rowAfter(back)).toMatchObject({ kind: 'ready', running: v1, activeOrdinal: 0 });
    expect(wishes(plan(persisted(back)))).toEqual(['delete 0-default-1']);
  });

  it('gets lost pods back at the revision it ran while the one it failed at may not be tried', () => {
    const status = { blocks: [retryBlock('v2')] };
    const snapshot = world({ spec: { payload: payload('v2') }, rows: [failedRow(0, 'v1', 'v2')], status });
    expect(rowAfter(snapshot)).toMatchObject({ kind: 'creating', running: v1, op: { target: v1 } });
    expect(plan(snapshot).chains.flatMap(({ effects }) => effects)).toMatchObject([{ do: 'createPod', rev: v1 }]);
  });

  it('that never ran is not tried again at a held revision, and says what to do', () => {
    const made = plan(world({ rows: [failedRow(0, undefined, 'v1')], status: { blocks: [heldBlock('v1')] } }));
    expect(made.status?.rows.get(0)?.kind).toBe('failed');
    expect(wishes(made)).toEqual([]);
    expect(holdOf(made, 'Failed')).toMatchObject({
      text: `Instance 0 failed at revision ${v1}: CrashLoopBackOff back-off. Publish a corrected revision; its pods are kept for inspection`,
      wake: [{ user: 'spec' }, { on: 'pod', key: '0' }],
    });
  });

  it('that never ran and serves by now heals before it is updated: its pod is not taken away', () => {
    const spec = { minReadySeconds: 30 };
    const snapshot = world({ spec, rows: [failedRow(0, undefined, 'v0')], pods: [pod({ image: 'v0', readyFor: 5 })] });
    expect(rowAfter(snapshot)?.kind).toBe('failed');
    expect(wishes(plan(snapshot))).toEqual([]);
  });

  it('that never ran starts over at a corrected revision, over what it left behind', () => {
    const snapshot = world({
      rows: [failedRow(0, undefined, 'v0')],
      pods: [pod({ image: 'v0', health: 'crashLoop' })],
    });
    expect(rowAfter(snapshot)).toMatchObject({ kind: 'creating', op: { target: v1 } });
    expect(wishes(plan(persisted(snapshot)))).toEqual(['delete 0-default-0']);
  });
});
