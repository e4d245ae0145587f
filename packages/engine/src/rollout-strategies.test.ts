/** Starts of updates that take Instances out of service, and what refuses them in words. */
import { describe, expect, it } from '@jest/globals';
import type { InstanceRow } from '@omenative/api';
import { plan } from './plan.js';
import type { PlanSpec, PodView, RevisionPayload, Snapshot } from './snapshot.js';
import { holdOf, holdsOf, persisted, said, statusAfter } from './testing/read.js';
import { noon, payload, pod, readyRow, revisionOf, type WorldOptions, world } from './testing/world.js';

const v2 = revisionOf('v2');
const ready = (count: number): readonly InstanceRow[] => Array.from({ length: count }, (_, index) => readyRow(index));

/** A world whose spec has moved on to v2. */
function moved(update: Partial<PlanSpec['update']>, options: WorldOptions = {}): WorldOptions {
  const rows = options.rows ?? ready(3);
  return {
    pods: rows.map((row) => pod({ index: row.index })),
    ...options,
    rows,
    spec: {
      replicas: rows.length,
      payload: payload('v2'),
      ...options.spec,
      update: { type: 'RecreatePod', partition: 0, inPlace: 'markNotReady', ...update },
    },
  };
}

function started(options: WorldOptions): readonly number[] {
  return [...statusAfter(world(options)).rows.values()]
    .filter((row) => row.kind === 'updating')
    .map(({ index }) => index);
}

/** One container of `image`, and something beside it that differs from the plain templates of these tests. */
function changed(image: string, beside: { readonly args?: string; readonly note?: string }): RevisionPayload {
  const { args, note } = beside;
  const container = { name: 'ome-container', image, ...(args === undefined ? {} : { args: [args] }) };
  const metadata = note === undefined ? {} : { metadata: { annotations: { note } } };
  return { runners: [{ name: 'default', size: 1, template: { ...metadata, spec: { containers: [container] } } }] };
}

describe('an update that takes Instances out of service', () => {
  it('goes on in ascending order, as far as maxUnavailable lets it', () => {
    expect(started(moved({ maxUnavailable: 1 }))).toEqual([0]);
    expect(started(moved({ maxUnavailable: '50%' }))).toEqual([0, 1]);
    expect(started(moved({}))).toEqual([0, 1, 2]);
  });

  it('of a single Instance is possible with any budget but 0: percentages round up [B02]', () => {
    expect(started(moved({ maxUnavailable: '1%' }, { rows: ready(1) }))).toEqual([0]);
    expect(started(moved({ maxUnavailable: '0%' }, { rows: ready(1) }))).toEqual([]);
  });

  it('replaces what serves nothing first, and outside the budget: a broken fleet never blocks its fix [B01]', () => {
    const one = [pod({ index: 0 }), pod({ index: 1 }), pod({ index: 2, health: 'starting' })];
    expect(started(moved({ maxUnavailable: 1 }, { pods: one }))).toEqual([2]);
    const none = [0, 1, 2].map((index) => pod({ index, health: 'starting' }));
    expect(started(moved({ maxUnavailable: 0 }, { pods: none }))).toEqual([0, 1, 2]);
  });

  it('does not ask for maxSurge, nor a surge for maxUnavailable', () => {
    expect(started(moved({ maxSurge: 0 }))).toEqual([0, 1, 2]);
    expect(started(moved({ type: 'SurgeThenDrain', maxUnavailable: 0 }))).toEqual([0, 1, 2]);
  });

  it('in place costs as much, unless only metadata changes: then nothing leaves rotation', () => {
    const update = { type: 'InPlaceIfPossible', maxUnavailable: 0 } as const;
    expect(started(moved(update))).toEqual([]);
    expect(started(moved(update, { spec: { payload: changed('v1', { note: 'new' }) } }))).toEqual([0, 1, 2]);
  });

  it('that may take nothing out says so once, with what would become of it [A5] [B02]', () => {
    const made = plan(world(moved({ maxUnavailable: 0 })));
    expect(made.status?.rolloutHold).toEqual({
      gate: 'Budget',
      reason: 'per-Component unavailability budget 0 exhausted (would become 1)',
      target: v2,
      since: noon,
    });
    expect(made.holds).toHaveLength(1);
  });
});

function refusals(snapshot: Snapshot): readonly string[] {
  return said(plan(snapshot)).filter((line) => line.startsWith('InPlaceUpdateNotPossible'));
}

