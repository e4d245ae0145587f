import { describe, expect, it } from '@jest/globals';
import type { Outcome } from '../effects.js';
import { plan } from '../plan.js';
import type { LifecycleConfig, PodView, Snapshot } from '../snapshot.js';
import { holdsOf, persisted, rowAfter, said, wishes } from '../testing/read.js';
import { creatingRow, drainingRow, dueAt, failedRow, retryBlock, surgingRow } from '../testing/rows.js';
import { chartConfig, noon, payload, pod, readyRow, revisionOf, type WorldOptions, world } from '../testing/world.js';

const v1 = revisionOf('v1');
const v2 = revisionOf('v2');
const crashed = (secondsAgo: number, over: Parameters<typeof pod>[0] = {}): PodView => {
  const one = pod({ health: 'crashLoop', ...over });
  const last = { reason: 'Error', exitCode: 1, message: '', finishedAt: noon - secondsAgo };
  return { ...one, containers: one.containers.map((container) => ({ ...container, lastTerminated: last })) };
};
const creating = (options: WorldOptions): Snapshot => world({ rows: [creatingRow(0)], ...options });
/** An update to v2 with its old pod and this replacement. */
const updating = (replacement: PodView, options: WorldOptions = {}): Snapshot =>
  world({ spec: { payload: payload('v2') }, rows: [surgingRow(0)], pods: [pod(), replacement], ...options });

describe('an attempt ends', () => {
  it('when a container has been stuck for the grace, from its last end on', () => {
    expect(rowAfter(creating({ pods: [crashed(59)] }))?.kind).toBe('creating');
    expect(plan(creating({ pods: [crashed(59)] })).wakeAt).toBe(noon + 1);
    expect(rowAfter(creating({ pods: [crashed(60)] }))).toMatchObject({
      kind: 'failed',
      running: '',
      target: v1,
      lastFailure: {
        podName: 'chat-engine-0-default-0',
        containerName: 'ome-container',
        reason: 'CrashLoopBackOff',
        exitCode: 1,
      },
    });
  });

  it.each<[string, LifecycleConfig['stuckPodGraceSec']]>([
    ['no grace', undefined],
    ['a grace of 0', 0],
    ['a negative grace', -1],
  ])('never for a stuck container with %s: that turns the rule off [E166]', (_, grace) => {
    const { stuckPodGraceSec: __, ...rest } = chartConfig;
    const config: LifecycleConfig = grace === undefined ? rest : { ...rest, stuckPodGraceSec: grace };
    expect(rowAfter(creating({ pods: [crashed(900)], config }))?.kind).toBe('creating');
  });

  it('at its deadline, to the second, and wakes the plan then', () => {
    const pods = [pod({ health: 'starting' })];
    expect(rowAfter(creating({ pods, now: dueAt - 1 }))?.kind).toBe('creating');
    expect(plan(creating({ pods })).wakeAt).toBe(dueAt);
    expect(rowAfter(creating({ pods, now: dueAt }))).toMatchObject({
      kind: 'failed',
      lastFailure: { reason: 'ContainersNotReady' },
    });
  });

  it('never by time without a deadline [E160]', () => {
    const { deadline: _, ...op } = (creatingRow(0) as { op: { deadline?: number } }).op;
    const rows = [{ ...creatingRow(0), op } as ReturnType<typeof creatingRow>];
    const unlimited = {
      spec: { instanceReadyTimeoutSec: 0 },
      rows,
      pods: [pod({ health: 'starting' })],
      now: noon + 1e7,
    };
    expect(rowAfter(creating(unlimited))?.kind).toBe('creating');
  });

  it.each<[Outcome['as'], string, string]>([
    ['invalid', 'InvalidPodSpec', 'publish a corrected revision'],
    ['namespaceTerminating', 'NamespaceTerminating', 'its pods are kept for inspection'],
  ])('at once when the API server refuses a pod as %s [E16]', (as, reason, advice) => {
    const outcome: Outcome = { as, at: noon, detail: 'spec.x: Invalid' };
    const snapshot = creating({ inbox: new Map([['createPod/chat-engine-0-default-0/create-0', outcome]]) });
    expect(rowAfter(snapshot)).toMatchObject({ kind: 'failed', lastFailure: { reason, message: 'spec.x: Invalid' } });
    expect(said(plan(snapshot)).join()).toContain(advice);
  });

  it('not by a refusal of something else', () => {
    const outcome: Outcome = { as: 'invalid', at: noon, detail: '' };
    const inbox = new Map([['createPod/chat-engine-0-default-0/create-of-another-time', outcome]]);
    expect(rowAfter(creating({ inbox }))?.kind).toBe('creating');
  });

  it('with one Event, which names pod, container, reason and what to do [E158]', () => {
    const first = creating({ pods: [crashed(60)] });
    expect(said(plan(first))).toEqual([
      `InstanceFailed: OMENative component=engine instance=0: pod chat-engine-0-default-0 container ome-container: CrashLoopBackOff: back-off (Create to revision ${v1}; its pods are kept for inspection)`,
    ]);
    expect(said(plan(persisted(first)))).toEqual([]);
  });

  it('and leaves nothing of what it waited for', () => {
    expect(holdsOf(plan(creating({ pods: [crashed(60)] })))).toBe('');
  });
});

