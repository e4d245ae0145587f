import { describe, expect, it } from '@jest/globals';
import type { EventIntent } from './effects.js';
import { aggregated, announce, sayInstance, sayReplica, unreadableGates } from './say.js';
import { pod, readyRow, world } from './testing/world.js';

const event = (type: EventIntent['type'], reason: string, index: number): EventIntent =>
  sayInstance(world(), type, reason, index, 'op-1', 'it happened');

describe('an Event', () => {
  it('about an Instance names component and Instance, and is told apart by its operation', () => {
    expect(event('Warning', 'InstanceFailed', 3)).toEqual({
      type: 'Warning',
      reason: 'InstanceFailed',
      episode: '3/op-1',
      text: 'OMENative component=engine instance=3: it happened',
    });
  });

  it('about a replica names it', () => {
    expect(sayReplica(world(), 'Normal', 'Any', 'e', 'it happened').text).toBe(
      'InferenceReplica prod/chat-engine component=engine: it happened',
    );
  });
});

const many = (type: EventIntent['type'], count: number): readonly EventIntent[] =>
  Array.from({ length: count }, (_, index) => event(type, 'Something', index));

describe('a mass of Events', () => {
  it('of one kind is said in one, when it is more than ten', () => {
    expect(aggregated(world(), many('Normal', 10))).toHaveLength(10);
    const [one, ...others] = aggregated(world(), many('Normal', 11));
    expect(others).toEqual([]);
    expect(one?.text).toContain('11 Instances at once');
  });

  it('is said one by one when they are Warnings', () => {
    expect(aggregated(world(), many('Warning', 11))).toHaveLength(11);
  });

  it('does not hide what is said of something else', () => {
    const other = event('Normal', 'Other', 1);
    expect(aggregated(world(), [...many('Normal', 11), other])).toContain(other);
  });
});

describe('what was announced', () => {
  it('is noted once', () => {
    const row = readyRow(0, 'v1', { announced: ['A@1'] });
    expect(announce(row, 'A@1')).toBe(row.announced);
    expect(announce(row, 'B@1')).toEqual(['A@1', 'B@1']);
  });
});

describe('a gate that nobody can read', () => {
  it('is named, with the way out', () => {
    const broken = pod({ gate: { state: 'malformed', message: '?' } });
    expect(unreadableGates([pod({ index: 1 }), broken])).toBe(
      '; condition ome.io/serving of chat-engine-0-default-0 lists no holds that can be read, so it is not touched: set its message to [] or delete the pod',
    );
    expect(unreadableGates([pod()])).toBe('');
  });
});
