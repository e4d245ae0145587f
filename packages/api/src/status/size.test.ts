import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { inferenceReplicaStatus } from '../crds/inference-replica.js';
import type { StructuralSchema } from '../crds/schema.js';
import { arbitraryRow, arbitraryStatus } from '../testing/index.js';
import { encodeAs, encodeStatus } from './encode.js';
import { fieldSetBytes } from './managed-fields.js';
import { rowBytes } from './row-bytes.js';
import { encodeEntry, encodeRow } from './row-codec.js';
import { type DecodedStatus, emptyStatus, type InstanceRow, newRowBase, type StatusEncoding } from './rows.js';
import { estimateStatusBytes, statusBytes } from './size.js';

const encodings: readonly StatusEncoding[] = ['DenseV1', 'ColumnarV2'];
/** Rows in a list with keys, as `instanceStatuses` is. */
const rowList = inferenceReplicaStatus.properties?.['instanceStatuses'] ?? {};
const dense = { encoding: 'DenseV1', maxDecodedInstances: 20_000 } as const;

const bytes = (wire: unknown): number => (wire === undefined ? 0 : Buffer.byteLength(JSON.stringify(wire)));

function statusOf(rows: readonly InstanceRow[]): DecodedStatus {
  return { ...emptyStatus, rows: new Map(rows.map((row) => [row.index, row])), order: rows.map((row) => row.index) };
}

describe('the size of a row', () => {
  it('is that of its JSON text, escapes and all', () => {
    fc.assert(
      fc.property(arbitraryRow, (row) => {
        expect(rowBytes(row)).toMatchObject({ dense: bytes(encodeRow(row)), entry: bytes(encodeEntry(row)) });
      }),
      { numRuns: 300 },
    );
  });

  it('is, in managedFields, that of the fields it has', () => {
    fc.assert(
      fc.property(arbitraryRow, (row) => {
        const fields = fieldSetBytes([encodeRow(row)], rowList) - fieldSetBytes([], rowList);
        expect(rowBytes(row).managed).toBe(fields);
      }),
      { numRuns: 300 },
    );
  });
});

describe('the size of a status', () => {
  it.each(encodings)('is that of its JSON text as %s, for the metric too [E183]', (encoding) => {
    fc.assert(
      fc.property(arbitraryStatus, (status) => {
        const written = encodeAs(status, encoding);
        expect(statusBytes(status, encoding)).toBe(bytes(written.status));
        expect(written.bytes).toBe(bytes(written.status));
      }),
      { numRuns: 300 },
    );
  });
});

function listSchema(type: 'set' | 'map' | 'atomic'): StructuralSchema {
  return {
    type: 'array',
    'x-kubernetes-list-type': type,
    ...(type === 'map' ? { 'x-kubernetes-list-map-keys': ['type'] } : {}),
    items: { type: 'object', properties: { type: { type: 'string' }, status: { type: 'string' } } },
  };
}

describe('the estimate of what is stored', () => {
  it.each<[string, unknown, StructuralSchema, unknown]>([
    ['a value', 'x', { type: 'string' }, {}],
    ['an empty object', {}, { type: 'object', properties: {} }, { '.': {} }],
    [
      'an object, but not its unknown and null members',
      { a: 1, b: null, toString: 2 },
      { type: 'object', properties: { a: {}, b: {} } },
      { '.': {}, 'f:a': {} },
    ],
    ['a set', ['a"b', 'c'], listSchema('set'), { '.': {}, 'v:"a\\"b"': {}, 'v:"c"': {} }],
    ['a list without keys', [{ type: 'Ready' }], listSchema('atomic'), {}],
    [
      'a list with keys',
      [{ type: 'Ready', status: 'True' }],
      listSchema('map'),
      { '.': {}, 'k:{"type":"Ready"}': { '.': {}, 'f:status': {}, 'f:type': {} } },
    ],
  ])('counts the fields of %s as managedFields names them', (_, value, of, fields) => {
    expect(fieldSetBytes(value, of)).toBe(bytes(fields));
  });

  it('counts what managedFields takes for dense rows, and that columns are replaced whole', () => {
    const op = {
      id: 'create-0-1',
      type: 'Create',
      step: 'CreatePods',
      retryCount: 0,
      target: 'r',
      reason: '',
    } as const;
    const rows = Array.from(
      { length: 300 },
      (_, index): InstanceRow => ({
        ...newRowBase(index),
        kind: 'creating',
        op: { ...op, startedAt: 1_796_064_425, lastProgressAt: 1_796_064_425, waiting: '', carry: {} },
      }),
    );
    const status = statusOf(rows);
    const fields = {
      '.': {},
      'f:incarnation': {},
      'f:index': {},
      'f:operation': {
        '.': {},
        'f:id': {},
        'f:lastProgressAt': {},
        'f:startedAt': {},
        'f:step': {},
        'f:targetRevision': {},
        'f:type': {},
      },
      'f:phase': {},
    };
    const added = rows.map(({ index }) => bytes({ [`k:{"index":${index}}`]: fields }) - 1);
    const inRows = estimateStatusBytes(status, dense) - statusBytes(status, 'DenseV1');
    const without = estimateStatusBytes(emptyStatus, dense) - statusBytes(emptyStatus, 'DenseV1');
    const list = bytes({ 'f:instanceStatuses': { '.': {} } }) - 1;
    expect(inRows - without).toBe(added.reduce((sum, one) => sum + one, 0) + list);

    expect(encodeStatus(status).encoding).toBe('ColumnarV2');
    expect(estimateStatusBytes(status) - statusBytes(status, 'ColumnarV2')).toBeLessThan(without + 400);
  });

  it('is not below what is written', () => {
    fc.assert(
      fc.property(arbitraryStatus, (status) => {
        expect(estimateStatusBytes(status)).toBeGreaterThan(encodeStatus(status).bytes);
      }),
    );
  });
});
