import { describe, expect, it } from '@jest/globals';
import type { CreatingRow } from '../operations/create.js';
import { plan } from '../plan.js';
import { persisted, rowAfter } from '../testing/read.js';
import { creatingRow, deletingRow, drainingRow, failedRow, surgingRow } from '../testing/rows.js';
import { noon, payload, pod, readyRow, type WorldOptions, world } from '../testing/world.js';
import { parkingOf } from './parking.js';

const gated = pod({ health: 'starting', over: { gated: true } });
const attempt = creatingRow(0) as CreatingRow;
const parking = (options: WorldOptions): string =>
  parkingOf(world(options), { index: 0, row: attempt, pods: options.pods ?? [] }, attempt).parking;

describe('what holds an attempt from outside', () => {
  it('is a pause of the rollout, unless a fact does that outlives the pause [E168]', () => {
    expect(parking({ spec: { pause: 'recover' } })).toBe('Paused');
    expect(parking({ spec: { pause: 'freeze' }, pods: [gated] })).toBe('AdmissionGated');
  });

  it('is a scheduling gate on one of its live pods [B11] [B78]', () => {
    expect(parking({ pods: [gated] })).toBe('AdmissionGated');
    expect(parking({ pods: [{ ...gated, phase: 'Failed' }] })).toBe('running');
    expect(parking({ pods: [{ ...gated, deletionAt: noon }] })).toBe('running');
  });

  it('is nothing else', () => {
    expect(parking({ pods: [pod({ health: 'crashLoop' })] })).toBe('running');
  });
});

describe('a paused rollout', () => {
  const paused: WorldOptions = { spec: { pause: 'recover', payload: payload('v2') } };

  it.each([
    ['a Create', creatingRow(0, 'v2')],
    ['a surge', surgingRow(0)],
    ['a surge that drains', drainingRow(0)],
  ])('parks the clock of %s and re-arms it in full when it goes on [E167]', (_, row) => {
    const pods = [pod({ health: 'starting', image: row.kind === 'creating' ? 'v2' : 'v1' })];
    const parked = persisted(world({ ...paused, rows: [row], pods }));
    expect(parked.status.rows.get(0)).toMatchObject({ op: { waiting: 'Paused' } });
    expect(parked.status.rows.get(0)).not.toHaveProperty('op.deadline');
    const later = { ...parked, now: noon + 5000, spec: { ...parked.spec, pause: 'running' as const } };
    expect(rowAfter(later)).toMatchObject({ op: { waiting: '', deadline: noon + 6800 } });
  });

  it('parks once and then writes nothing [E170]', () => {
    const parked = persisted(world({ ...paused, rows: [surgingRow(0)], pods: [pod()] }));
    expect(plan({ ...parked, now: noon + 500 }).status).toBeUndefined();
  });

  it.each([
    ['a Failed row', failedRow(0, 'v1', 'v2')],
    ['an Instance that leaves', deletingRow(0)],
    ['an Instance at rest', readyRow(0)],
  ])('leaves %s alone [E169]', (_, row) => {
    const pods = [pod({ health: row.kind === 'deleting' ? 'drained' : 'serving' })];
    expect(rowAfter(world({ ...paused, rows: [row], pods }))).toMatchObject({ ...row, published: expect.anything() });
  });

  it('starts nothing: no Instance, no update [B10]', () => {
    const rows = [readyRow(0)];
    const made = plan(world({ spec: { ...paused.spec, replicas: 3 }, rows, pods: [pod()] }));
    expect(made.chains).toEqual([]);
    expect([...(made.status?.rows.values() ?? [])].map((row) => row.kind)).toEqual(['ready']);
  });

  it('leaves deadlines that it did not find unparked: nothing fails while it lasts', () => {
    const parked = persisted(world({ ...paused, rows: [surgingRow(0)], pods: [pod()] }));
    expect(rowAfter({ ...parked, now: noon + 1e6 })?.kind).toBe('updating');
    expect(plan(parked).wakeAt).toBeUndefined();
  });
});

describe('a gated pod', () => {
  it('parks the clock without a token, and the Instance does not count as admitted', () => {
    const row = rowAfter(world({ rows: [creatingRow(0)], pods: [gated] }));
    expect(row).toMatchObject({ op: { waiting: '' }, published: { admitted: false } });
    expect(row).not.toHaveProperty('op.deadline');
  });

  it('gives the attempt a full window when it is admitted', () => {
    const parked = persisted(world({ rows: [creatingRow(0)], pods: [gated] }));
    const admitted = { ...parked, now: noon + 9000, pods: new Map([[0, [{ ...gated, gated: false }]]]) };
    expect(rowAfter(admitted)).toMatchObject({ op: { deadline: noon + 10800 } });
  });
});
