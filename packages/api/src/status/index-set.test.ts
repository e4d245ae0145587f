import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { countIndexes, parseIndexSet, printIndexSet } from './index-set.js';

const indexes = fc.uniqueArray(fc.oneof(fc.nat(30), fc.nat(2_147_483_647)), { minLength: 1, maxLength: 20 });

/** All indexes of a set's text. */
function members(text: string): readonly number[] {
  const parsed = parseIndexSet(text);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed.ranges.flatMap(({ first, last }) => Array.from({ length: last - first + 1 }, (_, i) => first + i));
}

describe('index sets', () => {
  it('keep their members through text', () => {
    fc.assert(
      fc.property(indexes, (set) => {
        expect(members(printIndexSet(set))).toEqual(set.toSorted((a, b) => a - b));
      }),
    );
  });

  it('have one text only: what is read prints as it was', () => {
    const loose = fc
      .array(fc.tuple(fc.nat(12), fc.nat(12)), { minLength: 1, maxLength: 4 })
      .map((terms) => terms.map(([a, b]) => (b === 0 ? `${a}` : `${a}-${b}`)).join(','));
    fc.assert(
      fc.property(loose, (text) => {
        fc.pre(parseIndexSet(text).ok);
        expect(printIndexSet(members(text))).toBe(text);
      }),
      { numRuns: 500 },
    );
  });

  it('print repeats once and none as nothing', () => {
    expect(printIndexSet([5, 1, 0, 1, 2])).toBe('0-2,5');
    expect(printIndexSet([])).toBe('');
  });

  it('count without listing', () => {
    const parsed = parseIndexSet('0-2147483647');
    expect(parsed.ok && countIndexes(parsed.ranges)).toBe(2_147_483_648);
  });

  it.each([
    ['', 'range_syntax'],
    ['1,', 'range_syntax'],
    [',1', 'range_syntax'],
    ['1,,2', 'range_syntax'],
    ['01', 'range_syntax'],
    ['-1', 'range_syntax'],
    ['+1', 'range_syntax'],
    ['1 ', 'range_syntax'],
    ['1-', 'range_syntax'],
    ['1-2-3', 'range_syntax'],
    ['0x1', 'range_syntax'],
    ['1e3', 'range_syntax'],
    ['1\n', 'range_syntax'],
    ['2-1', 'range_order'],
    ['2-2', 'range_order'],
    ['3,1', 'range_order'],
    ['3,3', 'range_order'],
    ['1-5,4', 'range_order'],
    ['0-1,2', 'canonical_order'],
    ['3,4', 'canonical_order'],
    ['2147483648', 'range_overflow'],
    ['1-99999999999999999999', 'range_overflow'],
  ])('refuse "%s" as %s', (text, reason) => {
    expect(parseIndexSet(text)).toMatchObject({ ok: false, reason });
  });
});
