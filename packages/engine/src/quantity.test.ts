import { describe, expect, it } from '@jest/globals';
import { quantityInNanos } from './quantity.js';

describe('quantityInNanos', () => {
  it.each([
    ['1', '1000m', 1, '1e0', '1.0', '+1', '1000000000n', '1000000u', '.001k'],
    ['1Gi', '1024Mi', '1048576Ki', 1_073_741_824],
    ['1500m', 1.5, '1.5', '15e-1', '1.5E0'],
    ['2k', '2e3', '2E3', 2000],
    ['1E', '1000P', '1e18'],
    ['0', 0, '0Gi', '0m'],
    ['0.1Ki', '102.4'],
  ])('takes %j and its like for the same', (...written) => {
    expect(new Set(written.map(quantityInNanos)).size).toBe(1);
    expect(quantityInNanos(written[0])).toBeDefined();
  });

  it('tells amounts apart', () => {
    const amounts = ['1', '1m', '1k', '1Ki', '1M', '-1', '1n', '2'].map(quantityInNanos);
    expect(new Set(amounts).size).toBe(amounts.length);
  });

  it('rounds up what is smaller than can be said', () => {
    expect(quantityInNanos('0.0000000001')).toBe(1n);
  });

  it.each([undefined, null, {}, '', '.', 'Gi', '1X', '1 Gi', 'one', '1e99'])('does not take %j for one', (value) => {
    expect(quantityInNanos(value)).toBeUndefined();
  });
});
