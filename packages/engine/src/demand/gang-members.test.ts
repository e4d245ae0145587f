/** Members of a gang are made only beside members of their own revision: others would join a leader that goes. */
import { describe, expect, it } from '@jest/globals';
import { plan } from '../plan.js';
import type { PodView, Snapshot } from '../snapshot.js';
import { pairRunners } from '../testing/pairs.js';
import { holdOf, wishes } from '../testing/read.js';
import { creatingRow } from '../testing/rows.js';
import { gangPods, noon, payload, readyRow, world } from '../testing/world.js';

const spec = { runners: pairRunners, payload: payload('v2', pairRunners) };
const dying = (pods: readonly PodView[]): readonly PodView[] => pods.map((pod) => ({ ...pod, deletionAt: noon + 20 }));
const v1 = gangPods(0, 1, 'starting', 'v1');
const v2 = gangPods(0, 1, 'starting', 'v2');
const creating = (pods: readonly PodView[]): Snapshot =>
  world({ rows: [creatingRow(0, 'v2', { runners: pairRunners })], pods, spec });

describe('a gang that is being created', () => {
  it('gets no worker while a leader of another revision is there, though that is on its way out', () => {
    const [leader] = v1;
    if (leader === undefined) throw new Error('a gang without a leader');
    expect(wishes(plan(creating([leader])))).toEqual(['delete 0-leader-0']);
    const made = plan(creating(dying([leader])));
    expect([wishes(made), holdOf(made, 'PodsTerminating')?.text]).toEqual([
      [],
      'no member of Instance 0 is created beside pods of another revision, which go first: chat-engine-0-leader-0',
    ]);
  });

  it('gets one beside a leader of its own revision, though that is on its way out', () => {
    expect(wishes(plan(creating(dying(v2.slice(0, 1)))))).toEqual(['create 0-worker-0']);
  });

  it('is made when nothing else is left', () => {
    expect(wishes(plan(creating([])))).toEqual(['create 0-leader-0', 'create 0-worker-0']);
  });
});

describe('an operation of another writer that names no revision', () => {
  it('makes no pods while the rollout is paused, and says what is missing', () => {
    const rows = [creatingRow(0, 'v2', { runners: pairRunners, op: { target: '' } })];
    const made = plan(world({ rows, pods: [], spec: { ...spec, pause: 'recover' } }));
    expect([wishes(made), holdOf(made, 'RevisionGone')?.text]).toEqual([[], expect.stringContaining('no revision')]);
  });

  it('is replaced by one that does when it runs', () => {
    const rows = [
      creatingRow(0, 'v2', { runners: pairRunners, op: { target: '' } }),
      readyRow(1, 'v2', {}, pairRunners),
    ];
    const made = plan(world({ rows, pods: gangPods(1, 1, 'serving', 'v2'), spec: { ...spec, replicas: 2 } }));
    expect(wishes(made)).toEqual(['create 0-leader-0', 'create 0-worker-0']);
  });
});
