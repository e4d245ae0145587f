import { describe, expect, it } from '@jest/globals';
import { plan } from './plan.js';
import type { Snapshot } from './snapshot.js';
import { noon, payload, pod, readyRow, revisionOf, world } from './testing/world.js';

const persisted = (snapshot: Snapshot): Snapshot => ({
  ...snapshot,
  status: plan(snapshot).status ?? snapshot.status,
});
const told = (snapshot: Snapshot): readonly string[] =>
  plan(snapshot)
    .events.filter((event) => event.reason === 'RolloutHeld')
    .map((event) => event.text);

/** The holds of a pause over an Instance of v1 when the spec has this image. */
function paused(image: string) {
  const spec = { payload: payload(image), pause: 'recover' as const };
  return plan(world({ spec, rows: [readyRow(0)], pods: [pod()] })).holds.filter(({ is }) => is === 'Paused');
}

describe('a rollout that stands still', () => {
  const closed = world({
    spec: {
      payload: payload('v2'),
      update: { type: 'SurgeThenDrain', partition: 0, maxSurge: 0, inPlace: 'markNotReady' },
    },
    rows: [readyRow(0)],
    pods: [pod({ index: 0 })],
  });

  it('because it is paused says how many wait, and nothing when none does', () => {
    expect(paused('v2')).toMatchObject([{ text: expect.stringContaining('1 Instance(s) wait for the rollout') }]);
    expect(paused('v1')).toEqual([]);
  });

  it('is said once, in the words of its hold [A5] [B02]', () => {
    expect(told(closed)).toEqual([
      'InferenceReplica prod/chat-engine component=engine: Budget: per-Component surge budget 0 exhausted (would become 1)',
    ]);
    expect(persisted(closed).status.rolloutHold).toMatchObject({ gate: 'Budget', since: closed.now });
    expect(told(persisted(closed))).toEqual([]);
  });

  it.each([
    ['a Warning when nothing is under way that could free it', [], 'Warning'],
    [
      'news while a pod that it counts is on its way out',
      [pod({ index: 1, over: { deletionAt: noon + 5 } })],
      'Normal',
    ],
  ])('is %s', (_, others, type) => {
    const held = { ...closed, pods: new Map([...closed.pods, [1, others]]) };
    expect(plan(held).events.find(({ reason }) => reason === 'RolloutHeld')).toMatchObject({ type });
  });

  it('keeps the time since when it stands while gate and target stay [E165]', () => {
    const later = { ...persisted(closed), now: closed.now + 90 };
    expect(persisted(later).status.rolloutHold).toMatchObject({ since: closed.now });
  });

  it('names what the API server says to the pods of its target', () => {
    const held = world({
      spec: { payload: payload('v2') },
      rows: [readyRow(0)],
      pods: [pod()],
      templateCheck: { of: revisionOf('v2'), is: 'refused', message: 'spec.x: Invalid' },
    });
    expect(told(held)).toEqual([
      `InferenceReplica prod/chat-engine component=engine: Plan: the API server refuses the pods of ${revisionOf('v2')}: spec.x: Invalid`,
    ]);
    expect(plan(held).chains).toEqual([]);
  });
});
