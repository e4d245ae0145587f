import { describe, expect, it } from '@jest/globals';
import { plan } from '../plan.js';
import type { PodView, Snapshot } from '../snapshot.js';
import { holdOf, persisted, rowAfter, said, statusAfter, wishes } from '../testing/read.js';
import { drainingRow, dueAt, failedRow, retryBlock, surgingRow } from '../testing/rows.js';
import { chartConfig, noon, payload, pod, readyRow, revisionOf, type WorldOptions, world } from '../testing/world.js';

const v1 = revisionOf('v1');
const v2 = revisionOf('v2');
const toV2: WorldOptions = { spec: { payload: payload('v2') } };
const source = pod();
const replacement = pod({ ordinal: 1, image: 'v2' });
const starting = pod({ ordinal: 1, image: 'v2', health: 'starting' });
const held = pod({
  health: 'drained',
  gate: { state: 'false', holds: [{ writer: 'UpdateSurgeDrain', key: 'update-surge-drain-0-1' }] },
});

/** An update to v2 with these pods. */
const surging = (pods: readonly PodView[], options: WorldOptions = {}): Snapshot =>
  world({ ...toV2, rows: [surgingRow(0)], pods, ...options });
/** The same once its old pod leaves rotation. */
const draining = (pods: readonly PodView[], options: WorldOptions = {}): Snapshot =>
  surging(pods, { rows: [drainingRow(0)], ...options });

describe('a surge begins', () => {
  const start = world({ ...toV2, rows: [readyRow(0)], pods: [source] });

  it('with its record, which pins strategy and revision and keeps slot and incarnation [A2]', () => {
    expect(rowAfter(start)).toMatchObject({
      kind: 'updating',
      running: v1,
      target: v2,
      activeOrdinal: 0,
      incarnation: 1,
      op: {
        id: `update-0-${noon}-${v2.slice(-8)}`,
        step: 'Surge',
        strategy: 'SurgeThenDrain',
        target: v2,
        deadline: noon + 1800,
        reason: `revision ${v1} -> ${v2}`,
      },
    });
  });

  it('with a new pod in the other slot; the old one stays in rotation [A2]', () => {
    expect(wishes(plan(start))).toEqual(['create 0-default-1']);
  });

  it('from slot 1 with a pod in slot 0', () => {
    const rows = [readyRow(0, 'v1', { activeOrdinal: 1 })];
    expect(wishes(plan(world({ ...toV2, rows, pods: [pod({ ordinal: 1 })] })))).toEqual(['create 0-default-0']);
  });

  it('and never makes a second replacement after a crash [E211] [B33]', () => {
    const again = persisted(persisted(start));
    expect(wishes(plan(again))).toEqual(['create 0-default-1']);
    const born = { ...again, pods: new Map([[0, [source, starting]]]) };
    expect(wishes(plan(born))).toEqual([]);
  });
});

