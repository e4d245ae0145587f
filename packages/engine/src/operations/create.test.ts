import { describe, expect, it } from '@jest/globals';
import { plan } from '../plan.js';
import type { PodView } from '../snapshot.js';
import { holdOf, kinds, persisted, rowAfter, said, statusAfter, wishes } from '../testing/read.js';
import { creatingRow, dueAt, openedAt, pendingRow } from '../testing/rows.js';
import { gang, gangPods, noon, payload, pod, revisionOf, type WorldOptions, world } from '../testing/world.js';

const v1 = revisionOf('v1');
const v2 = revisionOf('v2');
const runners = gang(2);
const gangRow = creatingRow(0, 'v1', { runners });
/** The spec has moved on to v2. */
const moved: WorldOptions = { spec: { payload: payload('v2') } };

describe('a new Instance', () => {
  it('is recorded, with all that its pods need, before they are asked for [E1]', () => {
    expect(rowAfter(world())).toMatchObject({
      kind: 'creating',
      incarnation: 1,
      activeOrdinal: 0,
      target: v1,
      op: {
        type: 'Create',
        step: 'CreatePods',
        id: `create-0-${noon}-${v1.slice(-8)}`,
        startedAt: noon,
        deadline: noon + 1800,
        target: v1,
      },
    });
  });

  it('covers its pods by that record [E5]', () => {
    const made = plan(world());
    const [effect] = made.chains.flatMap((chain) => chain.effects);
    expect(effect?.covers).toEqual({ by: 'operation', index: 0, id: `create-0-${noon}-${v1.slice(-8)}` });
  });

  it('has no deadline without a timeout', () => {
    expect(rowAfter(world({ spec: { instanceReadyTimeoutSec: 0 } }))).not.toHaveProperty('op.deadline');
  });

  it('resumes after a crash with the same names and no second record [B36]', () => {
    const started = persisted(world());
    const later = { ...started, now: noon + 100 };
    expect(wishes(plan(later))).toEqual(['create 0-default-0']);
    expect(statusAfter(later)).toEqual(started.status);
  });

  it('is said', () => {
    expect(said(plan(world()))[0]).toMatch(/^InstanceCreated: .*instance=0: its pods are created at revision/);
  });
});

describe('an Instance that lost its pods', () => {
  it('keeps its incarnation, its slot and its revision while it is made again [E26]', () => {
    const row = pendingRow(3, 'v1', { incarnation: 4, activeOrdinal: 1 });
    const snapshot = world({ rows: [row] });
    expect(rowAfter(snapshot, 3)).toMatchObject({ kind: 'creating', incarnation: 4, activeOrdinal: 1, running: v1 });
    expect(wishes(plan(snapshot))).toEqual(['create 3-default-1']);
  });

  it('is made again at the target, unless a partition holds it where it was', () => {
    const rows = [pendingRow(0)];
    expect(rowAfter(world({ ...moved, rows }))).toMatchObject({ op: { target: v2 } });
    const update = { type: 'SurgeThenDrain', partition: 1, inPlace: 'markNotReady' } as const;
    expect(rowAfter(world({ spec: { ...moved.spec, update }, rows }))).toMatchObject({ op: { target: v1 } });
  });
});

describe('the way into rotation', () => {
  it('waits for containers, naming what is missing and what is not ready, and until when', () => {
    const made = plan(world({ spec: { runners }, rows: [gangRow], pods: gangPods(0, 2, 'starting').slice(0, 2) }));
    expect(holdOf(made, 'Starting')).toMatchObject({
      text: 'Instance 0 is being created: no live pod yet for chat-engine-0-worker-1',
      wake: [{ on: 'pod', key: '0' }, { at: dueAt }],
    });
    const all = plan(world({ spec: { runners }, rows: [gangRow], pods: gangPods(0, 2, 'starting') }));
    expect(holdOf(all, 'Starting')?.text).toContain('containers not ready in chat-engine-0-leader-0');
  });

  it('is open to no member of a gang before the containers of all are ready [E195]', () => {
    const [leader, first] = gangPods(0, 2, 'containersReady') as [PodView, PodView];
    const late = gangPods(0, 2, 'starting')[2] as PodView;
    expect(wishes(plan(world({ spec: { runners }, rows: [gangRow], pods: [leader, first, late] })))).toEqual([]);
  });

  it('is opened to all members together, the leader last', () => {
    const made = plan(world({ spec: { runners }, rows: [gangRow], pods: gangPods(0, 2, 'containersReady') }));
    expect(wishes(made)).toEqual(['in 0-worker-0', 'in 0-worker-1', 'in 0-leader-0']);
    expect(kinds(made.status ?? world().status)).toBe('0 creating');
  });
});

