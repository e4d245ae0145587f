import { describe, expect, it } from '@jest/globals';
import { charged, fits, resolveBudget, selectPrefix } from './budgets.js';

describe('resolveBudget', () => {
  it.each([
    [undefined, 4, undefined],
    [0, 4, 0],
    [2, 4, 2],
    [9, 4, 9],
    [-3, 4, 0],
    ['0%', 4, 0],
    ['1%', 1, 1],
    ['25%', 4, 1],
    ['25%', 5, 2],
    ['100%', 3, 3],
    ['250%', 3, 3],
    ['-10%', 3, 0],
  ])(
    'resolves %p of %p Instances to %p: percentages round up, stop at 100 and never go below none [E150] [B02]',
    (value, total, result) => {
      expect(resolveBudget(value, total)).toBe(result);
    },
  );

  it('lets text that is no percentage allow nothing, rather than everything', () => {
    expect(resolveBudget('many', 4)).toBe(0);
  });
});

describe('a ledger', () => {
  it('takes starts until its limit is reached', () => {
    const ledger = charged({ limit: 2, used: 0 }, 1);
    expect(fits(ledger, 1)).toBe(true);
    expect(fits(charged(ledger, 1), 1)).toBe(false);
  });

  it('takes everything without a limit [E150]', () => {
    expect(fits({ limit: undefined, used: 1000 }, 1000)).toBe(true);
  });
});

const select = (costs: readonly number[], limit: number | undefined, used = 0): readonly number[] =>
  selectPrefix(costs, (cost) => cost, { limit, used });

describe('selectPrefix', () => {
  it.each<[string, readonly number[], number | undefined, readonly number[]]>([
    ['everything without a limit', [8, 8, 8], undefined, [8, 8, 8]],
    ['an exact fit', [2, 3], 5, [2, 3]],
    ['nothing at a limit of 0, not even one that is too large', [8, 1], 0, []],
    ['nothing of nothing', [], 5, []],
  ])('selects %s [E3]', (_, costs, limit, selected) => {
    expect(select(costs, limit)).toEqual(selected);
  });

  it('lets the first one exceed the limit, and then go alone [E4]', () => {
    expect(select([8, 1], 5)).toEqual([8]);
  });

  it('lets nothing exceed the limit while something else is in flight [E4]', () => {
    expect(select([8], 5, 1)).toEqual([]);
  });

  it('ends at the first that does not fit, so that small ones never starve a large one [E4]', () => {
    expect(select([2, 8, 1], 5)).toEqual([2]);
  });
});
