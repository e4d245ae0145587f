import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { compareResourceVersions, isNewer, newest } from './resource-version.js';

describe('resourceVersion order', () => {
  it.each([
    ['10', '9', true],
    ['9', '10', false],
    ['7', '7', false],
    ['1', '', true],
    ['', '', false],
    ['18446744073709551616', '18446744073709551615', true],
  ])('isNewer(%s, %s) is %s', (a, b, expected) => {
    expect(isNewer(a, b)).toBe(expected);
  });

  it('agrees with the order of the numbers', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 80n }), fc.bigInt({ min: 0n, max: 2n ** 80n }), (a, b) => {
        expect(Math.sign(compareResourceVersions(`${a}`, `${b}`))).toBe(a < b ? -1 : a > b ? 1 : 0);
        expect(newest(`${a}`, `${b}`)).toBe(a > b ? `${a}` : `${b}`);
      }),
    );
  });
});
