import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { validate } from '../crds/validate.js';
import { arbitrarySec, arbitraryStatus, arbitraryWireStatus } from '../testing/index.js';
import { decodeStatus } from './decode.js';
import { encodeAs } from './encode.js';
import { rowsInOrder, writtenOrder } from './row-order.js';
import { type DecodedStatus, emptyStatus, type InstanceRow, newRowBase, type StatusEncoding } from './rows.js';
import { formatTime, parseTime } from './time.js';

type WireObject = Record<string, unknown>;

function decoded(wire: unknown): DecodedStatus {
  const result = decodeStatus(wire);
  if (!result.ok) throw new Error(`${result.reason}: ${result.message}`);
  return result.status;
}

const encodings: readonly StatusEncoding[] = ['DenseV1', 'ColumnarV2'];

function dense(status: DecodedStatus): unknown {
  return encodeAs(status, 'DenseV1').status;
}

const counters = [
  'replicas',
  'readyReplicas',
  'servingReplicas',
  'availableReplicas',
  'updatedReplicas',
  'updatedReadyReplicas',
];
/** Members that say the same absent and as '', 0, false or an empty list. */
const zeroIsAbsent = new Set(
  [
    'observedGeneration currentRevision updateRevision collisionCount labelSelector',
    'instanceStatuses retryBlocks migrations conditions incarnation runningRevision targetRevision',
    'podCount servingPodCount availablePodCount admitted activeOrdinal announced',
    'retryCount reason message waiting strategy containerName target fromNode',
  ].flatMap((names) => names.split(' ')),
);
const neverWritten = new Set(['readyPodCount', 'scheduledPodCount', 'nodesOccupied']);

/** The form in which two wire values are the same status. */
function normal(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(normal);
  if (typeof value === 'string') {
    const seconds = parseTime(value);
    return seconds === undefined ? value : formatTime(seconds);
  }
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value)
    .filter(([key, member]) => member !== null && member !== undefined && !neverWritten.has(key))
    .map(([key, member]) => [key, normal(member)] as const)
    // A failure at the epoch and one without a time are the same.
    .filter(([key, member]) => !(key === 'time' && member === '1970-01-01T00:00:00Z'))
    .filter(([key, member]) => !(zeroIsAbsent.has(key) && (!member || (Array.isArray(member) && member.length === 0))));
  return Object.fromEntries(members);
}

function normalStatus(wire: object): unknown {
  return { ...Object.fromEntries(counters.map((key) => [key, 0])), ...(normal(wire) as object) };
}

/** The API server takes nulls out; in a foreign operation they are written back as they were found. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null && member !== undefined);
  return Object.fromEntries(members.map(([key, member]) => [key, withoutNulls(member)]));
}

/** A status without the members of a newer version in its rows. */
function withoutCarry(wire: object): unknown {
  return JSON.parse(JSON.stringify(wire, (key, value: unknown) => (unknownKeys.has(key) ? undefined : value)));
}
const unknownKeys = new Set(['futureField', '__proto__', 'constructor']);

/** What the CRD has against a status, the members of a newer version excepted. */
function schemaProblems(status: unknown): readonly string[] {
  const found = validate('InferenceReplica', {
    metadata: { name: 'chat-engine' },
    spec: { component: 'engine' },
    status,
  });
  return found
    .filter(({ path }) => !/(futureField|__proto__|constructor)$/.test(path))
    .map(({ path, message }) => `${path} ${message}`);
}

