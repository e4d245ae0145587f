/** Halves of a gang surge without their other half, as killed controllers, other writers and users leave them. */
import { describe, expect, it } from '@jest/globals';
import type { InstanceRow } from '@omenative/api';
import { plan } from '../plan.js';
import type { PodView, Snapshot } from '../snapshot.js';
import { markerRow, pair, pairRunners, sourceRow } from '../testing/pairs.js';
import { kinds, persisted, rowAfter, said, statusAfter, wishes } from '../testing/read.js';
import { creatingRow } from '../testing/rows.js';
import { gangPods, noon, payload, readyRow, revisionOf, type WorldOptions, world } from '../testing/world.js';

const v1 = revisionOf('v1', pairRunners);
const v2 = revisionOf('v2', pairRunners);
const spec = { runners: pairRunners, payload: payload('v2', pairRunners) };
const old = gangPods(0, 1, 'serving');
const serving = gangPods(1, 1, 'serving', 'v2');
const ready = (index: number, image: string): InstanceRow => readyRow(index, image, {}, pairRunners);

/** Rows of a component that wants one gang on v2, with its old gang serving at index 0. */
function broken(rows: readonly InstanceRow[], pods: readonly PodView[] = old, options: WorldOptions = {}): Snapshot {
  return world({ rows, pods, ...options, spec: { ...spec, ...options.spec } });
}

describe('a claim whose marker is missing', () => {
  it('gets it back, to the letter, before anything else happens [E61] [E207]', () => {
    const [source, marker] = pair(0, 1) as [InstanceRow, InstanceRow];
    const { rows } = statusAfter(broken([source]));
    expect(rows.get(1)).toEqual(marker);
    expect(wishes(plan(broken([source])))).toEqual(['create 1-leader-0', 'create 1-worker-0']);
  });

  it('finds the pods that were made before it was lost', () => {
    const half = [...old, ...serving.slice(0, 1)];
    expect(wishes(plan(broken([sourceRow(0, 1)], half)))).toEqual(['create 1-worker-0']);
  });

  it.each<[string, Parameters<typeof sourceRow>[2], WorldOptions]>([
    ['its attempt has failed', { phase: 'Failed' }, {}],
    ['its target is no longer wanted', {}, { spec: { payload: payload('v3', pairRunners) } }],
  ])(
    'is given up when %s: what there is of the replacement goes, and nothing new comes [E61]',
    (_, source, options) => {
      const starting = gangPods(1, 1, 'starting', 'v2').slice(0, 1);
      const snapshot = broken([sourceRow(0, 1, source)], [...old, ...starting], options);
      expect(rowAfter(snapshot, 1)).toMatchObject({ kind: 'gangTo', op: { step: 'GangSurgeTargetCleanup' } });
      expect(wishes(plan(snapshot))).toEqual(['delete 1-leader-0']);
      const gone = broken([...statusAfter(snapshot).rows.values()], old, options);
      expect(statusAfter(gone).rows.has(1)).toBe(false);
    },
  );

  it('is left alone while the watch lags on the index', () => {
    const snapshot = broken([sourceRow(0, 1)], old, { blind: [1] });
    expect([kinds(statusAfter(snapshot)), wishes(plan(snapshot))]).toEqual(['0 gangFrom', []]);
  });
});

