import { describe, expect, it } from '@jest/globals';
import type { InstanceRow } from '@omenative/api';
import { demand } from '../demand.js';
import type { PodView } from '../snapshot.js';
import { shortName } from '../testing/read.js';
import { creatingRow, deletingRow, failedRow, pendingRow } from '../testing/rows.js';
import { gang, gangPods, noon, payload, pod, readyRow, type WorldOptions, world } from '../testing/world.js';

const v2 = { payload: payload('v2') };
const alien = { image: 'v0', ordinal: 1 } as const;

/** What a row as persisted asks of these pods. */
function asks(row: InstanceRow, pods: readonly PodView[], options: WorldOptions = {}): readonly string[] {
  const snapshot = world({ ...options, rows: [row], pods });
  return demand(snapshot, snapshot.status)
    .chains.flatMap((chain) => chain.effects)
    .flatMap((effect) => {
      if (effect.do === 'createPod') return [`create ${shortName(effect.name)}`];
      if (effect.do === 'gate') return [`${effect.change === 'add' ? 'out' : 'in'} ${shortName(effect.pod.name)}`];
      return effect.do === 'deletePod' ? [`delete ${shortName(effect.pod.name)}`] : [effect.do];
    });
}

describe('lanes', () => {
  it('take pods out of rotation before they delete, and let pods in last', () => {
    const rows = [creatingRow(0), deletingRow(1), deletingRow(2), readyRow(3)];
    const pods = [pod({ index: 1 }), pod({ index: 2, health: 'starting' }), pod({ index: 3, health: 'drained' })];
    const snapshot = world({ rows, pods, headlessService: 'absent' });
    const lanes = demand(snapshot, snapshot.status).chains.map((chain) => chain.lane);
    expect(lanes).toEqual(['unroute', 'delete', 'misc', 'create', 'route']);
  });
});

describe('an attempt to create', () => {
  const row = creatingRow(0);

  it('clears its slots of the pods of other revisions and other lives', () => {
    expect(asks(row, [pod({ image: 'v0', health: 'starting' })])).toEqual(['delete 0-default-0']);
    expect(asks(row, [pod({ image: 'v0' })])).toEqual(['out 0-default-0']);
    expect(asks(row, [pod({ over: { incarnation: 2 }, health: 'starting' })])).toEqual(['delete 0-default-0']);
  });

  it('removes what stands beside its slots', () => {
    expect(asks(row, [pod({ health: 'starting' }), pod({ ...alien, health: 'starting' })])).toEqual([
      'delete 0-default-1',
    ]);
  });

  it('deletes none of several wrecks before all are out of rotation', () => {
    const runners = gang(2);
    const stale = gangPods(0, 2, 'serving', 'v0');
    const [leader, ...workers] = gangPods(0, 2, 'drained', 'v0') as [PodView, PodView, PodView];
    const gangRow = creatingRow(0, 'v1', { runners });
    expect(asks(gangRow, stale, { spec: { runners } })).toEqual(['out 0-leader-0', 'out 0-worker-0', 'out 0-worker-1']);
    expect(asks(gangRow, [{ ...leader, ready: true }, ...workers], { spec: { runners } })).toEqual([]);
  });
});

describe('an Instance at rest', () => {
  it.each<[string, InstanceRow, PodView, readonly string[]]>([
    ['a pod of a revision that it neither runs nor aims at', readyRow(0), pod(alien), ['out 0-default-1']],
    ['such a pod that never served', readyRow(0), pod({ ...alien, health: 'starting' }), ['delete 0-default-1']],
    ['such a pod that has ended', readyRow(0), pod({ ...alien, health: 'failed' }), ['delete 0-default-1']],
    ['such a pod that is going', readyRow(0), pod({ ...alien, over: { deletionAt: noon } }), []],
    ['a second pod of the target that it runs', readyRow(0), pod({ ordinal: 1 }), ['out 0-default-1']],
    ['a pod that names no revision', readyRow(0), pod({ ...alien, over: { revisionHash: '' } }), []],
    ['any pod while it runs no known revision', readyRow(0, 'v1', { running: '' }), pod(alien), []],
    [
      'what a failed attempt left, for inspection',
      failedRow(0, 'v1', 'v0'),
      pod({ ...alien, health: 'crashLoop' }),
      [],
    ],
  ])('asks of %s', (_, row, beside, wanted) => {
    expect(asks(row, [pod(), beside])).toEqual(wanted);
  });

  it('leaves a pod of the target to the update that takes it over [B07]', () => {
    expect(asks(readyRow(0), [pod(), pod({ image: 'v2', ordinal: 1 })], { spec: v2 })).toEqual([]);
  });

  it('leaves a pod of the target in its own slot alone: a status from before the update must not empty the fleet [B42]', () => {
    expect(asks(readyRow(0), [pod({ image: 'v2' })], { spec: v2 })).toEqual([]);
  });

  it('leaves a serving pod alone after a failed update of a row that knows no revision', () => {
    expect(asks(failedRow(0, undefined, 'v2'), [pod()], { spec: v2 })).toEqual([]);
  });

  it('asks for nothing before its Create is recorded', () => {
    expect(asks(pendingRow(0), [])).toEqual([]);
    expect(asks(pendingRow(0), [pod(alien)])).toEqual([]);
  });

  it('lets pods in that an operation of the past kept out [B86]', () => {
    expect(asks(readyRow(0), [pod({ health: 'drained' })])).toEqual(['in 0-default-0']);
  });

  it('lets no pod in whose containers are not ready', () => {
    const starting = pod({ health: 'starting', gate: { state: 'false', holds: [{ writer: 'Lifecycle', key: 'x' }] } });
    expect(asks(readyRow(0), [starting])).toEqual([]);
  });
});

describe('an Instance that the watch lags on', () => {
  it('asks for nothing [B28]', () => {
    expect(asks(creatingRow(0), [], { blind: [0] })).toEqual([]);
    expect(asks(deletingRow(0), [pod()], { blind: [0] })).toEqual([]);
  });
});

describe('a state that this version does not drive', () => {
  it('asks for nothing', () => {
    const foreign: InstanceRow = { ...readyRow(0), kind: 'foreign', phase: 'Migrating', readAs: 'migrate' };
    expect(asks(foreign, [pod(), pod(alien)])).toEqual([]);
    const { op } = creatingRow(0) as InstanceRow & { kind: 'creating' };
    const restarting: InstanceRow = {
      ...readyRow(0),
      kind: 'restarting',
      op: { ...op, type: 'Restart', step: 'Drain' },
    };
    expect(asks(restarting, [pod({ health: 'drained' }), pod(alien)])).toEqual([]);
  });
});

describe('a pod that a user reset', () => {
  it('is asked to go once, though it belongs to no life of its Instance any more', () => {
    const reset = { announced: ['InstanceReset@uid-chat-engine-0-default-0'] };
    const dark = pod({ health: 'containersReady', gate: { state: 'true' } });
    expect(asks(failedRow(0, 'v1', 'v1', reset), [dark])).toEqual(['out 0-default-0']);
    expect(asks(failedRow(0, 'v1', 'v1', reset), [pod({ health: 'starting' })])).toEqual(['delete 0-default-0']);
  });
});
