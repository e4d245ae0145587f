import { describe, expect, it } from '@jest/globals';
import { decodeStatus } from './decode.js';
import { encodeAs } from './encode.js';
import { type InstanceRow, type Phase, phaseOf, phases } from './rows.js';

type WireObject = Readonly<Record<string, unknown>>;

const time = '2026-11-30T18:47:05Z';

function operation(type: string, step: string, members: WireObject = {}): WireObject {
  return { id: 'op', type, step, startedAt: time, lastProgressAt: time, ...members };
}

function rowOf(phase: Phase, op?: WireObject, index = 0): InstanceRow {
  const result = decodeStatus({ instanceStatuses: [{ index, phase, ...(op && { operation: op }) }] });
  if (!result.ok) throw new Error(result.message);
  const row = result.status.rows.get(index);
  if (row === undefined) throw new Error('no row');
  return row;
}

const claim = { surgeIndex: 0 };
const request = { requestUUID: '1f0e' };
const pair = { ...claim, ...request };

/** [operation, the kind of row it makes by phase]; a phase that is not listed makes a foreign row. */
const legal: readonly (readonly [WireObject | undefined, Partial<Record<Phase, InstanceRow['kind']>>])[] = [
  [undefined, { Ready: 'ready', Pending: 'pending', Failed: 'failed' }],
  [operation('Create', 'CreatePods'), { Creating: 'creating', Failed: 'failed' }],
  [operation('Update', 'InPlace'), { Updating: 'updating', Failed: 'failed' }],
  [operation('Update', 'Drain'), { Updating: 'updating', Failed: 'failed' }],
  [operation('Update', 'Surge'), { Updating: 'updating', Failed: 'failed' }],
  [operation('Update', 'SurgeDrain'), { Updating: 'updating', Failed: 'failed' }],
  [operation('Update', 'SurgeDrainSettle'), { Updating: 'updating', Failed: 'failed' }],
  [operation('Update', 'Parked'), { Updating: 'parked', Failed: 'parked' }],
  [operation('Update', 'Surge', claim), { Updating: 'gangFrom', Failed: 'gangFrom' }],
  [operation('Update', 'SurgeDrain', claim), { Updating: 'gangFrom', Failed: 'gangFrom' }],
  [operation('Update', 'GangSurgeTarget'), { Creating: 'gangTo', Failed: 'gangTo' }],
  [operation('Update', 'GangSurgeTargetCleanup'), { Creating: 'gangTo', Failed: 'gangTo' }],
  [operation('Restart', 'Drain'), { Restarting: 'restarting', Failed: 'failed' }],
  [operation('Migrate', 'CreateSurge', pair), { Migrating: 'migrateFrom', Creating: 'migrateTo' }],
  [operation('Migrate', 'CreateSurge', request), { Creating: 'migrateTo' }],
  [operation('Migrate', 'SurgeTarget', request), { Creating: 'migrateTo' }],
  [operation('Delete', 'Drain'), { Deleting: 'deleting' }],
  // Never legal.
  [operation('Create', 'Drain'), {}],
  [operation('Create', 'CreatePods', claim), {}],
  [operation('Update', 'InPlace', claim), {}],
  [operation('Update', 'SurgeDrainSettle', claim), {}],
  [operation('Update', 'GangSurgeTarget', claim), {}],
  [operation('Update', 'Surge', { surgeIndex: -1 }), {}],
  [operation('Update', 'Surge', { strategy: 'BlueGreen' }), {}],
  [operation('Update', 'WaitForTomorrow'), {}],
  [operation('Restart', 'Drain', claim), {}],
  [operation('Migrate', 'CreateSurge', claim), {}],
  [operation('Migrate', 'CreateSurge'), {}],
  [operation('Migrate', 'Drain', pair), {}],
  [operation('Scale', 'Drain'), {}],
  [operation('', ''), {}],
];

const table = legal.flatMap(([op, kinds]) =>
  phases.map((phase) => ({
    phase,
    op,
    kind: kinds[phase] ?? 'foreign',
  })),
);

describe('the state of a row', () => {
  it.each(table)('$phase with $op is $kind', ({ phase, op, kind }) => {
    const row = rowOf(phase, op);
    expect(row.kind).toBe(kind);
    expect(phaseOf(row)).toBe(phase);
  });

  it('keeps the operation of a Failed row apart from having none', () => {
    expect(rowOf('Failed')).not.toHaveProperty('kept');
    expect(rowOf('Failed', operation('Restart', 'Drain'))).toMatchObject({ kept: { type: 'Restart', step: 'Drain' } });
  });

  it('tells a claim on index 0 from no claim', () => {
    expect(rowOf('Updating', operation('Update', 'Surge', claim))).toMatchObject({ op: { surgeIndex: 0 } });
    expect(rowOf('Updating', operation('Update', 'Surge', { surgeIndex: null }))).toMatchObject({ kind: 'updating' });
  });

  it('carries the legacy members of migrations, and a claim that the replacement repeats', () => {
    const legacy = { fromNode: 'gpu-7', hintTargetNodes: ['gpu-8'] };
    const from = rowOf('Migrating', operation('Migrate', 'CreateSurge', { ...pair, ...legacy }));
    expect(from).toMatchObject({ op: { surgeIndex: 0, requestUUID: '1f0e', carry: legacy } });
    const to = rowOf('Creating', operation('Migrate', 'SurgeTarget', { ...pair, ...legacy }));
    expect(to).toMatchObject({ op: { requestUUID: '1f0e', carry: { ...legacy, surgeIndex: 0 } } });
    expect(rowOf('Creating', operation('Create', 'CreatePods', request))).toMatchObject({ op: { carry: request } });
  });
});

describe('a foreign row', () => {
  it.each([
    ['Creating', undefined, 'create'],
    ['Ready', operation('Create', 'CreatePods'), 'create'],
    ['Creating', operation('Create', 'WaitForTomorrow'), 'create'],
    ['Failed', operation('Create', 'WaitForTomorrow'), 'nothing'],
    ['Migrating', undefined, 'migrate'],
    ['Migrating', operation('Update', 'Surge'), 'migrate'],
    ['Failed', operation('Migrate', 'CreateSurge', pair), 'migrate'],
    ['Updating', undefined, 'nothing'],
    ['Restarting', undefined, 'nothing'],
    ['Deleting', undefined, 'nothing'],
    ['Failed', operation('Delete', 'Drain'), 'nothing'],
    ['Creating', operation('Update', 'Surge', claim), 'nothing'],
  ] as const)('%s with %j is read as %s', (phase, op, readAs) => {
    expect(rowOf(phase, op)).toMatchObject({ kind: 'foreign', readAs });
  });

  it('is any row with a negative index', () => {
    expect(rowOf('Ready', undefined, -1)).toMatchObject({ kind: 'foreign', phase: 'Ready', readAs: 'nothing' });
    expect(rowOf('Creating', operation('Create', 'CreatePods'), -1)).toMatchObject({ readAs: 'create' });
  });

  it('is written back to the letter', () => {
    const odd = { id: 7, type: 'Scale', step: null, startedAt: '2026-11-30T19:47:05.5+01:00', x: [{ y: null }] };
    const wire = { index: 4, phase: 'Ready', operation: odd };
    const result = decodeStatus({ instanceStatuses: [wire] });
    expect(result.ok && encodeAs(result.status, 'DenseV1').status).toMatchObject({ instanceStatuses: [wire] });
    expect(result.ok && JSON.stringify(encodeAs(result.status, 'DenseV1').status)).toContain(JSON.stringify(odd));
  });
});
