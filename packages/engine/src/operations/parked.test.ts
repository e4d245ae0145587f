import { describe, expect, it } from '@jest/globals';
import type { InstanceRow, ParkedOp } from '@omenative/api';
import { plan } from '../plan.js';
import type { PodView, Snapshot } from '../snapshot.js';
import { inPlacePolicy, patched } from '../testing/in-place.js';
import { holdOf, persisted, rowAfter, said, statusAfter, wishes } from '../testing/read.js';
import { heldBlock, openedAt, parkedRow, retryBlock } from '../testing/rows.js';
import { noon, payload, pod, readyRow, revisionOf, type WorldOptions, world } from '../testing/world.js';

const v1 = revisionOf('v1');
const v2 = revisionOf('v2');
const toV2 = { payload: payload('v2'), update: inPlacePolicy };
const held = { blocks: [heldBlock('v2')] };
/** A pod that is of the target, runs it, and serves. */
const done = patched({ running: 'v2', health: 'serving', gate: { state: 'true' } });
/** The pod of the attempt, unready for so many seconds. */
const unready = (seconds: number): PodView =>
  patched({ health: 'starting', gate: { state: 'true' }, over: { readyChangedAt: noon - seconds } });

/** A failed update to v2 of this pod, while v2 may not be tried, unless said otherwise. */
const parked = (pods: readonly PodView[], options: WorldOptions = {}): Snapshot =>
  world({ spec: toV2, rows: [parkedRow(0)], pods, status: held, ...options });
/** The same with this phase and operation. */
const parkedAs = (phase: 'Updating' | 'Failed', op: Partial<ParkedOp> = {}): InstanceRow =>
  ({ ...parkedRow(0, 'v1', 'v2', { op: { waiting: 'Held', ...op } }), phase }) as InstanceRow;

describe('the phase of a parked update', () => {
  it('is Updating when its pods serve [E162]', () => {
    expect(rowAfter(parked([pod()], { rows: [parkedAs('Failed')] }))).toMatchObject({
      kind: 'parked',
      phase: 'Updating',
    });
  });

  it('is Failed when its pod has not served for longer than the grace, or is stuck [E162]', () => {
    const rows = [parkedAs('Updating')];
    expect(rowAfter(parked([unready(59)], { rows }))).toMatchObject({ phase: 'Updating' });
    expect(rowAfter(parked([unready(60)], { rows }))).toMatchObject({ phase: 'Failed' });
    const stuck = { ...pod({ health: 'crashLoop' }), createdAt: openedAt - 60, readyChangedAt: noon - 1 };
    expect(rowAfter(parked([stuck], { rows }))).toMatchObject({ phase: 'Failed' });
  });

  it.each(['Updating', 'Failed'] as const)(
    'stays %s while its pod flaps inside the grace: nothing is written [E162]',
    (phase) => {
      const still = persisted(parked([unready(5)], { rows: [parkedAs(phase)] }));
      expect(still.status.rows.get(0)).toMatchObject({ phase });
      expect(plan({ ...still, now: noon + 30 }).status).toBeUndefined();
    },
  );

  it('follows its pods while the rollout is paused too [E162]', () => {
    const spec = { ...toV2, pause: 'freeze' } as const;
    expect(rowAfter(parked([pod()], { spec, rows: [parkedAs('Failed')] }))).toMatchObject({ phase: 'Updating' });
  });

  it('moves no other row [E162]', () => {
    const rows = [parkedAs('Failed'), readyRow(1)];
    const snapshot = parked([pod(), pod({ index: 1 })], { rows, spec: { ...toV2, replicas: 2 } });
    expect(rowAfter(snapshot, 1)).toMatchObject({ kind: 'ready', running: v1 });
  });
});

describe('what a parked update waits for', () => {
  it.each<[string, WorldOptions['status'], string]>([
    ['Held', held, 'Held'],
    ['RetryBlock', { blocks: [retryBlock('v2')] }, 'RetryBlock'],
  ])('is %s while the ladder says so, written once [E162]', (_, status = {}, waiting) => {
    const first = parked([unready(90)], { status });
    expect(rowAfter(first)).toMatchObject({ phase: 'Failed', op: { waiting } });
    expect(plan({ ...persisted(persisted(first)), now: noon + 50 }).status).toBeUndefined();
  });

  it('stays the last named wait when the ladder opens but something else keeps it [E162]', () => {
    const spec = { ...toV2, pause: 'recover' } as const;
    const snapshot = parked([unready(90)], { spec, status: {}, rows: [parkedAs('Failed')] });
    expect(rowAfter(snapshot)).toMatchObject({ kind: 'parked', op: { waiting: 'Held' } });
  });

  it('is said with its failure and its wake [B03]', () => {
    const made = plan(parked([unready(90)], { status: { blocks: [retryBlock('v2')] } }));
    expect(holdOf(made, 'Failed')).toMatchObject({
      text: `Instance 0 failed at revision ${v2}: ImagePullBackOff back-off. update to ${v2} in backoff after 1 failed attempt(s): ImagePullBackOff`,
      wake: expect.arrayContaining([{ user: 'spec' }, { on: 'pod', key: '0' }, { at: noon + 60 }]),
    });
    expect(made.wakeAt).toBe(noon + 60);
  });

  it('has no clock: nothing ends it by time', () => {
    const still = persisted(persisted(parked([unready(90)])));
    expect(plan(still).wakeAt).toBeUndefined();
    expect(plan({ ...still, now: noon + 1e6 }).status).toBeUndefined();
  });
});

