import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { LineSplitter } from './line-splitter.js';

function split(chunks: readonly Buffer[]): { readonly lines: string[]; readonly isMidLine: boolean } {
  const splitter = new LineSplitter();
  const lines: string[] = [];
  for (const chunk of chunks) splitter.push(chunk, (line) => lines.push(line));
  return { lines, isMidLine: splitter.isMidLine };
}

describe('LineSplitter', () => {
  it('gives the same lines however the bytes are cut', () => {
    const line = fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\n', ''));
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat(40)), (lines, cuts) => {
        const bytes = Buffer.from(lines.map((text) => `${text}\n`).join(''));
        const chunks: Buffer[] = [];
        let at = 0;
        for (const cut of cuts) {
          chunks.push(bytes.subarray(at, at + cut));
          at += cut;
        }
        chunks.push(bytes.subarray(at));
        expect(split(chunks)).toEqual({ lines, isMidLine: false });
      }),
    );
  });

  it('says when the stream ends within a line', () => {
    expect(split([Buffer.from('a\nb')])).toEqual({ lines: ['a'], isMidLine: true });
    expect(split([Buffer.from('a\n')])).toEqual({ lines: ['a'], isMidLine: false });
  });

  it('joins a line of many megabytes', () => {
    const chunk = Buffer.alloc(64 * 1024, 'x');
    const { lines } = split([...Array.from({ length: 512 }, () => chunk), Buffer.from('\n')]);
    expect(lines.map((line) => line.length)).toEqual([512 * 64 * 1024]);
  });
});
