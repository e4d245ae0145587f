import { describe, expect, it } from '@jest/globals';
import { Agenda, type Entry } from './agenda.js';
import { equal, freeze, wireCopy, withAt } from './json.js';
import { Random } from './random.js';
import { parseRfc3339, rfc3339 } from './time.js';
import { Trace } from './trace.js';

describe('time', () => {
  it.each([
    [0, '1970-01-01T00:00:00Z'],
    [951_782_399_000, '2000-02-28T23:59:59Z'],
    [951_868_799_000, '2000-02-29T23:59:59Z'],
    [1_793_872_800_999, '2026-11-05T10:00:00Z'],
    [4_102_444_800_000, '2100-01-01T00:00:00Z'],
  ])('writes %d as %s and reads it back', (ms, text) => {
    expect(rfc3339(ms)).toBe(text);
    expect(parseRfc3339(text)).toBe(Math.floor(ms / 1000) * 1000);
  });

  it('agrees with the built-in calendar over four centuries', () => {
    for (let day = 0; day < 150_000; day += 37) {
      const ms = day * 86_400_000;
      expect(rfc3339(ms)).toBe(new Date(ms).toISOString().replace('.000Z', 'Z'));
    }
  });

  it('reads offsets and fractions, and nothing else', () => {
    expect(parseRfc3339('2026-11-05T12:00:00.250+02:00')).toBe(1_793_872_800_250);
    expect(parseRfc3339('yesterday')).toBeUndefined();
    expect(parseRfc3339(undefined)).toBeUndefined();
  });
});

function entry(atMs: number, tie: number, seq: number): Entry {
  return { atMs, tie, seq, kind: 'k', args: null };
}

/** The first draws for a seed and a name. */
function draw(seed: number, name: string): readonly number[] {
  const random = Random.seeded(seed, name);
  return [random.next(), random.next(), random.next()];
}

describe('the agenda', () => {
  it('runs by time, then by chance, then by age', () => {
    const agenda = new Agenda();
    for (const one of [entry(5, 1, 1), entry(3, 9, 2), entry(3, 2, 3), entry(3, 2, 4), entry(1, 5, 5)])
      agenda.push(one);
    const order: number[] = [];
    for (let next = agenda.pop(); next !== undefined; next = agenda.pop()) order.push(next.seq);
    expect(order).toEqual([5, 3, 4, 2, 1]);
  });

  it('is unchanged by what happens to a copy', () => {
    const agenda = new Agenda([{ atMs: 1, tie: 0, seq: 1, kind: 'k', args: null }]);
    const copy = new Agenda(agenda.entries());
    copy.pop();
    expect(agenda.peek()?.seq).toBe(1);
    expect(copy.peek()).toBeUndefined();
  });
});

describe('chance', () => {
  it('repeats itself for a seed and a name, and differs between names', () => {
    expect(draw(1, 'a')).toEqual(draw(1, 'a'));
    expect(draw(1, 'a')).not.toEqual(draw(1, 'b'));
    expect(draw(1, 'a')).not.toEqual(draw(2, 'a'));
  });

  it('stays within its span, and reaches both ends', () => {
    const random = Random.seeded(3);
    const seen = new Set(Array.from({ length: 200 }, () => random.within([2, 4])));
    expect([...seen].toSorted((a, b) => a - b)).toEqual([2, 3, 4]);
  });
});

describe('json', () => {
  it('copies as the wire would', () => {
    expect(wireCopy({ a: undefined, b: [undefined, { c: undefined }] })).toEqual({ b: [null, {}] });
  });

  it('compares whatever the order of keys', () => {
    expect(equal({ a: 1, b: [2] }, { b: [2], a: 1 })).toBe(true);
    expect(equal({ a: undefined }, {})).toBe(false);
    expect(equal([1, 2], [2, 1])).toBe(false);
  });

  it('replaces deep inside without touching the original', () => {
    const before = freeze({ spec: { replicas: 1, other: {} } });
    expect(withAt(before, ['spec', 'replicas'], 2)).toEqual({ spec: { replicas: 2, other: {} } });
    expect(withAt(before, ['spec', 'replicas'], undefined)).toEqual({ spec: { other: {} } });
    expect(before.spec.replicas).toBe(1);
  });
});

describe('the trace', () => {
  it('hashes what was said and when, and keeps only the last lines', () => {
    const one = new Trace(2);
    const two = new Trace(2);
    for (const trace of [one, two]) for (let i = 0; i < 9; i += 1) trace.add(i, 'line');
    expect(one.hash()).toBe(two.hash());
    expect(one.lines(9)).toHaveLength(2);
    two.add(9, 'line');
    expect(one.hash()).not.toBe(two.hash());
  });
});