describe('an attempt does not end', () => {
  it.each<[string, WorldOptions]>([
    ['its deadline', { now: dueAt + 1, pods: [pod({ readyFor: 0, now: dueAt + 1 })] }],
    ['a stuck sidecar', { pods: [{ ...pod({ readyFor: 0 }), containers: crashed(900).containers }] }],
  ])('by %s while all its pods serve [E161]', (_, options) => {
    const spec = { minReadySeconds: 600 };
    expect(rowAfter(creating({ ...options, spec }))?.kind).toBe('creating');
  });

  it('while a paused rollout holds it [E167]', () => {
    expect(rowAfter(creating({ spec: { pause: 'recover' }, pods: [crashed(900)], now: dueAt + 9 }))?.kind).toBe(
      'creating',
    );
  });

  it('by a pod of an earlier attempt that is still in its slot [E154]', () => {
    const stale = crashed(900, { image: 'v0' });
    expect(rowAfter(creating({ pods: [stale] }))?.kind).toBe('creating');
    const unlabelled = { ...stale, revisionHash: '' };
    expect(rowAfter(creating({ pods: [unlabelled] }))?.kind).toBe('failed');
  });

  it.each([
    ['Ready', readyRow(0)],
    ['Failed', failedRow(0, 'v1', 'v1')],
  ])('when there is none: a %s row stays as it is [E160]', (_, row) => {
    const snapshot = world({ rows: [row], pods: [crashed(9000)], now: noon + 1e6 });
    expect(rowAfter(snapshot)?.kind).toBe(row.kind);
  });
});

describe('an update that fails', () => {
  const broken = crashed(60, { ordinal: 1, image: 'v2' });

  it('leaves the Instance on the pod and the revision it had, and in rotation [E43] [B16]', () => {
    const after = persisted(updating(broken));
    expect(after.status.rows.get(0)).toMatchObject({ kind: 'failed', running: v1, target: v2, activeOrdinal: 0 });
    expect(wishes(plan(after))).toEqual([]);
  });

  it('never blames the old pod', () => {
    const replacement = pod({ ordinal: 1, image: 'v2', health: 'starting' });
    const snapshot = updating(replacement, { pods: [crashed(900), replacement] });
    expect(rowAfter(snapshot)?.kind).toBe('updating');
  });

  it('keeps its replacement for inspection, out of rotation, also when it gets ready late [E49]', () => {
    const late = pod({ ordinal: 1, image: 'v2', health: 'containersReady' });
    const snapshot = world({
      spec: { payload: payload('v2') },
      rows: [failedRow(0, 'v1', 'v2')],
      pods: [pod(), late],
      status: { blocks: [retryBlock('v2')] },
    });
    expect(rowAfter(snapshot)?.kind).toBe('failed');
    expect(wishes(plan(snapshot))).toEqual([]);
    const serving = pod({ ordinal: 1, image: 'v2' });
    expect(rowAfter({ ...snapshot, pods: new Map([[0, [pod(), serving]]]) })?.kind).toBe('failed');
  });

  it('while its old pod drains gives that its place back', () => {
    const out = pod({
      gate: { state: 'false', holds: [{ writer: 'UpdateSurgeDrain', key: 'update-surge-drain-0-1' }] },
    });
    const after = persisted(updating(broken, { rows: [drainingRow(0)], pods: [out, broken] }));
    expect(after.status.rows.get(0)).toMatchObject({ kind: 'failed', running: v1, activeOrdinal: 0 });
    expect(wishes(plan(after))).toEqual(['in 0-default-0']);
  });

  it.each<[string, readonly PodView[]]>([
    ['is going', [pod({ over: { deletionAt: noon + 30 } }), broken]],
    ['is gone', [broken]],
  ])('after its old pod %s leaves the Instance with the new one', (_, pods) => {
    const after = persisted(updating(broken, { rows: [drainingRow(0)], pods }));
    expect(after.status.rows.get(0)).toMatchObject({ kind: 'failed', running: v2, activeOrdinal: 1 });
    expect(wishes(plan(after))).toEqual([]);
  });
});
