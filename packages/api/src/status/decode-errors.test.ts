import { describe, expect, it } from '@jest/globals';
import { decodeStatus } from './decode.js';

type WireObject = Readonly<Record<string, unknown>>;

const columns = { members: '0', phases: [{ value: 'Ready', indexes: '0' }] };
const row = { index: 0, phase: 'Ready' };

function rows(...changes: readonly WireObject[]): WireObject {
  return { instanceStatuses: changes.map((change) => ({ ...row, ...change })) };
}

describe('a status whose encoding is broken', () => {
  it.each<[string, unknown, string, string]>([
    [
      'columns without a marker',
      { instanceStatusColumns: columns },
      'representation_union',
      'instanceStatusColumns is',
    ],
    ['a marker without columns', { instanceStatusEncoding: 'ColumnarV2' }, 'representation_union', 'there is no'],
    [
      'both encodings',
      { instanceStatusEncoding: 'ColumnarV2', instanceStatusColumns: columns, instanceStatuses: [row] },
      'representation_union',
      'instanceStatuses too',
    ],
    [
      'columns and an empty dense list',
      { instanceStatusEncoding: 'ColumnarV2', instanceStatusColumns: columns, instanceStatuses: [] },
      'representation_union',
      'instanceStatuses too',
    ],
    [
      'a marker nobody knows',
      { instanceStatusEncoding: 'ColumnarV3', instanceStatusColumns: columns },
      'unknown_encoding',
      '"ColumnarV3"',
    ],
    [
      'a marker for dense rows',
      { instanceStatusEncoding: 'DenseV1', instanceStatuses: [row] },
      'unknown_encoding',
      'DenseV1',
    ],
    ['an empty marker', { instanceStatusEncoding: '', instanceStatuses: [row] }, 'unknown_encoding', '""'],
  ])('is refused as a whole: %s [E187]', (_, wire, reason, message) => {
    const result = decodeStatus(wire);
    expect(result).toMatchObject({ ok: false, reason, message: expect.stringContaining(message) });
    expect(result).not.toHaveProperty('status');
  });

  it.each<[unknown, string, string]>([
    ['Ready', 'schema', 'status is "Ready", wanted an object'],
    [[], 'schema', 'status is [], wanted an object'],
    [{ instanceStatuses: {} }, 'schema', 'status.instanceStatuses is {}, wanted a list'],
    [{ instanceStatuses: [row, 1] }, 'schema', 'status.instanceStatuses[1] is 1, wanted an object'],
    [{ instanceStatuses: [row, null] }, 'schema', 'status.instanceStatuses[1] is null, wanted an object'],
    [rows({}, {}), 'schema', 'status.instanceStatuses has two rows of index 0'],
    [rows({ index: null }), 'schema', 'status.instanceStatuses[0].index is missing'],
    [rows({ index: '0' }), 'schema', 'status.instanceStatuses[0].index is "0", wanted an integer'],
    [rows({ index: 0.5 }), 'value_domain', 'status.instanceStatuses[0].index is 0.5, not an integer'],
    [
      rows({ index: 2147483648 }),
      'value_domain',
      'status.instanceStatuses[0].index is 2147483648, outside the 32-bit integers',
    ],
    [
      rows({ index: -2147483649 }),
      'value_domain',
      'status.instanceStatuses[0].index is -2147483649, outside the 32-bit integers',
    ],
    [rows({ phase: '' }), 'schema', 'status.instanceStatuses[0].phase is missing'],
    [
      rows({ phase: 'Running' }),
      'value_domain',
      'status.instanceStatuses[0].phase is "Running", not one of Pending, Creating, Ready, Updating, Restarting, Migrating, Failed, Deleting',
    ],
    [
      JSON.parse('{"instanceStatuses":[{"index":0,"phase":"Ready","incarnation":9007199254740993}]}'),
      'value_domain',
      'status.instanceStatuses[0].incarnation is 9007199254740992, outside the integers that can be kept exactly',
    ],
    [rows({ activeOrdinal: 2 }), 'value_domain', 'status.instanceStatuses[0].activeOrdinal is 2, not 0 or 1'],
    [rows({ admitted: 'yes' }), 'schema', 'status.instanceStatuses[0].admitted is "yes", wanted true or false'],
    [rows({ announced: ['a', 1] }), 'schema', 'status.instanceStatuses[0].announced[1] is 1, wanted a text'],
    [rows({ operation: [] }), 'schema', 'status.instanceStatuses[0].operation is [], wanted an object'],
    [
      rows({ phase: 'Creating', operation: { id: 'a', type: 'Create', step: 'CreatePods', startedAt: 5 } }),
      'schema',
      'status.instanceStatuses[0].operation.startedAt is 5, wanted an RFC 3339 time',
    ],
    [
      rows({ lastFailure: { podName: 'a'.repeat(80), reason: 7 } }),
      'schema',
      'status.instanceStatuses[0].lastFailure.reason is 7, wanted a text',
    ],
    [
      rows({ readySince: 'a'.repeat(80) }),
      'value_domain',
      `status.instanceStatuses[0].readySince is "${'a'.repeat(56)}..., not an RFC 3339 time`,
    ],
    [{ conditions: [{ status: 'True' }] }, 'schema', 'status.conditions[0].type is missing'],
    [
      { retryBlocks: [{ state: 'Held', attemptsStarted: 1 }] },
      'schema',
      'status.retryBlocks[0].targetRevision is missing',
    ],
    [
      { retryBlocks: [{ targetRevision: 'r', state: 'Held' }] },
      'schema',
      'status.retryBlocks[0].attemptsStarted is missing',
    ],
    [
      { retryBlocks: [{ targetRevision: 'r', state: 'Open', attemptsStarted: 1 }] },
      'value_domain',
      'status.retryBlocks[0].state is "Open", not one of Backoff, Held, RetryInProgress',
    ],
    [{ migrations: [{ trigger: 'Auto' }] }, 'schema', 'status.migrations[0].requestUUID is missing'],
    [
      { rolloutHold: { gate: 'Moon', reason: '' } },
      'value_domain',
      'status.rolloutHold.gate is "Moon", not one of Pairing, Ratio, Sequential, Budget, RetryBlock, Held, Plan',
    ],
  ])('says where and what: %j', (wire, reason, message) => {
    expect(decodeStatus(wire)).toEqual({ ok: false, reason, message });
  });
});