describe('the status codec', () => {
  it('writes back what it read, for every status the schema admits', () => {
    fc.assert(
      fc.property(arbitraryWireStatus, (wire) => {
        expect(normal(dense(decoded(wire)))).toEqual(normalStatus(wire));
      }),
      { numRuns: 300 },
    );
  });

  it.each(encodings)('writes %s that the schema admits, when it read what the schema admits', (encoding) => {
    fc.assert(
      fc.property(arbitraryWireStatus, (wire) => {
        const status = decoded(withoutCarry(wire));
        expect(schemaProblems(withoutNulls(wire))).toEqual([]);
        expect(schemaProblems(withoutNulls(encodeAs(status, encoding).status))).toEqual([]);
      }),
    );
  });

  it.each(encodings)('reads back the %s that it wrote, for every status there is', (encoding) => {
    fc.assert(
      fc.property(arbitraryStatus, (status) => {
        const written = encodeAs(status, encoding);
        expect(written.encoding).toBe(status.rows.size === 0 ? 'DenseV1' : encoding);
        expect(decoded(JSON.parse(JSON.stringify(written.status)))).toEqual({ ...status, stored: written.encoding });
      }),
      { numRuns: 200 },
    );
  });

  it.each(encodings)(
    'writes the same %s again, to the byte: a pass that changes nothing writes nothing',
    (encoding) => {
      fc.assert(
        fc.property(arbitraryWireStatus, (wire) => {
          const once = encodeAs(decoded(wire), encoding).status;
          expect(JSON.stringify(encodeAs(decoded(once), encoding).status)).toBe(JSON.stringify(once));
        }),
      );
    },
  );

  it('comes back from columns to the dense rows it left, to the byte', () => {
    fc.assert(
      fc.property(arbitraryWireStatus, (wire) => {
        const before = dense(decoded(wire));
        const columns = encodeAs(decoded(before), 'ColumnarV2').status;
        expect(JSON.stringify(dense(decoded(columns)))).toBe(JSON.stringify(before));
      }),
    );
  });

  it('answers for any JSON at all, without throwing', () => {
    const replaced = fc.tuple(arbitraryWireStatus, fc.nat(), fc.jsonValue()).map(([wire, at, value]) => {
      let countdown = at % 40;
      return JSON.parse(
        JSON.stringify(wire, (_, member: unknown) => {
          countdown -= 1;
          return countdown === -1 ? value : member;
        }) ?? 'null',
      ) as unknown;
    });
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), replaced), (wire) => {
        const result = decodeStatus(wire);
        if (!result.ok) expect(result.message).toMatch(/^status/);
      }),
      { numRuns: 300 },
    );
  });

  it('never writes readyPodCount, scheduledPodCount and nodesOccupied, and keeps all else [E181]', () => {
    const row = { index: 0, phase: 'Ready', podCount: 2, servingPodCount: 1, futureField: { kept: true } };
    const full = { ...row, readyPodCount: 2, scheduledPodCount: 2, nodesOccupied: ['a', 'b'] };
    const once = dense(decoded({ instanceStatuses: [full] }));
    expect(once).toMatchObject({ instanceStatuses: [row] });
    expect(JSON.stringify(once)).not.toMatch(/readyPodCount|scheduledPodCount|nodesOccupied/);
    expect(dense(decoded(once))).toEqual(once);
    const columns = encodeAs(decoded({ instanceStatuses: [full] }), 'ColumnarV2').status;
    expect(JSON.stringify(columns)).not.toMatch(/readyPodCount|scheduledPodCount|nodesOccupied/);
    expect(dense(decoded(columns))).toEqual(once);
  });

  it('writes the six counters even when they are zero, so that no printer column is blank', () => {
    expect(dense(emptyStatus)).toEqual({
      replicas: 0,
      readyReplicas: 0,
      servingReplicas: 0,
      availableReplicas: 0,
      updatedReplicas: 0,
      updatedReadyReplicas: 0,
    });
  });

  it('writes times in UTC with whole seconds and leaves parked deadlines out', () => {
    const operation = {
      id: 'create-0-1',
      type: 'Create',
      step: 'CreatePods',
      startedAt: '2026-11-30T19:47:05.75+01:00',
      lastProgressAt: '2026-11-30t18:47:06z',
      deadline: null,
    };
    const wire = dense(decoded({ instanceStatuses: [{ index: 0, phase: 'Creating', operation }] })) as WireObject;
    expect(wire['instanceStatuses']).toEqual([
      {
        index: 0,
        phase: 'Creating',
        operation: {
          id: 'create-0-1',
          type: 'Create',
          step: 'CreatePods',
          startedAt: '2026-11-30T18:47:05Z',
          lastProgressAt: '2026-11-30T18:47:06Z',
        },
      },
    ]);
  });

  it('reads a status nobody has written', () => {
    expect(decoded(undefined)).toBe(emptyStatus);
    expect(decoded(null)).toBe(emptyStatus);
    expect(decoded({})).toEqual(emptyStatus);
  });

  it('carries unknown members of every record, a prototype-like name too', () => {
    const odd = JSON.parse('{"__proto__": {"a": 1}, "constructor": 2, "futureField": [null]}') as WireObject;
    const time = '2026-11-30T18:47:05Z';
    const operation = { ...odd, id: 'u', type: 'Update', step: 'Drain', startedAt: time, lastProgressAt: time };
    const condition = { ...odd, type: 'Ready', status: 'True', reason: 'r', message: '', lastTransitionTime: time };
    const lastFailure = { ...odd, podName: 'p', reason: 'Error', time };
    const row = { ...odd, index: 3, phase: 'Updating', conditions: [condition], operation, lastFailure };
    const wire = {
      ...odd,
      ...Object.fromEntries(counters.map((key) => [key, 1])),
      instanceStatuses: [row],
      retryBlocks: [{ ...odd, targetRevision: 'r', state: 'Held', attemptsStarted: 3 }],
      migrations: [{ ...odd, requestUUID: 'u', trigger: 'Auto', sourceInstance: 0, phase: 'Relocated', attempt: 2 }],
      conditions: [condition],
      rolloutHold: { ...odd, gate: 'Budget', reason: 'r', since: time },
    };
    expect(dense(decoded(wire))).toEqual(wire);
    expect(JSON.stringify(dense(decoded(wire)))).toContain('"__proto__":{"a":1}');
  });
});

