import { beforeEach, describe, expect, it } from '@jest/globals';
import { Floors } from './floors.js';
import { VirtualRuntime } from './testing/virtual-runtime.js';

describe('Floors', () => {
  let runtime: VirtualRuntime;
  let floors: Floors;

  beforeEach(() => {
    runtime = new VirtualRuntime();
    floors = new Floors(runtime);
  });

  it('keep a unit blind until the stream has passed what was written', () => {
    floors.raise('pods', 'a#0', '100');
    expect(floors.isBlind('pods', 'a#0', '99')).toBe(true);
    expect(floors.isBlind('pods', 'a#0', '100')).toBe(false);
  });

  it('compare versions as numbers', () => {
    floors.raise('pods', 'a#0', '1000');
    expect(floors.isBlind('pods', 'a#0', '999')).toBe(true);
  });

  it('never sink', () => {
    floors.raise('pods', 'a#0', '100');
    floors.raise('pods', 'a#0', '50');
    expect(floors.floor('pods', 'a#0')).toBe('100');
  });

  it('touch one unit and one type only', () => {
    floors.raise('pods', 'a#0', '100');
    expect(floors.isBlind('pods', 'a#1', '1')).toBe(false);
    expect(floors.isBlind('services', 'a#0', '1')).toBe(false);
  });

  it('stay out of the way before the first list', () => {
    expect(floors.isBlind('pods', 'a#0', '')).toBe(false);
    floors.raise('pods', 'a#0', '100');
    expect(floors.isBlind('pods', 'a#0', '')).toBe(true);
  });

  it('keep a unit blind after a write without an answer, wherever the stream is, until a live read', () => {
    floors.markUnknown('pods', 'a#0');
    expect(floors.isUnknown('pods', 'a#0')).toBe(true);
    expect(floors.isBlind('pods', 'a#0', '999999')).toBe(true);
    floors.clearUnknown('pods', 'a#0');
    expect(floors.isBlind('pods', 'a#0', '999999')).toBe(false);
  });

  it('keep what answered writes returned when a live read settles another', () => {
    floors.raise('pods', 'a#0', '100');
    floors.markUnknown('pods', 'a#0');
    floors.clearUnknown('pods', 'a#0');
    expect(floors.isBlind('pods', 'a#0', '99')).toBe(true);
  });

  it('do not wait for ever: beyond patience they ask for a relist or a live read [B30]', async () => {
    floors.raise('pods', 'a#0', '100');
    floors.markUnknown('pods', 'a#1');
    await runtime.advance(9999);
    expect(floors.overdue({ pods: '50' })).toEqual([]);
    await runtime.advance(1);
    expect(floors.overdue({ pods: '50' })).toEqual([
      { why: 'unreached', type: 'pods', unit: 'a#0', resourceVersion: '100', ageMs: 10_000 },
      { why: 'unknown', type: 'pods', unit: 'a#1', resourceVersion: '', ageMs: 10_000 },
    ]);
    expect(floors.overdue({ pods: '100' }).map(({ unit }) => unit)).toEqual(['a#1']);
  });

  it('count patience from the newest write', async () => {
    floors.raise('pods', 'a#0', '100');
    await runtime.advance(9000);
    floors.raise('pods', 'a#0', '200');
    await runtime.advance(9000);
    expect(floors.overdue({})).toEqual([]);
    expect(floors.oldestMs({})).toBe(9000);
  });

  it('tell the age of the oldest [B30]', async () => {
    expect(floors.oldestMs({})).toBeUndefined();
    floors.raise('pods', 'a#0', '100');
    await runtime.advance(500);
    floors.raise('pods', 'a#1', '101');
    await runtime.advance(500);
    expect(floors.oldestMs({ pods: '50' })).toBe(1000);
    expect(floors.oldestMs({ pods: '100' })).toBe(500);
    expect(floors.oldestMs({ pods: '101' })).toBeUndefined();
  });

  it('are forgotten with their unit', () => {
    floors.raise('pods', 'a#0', '100');
    floors.markUnknown('services', 'a#0');
    floors.forget('a#0');
    expect(floors.isBlind('pods', 'a#0', '1')).toBe(false);
    expect(floors.isBlind('services', 'a#0', '1')).toBe(false);
  });
});
