import { describe, expect, it } from '@jest/globals';
import { paragraph, ranges, table } from './table.js';
import { ago, span, until } from './time-words.js';

describe('words for people', () => {
  it.each([
    [0, '0s'],
    [59, '59s'],
    [60, '1m'],
    [250, '4m10s'],
    [3600, '1h'],
    [11_100, '3h5m'],
    [187_200, '2d4h'],
    [-5, '0s'],
  ])('%d seconds are %s', (seconds, text) => {
    expect(span(seconds)).toBe(text);
  });

  it('name moments by their distance', () => {
    expect([until(110, 100), until(100, 100), ago(40, 100), ago(100, 100)]).toEqual([
      'in 10s',
      'now',
      '1m ago',
      'just now',
    ]);
  });

  it.each([
    [[], ''],
    [[3], '3'],
    [[0, 1, 2, 7, 9, 8], '0-2,7-9'],
  ])('the numbers %j are %j', (numbers, text) => {
    expect(ranges(numbers)).toBe(text);
  });

  it('stand in columns', () => {
    expect(
      table(
        ['A', 'LONG'],
        [
          ['12345', ''],
          ['1', 'x'],
        ],
      ),
    ).toEqual(['A       LONG', '12345   -', '1       x']);
    expect(table(['A'], [])).toEqual([]);
  });

  it('stand in lines', () => {
    expect(paragraph('one two three', 2, 9)).toEqual(['  one two', '  three']);
  });
});
