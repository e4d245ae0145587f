import { describe, expect, it } from '@jest/globals';
import { plan } from '../plan.js';
import type { PodView, Snapshot } from '../snapshot.js';
import { drained, inPlacePolicy, patched } from '../testing/in-place.js';
import { holdOf, holdsOf, persisted, rowAfter, said, statusAfter } from '../testing/read.js';
import { dueAt, inPlaceRow, openedAt } from '../testing/rows.js';
import { noon, payload, pod, readyRow, revisionOf, type WorldOptions, world } from '../testing/world.js';

const [v1, v2, v3] = [revisionOf('v1'), revisionOf('v2'), revisionOf('v3')];
const spec = { payload: payload('v2'), update: inPlacePolicy };
const olderImages = ['v0', 'v1', 'v2', 'v3'];
const uid = 'uid-chat-engine-0-default-0';

/** An update in place from v1 to v2 with these pods. */
const updating = (pods: readonly PodView[], options: WorldOptions = {}): Snapshot =>
  world({ olderImages, rows: [inPlaceRow(0)], pods, ...options, spec: { ...spec, ...options.spec } });
const text = (made: ReturnType<typeof plan>): string => made.holds.map((hold) => hold.text).join('; ');

describe('an update in place begins', () => {
  const start = world({ spec, rows: [readyRow(0)], pods: [pod()] });

  it('with its record: same life, same slot, and how it is done', () => {
    expect(rowAfter(start)).toMatchObject({
      kind: 'updating',
      running: v1,
      target: v2,
      incarnation: 1,
      activeOrdinal: 0,
      op: {
        id: `update-0-${noon}-${v2.slice(-8)}`,
        step: 'InPlace',
        strategy: 'InPlaceIfPossible',
        target: v2,
        deadline: noon + 1800,
        reason: `revision ${v1} -> ${v2}`,
      },
    });
    expect(said(plan(start))).toEqual([
      `InPlaceUpdateStarted: OMENative component=engine instance=0: its pod is changed in place to revision ${v2}`,
    ]);
  });

  it('once: later passes keep identity and clock and say nothing [E32]', () => {
    const later = { ...persisted(start), now: noon + 90 };
    expect(said(plan(later))).toEqual([]);
    expect(rowAfter(later)).toEqual(statusAfter(start).rows.get(0));
  });
});

describe('while its pod is in its hands it', () => {
  it.each<[string, readonly PodView[], string]>([
    ['leaves rotation', [pod()], 'Draining'],
    ['is patched', [patched()], 'Starting'],
    ['has been patched and is not ready [E30]', [patched({ running: 'v2', health: 'starting' })], 'Starting'],
  ])('stays in place: it %s', (_, pods, hold) => {
    const made = plan(updating(pods));
    expect(holdsOf(made)).toBe(hold);
    expect(made.status?.rows.get(0)).toMatchObject({ kind: 'updating', op: { step: 'InPlace', deadline: dueAt } });
  });

  it('names the gate that keeps it from being drained', () => {
    const made = plan(updating([pod({ gate: { state: 'malformed', message: 'x' } })]));
    expect(holdOf(made, 'GateUnreadable')?.text).toContain('set its message to [] or delete the pod');
  });

  it('wakes with the pod, with its slices, and at the deadline [B03]', () => {
    expect(holdOf(plan(updating([patched()])), 'Starting')?.wake).toEqual([
      { on: 'slice', key: '0' },
      { on: 'pod', key: '0' },
      { at: dueAt },
    ]);
  });
});

/** Whether the update may end, with a pod that serves. */
function ends(options: Parameters<typeof patched>[0]): boolean {
  return rowAfter(updating([patched({ health: 'serving', gate: { state: 'true' }, ...options })]))?.kind === 'ready';
}