function readyRow(index: number): InstanceRow {
  return { ...newRowBase(index), kind: 'ready' };
}

describe('what is carried', () => {
  const record = { requestUUID: 'u', trigger: 'Manual', sourceInstance: 2, phase: 'Accepted' };

  it('leaves nulls out: they say absent', () => {
    expect(decoded({ futureField: null, other: 0 }).carry).toEqual({ other: 0 });
  });

  it('gives way to a member this version writes', () => {
    const [migration] = decoded({ migrations: [{ ...record, surgeInstance: -1 }] }).migrations;
    if (migration === undefined) throw new Error('no record');
    expect(migration).not.toHaveProperty('surge');
    expect(migration.carry).toEqual({ surgeInstance: -1 });
    const allocated = dense({ ...emptyStatus, migrations: [{ ...migration, surge: 0 }] });
    expect(allocated).toMatchObject({ migrations: [{ ...record, surgeInstance: 0 }] });
  });
});

describe('the order of rows', () => {
  const rows = new Map([7, 2, 9, 4].map((index) => [index, readyRow(index)]));

  it('is that of the wire, then new rows ascending; removed and repeated indexes are passed over', () => {
    expect(writtenOrder({ rows, order: [9, 1, 4, 9] })).toEqual([9, 4, 2, 7]);
    expect(rowsInOrder({ rows, order: [9, 1, 4, 9] }).map((row) => row.index)).toEqual([9, 4, 2, 7]);
  });

  it('survives a round trip', () => {
    const wire = dense({ ...emptyStatus, rows, order: [9, 4] });
    expect(decoded(wire).order).toEqual([9, 4, 2, 7]);
  });
});

describe('a time', () => {
  it('that can not be written is refused rather than written wrong', () => {
    fc.assert(
      fc.property(arbitrarySec, (seconds) => {
        const row: InstanceRow = { ...readyRow(0), readySince: seconds + 0.5 };
        expect(() => dense({ ...emptyStatus, rows: new Map([[0, row]]) })).toThrow(RangeError);
      }),
      { numRuns: 5 },
    );
  });
});