describe('at step Surge', () => {
  it('the replacement enters rotation when its containers are ready', () => {
    const ready = pod({ ordinal: 1, image: 'v2', health: 'containersReady' });
    expect(wishes(plan(surging([source, ready])))).toEqual(['in 0-default-1']);
  });

  it('the old pod stays until the replacement is Ready for minReadySeconds [E52]', () => {
    const spec = { ...toV2.spec, minReadySeconds: 30 };
    const young = pod({ ordinal: 1, image: 'v2', readyFor: 29 });
    const made = plan(surging([source, young], { spec }));
    expect(wishes(made)).toEqual([]);
    expect(holdOf(made, 'MinReady')?.wake).toContainEqual({ at: noon + 1 });
    expect(rowAfter(surging([source, pod({ ordinal: 1, image: 'v2', readyFor: 30 })], { spec }))).toMatchObject({
      op: { step: 'SurgeDrain' },
    });
  });

  it('the decision to drain is persisted before the old pod is touched', () => {
    const made = plan(surging([source, replacement]));
    expect(made.status?.rows.get(0)).toMatchObject({ op: { step: 'SurgeDrain', id: 'update-0', deadline: dueAt } });
    expect(wishes(made)).toEqual(['out 0-default-0']);
  });

  it.each<[string, PodView[]]>([
    ['the replacement is not there yet', [source]],
    ['the replacement starts', [source, starting]],
    [
      'the replacement restarts [E46]',
      [source, pod({ ordinal: 1, image: 'v2', gate: { state: 'true' }, health: 'containersReady' })],
    ],
    ['the replacement is going [E46]', [source, { ...replacement, deletionAt: noon + 30 }]],
    ['the old pod is going [E46]', [{ ...source, deletionAt: noon + 30 }, starting]],
    ['the old pod is gone [E46]', [starting]],
    [
      'the replacement is held by another writer [E197]',
      [source, pod({ ordinal: 1, image: 'v2', gate: { state: 'false', holds: [{ writer: 'Somebody', key: '1' }] } })],
    ],
  ])('the step is kept while %s, and no pod is taken away', (_, pods) => {
    const snapshot = surging(pods);
    expect(rowAfter(snapshot)).toMatchObject({ kind: 'updating', op: { step: 'Surge' } });
    expect(wishes(plan(snapshot)).filter((wish) => !/^(create|in) /.test(wish))).toEqual([]);
  });

  it('an old pod that was lost is not missed: the replacement takes over [E48]', () => {
    expect(rowAfter(surging([replacement]))).toMatchObject({
      kind: 'ready',
      running: v2,
      activeOrdinal: 1,
      incarnation: 1,
    });
  });

  it('an old pod is believed lost only when that is proved', () => {
    const made = plan(surging([replacement], { proofs: 'none' }));
    expect(made.reads).toEqual([{ read: 'podsOfIndex', index: 0 }]);
    expect(rowAfter(surging([replacement], { proofs: 'none' }))?.kind).toBe('updating');
  });

  it('a wreck of an earlier attempt in the slot is removed first, with a bounded grace when it never served [E57]', () => {
    const wreck = pod({ ordinal: 1, image: 'v0', health: 'starting' });
    const made = plan(surging([source, wreck]));
    expect(wishes(made)).toEqual(['delete 0-default-1']);
    expect(made.chains[0]?.effects[0]).toMatchObject({ graceSeconds: 30 });
    const served = pod({ ordinal: 1, image: 'v0' });
    expect(wishes(plan(surging([source, served])))).toEqual(['out 0-default-1']);
  });
});

describe('at step SurgeDrain', () => {
  it('the old pod leaves rotation, is seen out, and only then is deleted', () => {
    expect(wishes(plan(draining([source, replacement])))).toEqual(['out 0-default-0']);
    const leaving = { ...held, ready: true };
    expect(wishes(plan(draining([leaving, replacement])))).toEqual([]);
    expect(wishes(plan(draining([held, replacement], { rotation: 'unknown' })))).toEqual([]);
    expect(wishes(plan(draining([held, replacement])))).toEqual(['delete 0-default-0']);
  });

  it('the Instance is Ready in its new slot as soon as the old pod is going [A2]', () => {
    expect(rowAfter(draining([{ ...held, deletionAt: noon + 600 }, replacement]))).toMatchObject({
      kind: 'ready',
      running: v2,
      target: '',
      activeOrdinal: 1,
      incarnation: 1,
    });
  });

  it('the same stands still while nothing changes, and never goes back to Surge [E42]', () => {
    for (const pods of [
      [source, replacement],
      [held, replacement],
      [held, starting],
    ]) {
      const snapshot = persisted(draining(pods));
      expect(snapshot.status.rows.get(0)).toMatchObject({ op: { step: 'SurgeDrain' } });
      expect(plan({ ...snapshot, now: noon + 100 }).status).toBeUndefined();
    }
  });

  it('an older writer’s SurgeDrainSettle says the same [E44]', () => {
    const rows = [surgingRow(0, 'v1', 'v2', { op: { step: 'SurgeDrainSettle' } })];
    expect(wishes(plan(draining([held, replacement], { rows })))).toEqual(['delete 0-default-0']);
  });

  it('minReadySeconds is not waited for again', () => {
    const young = pod({ ordinal: 1, image: 'v2', readyFor: 1 });
    const spec = { ...toV2.spec, minReadySeconds: 30 };
    expect(rowAfter(draining([{ ...held, deletionAt: noon + 9 }, young], { spec }))?.kind).toBe('ready');
  });

  it('the old pod gets its place back when the replacement stops serving, and the step stays', () => {
    const dark = pod({ ordinal: 1, image: 'v2', gate: { state: 'true' }, health: 'containersReady' });
    const made = plan(draining([held, dark]));
    expect(wishes(made)).toEqual(['in 0-default-0']);
    expect(holdOf(made, 'ReplacementDark')).toBeDefined();
    expect(rowAfter(draining([held, dark]))).toMatchObject({ op: { step: 'SurgeDrain' } });
  });

  it('a hung kubelet holds the old pod for as long as it takes: nothing fails while the replacement serves [E161]', () => {
    const late = { ...replacement, readyChangedAt: noon };
    const made = plan(draining([{ ...held, ready: true }, late], { now: dueAt + 100 }));
    expect(made.status?.rows.get(0)?.kind ?? 'updating').toBe('updating');
    expect(wishes(made)).toEqual([]);
    expect(holdOf(made, 'Draining')).toBeDefined();
    expect(made.wakeAt).toBeUndefined();
  });

  it('names an old pod whose gate nobody can read', () => {
    const broken = pod({ gate: { state: 'malformed', message: '?' } });
    const made = plan(draining([broken, replacement]));
    expect(wishes(made)).toEqual([]);
    expect(holdOf(made, 'GateUnreadable')?.text).toContain('condition ome.io/serving of chat-engine-0-default-0');
  });
});

