import { describe, expect, it } from '@jest/globals';
import { Backoff } from './backoff.js';
import { VirtualRuntime } from './testing/virtual-runtime.js';

describe('Backoff', () => {
  it('grows from the shortest towards the longest pause, scattered, and never leaves that range', () => {
    const pauses: number[][] = [];
    for (let seed = 0; seed < 50; seed++) {
      const backoff = new Backoff(new VirtualRuntime({ seed }), { minMs: 800, maxMs: 30_000 });
      pauses.push(Array.from({ length: 20 }, () => backoff.nextMs()));
    }
    const all = pauses.flat();
    expect(Math.min(...all)).toBeGreaterThanOrEqual(800);
    expect(Math.max(...all)).toBeLessThanOrEqual(30_000);
    const meanOf = (i: number): number => pauses.reduce((sum, of) => sum + (of[i] ?? 0), 0) / pauses.length;
    expect(Math.max(...pauses.map(([first = 0]) => first))).toBeLessThanOrEqual(2400);
    expect(meanOf(3)).toBeGreaterThan(meanOf(0) * 2);
    expect(meanOf(10)).toBeGreaterThan(8000);
    expect(new Set(all).size).toBe(all.length);
  });

  it('starts small again after a reset', () => {
    const backoff = new Backoff(new VirtualRuntime(), { minMs: 800, maxMs: 30_000 });
    for (let i = 0; i < 20; i++) backoff.nextMs();
    backoff.reset();
    expect(backoff.nextMs()).toBeLessThanOrEqual(2400);
  });
});
