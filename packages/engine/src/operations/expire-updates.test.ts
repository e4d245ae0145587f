/** How attempts of each kind end, and what they leave behind for their next try. */
import { describe, expect, it } from '@jest/globals';
import type { InstanceRow, Strategy } from '@omenative/api';
import type { Outcome } from '../effects.js';
import { plan } from '../plan.js';
import type { PodView, Snapshot } from '../snapshot.js';
import { inPlacePolicy, patched } from '../testing/in-place.js';
import { pair, pairRunners, sourceRow } from '../testing/pairs.js';
import { kinds, persisted, rowAfter, said, statusAfter, wishes } from '../testing/read.js';
import { creatingRow, dueAt, inPlaceRow, openedAt, recreatingRow, surgingRow } from '../testing/rows.js';
import {
  chartConfig,
  gang,
  gangPods,
  noon,
  payload,
  pod,
  revisionOf,
  type WorldOptions,
  world,
} from '../testing/world.js';

const v1 = revisionOf('v1');
const v2 = revisionOf('v2');
const gangV1 = revisionOf('v1', pairRunners);
const gangV2 = revisionOf('v2', pairRunners);
const toV2: WorldOptions = { spec: { payload: payload('v2') } };
const gangToV2 = { runners: pairRunners, payload: payload('v2', pairRunners) };

/** The pod with its container waiting for `reason` since its attempt began. */
function waiting(one: PodView, reason: string): PodView {
  const containers = one.containers.map((container) => ({ ...container, waiting: { reason, message: 'back-off' } }));
  return { ...one, containersReady: false, ready: false, containers };
}
const noImage = (one: PodView): PodView => waiting(one, 'ImagePullBackOff');
const crashing = (one: PodView): PodView => waiting(one, 'CrashLoopBackOff');

const fresh = pod({ image: 'v2', health: 'starting', over: { incarnation: 2 } });
const recreating = (pods: readonly PodView[], options: WorldOptions = {}): Snapshot =>
  world({ ...toV2, rows: [recreatingRow(0)], pods, ...options });

describe('an update by recreate that fails', () => {
  it('is parked while its pod is there: the operation is kept, its clock is not', () => {
    const row = rowAfter(recreating([noImage(fresh)]));
    expect(row).toMatchObject({
      kind: 'parked',
      phase: 'Failed',
      running: v1,
      target: v2,
      incarnation: 2,
      op: { id: 'update-0', step: 'Parked', strategy: 'RecreatePod', target: v2 },
      lastFailure: { reason: 'ImagePullBackOff' },
    });
    expect(row).not.toHaveProperty('op.deadline');
  });

  it('is Failed without an operation when it has no live pod', () => {
    const row = rowAfter(recreating([], { now: dueAt }));
    expect(row).toMatchObject({ kind: 'failed', running: v1, target: v2, lastFailure: { reason: 'DeadlineExceeded' } });
    expect(row).not.toHaveProperty('kept');
  });

  it('never because of an old pod', () => {
    const old = crashing(pod({ health: 'drained' }));
    expect(rowAfter(recreating([old]))?.kind).toBe('updating');
    expect(rowAfter(recreating([{ ...old, incarnation: 2 }]))?.kind).toBe('updating');
  });

  it('in a gang stays Failed with its operation, since there is nothing else to go back to', () => {
    const rows = [recreatingRow(0, 'v1', 'v2', { runners: pairRunners, op: { retryCount: 3 } })];
    const pods = gangPods(0, 1, 'starting', 'v2').map((one) => crashing({ ...one, incarnation: 2 }));
    const row = rowAfter(world({ spec: { ...gangToV2 }, rows, pods }));
    expect(row).toMatchObject({
      kind: 'failed',
      running: gangV1,
      target: gangV2,
      kept: { id: 'update-0', step: 'Drain', target: gangV2, retryCount: 3 },
      lastFailure: { reason: 'CrashLoopBackOff', podName: 'chat-engine-0-leader-0' },
    });
  });
});

/** An update in place of this one pod. */
const inPlace = (strategy: Strategy, one: PodView, options: WorldOptions = {}): Snapshot => {
  const update = { ...inPlacePolicy, type: strategy };
  const rows = [inPlaceRow(0, 'v1', 'v2', { op: { strategy } })];
  return world({ spec: { ...toV2.spec, update }, rows, pods: [one], ...options });
};

