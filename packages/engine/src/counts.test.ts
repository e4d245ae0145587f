import { describe, expect, it } from '@jest/globals';
import type { Counters, InstanceRow } from '@omenative/api';
import { availableAt, publishCounts } from './counts.js';
import type { PodView, Snapshot } from './snapshot.js';
import { deletingRow, surgingRow } from './testing/rows.js';
import { gang, gangPods, noon, pod, readyRow, revisionOf, type WorldOptions, world } from './testing/world.js';

const counted = (snapshot: Snapshot): Counters => publishCounts(snapshot, snapshot.status.rows).counters;
const count = (options: WorldOptions): Counters => counted(world(options));

describe('the counters of a component', () => {
  it('count Instances, not pods', () => {
    const runners = gang(3);
    const rows = [readyRow(0, 'v1', {}, runners), readyRow(1, 'v1', {}, runners)];
    expect(
      count({ spec: { runners, replicas: 2 }, rows, pods: [0, 1].flatMap((index) => gangPods(index, 3, 'serving')) }),
    ).toEqual({
      replicas: 2,
      ready: 2,
      serving: 2,
      available: 2,
      updated: 2,
      updatedReady: 2,
    });
  });

  it('let a surge neither hide its Instance nor count twice [B62]', () => {
    const pods = [pod(), pod({ ordinal: 1, image: 'v2', health: 'starting' })];
    expect(count({ rows: [surgingRow(0)], pods })).toMatchObject({ replicas: 1, ready: 1, serving: 1 });
  });

  it('are derived anew each time, never added to [B39]', () => {
    const status = { counters: { replicas: 9, ready: 9, serving: 9, available: 9, updated: 9, updatedReady: 9 } };
    expect(count({ status })).toEqual({ replicas: 0, ready: 0, serving: 0, available: 0, updated: 0, updatedReady: 0 });
  });

  it('count an Instance that leaves for as long as its row is there', () => {
    expect(count({ rows: [deletingRow(0)] })).toMatchObject({ replicas: 1, serving: 0 });
  });

  it('call updated what runs the revision of the spec, and updatedReady what is ready on it', () => {
    const rows = [readyRow(0), readyRow(1), readyRow(2, 'v0')];
    const pods = [pod({ index: 0 }), pod({ index: 1, health: 'starting' }), pod({ index: 2, image: 'v0' })];
    expect(count({ spec: { replicas: 3 }, rows, pods })).toMatchObject({ ready: 2, updated: 2, updatedReady: 1 });
  });

  it('do not take a ready pod of the old revision for one of the new [B14]', () => {
    expect(count({ rows: [readyRow(0)], pods: [pod({ image: 'v0' })] })).toMatchObject({ ready: 1, updatedReady: 0 });
  });
});

describe('serving', () => {
  const runners = gang(2);
  const servingPods = (pods: readonly PodView[]): number | undefined => {
    const snapshot = world({ spec: { runners }, rows: [readyRow(0, 'v1', {}, runners)], pods });
    return publishCounts(snapshot, snapshot.status.rows).rows.get(0)?.published.serving;
  };
  const [leader, first, second] = gangPods(0, 2, 'serving') as [PodView, PodView, PodView];

  it('counts every pod of a gang whose leader serves, and one less when a worker is lost [B43]', () => {
    expect(servingPods([leader, first, second])).toBe(3);
    expect(servingPods([leader, first])).toBe(2);
  });

  it.each<[string, readonly PodView[]]>([
    ['is gone', [first, second]],
    ['is being deleted', [{ ...leader, deletionAt: noon }, first, second]],
    ['lost Ready because its node is silent', [{ ...leader, ready: false }, first, second]],
  ])('is nothing once the leader %s, whatever the workers say [B43]', (_, pods) => {
    expect(servingPods(pods)).toBe(0);
  });

  it('takes all pods of an Instance, not one of them', () => {
    const options = { spec: { runners }, rows: [readyRow(0, 'v1', {}, runners)] };
    expect(count({ ...options, pods: [leader, first] }).serving).toBe(0);
    expect(count({ ...options, pods: [leader, first, second] }).serving).toBe(1);
  });
});

describe('available', () => {
  const rows: readonly InstanceRow[] = [readyRow(0)];
  const available = (one: PodView, minReadySeconds = 30): number =>
    count({ spec: { minReadySeconds }, rows, pods: [one] }).available;

  it('waits until a pod was Ready for minReadySeconds, to the second', () => {
    expect(available(pod({ readyFor: 29 }))).toBe(0);
    expect(available(pod({ readyFor: 30 }))).toBe(1);
  });

  it('takes a listed pod for available at once when no time is asked for, Ready or not', () => {
    expect(available(pod({ health: 'starting' }), 0)).toBe(1);
  });

  it('does not take a pod that goes, or that the headless Service does not list', () => {
    expect(available(pod({ over: { deletionAt: noon } }), 0)).toBe(0);
    const snapshot = world({ rows, pods: [pod()] });
    expect(counted({ ...snapshot, discoverable: new Set() }).available).toBe(0);
  });

  it('wakes the plan when the next pod has been Ready for long enough', () => {
    const pods = [pod({ index: 0, readyFor: 10 }), pod({ index: 1, readyFor: 25 }), pod({ index: 2, readyFor: 300 })];
    expect(availableAt(world({ spec: { minReadySeconds: 30 }, pods }))).toBe(noon + 5);
    expect(availableAt(world({ spec: { minReadySeconds: 0 }, pods }))).toBeUndefined();
    expect(availableAt(world({ spec: { minReadySeconds: 30 }, pods: [pod({ readyFor: 300 })] }))).toBeUndefined();
  });
});

describe('a published row', () => {
  it('says how many pods it has and whether a scheduling gate holds one', () => {
    const snapshot = world({
      rows: [readyRow(0), readyRow(1)],
      pods: [pod(), pod({ ordinal: 1, over: { gated: true } })],
    });
    const { rows } = publishCounts(snapshot, snapshot.status.rows);
    expect(rows.get(0)?.published).toEqual({ pods: 2, serving: 2, available: 2, admitted: false });
    expect(rows.get(1)?.published).toEqual({ pods: 0, serving: 0, available: 0, admitted: false });
  });

  it('is the same object while its counts stay the same [E212]', () => {
    const published = { pods: 1, serving: 1, available: 1, admitted: true };
    const snapshot = world({ rows: [readyRow(0, 'v1', { published })], pods: [pod()] });
    expect(publishCounts(snapshot, snapshot.status.rows).rows.get(0)).toBe(snapshot.status.rows.get(0));
  });
});

describe('the scale selector', () => {
  it('picks one pod an Instance, so that an autoscaler counts Instances [B63]', () => {
    expect(publishCounts(world(), new Map()).labelSelector).toBe(
      'component=engine,ome.io/inferenceservice=chat,ome.io/managed-by=OMENative,ome.io/runner in (default,leader)',
    );
    expect(revisionOf('v1')).toMatch(/^chat-engine-[0-9a-f]{8}$/);
  });
});
