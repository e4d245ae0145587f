import { describe, expect, it } from '@jest/globals';
import { plan } from './plan.js';
import { holdOf, kinds, persisted, rowAfter, said, statusAfter, wishes } from './testing/read.js';
import { creatingRow, deletingRow } from './testing/rows.js';
import { chartConfig, gang, gangPods, noon, pod, readyRow, type WorldOptions, world } from './testing/world.js';

const since = noon - 100;
const wayOut =
  'manual escape: kubectl patch inferencereplica chat-engine -n prod --type=merge -p \'{"metadata":{"finalizers":null}}\'';
const { teardownDeadlineSec: _, ...noDeadline } = chartConfig;

/** A replica that was deleted a hundred seconds ago. */
const dying = (options: WorldOptions = {}) =>
  world({ ...options, replica: { deletingSince: since, ...options.replica } });

describe('the finalizer', () => {
  it('is put on before anything else is done [E217] [A15]', () => {
    const { prepare } = plan(world({ replica: { finalizer: 'absent' } }));
    expect(prepare[0]).toMatchObject({ do: 'finalizer', change: 'add' });
  });

  it('is not put on twice', () => {
    expect(plan(world()).prepare).toEqual([]);
  });

  it('is not put back on a replica that goes; what is left is the garbage collector’s [E218]', () => {
    const made = plan(dying({ replica: { finalizer: 'absent' }, rows: [readyRow(0)], pods: [pod()] }));
    expect(made).toMatchObject({ prepare: [], chains: [], events: [], reads: [] });
    expect(made.status).toBeUndefined();
  });

  it('is taken off when nothing is left, after the headless Service [E220]', () => {
    expect(wishes(plan(dying()))).toEqual(['deleteHeadless', 'finalizer remove']);
    expect(plan(dying()).chains).toHaveLength(1);
    expect(wishes(plan(dying({ headlessService: 'absent' })))).toEqual(['finalizer remove']);
  });

  it.each<[string, WorldOptions]>([
    ['a row', { rows: [deletingRow(0)], proofs: 'none' }],
    ['a pod without a row [E222]', { pods: [pod()] }],
    ['a pod without a usable index [E222]', { strays: [pod()] }],
    ['an Instance that the watch lags on', { rows: [deletingRow(0)], blind: [0] }],
  ])('stays while %s is left', (_name, options) => {
    expect(wishes(plan(dying(options)))).not.toContain('finalizer remove');
  });

  it('stays until the status says that the last row is gone [E220]', () => {
    const last = dying({ rows: [deletingRow(0)] });
    expect(kinds(statusAfter(last))).toBe('');
    expect(wishes(plan(persisted(last)))).toContain('finalizer remove');
  });
});

describe('teardown', () => {
  it('drains all Instances, the highest index first, as far as a batch reaches [E119]', () => {
    const rows = [0, 1, 2, 3].map((index) => readyRow(index));
    const pods = rows.map(({ index }) => pod({ index }));
    const after = statusAfter(dying({ rows, pods, config: { ...chartConfig, scaleDownPodBatch: 2 } }));
    expect(kinds(after)).toBe('0 ready, 1 ready, 2 deleting, 3 deleting');
  });

  it('gives pods without a row one, and then drains them [E222]', () => {
    expect(rowAfter(dying({ pods: [pod({ index: 3 })] }), 3)).toMatchObject({ kind: 'deleting' });
  });

  it('makes nothing: no pod, no Service, no revision, also not for what waits for its turn [B91]', () => {
    const runners = gang(2);
    const rows = [creatingRow(0, 'v1', { runners }), readyRow(1, 'v1', {}, runners), creatingRow(2, 'v1', { runners })];
    const made = plan(
      dying({
        rows,
        spec: { runners },
        pods: gangPods(1, 2, 'serving').slice(0, 2),
        headlessService: 'absent',
        olderImages: [],
        config: { ...chartConfig, scaleDownPodBatch: 1 },
      }),
    );
    expect(wishes(made).filter((wish) => wish.startsWith('create') || wish.startsWith('ensure'))).toEqual([]);
    expect(made.prepare).toEqual([]);
  });

  it('leaves the revision that the status speaks of as it was', () => {
    const status = { update: 'chat-engine-00000000' };
    expect(statusAfter(dying({ status, rows: [readyRow(0)], pods: [pod()] })).update).toBe('chat-engine-00000000');
  });
});

describe('the deadline of a teardown', () => {
  const late = { rows: [deletingRow(0)], pods: [pod({ health: 'drained' })], now: since + 1800 };

  it('releases the finalizer and leaves the rest to the garbage collector [E211]', () => {
    expect(wishes(plan(dying(late)))).toContain('finalizer remove');
    expect(wishes(plan(dying({ ...late, now: since + 1799 })))).not.toContain('finalizer remove');
  });

  it('is said once, in these words [E219]', () => {
    expect(said(plan(dying(late)))).toContain(
      `TeardownDeadlineExceeded: teardown deadline 30m0s exceeded (1 owned pod(s) observed; selector: parent="chat", component="engine"); releasing finalizer ome.io/ir-teardown to background GC; ${wayOut}`,
    );
    const episodes = [late.now, late.now + 60].map((now) =>
      plan(dying({ ...late, now })).events.map(({ reason, episode }) => `${reason}/${episode}`),
    );
    expect(episodes[0]).toContain(`TeardownDeadlineExceeded/${since}`);
    expect(episodes[1]).toContain(`TeardownDeadlineExceeded/${since}`);
  });

  it('wakes the plan', () => {
    const made = plan(dying({ ...late, rows: [], pods: [], strays: [pod()], now: noon }));
    expect(holdOf(made, 'Teardown')?.wake).toContainEqual({ at: since + 1800 });
    expect(made.wakeAt).toBe(since + 1800);
  });

  it('has not passed, and nothing is said, while there is one ahead', () => {
    expect(said(plan(dying({ ...late, now: noon })))).toEqual([]);
  });
});

const text = (why: string): string =>
  `TeardownBlocked: teardown blocked: 1 owned pod(s) and 0 owned PodGroup(s) remain (selector: parent="chat", component="engine"); finalizer ome.io/ir-teardown holds until cleanup completes (${why}); ${wayOut}`;

describe('a teardown without a deadline', () => {
  const stuck = { strays: [pod()] };

  it('says that it waits, for what, and the way out [E219]', () => {
    expect(said(plan(dying({ ...stuck, config: noDeadline })))).toEqual([
      text('no lifecycle.teardown.deadline configured'),
    ]);
  });

  it('calls a deadline that cannot be read invalid, never missing [E219]', () => {
    const config = { ...noDeadline, teardownDeadlineInvalid: 'soon' };
    expect(said(plan(dying({ ...stuck, config })))).toEqual([
      text('lifecycle.teardown.deadline configured but invalid'),
    ]);
  });

  it('never gives up', () => {
    expect(wishes(plan(dying({ ...stuck, config: noDeadline, now: noon + 10_000_000 })))).toEqual([]);
  });
});
