import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { arbitraryStatus, columnarWire } from '../testing/index.js';
import { decodeStatus } from './decode.js';
import { encodeAs } from './encode.js';
import { emptyStatus, type InstanceRow, newRowBase } from './rows.js';

type WireObject = Readonly<Record<string, unknown>>;

/** Statuses whose rows have nothing that this version does not know. */
const known = arbitraryStatus.map((status) => ({
  ...status,
  rows: new Map([...status.rows].map(([index, row]) => [index, { ...row, carry: {} }])),
}));

function columns(rows: readonly InstanceRow[]): unknown {
  const status = {
    ...emptyStatus,
    rows: new Map(rows.map((row) => [row.index, row])),
    order: rows.map((r) => r.index),
  };
  return (encodeAs(status, 'ColumnarV2').status as WireObject)['instanceStatusColumns'];
}

function ready(index: number, more: Partial<InstanceRow> = {}): InstanceRow {
  return { ...newRowBase(index), kind: 'ready', ...more } as InstanceRow;
}

describe('columns as they are written', () => {
  it('say what a plain writer says of the dense rows', () => {
    fc.assert(
      fc.property(known, (status) => {
        const plain = columnarWire(encodeAs(status, 'DenseV1').status as WireObject);
        expect(encodeAs(status, 'ColumnarV2').status).toEqual(plain);
      }),
      { numRuns: 300 },
    );
  });

  it('are the same bytes whatever order the rows were put into memory', () => {
    fc.assert(
      fc.property(known, (status) => {
        const turned = { ...status, rows: new Map([...status.rows].toReversed()) };
        const text = JSON.stringify(encodeAs(status, 'ColumnarV2').status);
        expect(JSON.stringify(encodeAs(turned, 'ColumnarV2').status)).toBe(text);
      }),
    );
  });

  it('group rows alike, in the order of the values, and leave out what is absent, zero or empty', () => {
    const published = { pods: 2, serving: 1, available: 0, admitted: true };
    const rows = [
      ready(0, { running: 'b', published }),
      ready(1, { running: 'b', published }),
      ready(2, { running: 'a', incarnation: -3 }),
      { ...newRowBase(5), kind: 'pending', activeOrdinal: 1, incarnation: 0 } as InstanceRow,
    ];
    expect(columns(rows)).toEqual({
      members: '0-2,5',
      phases: [
        { value: 'Pending', indexes: '5' },
        { value: 'Ready', indexes: '0-2' },
      ],
      runningRevisions: [
        { value: 'a', indexes: '2' },
        { value: 'b', indexes: '0-1' },
      ],
      incarnations: [
        { value: -3, indexes: '2' },
        { value: 1, indexes: '0-1' },
      ],
      podCounts: [{ value: 2, indexes: '0-1' }],
      servingPodCounts: [{ value: 1, indexes: '0-1' }],
      admitted: '0-1',
      activeOrdinalOne: '5',
    });
  });

  it('order revisions by their bytes, not by their UTF-16 units', () => {
    const rows = [ready(0, { running: '\u{1F600}' }), ready(1, { running: '\uFF5E' })];
    expect(columns(rows)).toMatchObject({
      runningRevisions: [
        { value: '\uFF5E', indexes: '1' },
        { value: '\u{1F600}', indexes: '0' },
      ],
    });
  });

  it('name the order of the rows only when it does not ascend', () => {
    expect(columns([ready(4), ready(2)])).toMatchObject({ members: '2,4', rowOrder: [4, 2] });
    expect(columns([ready(2), ready(4)])).not.toHaveProperty('rowOrder');
  });

  it('keep the operation of a foreign row, and a record of a newer version, in the entry of the row', () => {
    const operation = { id: 'x', type: 'Scale', step: 'WaitForTomorrow', extra: [null] };
    const instanceStatuses = [{ index: 3, phase: 'Ready', operation, futureRecord: { a: [] } }];
    const read = decodeStatus({ instanceStatuses });
    const written = read.ok ? encodeAs(read.status, 'ColumnarV2').status : undefined;
    expect(written).toMatchObject({
      instanceStatusColumns: { entries: [{ index: 3, operation, futureRecord: { a: [] } }] },
    });
    const again = decodeStatus(written);
    expect(again.ok && encodeAs(again.status, 'DenseV1').status).toMatchObject({ instanceStatuses });
  });

  it.each<[string, object]>([
    ['a negative index', { index: -1 }],
    ['a negative count', { index: 1, podCount: -1 }],
    ['a negative count of serving pods', { index: 1, servingPodCount: -1 }],
    ['a negative count of available pods', { index: 1, availablePodCount: -1 }],
  ])('are not written for %s, which they can not say', (_, change) => {
    const read = decodeStatus({ instanceStatuses: [{ phase: 'Ready', ...change }] });
    expect(read.ok && encodeAs(read.status, 'ColumnarV2')).toMatchObject({
      encoding: 'DenseV1',
      status: { instanceStatuses: [{ phase: 'Ready', ...change }] },
    });
  });
});
