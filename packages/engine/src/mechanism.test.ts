import { describe, expect, it } from '@jest/globals';
import type { InstanceRow, Strategy } from '@omenative/api';
import { type Mechanism, mechanismOf } from './mechanism.js';
import type { PlanSpec, PodView } from './snapshot.js';
import { patched } from './testing/in-place.js';
import { failedRow, parkedRow } from './testing/rows.js';
import { gang, gangPods, noon, payload, pod, readyRow, type WorldOptions, world } from './testing/world.js';
import { unitsOf } from './units.js';

/** How Instance 0 moves to the spec's revision: v2, unless it says otherwise. */
function moves(type: Strategy, row: InstanceRow, pods: readonly PodView[], options: WorldOptions = {}): Mechanism {
  const update: PlanSpec['update'] = { type, partition: 0, inPlace: 'markNotReady' };
  const snapshot = world({ rows: [row], pods, ...options, spec: { payload: payload('v2'), ...options.spec, update } });
  const [unit] = unitsOf(snapshot, snapshot.status.rows);
  if (unit === undefined) throw new Error('no unit');
  return mechanismOf(snapshot, unit, snapshot.target);
}

/** A template that differs from v1 in more than an image. */
const withArgs: PlanSpec['payload'] = {
  runners: [
    {
      name: 'default',
      size: 1,
      template: { spec: { containers: [{ name: 'ome-container', image: 'v2', args: ['--new'] }] } },
    },
  ],
};
const runners = gang(1);
const gangSpec = { runners, payload: payload('v2', runners) };
const gangRow = readyRow(0, 'v1', {}, runners);

describe('the mechanism of an update', () => {
  it.each<[Strategy, Mechanism]>([
    ['SurgeThenDrain', { by: 'surge' }],
    ['RecreatePod', { by: 'recreate' }],
    ['InPlaceIfPossible', { by: 'inPlace', stays: false }],
    ['InPlaceOnly', { by: 'inPlace', stays: false }],
  ])('of a single pod by %s', (type, wanted) => {
    expect(moves(type, readyRow(0), [pod()])).toEqual(wanted);
  });

  it.each<[Strategy, Mechanism]>([
    ['SurgeThenDrain', { by: 'gangSurge' }],
    ['RecreatePod', { by: 'recreate' }],
    ['InPlaceIfPossible', { by: 'recreate' }],
    ['InPlaceOnly', { by: 'recreate' }],
  ])('of a gang by %s [E38]', (type, wanted) => {
    expect(moves(type, gangRow, gangPods(0, 1, 'serving'), { spec: gangSpec })).toEqual(wanted);
  });

  it('of a single pod that becomes a gang is that of a gang', () => {
    const single = readyRow(0, 'v1');
    expect(moves('SurgeThenDrain', single, [pod()], { spec: gangSpec })).toEqual({ by: 'gangSurge' });
    expect(moves('InPlaceOnly', single, [pod()], { spec: gangSpec })).toEqual({ by: 'recreate' });
  });
});

describe('a change that a running pod can not follow', () => {
  const spec = { payload: withArgs };

  it('is made by a recreate where that is allowed, and refused where it is not [E38] [E39]', () => {
    expect(moves('InPlaceIfPossible', readyRow(0), [pod()], { spec })).toEqual({ by: 'recreate' });
    expect(moves('InPlaceOnly', readyRow(0), [pod()], { spec })).toEqual({
      by: 'none',
      refusal: 'InPlaceOnly strategy but diff exceeds container images',
    });
  });

  it('is no matter where no pod runs: there is nothing that the user wants kept', () => {
    const failed = failedRow(0, 'v1', 'v2');
    expect(moves('InPlaceOnly', failed, [pod({ health: 'failed' })], { spec })).toEqual({ by: 'recreate' });
    expect(moves('InPlaceOnly', failed, [], { spec })).toEqual({ by: 'recreate' });
  });

  it('is one for which the revision that the pod was made from is not stored any more', () => {
    expect(moves('InPlaceIfPossible', readyRow(0), [pod()], { olderImages: ['v2'] })).toEqual({ by: 'recreate' });
  });
});

function byInPlace(pods: readonly PodView[], row: InstanceRow = readyRow(0)): Mechanism {
  return moves('InPlaceIfPossible', row, pods);
}

describe('an update in place', () => {
  it('leaves the pod in rotation when it has the images already', () => {
    expect(byInPlace([pod({ over: { containers: patched().containers } })])).toEqual({ by: 'inPlace', stays: true });
    expect(byInPlace([patched()], parkedRow(0))).toEqual({ by: 'inPlace', stays: true });
  });

  it('does not when somebody else has changed an image that both revisions agree on [E33]', () => {
    const drifted = patched({ wanted: 'mine' });
    expect(byInPlace([drifted])).toEqual({ by: 'inPlace', stays: false });
  });

  it('goes by what its pod says it is, not by what its row says [B86]', () => {
    expect(byInPlace([pod()], readyRow(0, 'v0'))).toEqual({ by: 'inPlace', stays: false });
    expect(byInPlace([pod({ over: { revisionHash: '' } })])).toEqual({ by: 'inPlace', stays: false });
    expect(byInPlace([pod({ over: { revisionHash: 'ffffffff' } })])).toEqual({ by: 'recreate' });
  });
});

describe('a surge of an Instance that is broken for good', () => {
  const crashing = pod({ health: 'crashLoop', now: noon });

  it('is a recreate: a second pod beside it would only take room that its replacement needs [B01] [B06] [B12]', () => {
    expect(moves('SurgeThenDrain', readyRow(0), [crashing])).toEqual({ by: 'recreate' });
  });

  it.each<[string, readonly PodView[], WorldOptions]>([
    ['it may come right: its grace is not over', [pod({ health: 'crashLoop', now: noon + 41 })], {}],
    ['it is dark and not stuck', [pod({ health: 'starting' })], {}],
    ['it serves all the same', [{ ...crashing, ready: true, gate: { state: 'true' } }], {}],
    ['the operator has set no grace', [crashing], { config: {} }],
  ])('stays a surge while %s', (_, pods, options) => {
    expect(moves('SurgeThenDrain', readyRow(0), pods, options)).toEqual({ by: 'surge' });
  });
});