describe('a claim on the index of another Instance', () => {
  it.each<[string, InstanceRow]>([
    ['serves', ready(1, 'v1')],
    ['is being created', creatingRow(1, 'v2', { runners: pairRunners })],
    ['is replaced by yet another target', markerRow(sourceRow(0, 1, { to: 'v0' }))],
  ])('is void, and the one that %s is not touched [E62]', (_, occupant) => {
    const snapshot = broken([sourceRow(0, 1), occupant], [...old, ...gangPods(1, 1, 'serving')], {
      spec: { replicas: 2, pause: 'recover' },
    });
    expect(rowAfter(snapshot, 0)).toMatchObject({ kind: 'ready', running: v1, target: '' });
    expect(rowAfter(snapshot, 1)?.kind).toBe(occupant.kind === 'gangTo' ? 'creating' : occupant.kind);
    expect(said(plan(snapshot)).filter((text) => text.startsWith('GangSurgeAbandoned'))).toHaveLength(1);
    expect(wishes(plan(snapshot)).filter((wish) => /0-(leader|worker)/.test(wish))).toEqual([]);
  });

  it('is void for the second of two sources; the first goes on [E62]', () => {
    const rows = [sourceRow(0, 2), sourceRow(1, 2), markerRow(sourceRow(0, 2))];
    const pods = [...old, ...gangPods(1, 1, 'serving')];
    const after = statusAfter(broken(rows, pods, { spec: { replicas: 2, pause: 'recover' } })).rows;
    expect([...after.values()].map(({ kind }) => kind)).toEqual(['gangFrom', 'ready', 'gangTo']);
    expect(after.get(0)).toMatchObject({ op: { surgeIndex: 2 } });
  });

  it('starts over at an index of its own', () => {
    const rows = [sourceRow(0, 1), ready(1, 'v1')];
    const pods = [...old, ...gangPods(1, 1, 'serving')];
    const snapshot = broken(rows, pods, { spec: { replicas: 2 } });
    // Instance 1 moves as well, and took the lowest one.
    expect(rowAfter(persisted(snapshot), 0)).toMatchObject({ kind: 'gangFrom', op: { surgeIndex: 3 } });
  });
});

describe('a marker that no source claims', () => {
  it('stands for an Instance that is being created', () => {
    const snapshot = broken([markerRow(sourceRow(0, 1))], gangPods(1, 1, 'starting', 'v2'));
    const row = rowAfter(snapshot, 1);
    expect(row).toMatchObject({ kind: 'creating', running: '', target: v2, incarnation: 1, op: { startedAt: noon } });
    expect(row).not.toHaveProperty('phase');
    expect(rowAfter(broken([row as InstanceRow], serving), 1)).toMatchObject({ kind: 'ready', running: v2 });
  });

  it('goes, when it was about to', () => {
    const rows = [ready(0, 'v1'), markerRow(sourceRow(0, 1), 'GangSurgeTargetCleanup')];
    const snapshot = broken(rows, [...old, ...gangPods(1, 1, 'starting', 'v2')], { spec: { pause: 'recover' } });
    expect(rowAfter(snapshot, 1)).toMatchObject({ kind: 'deleting' });
    expect(wishes(plan(snapshot))).toEqual(['delete 1-leader-0', 'delete 1-worker-0']);
  });

  it('goes, when it names no revision to make pods of', () => {
    const marker = markerRow(sourceRow(0, 1, { op: { target: '' } }));
    const pods = [...gangPods(0, 1, 'serving', 'v2'), ...gangPods(1, 1, 'starting')];
    expect(kinds(statusAfter(broken([ready(0, 'v2'), marker], pods, { spec: { replicas: 2 } })))).toMatch(
      /^0 ready, 1 deleting/,
    );
  });

  it('is left alone while the watch lags on it', () => {
    const marker = markerRow(sourceRow(0, 1));
    expect(kinds(statusAfter(broken([marker], [], { blind: [1] })))).toContain('1 gangTo');
  });
});

