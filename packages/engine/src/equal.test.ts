import { describe, expect, it } from '@jest/globals';
import { isEqual } from './equal.js';

describe('isEqual', () => {
  it.each<[unknown, unknown]>([
    [1, 1],
    [Number.NaN, Number.NaN],
    ['a', 'a'],
    [
      [1, { a: 2 }],
      [1, { a: 2 }],
    ],
    [{ a: 1, b: undefined }, { a: 1 }],
    [new Map([[1, { a: 1 }]]), new Map([[1, { a: 1 }]])],
  ])('holds %p and %p for the same', (a, b) => {
    expect(isEqual(a, b)).toBe(true);
    expect(isEqual(b, a)).toBe(true);
  });

  it.each<[unknown, unknown]>([
    [1, '1'],
    [null, {}],
    [undefined, null],
    [
      [1, 2],
      [2, 1],
    ],
    [[1], [1, undefined]],
    [[], {}],
    [{ a: 1 }, { a: 1, b: 2 }],
    [new Map([[1, 1]]), new Map([[2, 1]])],
    [new Map([[1, 1]]), new Map([[1, 2]])],
    [new Map([[1, undefined]]), new Map([[2, undefined]])],
  ])('tells %p from %p', (a, b) => {
    expect(isEqual(a, b)).toBe(false);
    expect(isEqual(b, a)).toBe(false);
  });
});