describe('the new image', () => {
  const marker = { targetImages: { 'ome-container': 'v2' }, restartCounts: { 'ome-container': 3 } };

  it('is believed when the kubelet names it, and not because containers are ready [E34] [B14]', () => {
    expect(ends({ running: 'v2' })).toBe(true);
    expect(ends({ running: 'v1' })).toBe(false);
    expect(ends({ running: '' })).toBe(false);
    expect(text(plan(updating([patched()])))).toContain('its kubelet does not report the new image of ome-container');
  });

  it.each([
    ['v2', 'docker.io/library/v2:latest', true],
    ['org/app:2', 'docker.io/org/app:2', true],
    ['host:5000/app', 'host:5000/app:latest', true],
    ['host:5000/app:2', 'host:5000/app:1', false],
  ])('%s is the one that a kubelet calls %s: %p', (wanted, running, same) => {
    const to = payload(wanted);
    const rows = [inPlaceRow(0, 'v1', wanted)];
    const pods = [patched({ wanted, running, image: wanted, health: 'serving', gate: { state: 'true' } })];
    const made = world({ spec: { ...spec, payload: to }, olderImages: ['v1', wanted], rows, pods });
    expect(rowAfter(made)?.kind).toBe(same ? 'ready' : 'updating');
  });

  it('of the same digest is believed by a restart past those that the record on the pod has counted [B84] [E210]', () => {
    expect(ends({ running: 'v1', restarts: 4, marker })).toBe(true);
    expect(ends({ running: 'v1', restarts: 3, marker })).toBe(false);
  });

  it('is not believed before the kubelet has seen the spec: it may report the container before the last but one', () => {
    const over = { isUnobserved: true } as const;
    expect(ends({ running: 'v2', over })).toBe(false);
    expect(ends({ running: 'v1', restarts: 4, marker, over })).toBe(false);
  });

  it('is not believed by a restart that nobody had counted before [E37] [B84]', () => {
    expect(ends({ running: 'v1', restarts: 4, marker: { ...marker, restartCounts: {} } })).toBe(false);
    expect(ends({ running: 'v1', restarts: 4 })).toBe(false);
  });

  it('by digest is believed by its digest', () => {
    const wanted = 'app@sha256:ab12';
    const rows = [inPlaceRow(0, 'v1', wanted)];
    const kind = (imageID: string): string | undefined => {
      const container = { imageID, runningImage: 'app' };
      const pods = [patched({ wanted, image: wanted, container, health: 'serving', gate: { state: 'true' } })];
      const to = { ...spec, payload: payload(wanted) };
      return rowAfter(world({ spec: to, olderImages: ['v1', wanted], rows, pods }))?.kind;
    };
    expect([kind('docker.io/app@sha256:ab12'), kind('docker.io/app@sha256:ffff')]).toEqual(['ready', 'updating']);
  });
});

describe('an update in place ends', () => {
  const serving = patched({ running: 'v2', health: 'serving', gate: { state: 'true' } });

  it('when the pod serves with it, on the new revision and in the same life', () => {
    const done = updating([serving]);
    const row = rowAfter(done);
    expect(row).toMatchObject({ kind: 'ready', running: v2, target: '', incarnation: 1, activeOrdinal: 0 });
    expect(said(plan(done))).toEqual([
      `InPlaceUpdateCompleted: OMENative component=engine instance=0: runs revision ${v2}`,
    ]);
  });

  it('not before minReadySeconds, and wakes then', () => {
    const young = updating([{ ...serving, readyChangedAt: noon - 9 }], { spec: { minReadySeconds: 10 } });
    expect(rowAfter(young)?.kind).toBe('updating');
    expect(holdOf(plan(young), 'MinReady')?.wake).toContainEqual({ at: noon + 1 });
    expect(rowAfter({ ...young, now: noon + 1 })?.kind).toBe('ready');
  });

  it('not before its labels say what it runs', () => {
    const made = plan(updating([patched({ running: 'v2', image: 'v1', health: 'serving', gate: { state: 'true' } })]));
    expect(text(made)).toContain('is labelled as of');
  });
});

describe('a new target in mid-update', () => {
  const toV3 = { spec: { payload: payload('v3') } };

  it('is followed in the same pod, with the same identity and a clock of its own [E36] [B05] [B88]', () => {
    expect(rowAfter(updating([patched()], toV3))).toMatchObject({
      kind: 'updating',
      target: v3,
      op: { id: 'update-0', step: 'InPlace', startedAt: openedAt, target: v3, deadline: noon + 1800 },
    });
  });

  it('waits while the rollout is paused', () => {
    const paused = updating([patched()], { spec: { payload: payload('v3'), pause: 'recover' } });
    expect(rowAfter(paused)).toMatchObject({ op: { target: v2 } });
  });

  it('that the pod can not follow makes the update go on as a recreate', () => {
    const template = { spec: { containers: [{ name: 'ome-container', image: 'v3', args: ['--new'] }] } };
    const other = { payload: { runners: [{ name: 'default', size: 1, template }] } } as const;
    expect(rowAfter(updating([patched()], { spec: other }))).toMatchObject({
      incarnation: 2,
      op: { id: 'update-0', step: 'Drain', strategy: 'RecreatePod' },
    });
  });
});

