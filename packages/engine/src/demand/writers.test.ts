import { describe, expect, it } from '@jest/globals';
import type { Cover, GatePod } from '../effects.js';
import type { GateHold, GateView } from '../snapshot.js';
import { pod } from '../testing/world.js';
import { deleteDrainHold, hasHold, route, surgeDrainHold, unroute } from './writers.js';

const covers: Cover = { by: 'operation', index: 0, id: 'op-1' };
const foreign: GateHold = { writer: 'Somebody', key: '1' };
const drain = deleteDrainHold(0);
const held = (...holds: readonly GateHold[]): GateView => ({ state: 'false', holds });
const removed = (gate: GateView, except?: GateHold): readonly GateHold[] =>
  route(pod({ gate }), covers, except).map((effect) => (effect as GatePod).hold);

describe('letting a pod into rotation', () => {
  it('lifts the hold that every pod is born with', () => {
    expect(removed({ state: 'absent' })).toEqual([{ writer: 'Lifecycle', key: 'instance-ready' }]);
  });

  it('lifts every hold of ours, whichever operation left it', () => {
    const ours = [
      'Lifecycle',
      'UpdateInPlace',
      'UpdateRecreateDrain',
      'UpdateSurgeDrain',
      'RestartDrain',
      'DeleteDrain',
      'MigrateSourceDrain',
    ];
    const holds = ours.map((writer) => ({ writer, key: 'k' }));
    expect(removed(held(...holds))).toEqual(holds);
  });

  it('never lifts the hold of another writer [E197]', () => {
    expect(removed(held(foreign, drain))).toEqual([drain]);
    expect(removed(held(foreign))).toEqual([]);
  });

  it('may keep one hold', () => {
    expect(removed(held(drain, surgeDrainHold(0, 1)), drain)).toEqual([surgeDrainHold(0, 1)]);
    expect(removed(held({ ...drain, key: 'other' }), drain)).toEqual([{ ...drain, key: 'other' }]);
  });

  it('writes nothing to a pod that is in [B23]', () => {
    expect(removed({ state: 'true' })).toEqual([]);
  });

  it('leaves a gate alone that it cannot read, for that is not an empty one [E193]', () => {
    expect(removed({ state: 'malformed', message: '?' })).toEqual([]);
  });
});

describe('taking a pod out of rotation', () => {
  it('adds our hold, once', () => {
    expect(unroute(pod(), drain, covers)).toMatchObject([{ do: 'gate', change: 'add', hold: drain }]);
    expect(unroute(pod({ gate: held(foreign) }), drain, covers)).toHaveLength(1);
    expect(unroute(pod({ gate: held(drain) }), drain, covers)).toEqual([]);
  });

  it('leaves a gate alone that it cannot read [E193]', () => {
    expect(unroute(pod({ gate: { state: 'malformed', message: '?' } }), drain, covers)).toEqual([]);
  });

  it('names the pod by UID and version, so that it never hits its successor', () => {
    const one = pod({ over: { uid: 'u-7', resourceVersion: '42' } });
    expect(unroute(one, drain, covers)).toMatchObject([{ pod: { name: one.name, uid: 'u-7', resourceVersion: '42' } }]);
  });
});

describe('a hold', () => {
  it('is ours by writer and key', () => {
    expect(hasHold(pod({ gate: held(foreign, drain) }), drain)).toBe(true);
    expect(hasHold(pod({ gate: held({ writer: drain.writer, key: '9' }) }), drain)).toBe(false);
    expect(hasHold(pod({ gate: held({ writer: 'Somebody', key: drain.key }) }), drain)).toBe(false);
    expect(hasHold(pod(), drain)).toBe(false);
  });

  it('of an update names the Instance and the slot that takes over', () => {
    expect(surgeDrainHold(3, 1)).toEqual({ writer: 'UpdateSurgeDrain', key: 'update-surge-drain-3-1' });
    expect(deleteDrainHold(3)).toEqual({ writer: 'DeleteDrain', key: '3' });
  });
});