describe('the end of a surge', () => {
  it('is written once and then left alone [E53] [E47]', () => {
    const done = persisted(draining([{ ...held, deletionAt: noon + 600 }, replacement]));
    expect(plan({ ...persisted(done), now: noon + 100 }).status).toBeUndefined();
    expect(wishes(plan(done))).toEqual([]);
  });

  it('is said once, as its beginning is', () => {
    expect(said(plan(world({ ...toV2, rows: [readyRow(0)], pods: [source] })))[0]).toMatch(/^RecreateUpdateStarted: /);
    expect(said(plan(draining([{ ...held, deletionAt: noon + 9 }, replacement])))).toEqual([
      `RecreateUpdateCompleted: OMENative component=engine instance=0: runs revision ${v2}`,
    ]);
  });
});

describe('a target that moves on', () => {
  const toV3: WorldOptions = { spec: { payload: payload('v3') } };

  it('takes a replacement with it that is not ready, and leaves the old pod alone [E56] [B05] [B06]', () => {
    const made = plan(surging([source, starting], toV3));
    expect(wishes(made)).toEqual(['delete 0-default-1']);
    expect(made.chains[0]?.effects[0]).toMatchObject({ graceSeconds: 30 });
  });

  it('brings the Instance back to what it runs once the slot is proved empty, and then through admission again [E56]', () => {
    const gone = surging([source], toV3);
    expect(rowAfter(gone)).toMatchObject({ kind: 'ready', running: v1, target: '', activeOrdinal: 0 });
    expect(rowAfter(surging([source], { ...toV3, proofs: 'none' }))?.kind).toBe('updating');
    expect(rowAfter(persisted(gone))).toMatchObject({ kind: 'updating', op: { target: revisionOf('v3') } });
  });

  it('makes no pod of the revision that nobody wants any more', () => {
    expect(wishes(plan(surging([source], { ...toV3, proofs: 'none' })))).toEqual([]);
  });

  it('lets a replacement that is ready finish to the revision it was made for [E56]', () => {
    const snapshot = surging([source, replacement], toV3);
    expect(rowAfter(snapshot)).toMatchObject({ op: { step: 'SurgeDrain', target: v2 } });
    expect(rowAfter(draining([{ ...held, deletionAt: noon + 9 }, replacement], toV3))).toMatchObject({ running: v2 });
  });

  it('lets a drain finish', () => {
    expect(wishes(plan(draining([held, replacement], toV3)))).toEqual(['delete 0-default-0']);
  });

  it('back to what runs ends the update [B16]', () => {
    const back: WorldOptions = { spec: { payload: payload('v1') } };
    const ready = persisted(surging([source], back));
    expect(ready.status.rows.get(0)).toMatchObject({ kind: 'ready', running: v1 });
    expect(plan(ready).chains).toEqual([]);
  });
});

describe('a replacement that went dark in mid-drain', () => {
  const dark = pod({ ordinal: 1, image: 'v2', health: 'starting' });
  const toV3: WorldOptions = { spec: { payload: payload('v3') } };

  it('is given up for a new target while the old pod is whole, or it would hold it on a target that nobody wants', () => {
    const made = plan(draining([held, dark], toV3));
    expect(wishes(made)).toEqual(['delete 0-default-1', 'in 0-default-0']);
    expect(rowAfter(draining([held], toV3))).toMatchObject({ kind: 'ready', running: v1 });
  });

  it('is all there is once the old pod is going', () => {
    const going = { ...held, deletionAt: noon + 10 };
    expect(wishes(plan(draining([going, dark], toV3)))).toEqual([]);
  });
});

