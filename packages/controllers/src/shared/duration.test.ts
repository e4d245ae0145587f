import { describe, expect, it } from '@jest/globals';
import { parseDurationMs } from './duration.js';

describe('parseDurationMs', () => {
  it.each([
    ['0', 0],
    ['0s', 0],
    ['30m', 1_800_000],
    ['1h2m3.5s', 3_723_500],
    ['1.5h', 5_400_000],
    ['.5s', 500],
    ['250ms', 250],
    ['-2s', -2000],
    ['+2s', 2000],
    ['1µs', 0.001],
    ['2us', 0.002],
  ])('reads %s', (text, ms) => {
    expect(parseDurationMs(text)).toBeCloseTo(ms, 9);
  });

  it.each(['', '30', '1h30', 's', '1 s', '1d', '--1s', '1s ', 'x1s', '.s'])('refuses %j', (text) => {
    expect(parseDurationMs(text)).toBeUndefined();
  });
});
