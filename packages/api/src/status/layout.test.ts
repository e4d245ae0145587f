import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { arbitraryStatus } from '../testing/index.js';
import { decodeStatus } from './decode.js';
import { encodeAs, encodeStatus } from './encode.js';
import { chosenEncoding, defaultEncodeOptions, type EncodeOptions } from './layout.js';
import { type DecodedStatus, emptyStatus, type InstanceRow, newRowBase } from './rows.js';

const columnar: EncodeOptions = { encoding: 'ColumnarV2', maxDecodedInstances: 20_000 };
const dense: EncodeOptions = { encoding: 'DenseV1', maxDecodedInstances: 20_000 };

const bytes = (wire: unknown): number => Buffer.byteLength(JSON.stringify(wire));

function statusOf(rows: readonly InstanceRow[]): DecodedStatus {
  return { ...emptyStatus, rows: new Map(rows.map((row) => [row.index, row])), order: rows.map((row) => row.index) };
}

function readyRows(count: number): readonly InstanceRow[] {
  return Array.from({ length: count }, (_, index) => ({ ...newRowBase(index), kind: 'ready', running: 'r-0a1b2c3d' }));
}

/** Two rows whose columns take `more` bytes more than the rows one by one, by the length of a text that only columns repeat. */
function tiedRows(more: number): DecodedStatus {
  const [first, second] = readyRows(2);
  if (first === undefined || second === undefined) throw new Error('two rows');
  const build = (length: number): DecodedStatus =>
    statusOf([
      { ...first, running: 'r'.repeat(length) },
      { ...second, running: 'r'.repeat(length) },
    ]);
  for (let length = 1; length < 500; length += 1) {
    const status = build(length);
    const difference = bytes(encodeAs(status, 'ColumnarV2').status) - bytes(encodeAs(status, 'DenseV1').status);
    if (difference === more) return status;
  }
  throw new Error('no such length');
}

describe('the encoding that is written', () => {
  it('is ColumnarV2 only where that is strictly smaller, with all of the status written out [E188]', () => {
    fc.assert(
      fc.property(arbitraryStatus, (status) => {
        const known = { ...status, rows: new Map([...status.rows].map(([i, row]) => [i, { ...row, carry: {} }])) };
        const asColumns = encodeAs(known, 'ColumnarV2');
        const asRows = encodeAs(known, 'DenseV1');
        const isSmaller = bytes(asColumns.status) < bytes(asRows.status);
        expect(encodeStatus(known, columnar)).toEqual(isSmaller ? asColumns : asRows);
      }),
      { numRuns: 300 },
    );
  });

  it('is DenseV1 at a tie, and ColumnarV2 one byte below it [E188]', () => {
    expect(chosenEncoding(tiedRows(0), columnar)).toBe('DenseV1');
    expect(chosenEncoding(tiedRows(1), columnar)).toBe('DenseV1');
    expect(chosenEncoding(tiedRows(-1), columnar)).toBe('ColumnarV2');
  });

  it('is DenseV1 where the operator asks for it, of a status stored as columns too [E182]', () => {
    const status: DecodedStatus = { ...statusOf(readyRows(50)), stored: 'ColumnarV2' };
    expect(chosenEncoding(status, columnar)).toBe('ColumnarV2');
    const written = encodeStatus(status, dense);
    expect(written).toEqual(encodeAs(status, 'DenseV1'));
    expect(written.encoding).toBe('DenseV1');
    expect(written.status).not.toHaveProperty('instanceStatusEncoding');
    expect(decodeStatus(written.status)).toEqual({ ok: true, status: { ...status, stored: 'DenseV1' } });
  });

  it('is DenseV1 for more rows than columns may name', () => {
    const status = statusOf(readyRows(50));
    expect(chosenEncoding(status, { ...columnar, maxDecodedInstances: 50 })).toBe('ColumnarV2');
    expect(chosenEncoding(status, { ...columnar, maxDecodedInstances: 49 })).toBe('DenseV1');
    expect(chosenEncoding(status, { ...columnar, maxDecodedInstances: 0 })).toBe('DenseV1');
  });

  it('is DenseV1 without rows: columns can not say none', () => {
    expect(encodeStatus(emptyStatus, columnar).encoding).toBe('DenseV1');
  });

  it('is the one of the chart where nothing is said', () => {
    expect(defaultEncodeOptions).toEqual(columnar);
    expect(encodeStatus(statusOf(readyRows(50))).encoding).toBe('ColumnarV2');
  });

  it('stays as it was found where rows have members that this version does not know', () => {
    const rows = readyRows(50).map((row) => ({ ...row, carry: { futureField: 1 } }));
    expect(chosenEncoding({ ...statusOf(rows), stored: 'DenseV1' }, columnar)).toBe('DenseV1');
    const [first] = rows;
    const single = { ...statusOf(first === undefined ? [] : [first]), stored: 'ColumnarV2' } as const;
    expect(chosenEncoding(single, columnar)).toBe('ColumnarV2');
    expect(decodeStatus(encodeStatus(single, columnar).status)).toEqual({ ok: true, status: single });
  });
});
