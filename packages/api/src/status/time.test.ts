import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { arbitrarySec } from '../testing/index.js';
import { formatTime, parseTime } from './time.js';

describe('parseTime', () => {
  it.each([
    ['1970-01-01T00:00:00Z', 0],
    ['2026-11-30T18:47:05Z', 1_796_064_425],
    ['2026-11-30T18:47:05.999999999Z', 1_796_064_425],
    ['1969-12-31T23:59:59.5Z', -1],
    ['2026-11-30T20:17:05+01:30', 1_796_064_425],
    ['2026-11-30t10:47:05-08:00', 1_796_064_425],
    ['2024-02-29T00:00:00z', 1_709_164_800],
    ['0001-01-01T00:00:00Z', -62_135_596_800],
    ['0099-12-31T00:00:00Z', -59_011_545_600],
    ['9999-12-31T23:59:59Z', 253_402_300_799],
  ])('reads %s', (text, seconds) => {
    expect(parseTime(text)).toBe(seconds);
  });

  it.each([
    '',
    '2026-11-30',
    '2026-11-30T18:47:05',
    '2026-11-30 18:47:05Z',
    '2026-11-30T18:47:05.Z',
    '2026-11-30T18:47:05ZZ',
    '2026-11-30T18:47:05+0130',
    '2026-11-30T18:47:05+24:00',
    '2026-11-30T18:47:05+01:60',
    '2026-11-30T24:00:00Z',
    '2026-11-30T18:60:05Z',
    '2026-11-30T18:47:60Z',
    '2026-13-01T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-04-00T00:00:00Z',
    '2023-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '+2026-11-30T18:47:05Z',
    '2026-11-3٠T18:47:05Z',
    '0000-01-01T00:00:00+00:01',
    'abcd-02-01T00:00:00Z',
  ])('refuses "%s"', (text) => {
    expect(parseTime(text)).toBeUndefined();
  });
});

describe('formatTime', () => {
  it('is undone by parseTime', () => {
    fc.assert(fc.property(arbitrarySec, (seconds) => parseTime(formatTime(seconds)) === seconds));
  });

  it('agrees with the calendar of Date on every day', () => {
    const bound = fc.constantFrom(-62_135_596_800, 253_402_300_799, -62_167_219_200);
    fc.assert(
      fc.property(fc.oneof(arbitrarySec, bound), (seconds) => {
        expect(formatTime(seconds)).toBe(`${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`);
      }),
      { numRuns: 300 },
    );
    for (let year = 0; year <= 9999; year += 1) {
      const firstOfMarch = `${String(year).padStart(4, '0')}-03-01T00:00:00Z`;
      const seconds = Date.parse(firstOfMarch) / 1000;
      for (const day of [-61, -60, -59, -1, 0, 305, 306]) {
        const text = `${new Date((seconds + day * 86_400) * 1000).toISOString().slice(0, 19)}Z`;
        if (text.startsWith('-') || text.startsWith('+')) continue;
        if (formatTime(seconds + day * 86_400) !== text) throw new Error(`${text} is written wrong`);
        if (parseTime(text) !== seconds + day * 86_400) throw new Error(`${text} is read wrong`);
      }
    }
  });

  it('writes UTC with whole seconds', () => {
    expect(formatTime(1_796_064_425)).toBe('2026-11-30T18:47:05Z');
    expect(formatTime(-62_135_596_800)).toBe('0001-01-01T00:00:00Z');
  });

  it.each([0.5, Number.NaN, Number.POSITIVE_INFINITY, 253_402_300_800, -62_167_219_201])('refuses %d', (seconds) => {
    expect(() => formatTime(seconds)).toThrow(RangeError);
  });
});