describe('a source whose replacement is Ready already', () => {
  it.each(['Surge', 'SurgeDrain'] as const)('goes like an Instance without a place, at step %s too [E75]', (step) => {
    const snapshot = broken([sourceRow(0, 1, { op: { step } }), ready(1, 'v2')], [...old, ...serving]);
    expect(kinds(statusAfter(snapshot))).toBe('0 deleting, 1 ready');
    expect(wishes(plan(snapshot))).toEqual(['out 0-leader-0', 'out 0-worker-0']);
    expect(said(plan(snapshot)).map((text) => text.split(':')[0])).toEqual(['RecreateUpdateCompleted']);
    expect(said(plan(persisted(snapshot)))).toEqual([]);
  });

  it('takes no place of another Instance while it goes, and none is created for it [E75]', () => {
    const rows = [sourceRow(0, 3, { op: { step: 'SurgeDrain' } }), ready(1, 'v2'), ready(2, 'v2'), ready(3, 'v2')];
    const pods = [1, 2, 3].flatMap((index) => gangPods(index, 1, 'serving', 'v2'));
    const snapshot = broken(rows, pods, { spec: { replicas: 3 } });
    expect(kinds(statusAfter(snapshot))).toBe('0 deleting, 1 ready, 2 ready, 3 ready');
    expect(kinds(statusAfter(persisted(snapshot)))).toBe('1 ready, 2 ready, 3 ready');
  });

  it('past its deadline is no failure', () => {
    const late = sourceRow(0, 1, { op: { step: 'SurgeDrain', deadline: noon - 1 } });
    const snapshot = broken([late, ready(1, 'v2')], [...old, ...serving]);
    expect([rowAfter(snapshot)?.kind, statusAfter(snapshot).blocks]).toEqual(['deleting', []]);
  });

  it('is kept when that one does not serve: of the two the one in rotation stays', () => {
    const dark = gangPods(1, 1, 'starting', 'v2');
    const snapshot = broken([sourceRow(0, 1, { op: { step: 'SurgeDrain' } }), ready(1, 'v2')], [...old, ...dark]);
    expect(kinds(statusAfter(snapshot))).toBe('0 ready, 1 ready');
    expect(kinds(statusAfter(persisted(snapshot)))).toMatch(/^0 (ready|gangFrom), 1 deleting/);
  });

  it.each<[string, InstanceRow]>([
    ['runs another revision', ready(1, 'v1')],
    ['stands at another index', ready(2, 'v2')],
  ])('is not believed to be replaced by an Instance that %s [E76]', (_, other) => {
    const drained = sourceRow(0, 1, { op: { step: 'SurgeDrain' } });
    const pods = [...old, ...gangPods(2, 1, 'serving', 'v2'), ...gangPods(1, 1, 'serving')];
    const snapshot = broken([drained, other], pods, { spec: { replicas: 2, pause: 'recover' } });
    expect(rowAfter(snapshot)?.kind).not.toBe('deleting');
    expect(wishes(plan(snapshot)).filter((wish) => /^(out|delete) 0-/.test(wish))).toEqual([]);
  });

  it.each<[string, WorldOptions]>([
    ['the rollout is paused', { spec: { pause: 'recover' } }],
    ['the watch lags on it', { blind: [0], spec: { payload: payload('v3', pairRunners) } }],
  ])('stays while %s, and that one does not move on before it', (_, options) => {
    const rows = [sourceRow(0, 1, { op: { step: 'SurgeDrain' } }), ready(1, 'v2')];
    const waiting = broken(rows, [...old, ...serving], options);
    expect([kinds(statusAfter(waiting)), wishes(plan(waiting))]).toEqual(['0 gangFrom, 1 ready', []]);
  });
});

describe('a pair that names index 0', () => {
  it('is as good as any other', () => {
    const rows = pair(1, 0);
    const pods = [...gangPods(1, 1, 'serving'), ...gangPods(0, 1, 'starting', 'v2')];
    const snapshot = broken(rows, pods);
    expect([kinds(statusAfter(snapshot)), wishes(plan(snapshot))]).toEqual(['0 gangTo, 1 gangFrom', []]);
    expect(statusAfter(broken([sourceRow(1, 0)], gangPods(1, 1, 'serving'))).rows.get(0)).toEqual(rows[1]);
    const done = broken(pair(1, 0, { op: { step: 'SurgeDrain' } }), gangPods(0, 1, 'serving', 'v2'));
    expect(kinds(statusAfter(done))).toBe('0 ready');
  });
});
