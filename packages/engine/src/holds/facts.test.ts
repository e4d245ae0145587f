/** Facts of the cluster that hold an attempt: a quota, a webhook, the scheduler. */
import { describe, expect, it } from '@jest/globals';
import type { InstanceRow } from '@omenative/api';
import type { Outcome } from '../effects.js';
import { plan } from '../plan.js';
import type { PodView, Snapshot } from '../snapshot.js';
import { inPlacePolicy } from '../testing/in-place.js';
import { pair, pairRunners } from '../testing/pairs.js';
import { holdOf, persisted, rowAfter, said, statusAfter } from '../testing/read.js';
import { creatingRow, dueAt, failedRow, inPlaceRow, recreatingRow, surgingRow } from '../testing/rows.js';
import {
  chartConfig,
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
import { homelessSince } from './unschedulable.js';

const v1 = revisionOf('v1');
const toV2 = { payload: payload('v2') };
const outcome = (as: Outcome['as'], at = noon): Outcome => ({ as, at, detail: `the server says ${as}` });
/** What came of creating a pod for an operation. */
const refused = (as: Outcome['as'], name = 'chat-engine-0-default-0', by = 'create-0'): Snapshot['inbox'] =>
  new Map([[`createPod/${name}/${by}`, outcome(as)]]);
/** A pod that no node has room for, since so many seconds. */
const homeless = (seconds: number | undefined, over: Parameters<typeof pod>[0] = {}): PodView => {
  const since = seconds === undefined ? {} : { since: noon - seconds };
  return pod({
    health: 'starting',
    ...over,
    over: { node: '', phase: 'Pending', unschedulable: { ...since, message: '0/3 nodes are available' }, ...over.over },
  });
};
const creating = (options: WorldOptions): Snapshot => world({ rows: [creatingRow(0)], ...options });
const waitingOf = (row: InstanceRow | undefined): unknown => (row !== undefined && 'op' in row ? row.op : undefined);

describe('a quota that refuses a pod', () => {
  const full = creating({ inbox: refused('quota') });

  it('stops the clock, is written with its time, and says what to do [E17] [E171] [B93]', () => {
    const row = rowAfter(full);
    expect(row).toMatchObject({ kind: 'creating', op: { waiting: 'QuotaExceeded', capacityRefusedAt: noon } });
    expect(row).not.toHaveProperty('op.deadline');
    expect(holdOf(plan(full), 'QuotaExceeded')).toMatchObject({
      text: `Create of Instance 0 to ${v1} waits for quota (raise the ResourceQuota, or free some of it): the server says quota`,
    });
  });

  it('fails nothing, however long it lasts, and costs no second write [E170]', () => {
    const waiting = persisted(full);
    const later = { ...waiting, now: noon + 1e6 };
    expect(rowAfter(later)?.kind).toBe('creating');
    expect(plan(later).status).toBeUndefined();
    expect(said(plan(later))).toEqual([]);
  });

  it('is remembered when its answer is lost, until no pod is missing [E17] [E172]', () => {
    const forgotten = { ...persisted(full), inbox: new Map() };
    expect(rowAfter(forgotten)).toMatchObject({ op: { waiting: 'QuotaExceeded', capacityRefusedAt: noon } });
    const made = { ...forgotten, now: noon + 500, pods: new Map([[0, [pod({ health: 'starting' })]]]) };
    expect(rowAfter(made)).toMatchObject({ op: { waiting: '', deadline: noon + 2300 } });
    expect(rowAfter(made)).not.toHaveProperty('op.capacityRefusedAt');
  });

  it('holds a gang for the one pod that it lacks', () => {
    const runners = gang(1);
    const [leader] = gangPods(0, 1, 'starting') as [PodView, PodView];
    const inbox = refused('quota', 'chat-engine-0-worker-0');
    const rows = [creatingRow(0, 'v1', { runners })];
    expect(rowAfter(world({ spec: { runners }, rows, pods: [leader], inbox }))).toMatchObject({
      op: { waiting: 'QuotaExceeded' },
    });
  });

  it.each<[string, InstanceRow, string]>([
    ['a surge', surgingRow(0), 'chat-engine-0-default-1'],
    ['a recreate', recreatingRow(0), 'chat-engine-0-default-0'],
  ])('holds %s as well', (_, row, name) => {
    const pods = row.kind === 'updating' && row.op.step === 'Surge' ? [pod()] : [];
    const snapshot = world({ spec: toV2, rows: [row], pods, inbox: refused('quota', name, 'update-0') });
    expect(waitingOf(rowAfter(snapshot))).toMatchObject({ waiting: 'QuotaExceeded', capacityRefusedAt: noon });
    expect(waitingOf(rowAfter(snapshot))).not.toHaveProperty('deadline');
  });

  it('of a gang’s replacement holds the source, which owns the operation [E70]', () => {
    const rows = pair(0, 1);
    const [, marker] = rows as [InstanceRow, InstanceRow & { op: { id: string } }];
    const snapshot = world({
      spec: { runners: pairRunners, payload: payload('v2', pairRunners) },
      rows,
      pods: gangPods(0, 1, 'serving'),
      inbox: refused('quota', 'chat-engine-1-worker-0', marker.op.id),
      now: dueAt + 9,
    });
    expect(rowAfter(snapshot)).toMatchObject({
      kind: 'gangFrom',
      phase: 'Updating',
      op: { waiting: 'QuotaExceeded', capacityRefusedAt: noon },
    });
    expect(rowAfter(snapshot)).not.toHaveProperty('op.deadline');
  });

  it('of another attempt says nothing about this one', () => {
    expect(rowAfter(creating({ inbox: refused('quota', 'chat-engine-0-default-0', 'create-9') }))).toMatchObject({
      op: { waiting: '', deadline: dueAt },
    });
  });
});

describe('a webhook that does not answer', () => {
  it('stops the clock of a create, and lets it run again in full when the pod is there', () => {
    const waiting = persisted(creating({ inbox: refused('admissionUnavailable') }));
    expect(waiting.status.rows.get(0)).toMatchObject({ op: { waiting: 'AdmissionUnavailable' } });
    expect(waiting.status.rows.get(0)).not.toHaveProperty('op.deadline');
    expect(waiting.status.rows.get(0)).not.toHaveProperty('op.capacityRefusedAt');
    const made = { ...waiting, now: noon + 90, inbox: new Map(), pods: new Map([[0, [pod({ health: 'starting' })]]]) };
    expect(rowAfter(made)).toMatchObject({ op: { waiting: '', deadline: noon + 1890 } });
  });

  it('stops that of an update in place whose patch it keeps [E41]', () => {
    const one = pod({ health: 'drained' });
    const snapshot = world({
      spec: { ...toV2, update: inPlacePolicy },
      rows: [inPlaceRow(0)],
      pods: [one],
      inbox: new Map([[`patchInPlace/${one.name}/${one.uid}/update-0`, outcome('admissionUnavailable')]]),
    });
    expect(rowAfter(snapshot)).toMatchObject({ kind: 'updating', op: { waiting: 'AdmissionUnavailable' } });
    expect(rowAfter(snapshot)).not.toHaveProperty('op.deadline');
  });
});

describe('a pod that no node has room for', () => {
  it('holds its attempt under a name, with the scheduler’s words [E171] [B12]', () => {
    const full = creating({ pods: [homeless(10)] });
    expect(rowAfter(full)).toMatchObject({ op: { waiting: 'Unschedulable' } });
    expect(rowAfter(full)).not.toHaveProperty('op.deadline');
    expect(holdOf(plan(full), 'Unschedulable')?.text).toBe(
      `Create of Instance 0 to ${v1} waits for a node with room for its pods: pod chat-engine-0-default-0: 0/3 nodes are available`,
    );
  });

  it('fails it when the grace is over, counted from the scheduler’s word, and wakes the plan then [E173]', () => {
    expect(plan(creating({ pods: [homeless(899)] })).wakeAt).toBe(noon + 1);
    expect(rowAfter(creating({ pods: [homeless(899)] }))?.kind).toBe('creating');
    expect(rowAfter(creating({ pods: [homeless(900)] }))).toMatchObject({
      kind: 'failed',
      lastFailure: { reason: 'Unschedulable', message: '0/3 nodes are available' },
    });
  });

  it('costs its revision nothing: the cluster is full, and the update is tried again after a pause [E156] [E66]', () => {
    const update = world({
      spec: toV2,
      rows: [surgingRow(0)],
      pods: [pod(), homeless(900, { ordinal: 1, image: 'v2' })],
    });
    const failed = persisted(update);
    expect(failed.status.rows.get(0)).toMatchObject({ kind: 'failed', running: v1 });
    expect(failed.status.blocks).toEqual([]);
    expect(rowAfter({ ...failed, now: noon + 59 })?.kind).toBe('failed');
    expect(plan({ ...failed, now: noon + 59 }).wakeAt).toBe(noon + 60);
    expect(rowAfter({ ...failed, now: noon + 60 })?.kind).toBe('updating');
  });

  it('never fails it when nobody knows since when, or without a grace [E173] [E166]', () => {
    expect(rowAfter(creating({ pods: [homeless(undefined)], now: noon + 600 }))).toMatchObject({ op: { waiting: '' } });
    const { unschedulableGraceSec: _, ...config } = chartConfig;
    for (const graceless of [
      config,
      { ...config, unschedulableGraceSec: 0 },
      { ...config, unschedulableGraceSec: -1 },
    ]) {
      const waiting = persisted(creating({ pods: [homeless(9000)], config: graceless }));
      expect(waiting.status.rows.get(0)).toMatchObject({ kind: 'creating', op: { waiting: 'Unschedulable' } });
      expect(plan(waiting).wakeAt).toBeUndefined();
    }
  });

  it('is the first by name, so that what is written does not wander [E170]', () => {
    const pods = gangPods(0, 2, 'starting').map((one) => ({
      ...homeless(30),
      ...one,
      node: '',
      unschedulable: { since: noon, message: one.name },
    }));
    expect(homelessSince(pods.toReversed())?.pod.name).toBe('chat-engine-0-leader-0');
  });

  it('is neither one that has a node by now, nor one that is going or has ended', () => {
    expect(homelessSince([homeless(10, { over: { node: 'node-1' } })])).toBeUndefined();
    expect(homelessSince([homeless(10, { over: { deletionAt: noon } })])).toBeUndefined();
    expect(homelessSince([homeless(10, { over: { phase: 'Failed' } })])).toBeUndefined();
  });

  it('does not hold the clock of what fails for another reason meanwhile', () => {
    const runners = gang(1);
    const [leader, worker] = gangPods(0, 1, 'starting') as [PodView, PodView];
    const stuck = leader.containers.map((one) => ({ ...one, waiting: { reason: 'ErrImagePull', message: '' } }));
    const pods = [
      { ...leader, containers: stuck },
      { ...worker, node: '', unschedulable: { since: noon, message: '' } },
    ];
    const snapshot = world({ spec: { runners }, rows: [creatingRow(0, 'v1', { runners })], pods });
    expect(rowAfter(snapshot)).toMatchObject({ kind: 'failed', lastFailure: { reason: 'ErrImagePull' } });
  });
});

describe('a scheduling gate', () => {
  it('on a pod of a gang’s replacement stops the clock of the source [E171]', () => {
    const rows = pair(0, 1);
    const gated = gangPods(1, 1, 'starting', 'v2').map((one) => ({ ...one, gated: true }));
    const spec = { runners: pairRunners, payload: payload('v2', pairRunners) };
    const snapshot = world({ spec, rows, pods: [...gangPods(0, 1, 'serving'), ...gated], now: dueAt + 9 });
    expect(rowAfter(snapshot)).toMatchObject({ kind: 'gangFrom', phase: 'Updating', op: { waiting: '' } });
    expect(rowAfter(snapshot)).not.toHaveProperty('op.deadline');
  });
});

describe('from one hold to the next', () => {
  const runners = gang(1);
  const rows = [creatingRow(0, 'v1', { runners, op: { waiting: 'Unschedulable' } })];

  it('goes in one write, so that no full window starts in between [E168]', () => {
    const { deadline: _, ...op } = (rows[0] as InstanceRow & { op: { deadline?: number } }).op;
    const parked = [{ ...rows[0], op } as InstanceRow];
    const [leader] = gangPods(0, 1, 'starting') as [PodView, PodView];
    const inbox = refused('quota', 'chat-engine-0-worker-0');
    const row = rowAfter(world({ spec: { runners }, rows: parked, pods: [leader], inbox }));
    expect(row).toMatchObject({ op: { waiting: 'QuotaExceeded' } });
    expect(row).not.toHaveProperty('op.deadline');
  });

  it('a pause takes over from a fact and back again, and never a clock [E168]', () => {
    const paused = persisted(creating({ pods: [homeless(10)], spec: { pause: 'recover' } }));
    expect(paused.status.rows.get(0)).toMatchObject({ op: { waiting: 'Unschedulable' } });
    const placed = { ...paused, pods: new Map([[0, [pod({ health: 'starting' })]]]) };
    expect(rowAfter(placed)).toMatchObject({ op: { waiting: 'Paused' } });
    expect(rowAfter(placed)).not.toHaveProperty('op.deadline');
  });

  it('a set that serves ends every hold that was read from the cluster [E174]', () => {
    const spec = { minReadySeconds: 600 };
    const serving = { ...pod(), node: '', unschedulable: { since: noon - 9000, message: '' } };
    const held = creatingRow(0, 'v1', { op: { waiting: 'Unschedulable' } });
    expect(rowAfter(world({ spec, rows: [held], pods: [serving] }))).toMatchObject({
      kind: 'creating',
      op: { waiting: '' },
    });
  });
});

describe('no hold', () => {
  it.each<[string, InstanceRow]>([
    ['a Failed Instance', failedRow(0, undefined, 'v1')],
    ['an Instance at rest', readyRow(0)],
  ])('is written to %s, whatever its pods say [E169] [E170]', (_, row) => {
    const { updateRetry: __, ...config } = chartConfig;
    const after = statusAfter(world({ rows: [row], pods: [homeless(10)], config })).rows.get(0);
    expect(after).toMatchObject({ kind: row.kind });
    expect(after).not.toHaveProperty('op');
  });

  it('is written where there is none: an attempt under way costs nothing [E170]', () => {
    const under = persisted(creating({ pods: [pod({ health: 'starting' })] }));
    expect(plan({ ...under, now: noon + 100 }).status).toBeUndefined();
  });
});