/** What is asked for when an update to v2 that failed, and left this behind, is tried again. */
function triedAgain(left: PodView): readonly string[] {
  const snapshot = world({ ...toV2, rows: [failedRow(0, 'v1', 'v2')], pods: [source, left] });
  return wishes(plan(persisted(snapshot)));
}

describe('a failed update', () => {
  const pods = [source, pod({ ordinal: 1, image: 'v2', health: 'crashLoop' })];

  it('is not tried again at the same target before that may be: no operation, no write [E43]', () => {
    const status = { blocks: [retryBlock('v2')] };
    const snapshot = persisted(world({ ...toV2, rows: [failedRow(0, 'v1', 'v2')], pods, status }));
    expect(snapshot.status.rows.get(0)).toMatchObject({ kind: 'failed', running: v1, target: v2 });
    expect(plan({ ...snapshot, now: noon + 59 }).status).toBeUndefined();
    expect(wishes(plan({ ...snapshot, now: noon + 59 }))).toEqual([]);
    expect(rowAfter({ ...snapshot, now: noon + 60 })).toMatchObject({ kind: 'updating', op: { target: v2 } });
  });

  it('replaces what it left behind when it is tried again, unless that has come up meanwhile', () => {
    expect(triedAgain(starting)).toEqual(['delete 0-default-1']);
    expect(triedAgain(pod({ ordinal: 1, image: 'v2', health: 'containersReady' }))).toEqual(['in 0-default-1']);
  });

  it('starts over at a corrected one, in the slot of what it left behind [E43]', () => {
    const snapshot = world({ spec: { payload: payload('v3') }, rows: [failedRow(0, 'v1', 'v2')], pods });
    expect(rowAfter(snapshot)).toMatchObject({ kind: 'updating', op: { target: revisionOf('v3') } });
    expect(wishes(plan(persisted(snapshot)))).toEqual(['delete 0-default-1']);
  });
});

describe('a pause', () => {
  const paused = { spec: { ...toV2.spec, pause: 'recover' } } as const;

  it('stops a surge before the old pod leaves rotation [E58]', () => {
    const made = plan(surging([source, replacement], paused));
    expect(rowAfter(surging([source, replacement], paused))).toMatchObject({ op: { step: 'Surge' } });
    expect(wishes(made)).toEqual([]);
    expect(holdOf(made, 'Paused')?.wake).toEqual([{ user: 'spec' }]);
  });

  it('lets a drain that has begun finish [E58]', () => {
    expect(wishes(plan(draining([held, replacement], paused)))).toEqual(['delete 0-default-0']);
    expect(rowAfter(draining([{ ...held, deletionAt: noon + 9 }, replacement], paused))?.kind).toBe('ready');
  });

  it('throws no replacement away, though the target moved on', () => {
    const spec = { ...paused.spec, payload: payload('v3') };
    expect(wishes(plan(surging([source, starting], { spec })))).toEqual([]);
  });
});

describe('a surge under way', () => {
  const steps = [
    surging([source, starting]),
    surging([source, replacement], { spec: { ...toV2.spec, minReadySeconds: 600 } }),
    draining([{ ...held, ready: true }, replacement]),
  ];

  it.each([
    'updateRetry',
    'teardownDeadlineSec',
    'scaleDownPodBatch',
    'scaleUpPodBatch',
    'requeue',
    'abandonedReplacementGraceSec',
  ] as const)('does not move because the operator edits %s [E45]', (key) => {
    const { [key]: _, ...config } = chartConfig;
    for (const snapshot of steps) {
      expect(statusAfter({ ...snapshot, config })).toEqual(statusAfter(snapshot));
      expect(plan({ ...snapshot, config }).chains).toEqual(plan(snapshot).chains);
    }
  });

  it('does not move because of an annotation that no revision hashes [E51]', () => {
    for (const snapshot of steps) {
      const annotated = { ...snapshot, replica: { ...snapshot.replica, annotations: { note: 'x' }, generation: 2 } };
      expect(statusAfter(annotated).rows).toEqual(statusAfter(snapshot).rows);
      expect(plan(annotated).chains).toEqual(plan(snapshot).chains);
    }
  });

  it('keeps the strategy it was opened with [E54]', () => {
    for (const snapshot of steps) {
      const update = { ...snapshot.spec.update, type: 'RecreatePod' as const };
      const edited = { ...snapshot, spec: { ...snapshot.spec, update } };
      expect(statusAfter(edited).rows).toEqual(statusAfter(snapshot).rows);
      expect(plan(edited).chains).toEqual(plan(snapshot).chains);
    }
  });
});