describe('a pod that is lost in mid-update', () => {
  it('is recreated by the same operation, in the same pass, and costs its revision nothing [E29]', () => {
    const made = plan(updating([]));
    expect(made.status).toMatchObject({ blocks: [] });
    expect(made.status?.rows.get(0)).toMatchObject({
      kind: 'updating',
      incarnation: 2,
      op: { id: 'update-0', step: 'Drain', strategy: 'RecreatePod', startedAt: openedAt, deadline: dueAt, target: v2 },
    });
    expect(made.chains.flatMap((chain) => chain.effects)).toMatchObject([
      { do: 'createPod', incarnation: 2, rev: v2, covers: { id: 'update-0' } },
    ]);
    expect(said(made)).toEqual([expect.stringMatching(/^InPlaceUpdateNotPossible: .*its pod is gone$/)]);
  });

  it('is not believed lost before a live read says so, or while the watch lags [E31]', () => {
    const unproved = updating([], { proofs: 'none' });
    expect(plan(unproved).reads).toEqual([{ read: 'podsOfIndex', index: 0 }]);
    expect(rowAfter(unproved)).toMatchObject({ op: { step: 'InPlace' } });
    expect(rowAfter(updating([], { blind: [0] }))).toMatchObject({ op: { step: 'InPlace' } });
  });

  it('is waited for while it dies', () => {
    const dying = updating([pod({ over: { deletionAt: noon + 30 } })]);
    expect(rowAfter(dying)).toMatchObject({ op: { step: 'InPlace' } });
    expect(holdsOf(plan(dying))).toBe('PodsTerminating');
  });
});

/** An update whose patch the API server has refused. */
function refused(as: 'invalid' | 'admissionUnavailable'): Snapshot {
  const key = `patchInPlace/chat-engine-0-default-0/${uid}/update-0`;
  return updating([drained], { inbox: new Map([[key, { as, at: noon, detail: 'spec.x: Invalid' }]]) });
}

describe('an attempt in place that fails', () => {
  it('for good, when the API server refuses the patch, is the fault of its revision [E41]', () => {
    const after = statusAfter(refused('invalid'));
    expect(after.rows.get(0)).toMatchObject({
      kind: 'parked',
      lastFailure: { reason: 'InvalidPodSpec', message: 'spec.x: Invalid' },
    });
    expect(after.blocks).toMatchObject([{ target: v2, state: 'Backoff', attempts: 1 }]);
  });

  it('waits, with its clock stopped, for a webhook that does not answer, and knows when to try again [E41] [B03]', () => {
    const made = plan(refused('admissionUnavailable'));
    expect(made.status?.rows.get(0)).toMatchObject({ kind: 'updating', op: { waiting: 'AdmissionUnavailable' } });
    expect(made.status?.rows.get(0)).not.toHaveProperty('op.deadline');
    expect(made.chains).toEqual([]);
    expect(made.wakeAt).toBe(noon + 5);
    expect(plan({ ...persisted(refused('admissionUnavailable')), now: noon + 5 }).chains).toHaveLength(1);
  });

  it('at its deadline, unconfirmed, goes on as a recreate with a clock of its own [B84]', () => {
    const late = { ...updating([patched()]), now: dueAt };
    expect(rowAfter(late)).toMatchObject({
      kind: 'updating',
      op: { step: 'Drain', strategy: 'RecreatePod', deadline: dueAt + 1800 },
    });
  });

  it('does not where the user wants nothing but in place', () => {
    const rows = [inPlaceRow(0, 'v1', 'v2', { op: { strategy: 'InPlaceOnly' } })];
    expect(rowAfter({ ...updating([patched()], { rows }), now: dueAt })?.kind).toBe('parked');
  });

  it('by its image is parked with its pod, whatever the strategy', () => {
    const waiting = { waiting: { reason: 'ImagePullBackOff', message: 'no such image' } };
    const stuck = updating([patched({ health: 'starting', container: waiting })]);
    expect(rowAfter(stuck)).toMatchObject({ kind: 'parked', running: v1, op: { step: 'Parked', target: v2 } });
  });

  it('never fails a pod that serves', () => {
    const serving = patched({ health: 'serving', gate: { state: 'true' } });
    expect(rowAfter({ ...updating([serving]), now: dueAt })).toMatchObject({ op: { step: 'InPlace' } });
  });
});
