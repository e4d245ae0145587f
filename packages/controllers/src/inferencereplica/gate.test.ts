import { describe, expect, it } from '@jest/globals';
import { lifecycleHold } from '@omenative/engine';
import { type GateChange, gateOf, gateStep } from './gate.js';
import { gateCondition } from './testing/objects.js';

const now = '2026-01-01T00:10:00Z';
const drain = { writer: 'DeleteDrain', key: '0' };
const add: GateChange = { hold: drain, change: 'add' };
const remove: GateChange = { hold: drain, change: 'remove' };
const letIn: GateChange = { hold: lifecycleHold, change: 'remove' };

describe('gateOf', () => {
  it('reads an absent condition as absent', () => {
    expect(gateOf([{ type: 'Ready', status: 'True' }])).toEqual({ state: 'absent' });
  });

  it('lists the holds of a closed gate', () => {
    expect(gateOf([gateCondition('False', [['A', '1']])])).toEqual({
      state: 'false',
      holds: [{ writer: 'A', key: '1' }],
    });
  });

  it.each(['not json', '{}', '[1]', '[{"userAgent":"A"}]', '"[]"'])(
    'never reads the malformed list %j as empty [E193]',
    (message) => {
      expect(gateOf([{ ...gateCondition('False', []), message }])).toEqual({ state: 'malformed', message });
    },
  );

  it.each(['', '[]'])('reads the message %j as no hold', (message) => {
    expect(gateOf([{ ...gateCondition('False', []), message }])).toEqual({ state: 'false', holds: [] });
    expect(gateOf([{ ...gateCondition('True', []), message }])).toEqual({ state: 'true' });
  });

  it('counts a pod as let in whose status says so, whatever its list still holds', () => {
    expect(gateOf([gateCondition('True', [['A', '1']])])).toEqual({ state: 'true' });
  });
});

describe('gateStep', () => {
  it('opens the gate of a new pod when its lifecycle hold is taken back', () => {
    expect(gateStep([], letIn, now)).toEqual({
      step: 'patch',
      condition: {
        type: 'ome.io/serving',
        status: 'True',
        reason: 'Serving',
        message: '[]',
        lastTransitionTime: now,
      },
    });
  });

  it('writes the implicit lifecycle hold down beside the first other one, sorted', () => {
    const step = gateStep([], { hold: { writer: 'A', key: '1' }, change: 'add' }, now);
    expect(step).toMatchObject({
      condition: {
        status: 'False',
        reason: 'NotReady',
        message: '[{"userAgent":"A","key":"1"},{"userAgent":"Lifecycle","key":"instance-ready"}]',
      },
    });
  });

  it('never opens the gate of a new pod by taking another hold back [E194]', () => {
    expect(gateStep([], remove, now)).toEqual({ step: 'none' });
  });

  it('closes an open gate, at this moment', () => {
    expect(gateStep([gateCondition('True', [])], add, now)).toMatchObject({
      condition: { status: 'False', message: '[{"userAgent":"DeleteDrain","key":"0"}]', lastTransitionTime: now },
    });
  });

  it('repairs a status that contradicts its list', () => {
    const step = gateStep([gateCondition('True', [['A', '1']])], add, now);
    expect(step).toMatchObject({
      condition: { status: 'False', message: '[{"userAgent":"A","key":"1"},{"userAgent":"DeleteDrain","key":"0"}]' },
    });
  });

  it("keeps the pod out while another writer's hold is left, and keeps the time of the transition [E197]", () => {
    const before = gateCondition('False', [
      ['DeleteDrain', '0'],
      ['Operator', 'x'],
    ]);
    expect(gateStep([before], remove, now)).toMatchObject({
      condition: {
        status: 'False',
        message: '[{"userAgent":"Operator","key":"x"}]',
        lastTransitionTime: '2026-01-01T00:01:00Z',
      },
    });
  });

  it('opens the gate with the last hold', () => {
    expect(gateStep([gateCondition('False', [['DeleteDrain', '0']])], remove, now)).toMatchObject({
      condition: { status: 'True', reason: 'Serving', message: '[]', lastTransitionTime: now },
    });
  });

  it('tells holds of one writer apart by their keys', () => {
    expect(gateStep([gateCondition('False', [['DeleteDrain', '1']])], remove, now)).toEqual({ step: 'none' });
  });

  it.each([
    ['adding what is there', gateCondition('False', [['DeleteDrain', '0']]), add],
    ['removing from an open gate', gateCondition('True', []), remove],
  ])('writes nothing when %s', (_, condition, wish) => {
    expect(gateStep([condition], wish, now)).toEqual({ step: 'none' });
  });

  it('refuses to edit a list that it cannot read [E193]', () => {
    expect(gateStep([{ ...gateCondition('False', []), message: 'oops' }], add, now)).toEqual({
      step: 'refuse',
      message: 'oops',
    });
  });
});