describe('a parked update is over', () => {
  it('when its pod runs the target and serves: Ready, and nothing is held against the revision any more', () => {
    const snapshot = parked([done]);
    expect(statusAfter(snapshot)).toMatchObject({ blocks: [] });
    expect(rowAfter(snapshot)).toMatchObject({ kind: 'ready', running: v2, target: '', readySince: noon });
    expect(said(plan(snapshot))).toEqual([
      `InstanceReady: OMENative component=engine instance=0: ready at revision ${v2} after it had failed`,
    ]);
  });

  it('only when the kubelet reports the new image: an old container that serves proves nothing [E34]', () => {
    const old = patched({ running: 'v1', health: 'serving', gate: { state: 'true' } });
    expect(rowAfter(parked([old]))).toMatchObject({ kind: 'parked' });
    expect(wishes(plan(parked([patched({ health: 'containersReady' })])))).toEqual([]);
  });

  it('after minReadySeconds, and wakes the plan then', () => {
    const spec = { ...toV2, minReadySeconds: 90 };
    expect(rowAfter(parked([done], { spec }))?.kind).toBe('parked');
    expect(plan(parked([done], { spec })).wakeAt).toBe(noon + 30);
  });

  it('not by a revision that nobody wants any more', () => {
    const spec = { ...toV2, payload: payload('v3') };
    expect(rowAfter(parked([done], { spec, status: { blocks: [heldBlock('v3')] } }))?.kind).toBe('parked');
  });

  it('when its pod is gone for sure: Failed without an operation, to be created again when that may be', () => {
    expect(plan(parked([], { proofs: 'none' })).reads).toEqual([{ read: 'podsOfIndex', index: 0 }]);
    expect(rowAfter(parked([], { proofs: 'none' }))?.kind).toBe('parked');
    const gone = persisted(parked([]));
    expect(gone.status.rows.get(0)).toMatchObject({ kind: 'failed', running: v1, target: v2 });
    expect(rowAfter(gone)).toMatchObject({ kind: 'creating', op: { target: v1 } });
  });
});

describe('a pod of a parked update', () => {
  it('enters rotation when it comes right', () => {
    expect(wishes(plan(parked([patched({ running: 'v2', health: 'containersReady' })])))).toEqual(['in 0-default-0']);
  });

  it('is neither deleted nor patched while the update may not be tried', () => {
    expect(wishes(plan(parked([unready(90)])))).toEqual([]);
  });
});

const tried = (options: WorldOptions): InstanceRow | undefined => rowAfter(parked([unready(90)], options));

describe('the next try of a parked update', () => {
  it('starts over it when the pause is over, in place where that is possible [E43]', () => {
    expect(tried({ status: { blocks: [retryBlock('v2')] }, now: noon + 60 })).toMatchObject({
      kind: 'updating',
      op: { step: 'InPlace', target: v2, retryCount: 0 },
    });
  });

  it('starts at once at a corrected revision [E43]', () => {
    const spec = { ...toV2, payload: payload('v3') };
    expect(tried({ spec })).toMatchObject({ kind: 'updating', op: { step: 'InPlace', target: revisionOf('v3') } });
  });

  it('is a recreate in a new life when the strategy is', () => {
    const spec = { ...toV2, payload: payload('v3'), update: { ...inPlacePolicy, type: 'RecreatePod' as const } };
    expect(tried({ spec })).toMatchObject({ kind: 'updating', incarnation: 2, op: { step: 'Drain' } });
  });

  it('waits for the end of a pause of the rollout', () => {
    expect(tried({ spec: { ...toV2, pause: 'recover' }, status: {} })?.kind).toBe('parked');
  });

  it('back to what it ran is an update like every other', () => {
    const spec = { ...toV2, payload: payload('v1') };
    expect(tried({ spec })).toMatchObject({ kind: 'updating', op: { target: v1 } });
  });
});
