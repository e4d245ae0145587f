import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { arbitraryRow, arbitraryStatus } from '../testing/index.js';
import { encodeStatus } from './codec.js';
import { emptyStatus } from './rows.js';
import { denseRowBytes, estimateDenseBytes } from './size.js';

const bytes = (wire: unknown): number => Buffer.byteLength(JSON.stringify(wire));

describe('the size of a status', () => {
  it('is that of its JSON text, escapes and all', () => {
    fc.assert(
      fc.property(arbitraryStatus, (status) => {
        expect(estimateDenseBytes(status)).toBe(bytes(encodeStatus(status)));
      }),
    );
  });

  it('grows by the size of a row when a row is added', () => {
    fc.assert(
      fc.property(arbitraryRow, arbitraryRow, (first, other) => {
        const second = { ...other, index: first.index === 7 ? 8 : 7 };
        const one = { ...emptyStatus, rows: new Map([[first.index, first]]) };
        const two = { ...one, rows: new Map([...one.rows, [second.index, second]]) };
        expect(estimateDenseBytes(two) - estimateDenseBytes(one)).toBe(denseRowBytes(second));
      }),
    );
  });
});
