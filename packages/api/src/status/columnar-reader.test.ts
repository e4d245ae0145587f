import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { arbitraryStatus, columnarWire } from '../testing/index.js';
import { decodeStatus, defaultMaxDecodedInstances } from './decode.js';
import { encodeAs } from './encode.js';

type WireObject = Readonly<Record<string, unknown>>;

/** Statuses whose rows have nothing that columns can't say. */
const columnar = arbitraryStatus.map((status) => ({
  ...status,
  rows: new Map([...status.rows].map(([index, row]) => [index, { ...row, carry: {} }])),
}));

const base: WireObject = {
  members: '0-3',
  phases: [
    { value: 'Creating', indexes: '3' },
    { value: 'Ready', indexes: '0-2' },
  ],
};

function columns(changes: WireObject, encoding: unknown = 'ColumnarV2'): WireObject {
  return { instanceStatusEncoding: encoding, instanceStatusColumns: { ...base, ...changes } };
}

describe('columnar rows', () => {
  it('are the same rows as dense ones', () => {
    fc.assert(
      fc.property(columnar, (status) => {
        const wire = columnarWire(encodeAs(status, 'DenseV1').status as WireObject);
        const stored = status.rows.size === 0 ? 'DenseV1' : 'ColumnarV2';
        expect(decodeStatus(wire)).toEqual({ ok: true, status: { ...status, stored } });
      }),
      { numRuns: 300 },
    );
  });

  it('are converted to dense ones by the next write', () => {
    const result = decodeStatus(
      columns({
        rowOrder: [3, 0, 1, 2],
        runningRevisions: [{ value: 'r1', indexes: '0-2' }],
        incarnations: [
          { value: -1, indexes: '2' },
          { value: 1, indexes: '0-1,3' },
        ],
        podCounts: [{ value: 2, indexes: '0-1' }],
        admitted: '0-1',
        activeOrdinalOne: '1',
        entries: [{ index: 2, announced: ['a@1'], futureRecord: 1, readySince: null }],
      }),
    );
    expect(result).toMatchObject({ ok: true, status: { stored: 'ColumnarV2' } });
    expect(result.ok && encodeAs(result.status, 'DenseV1').status).toMatchObject({
      instanceStatuses: [
        { index: 3, phase: 'Creating', incarnation: 1 },
        { index: 0, phase: 'Ready', runningRevision: 'r1', incarnation: 1, podCount: 2, admitted: true },
        {
          index: 1,
          phase: 'Ready',
          runningRevision: 'r1',
          incarnation: 1,
          podCount: 2,
          admitted: true,
          activeOrdinal: 1,
        },
        { index: 2, phase: 'Ready', runningRevision: 'r1', incarnation: -1, announced: ['a@1'], futureRecord: 1 },
      ],
    });
    expect(result.ok && encodeAs(result.status, 'DenseV1').status).not.toHaveProperty('instanceStatusEncoding');
  });

  it('are limited in number before any is made', () => {
    const many = { members: '0-2147483647', phases: [{ value: 'Ready', indexes: '0-2147483647' }] };
    expect(decodeStatus(columns(many))).toMatchObject({ ok: false, reason: 'cardinality_limit' });

    const full = { members: '0-19999', phases: [{ value: 'Ready', indexes: '0-19999' }] };
    expect(defaultMaxDecodedInstances).toBe(20_000);
    expect(decodeStatus(columns(full))).toMatchObject({ ok: true });
    expect(decodeStatus(columns(full), { maxDecodedInstances: 19_999 })).toMatchObject({
      ok: false,
      reason: 'cardinality_limit',
      message: 'status.instanceStatusColumns.members names 20000 rows, more than the 19999 allowed',
    });
  });

  it.each<[string, WireObject, string]>([
    ['no members', { members: null }, 'schema'],
    ['a member list that is no text', { members: ['0'] }, 'schema'],
    ['members out of order', { members: '1,0' }, 'range_order'],
    ['members not merged', { members: '0-2,3' }, 'canonical_order'],
    ['members that are no set', { members: '0..3' }, 'range_syntax'],
    ['members beyond int32', { members: '0-3,2147483648' }, 'range_overflow'],
    ['an unknown column', { zones: [{ value: 'a', indexes: '0' }] }, 'schema'],
    ['no phases', { phases: null }, 'coverage'],
    ['an empty column', { podCounts: [] }, 'schema'],
    ['a column that is no list', { podCounts: {} }, 'schema'],
    ['a group that is no object', { podCounts: ['0'] }, 'schema'],
    ['an unknown member of a group', { podCounts: [{ value: 1, indexes: '0', zone: 'a' }] }, 'schema'],
    ['a group without indexes', { podCounts: [{ value: 1 }] }, 'schema'],
    [
      'more groups than rows',
      { podCounts: [1, 2, 3, 4, 5].map((value) => ({ value, indexes: '0' })) },
      'cardinality_limit',
    ],
    ['a row without a phase', { phases: [{ value: 'Ready', indexes: '0-2' }] }, 'coverage'],
    ['a phase nobody knows', { phases: [{ value: 'Running', indexes: '0-3' }] }, 'value_domain'],
    ['an index in two groups', { podCounts: [1, 2].map((value) => ({ value, indexes: '0' })) }, 'coverage'],
    ['a group beyond the members', { podCounts: [{ value: 1, indexes: '3-4' }] }, 'coverage'],
    ['a group far beyond the members', { podCounts: [{ value: 1, indexes: '9-2147483647' }] }, 'coverage'],
    [
      'groups not ordered by number',
      { podCounts: [10, 9].map((value, i) => ({ value, indexes: `${i}` })) },
      'canonical_order',
    ],
    [
      'one value in two groups',
      { podCounts: [1, 1].map((value, i) => ({ value, indexes: `${i}` })) },
      'canonical_order',
    ],
    [
      'groups not ordered by bytes',
      { runningRevisions: ['\u{1F600}', '\uFF5E'].map((value, i) => ({ value, indexes: `${i}` })) },
      'canonical_order',
    ],
    ['a revision that is empty', { targetRevisions: [{ value: '', indexes: '0' }] }, 'value_domain'],
    ['a revision that is missing', { targetRevisions: [{ indexes: '0' }] }, 'schema'],
    ['a count of 0', { servingPodCounts: [{ value: 0, indexes: '0' }] }, 'value_domain'],
    ['a count below 0', { availablePodCounts: [{ value: -1, indexes: '0' }] }, 'value_domain'],
    ['a count beyond int32', { podCounts: [{ value: 2147483648, indexes: '0' }] }, 'value_domain'],
    ['an incarnation of 0', { incarnations: [{ value: 0, indexes: '0' }] }, 'value_domain'],
    ['an incarnation that JSON rounded', { incarnations: [{ value: 2 ** 53, indexes: '0' }] }, 'value_domain'],
    ['an admitted index that is no member', { admitted: '0-4' }, 'coverage'],
    ['an empty admitted set', { admitted: '' }, 'schema'],
    ['an ordinal of an index that is no member', { activeOrdinalOne: '4' }, 'coverage'],
    ['an order that ascends', { rowOrder: [0, 1, 2, 3] }, 'canonical_order'],
    ['an order that lacks a row', { rowOrder: [3, 0, 1] }, 'coverage'],
    ['an order that repeats a row', { rowOrder: [3, 0, 1, 1] }, 'coverage'],
    ['an order that names a stranger', { rowOrder: [4, 0, 1, 2] }, 'coverage'],
    ['an order of texts', { rowOrder: ['3', 0, 1, 2] }, 'schema'],
    ['an empty order', { rowOrder: [] }, 'coverage'],
    ['no entries in the list', { entries: [] }, 'schema'],
    ['an entry of no row', { entries: [{ index: 4, announced: ['a'] }] }, 'coverage'],
    ['an entry without an index', { entries: [{ announced: ['a'] }] }, 'schema'],
    ['entries out of order', { entries: [2, 1].map((index) => ({ index, announced: ['a'] })) }, 'canonical_order'],
    ['two entries of a row', { entries: [1, 1].map((index) => ({ index, announced: ['a'] })) }, 'canonical_order'],
    ['an entry with nothing', { entries: [{ index: 1, readySince: null }] }, 'schema'],
    [
      'an entry with an empty list',
      { entries: [{ index: 1, announced: [], readySince: '2026-11-30T18:47:05Z' }] },
      'schema',
    ],
    ['an entry with what a column says', { entries: [{ index: 1, podCount: 2 }] }, 'schema'],
    ['an entry with a broken record', { entries: [{ index: 1, readySince: 'yesterday' }] }, 'value_domain'],
    [
      'more entries than rows',
      { entries: [0, 1, 2, 3, 3].map((index) => ({ index, announced: ['a'] })) },
      'cardinality_limit',
    ],
  ])('refuse %s, all of them [E187]', (_, changes, reason) => {
    expect(decodeStatus(columns(changes))).toMatchObject({ ok: false, reason });
    expect(decodeStatus(columns(changes))).not.toHaveProperty('status');
  });

  it('names the member and what was found', () => {
    expect(decodeStatus(columns({ podCounts: [{ value: 1, indexes: '0-1,1' }] }))).toEqual({
      ok: false,
      reason: 'range_order',
      message:
        'status.instanceStatusColumns.podCounts[0].indexes: "0-1,1" is not an index set: 1 does not come after 1',
    });
    expect(decodeStatus(columns({ entries: [{ index: 1, readySince: 'yesterday' }] }))).toMatchObject({
      message: 'status.instanceStatusColumns[index 1].readySince is "yesterday", not an RFC 3339 time',
    });
  });
});