const promoted = (options: WorldOptions) => rowAfter(world({ rows: [creatingRow(0)], ...options }));

describe('promotion', () => {
  it('makes an Instance Ready on its revision once every pod is Ready in rotation [E7]', () => {
    expect(promoted({ pods: [pod({ health: 'containersReady', gate: { state: 'true' } })] })?.kind).toBe('creating');
    const row = promoted({ pods: [pod()] });
    expect(row).toMatchObject({ kind: 'ready', running: v1, target: '', readySince: noon });
    expect(row).not.toHaveProperty('op');
  });

  it('waits for minReadySeconds, and wakes then [E52]', () => {
    const spec = { minReadySeconds: 30 };
    expect(promoted({ spec, pods: [pod({ readyFor: 29 })] })?.kind).toBe('creating');
    expect(promoted({ spec, pods: [pod({ readyFor: 30 })] })?.kind).toBe('ready');
    const made = plan(world({ spec, rows: [creatingRow(0)], pods: [pod({ readyFor: 29 })] }));
    expect(holdOf(made, 'MinReady')?.wake).toContainEqual({ at: noon + 1 });
    expect(made.wakeAt).toBe(noon + 1);
  });

  it('names a revision only when every pod says that it is of it [E22]', () => {
    expect(promoted({ pods: [pod({ over: { revisionHash: '' } })] })).toMatchObject({ kind: 'ready', running: '' });
  });

  it('beats a deadline that has passed', () => {
    expect(promoted({ pods: [pod()], now: dueAt + 100 })?.kind).toBe('ready');
  });

  it('goes on while the rollout is paused', () => {
    expect(promoted({ spec: { pause: 'freeze' }, pods: [pod()] })?.kind).toBe('ready');
  });

  it('is said', () => {
    expect(said(plan(world({ rows: [creatingRow(0)], pods: [pod()] })))).toEqual([
      `InstanceReady: OMENative component=engine instance=0: ready at revision ${v1}`,
    ]);
  });
});

describe('a revision that moves on before an Instance is ready', () => {
  const rows = [creatingRow(0)];

  it('replaces the attempt by a new one, without a failure and without a wait [E21]', () => {
    const snapshot = world({ ...moved, rows, pods: [pod({ health: 'starting' })] });
    expect(rowAfter(snapshot)).toMatchObject({
      kind: 'creating',
      op: { id: `create-0-${noon}-${v2.slice(-8)}`, target: v2, startedAt: noon, deadline: noon + 1800, retryCount: 0 },
    });
    expect(statusAfter(snapshot).blocks).toEqual([]);
    expect(said(plan(snapshot))[0]).toMatch(/^CreateAttemptSuperseded: /);
  });

  it('removes what the old attempt left before it makes its own [E21]', () => {
    const started = persisted(world({ ...moved, rows, pods: [pod({ health: 'starting' })] }));
    expect(wishes(plan(started))).toEqual(['delete 0-default-0']);
    const gone = { ...started, pods: new Map() };
    expect(wishes(plan(gone))).toEqual(['create 0-default-0']);
  });

  it('lets an attempt finish that is one step from being ready [E21]', () => {
    const snapshot = world({ ...moved, rows, pods: [pod({ health: 'containersReady' })] });
    expect(rowAfter(snapshot)).toMatchObject({ kind: 'creating', op: { target: v1 } });
    expect(wishes(plan(snapshot))).toEqual(['in 0-default-0']);
  });

  it('waits for the end of a pause', () => {
    const spec = { ...moved.spec, pause: 'recover' } as const;
    expect(rowAfter(world({ spec, rows }))).toMatchObject({ op: { target: v1 } });
  });

  it('never opens two attempts on one index in one second', () => {
    const now = openedAt;
    const made = plan(world({ ...moved, rows, now }));
    expect(rowAfter(world({ ...moved, rows, now }))).toMatchObject({ op: { target: v1 } });
    expect(holdOf(made, 'Starting')?.wake).toContainEqual({ at: now + 1 });
  });
});