describe('an update that a running pod can not follow, where nothing else is allowed', () => {
  const only = moved({ type: 'InPlaceOnly' }, { spec: { payload: changed('v2', { args: '--new' }) } });
  it('is refused for each Instance in the words of the API, and once for each target [E38]', () => {
    const lines = [0, 1, 2].map(
      (index) =>
        `InPlaceUpdateNotPossible: OMENative component=engine instance=${index} rejected update: InPlaceOnly strategy but diff exceeds container images`,
    );
    expect(refusals(world(only))).toEqual(lines);
    const later = persisted(world(only));
    expect(refusals(later)).toEqual([]);
    const other = world({ ...only, spec: { ...only.spec, payload: changed('v2', { args: '--newer' }) } });
    expect(refusals({ ...other, status: later.status })).toEqual(lines);
  });

  it('leaves every Instance as it is, and says what to do', () => {
    const made = plan(world(only));
    expect(made.chains).toEqual([]);
    expect([...(made.status?.rows.values() ?? [])].map((row) => row.kind)).toEqual(['ready', 'ready', 'ready']);
    expect(made.status?.rolloutHold).toMatchObject({
      gate: 'Plan',
      reason:
        'Instance 0 rejected update: InPlaceOnly strategy but diff exceeds container images; choose InPlaceIfPossible, or undo the other changes',
    });
    expect(made.holds.filter((hold) => hold.is === 'Plan')).toHaveLength(1);
  });

  it('is made when the user allows another way [E54] [B90]', () => {
    const later = persisted(world(only));
    const allowed = world({ ...only, ...moved({ type: 'InPlaceIfPossible' }, only) });
    const rows = [...statusAfter({ ...allowed, status: later.status }).rows.values()];
    expect(rows.map((row) => (row.kind === 'updating' ? row.op.step : row.kind))).toEqual(['Drain', 'Drain', 'Drain']);
  });

  it('does not hide what keeps others: each gate has its hold, and the first is published', () => {
    const rows = [readyRow(0, 'v0'), readyRow(1)];
    const pods: readonly PodView[] = [pod({ index: 0, over: { revisionHash: 'ffffffff' } }), pod({ index: 1 })];
    const made = plan(world(moved({ type: 'InPlaceOnly', maxUnavailable: 0 }, { rows, pods })));
    expect(holdsOf(made)).toBe('Budget, Plan');
    expect(made.status?.rolloutHold?.gate).toBe('Plan');
  });
});

/** An update to v2, whose pods the API server has been asked about. */
function check(templateCheck: Snapshot['templateCheck']): WorldOptions {
  return { ...moved({}), templateCheck };
}

describe('a template', () => {
  it('that the API server refuses moves nobody, and the rollout says why and waits for the user', () => {
    const made = plan(world(check({ of: v2, is: 'refused', message: 'spec.containers: Invalid' })));
    expect(made.chains).toEqual([]);
    expect(made.status?.rolloutHold).toMatchObject({
      gate: 'Plan',
      reason: `the API server refuses the pods of ${v2}: spec.containers: Invalid`,
    });
    expect(holdOf(made, 'Plan')?.wake).toContainEqual({ user: 'spec' });
  });

  it('that nobody has asked about yet moves nobody, in silence, and is asked about in time [B03]', () => {
    const made = plan(world(check({ of: v2, is: 'unknown', retryAt: noon + 7 })));
    expect([made.chains, made.status?.rolloutHold, holdsOf(made), made.wakeAt]).toEqual([
      [],
      undefined,
      'TemplateCheck',
      noon + 7,
    ]);
  });

  it('that the API server can not judge moves nobody, says why, and is asked about again [B03]', () => {
    const made = plan(world(check({ of: v2, is: 'unknown', retryAt: noon + 7, text: 'no answer from webhook w' })));
    expect([made.chains, made.status?.rolloutHold?.reason, made.wakeAt]).toEqual([
      [],
      'no answer from webhook w',
      noon + 7,
    ]);
  });

  it.each<[string, Snapshot['templateCheck']]>([
    ['is accepted', { of: v2, is: 'accepted' }],
    ['is another one', { of: revisionOf('v1'), is: 'refused', message: 'x' }],
  ])('that %s moves everybody', (_, templateCheck) => {
    expect(started(check(templateCheck))).toEqual([0, 1, 2]);
  });

  it('is not asked about when nothing wants to move', () => {
    const rows = [readyRow(0, 'v2')];
    const refused = { of: v2, is: 'refused', message: 'x' } as const;
    const made = plan(world({ ...moved({}, { rows, pods: [pod({ image: 'v2' })] }), templateCheck: refused }));
    expect([made.holds, made.status?.rolloutHold]).toEqual([[], undefined]);
  });
});
