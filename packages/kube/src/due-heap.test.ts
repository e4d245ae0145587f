import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { DueHeap } from './due-heap.js';

describe('DueHeap', () => {
  it('gives back in the order of time, and of equal times in the order of arrival', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20)), (times) => {
        const heap = new DueHeap();
        for (const [i, atMs] of times.entries()) heap.push(atMs, String(i));
        const popped: string[] = [];
        for (let key = heap.popDue(20); key !== undefined; key = heap.popDue(20)) popped.push(key);
        const sorted = times.map((atMs, i) => ({ atMs, i })).toSorted((a, b) => a.atMs - b.atMs || a.i - b.i);
        expect(popped).toEqual(sorted.map(({ i }) => String(i)));
        expect(heap.size).toBe(0);
      }),
    );
  });

  it('keeps what is not due', () => {
    const heap = new DueHeap();
    heap.push(5, 'a');
    heap.push(3, 'b');
    expect(heap.nextAtMs()).toBe(3);
    expect(heap.popDue(4)).toBe('b');
    expect(heap.popDue(4)).toBeUndefined();
    expect(heap.nextAtMs()).toBe(5);
  });
});
