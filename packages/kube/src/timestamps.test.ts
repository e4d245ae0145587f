import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { formatMicroTime, formatTime, parseTime } from './timestamps.js';

// Years 0001 to 9999, the range of the wire format.
const epochMs = fc.integer({ min: Date.UTC(1, 0, 1) + 60_000_000_000_000, max: Date.UTC(9999, 11, 31) });

describe('timestamps', () => {
  it('agree with the built-in calendar', () => {
    fc.assert(
      fc.property(epochMs, (ms) => {
        expect(formatMicroTime(ms)).toBe(new Date(ms).toISOString().replace('Z', '000Z'));
        expect(formatTime(ms)).toBe(`${new Date(ms).toISOString().slice(0, 19)}Z`);
        expect(parseTime(formatMicroTime(ms))).toBe(ms);
      }),
    );
  });

  it.each([
    ['2024-02-29T12:00:00Z', Date.UTC(2024, 1, 29, 12)],
    ['2026-11-30T18:47:00.123456Z', Date.UTC(2026, 10, 30, 18, 47, 0, 123)],
    ['2026-11-30T18:47:00.5Z', Date.UTC(2026, 10, 30, 18, 47, 0, 500)],
    ['2026-11-30T20:47:00+02:00', Date.UTC(2026, 10, 30, 18, 47)],
    ['2026-11-30T13:17:00-05:30', Date.UTC(2026, 10, 30, 18, 47)],
    ['2026-11-30', undefined],
    ['', undefined],
  ])('reads %s', (text, expected) => {
    expect(parseTime(text)).toBe(expected);
  });
});