describe('an update in place that fails', () => {
  it.each(['InPlaceIfPossible', 'InPlaceOnly'] as const)(
    'by %s because of the image is parked with its pod: a new pod would do no better',
    (strategy) => {
      const snapshot = inPlace(strategy, noImage(patched()));
      expect(rowAfter(snapshot)).toMatchObject({ kind: 'parked', phase: 'Failed', op: { step: 'Parked', strategy } });
      expect(statusAfter(snapshot).blocks).toMatchObject([{ target: v2, state: 'Backoff', attempts: 1 }]);
    },
  );

  it('by InPlaceIfPossible for another reason goes on as a recreate, with a full window and its failure on record [B84]', () => {
    const snapshot = inPlace('InPlaceIfPossible', crashing(patched({ running: 'v2' })));
    expect(rowAfter(snapshot)).toMatchObject({
      kind: 'updating',
      incarnation: 2,
      op: { id: 'update-0', step: 'Drain', strategy: 'RecreatePod', target: v2, deadline: noon + 1800 },
      lastFailure: { reason: 'CrashLoopBackOff' },
    });
    expect(statusAfter(snapshot).blocks).toEqual([]);
    expect(said(plan(snapshot))).toEqual([
      `InPlaceUpdateNotPossible: OMENative component=engine instance=0: the update goes on by creating the pod again at revision ${v2}: CrashLoopBackOff: back-off`,
    ]);
  });

  it('by InPlaceOnly for another reason is parked', () => {
    expect(rowAfter(inPlace('InPlaceOnly', crashing(patched({ running: 'v2' }))))?.kind).toBe('parked');
  });

  it('at its deadline when the kubelet never reports the image: the same fallback [B84]', () => {
    const silent = patched({ health: 'containersReady' });
    const late = inPlace('InPlaceIfPossible', silent, { now: dueAt });
    expect(rowAfter(inPlace('InPlaceIfPossible', silent, { now: dueAt - 1 }))).toMatchObject({
      op: { step: 'InPlace' },
    });
    expect(rowAfter(late)).toMatchObject({ op: { step: 'Drain' } });
  });

  it('by a refusal of the patch for good ends at once and charges the revision [E41]', () => {
    const one = pod({ health: 'drained' });
    const outcome: Outcome = { as: 'invalid', at: noon, detail: 'spec.containers[0].image: Invalid' };
    const refused = inPlace('InPlaceIfPossible', one, {
      inbox: new Map([[`patchInPlace/${one.name}/${one.uid}/update-0`, outcome]]),
    });
    expect(rowAfter(refused)).toMatchObject({
      kind: 'parked',
      lastFailure: { reason: 'InvalidPodSpec', message: 'spec.containers[0].image: Invalid' },
    });
    expect(statusAfter(refused).blocks).toMatchObject([{ target: v2, attempts: 1, reason: 'InvalidPodSpec' }]);
  });
});

const replacement = (health: 'starting' | 'serving' = 'starting') => gangPods(1, 1, health, 'v2');
const surging = (pods: readonly PodView[], options: WorldOptions = {}): Snapshot =>
  world({ spec: { ...gangToV2 }, rows: pair(0, 1), pods: [...gangPods(0, 1, 'serving'), ...pods], ...options });

describe('a gang surge that fails', () => {
  it('at its deadline is Failed with its operation, warns once, and its source serves on [E159]', () => {
    const late = surging(replacement(), { now: dueAt });
    const failed = persisted(late);
    expect(failed.status.rows.get(0)).toMatchObject({
      kind: 'gangFrom',
      phase: 'Failed',
      running: gangV1,
      op: { step: 'Surge', surgeIndex: 1 },
      lastFailure: { podName: 'chat-engine-1-leader-0', reason: 'ContainersNotReady' },
    });
    expect(said(plan(late))).toEqual([
      `InstanceFailed: OMENative component=engine instance=0: pod chat-engine-1-leader-0 container ome-container: ContainersNotReady: container ome-container runs but never passed its readiness check (Update to revision ${gangV2}; its replacement is removed)`,
    ]);
    expect(said(plan(failed))).toEqual([]);
    expect(wishes(plan(failed)).filter((wish) => wish.includes(' 0-'))).toEqual([]);
  });

  it('is blamed on the worker whose image is missing rather than on the time [E159]', () => {
    const [leader, worker] = replacement() as [PodView, PodView];
    const { stuckPodGraceSec: _, ...config } = chartConfig;
    const late = surging([crashing(leader), noImage(worker)], { now: dueAt, config });
    expect(rowAfter(late)).toMatchObject({
      lastFailure: { podName: 'chat-engine-1-worker-0', reason: 'ImagePullBackOff' },
    });
    expect(statusAfter(late).blocks).toMatchObject([{ target: gangV2, attempts: 1 }]);
  });

  it('never because of its source', () => {
    const pods = [...gangPods(0, 1, 'serving').map(crashing), ...replacement()];
    expect(rowAfter(surging([], { pods }))).toMatchObject({ phase: 'Updating' });
  });

  it('not while its replacement serves, whatever the time [E161]', () => {
    const spec = { ...gangToV2, minReadySeconds: 9000 };
    const pods = replacement('serving').map((one) => ({ ...one, readyChangedAt: dueAt }));
    expect(rowAfter(surging(pods, { now: dueAt + 9, spec }))).toMatchObject({ phase: 'Updating' });
  });

  it('is not rewritten once it has [E160]', () => {
    const rows = [sourceRow(0, 1, { phase: 'Failed' }), ...pair(0, 1).slice(1)];
    const again = persisted(surging(replacement().map(noImage), { rows, now: dueAt + 9000 }));
    expect(again.status.rows.get(0)).not.toHaveProperty('lastFailure');
    expect(again.status.blocks).toEqual([]);
  });
});

describe('the revision that is charged', () => {
  it('is that of a gang’s Create, like that of a single pod’s [E157] [E152]', () => {
    const runners = gang(1);
    const [leader, worker] = gangPods(0, 1, 'starting') as [PodView, PodView];
    const snapshot = world({
      spec: { runners },
      rows: [creatingRow(0, 'v1', { runners })],
      pods: [leader, noImage(worker)],
    });
    const row = rowAfter(snapshot);
    expect(row).toMatchObject({ kind: 'failed', lastFailure: { podName: worker.name, reason: 'ImagePullBackOff' } });
    expect(row).not.toHaveProperty('kept');
    expect(statusAfter(snapshot).blocks).toMatchObject([{ target: revisionOf('v1', runners), attempts: 1 }]);
  });

  it('is the one that a Create was opened for, whatever is wanted by now; without one there is none [E153]', () => {
    const pods = [pod({ health: 'containersReady' })];
    const pinned = world({ ...toV2, rows: [creatingRow(0)], pods, now: dueAt });
    expect(rowAfter(pinned)).toMatchObject({ kind: 'failed', target: v1 });
    expect(statusAfter(pinned).blocks).toMatchObject([{ target: v1, reason: 'ReadinessGateNotSatisfied' }]);
    const unpinned = world({
      rows: [creatingRow(0, 'v1', { op: { target: '' } })],
      pods: [noImage(pod({ image: 'v0' }))],
    });
    expect(rowAfter(unpinned)).toMatchObject({ kind: 'creating', op: { target: v1 } });
    expect(statusAfter(unpinned).blocks).toEqual([]);
  });

  it('is not charged for what another revision left in the slot of a surge, but for a pod that names none [E154]', () => {
    const stale = noImage(pod({ ordinal: 1, image: 'v0' }));
    const snapshot = world({ ...toV2, rows: [surgingRow(0)], pods: [pod(), stale] });
    expect(rowAfter(snapshot)?.kind).toBe('updating');
    expect(statusAfter(snapshot).blocks).toEqual([]);
    const unlabelled = world({ ...toV2, rows: [surgingRow(0)], pods: [pod(), { ...stale, revisionHash: '' }] });
    expect(statusAfter(unlabelled).blocks).toMatchObject([{ target: v2, attempts: 1 }]);
  });

  it('is charged once for all that fail in one pass [E163]', () => {
    const rows = [0, 1, 2].map((index) => creatingRow(index));
    const pods = rows.map(({ index }) => noImage(pod({ index })));
    const snapshot = world({ spec: { replicas: 3 }, rows, pods });
    expect(kinds(statusAfter(snapshot))).toBe('0 failed, 1 failed, 2 failed');
    expect(statusAfter(snapshot).blocks).toMatchObject([{ attempts: 1 }]);
  });

  it.each<[string, (one: PodView) => PodView, unknown]>([
    ['the workload', noImage, { blocks: [{ state: 'Backoff', attempts: 1, nextRetryAt: noon + 60 }] }],
    ['nobody known', crashing, { blocks: [{ state: 'Backoff', attempts: 0, nextRetryAt: noon + 60 }] }],
  ])('keeps an attempt of %s in the write that ends it [E152]', (_, broken, wanted) => {
    const snapshot = world({ rows: [creatingRow(0)], pods: [broken(pod())] });
    expect(rowAfter(snapshot)?.kind).toBe('failed');
    expect(statusAfter(snapshot)).toMatchObject(wanted as object);
  });

  it('is said once to be held', () => {
    const { updateRetry: _, ...config } = chartConfig;
    const snapshot = world({
      rows: [creatingRow(0), creatingRow(1)],
      spec: { replicas: 2 },
      pods: [noImage(pod()), noImage(pod({ index: 1 }))],
      config,
    });
    expect(said(plan(snapshot)).filter((text) => text.startsWith('RetryHeld'))).toEqual([
      `RetryHeld: InferenceReplica prod/chat-engine component=engine update to revision ${v1} held after 1 failed attempt(s) (last failure: ImagePullBackOff); publish a corrected revision or raise lifecycle.updateRetry limits`,
    ]);
  });
});

describe('pods that all serve', () => {
  const runners = gang(1);
  const creating = (pods: readonly PodView[]): InstanceRow | undefined => {
    const late = pods.map((one) => ({ ...one, readyChangedAt: openedAt }));
    const spec = { runners, minReadySeconds: 90_000 };
    return rowAfter(world({ spec, rows: [creatingRow(0, 'v1', { runners })], pods: late, now: dueAt }));
  };
  const [leader, worker] = gangPods(0, 1, 'serving') as [PodView, PodView];

  it('are no failure; an ended one beside one that serves is [E161]', () => {
    expect(creating([leader, worker])?.kind).toBe('creating');
    const ended = { ...worker, phase: 'Failed', ready: false, containersReady: false } as const;
    expect(creating([leader, ended])?.kind).toBe('failed');
  });

  it('are judged without the pods that go beside them [E161]', () => {
    const going = { ...gangPods(0, 2, 'starting')[2], deletionAt: dueAt + 30 } as PodView;
    expect(creating([leader, worker, going])?.kind).toBe('creating');
  });
});
