import { describe, expect, it } from '@jest/globals';
import { type DecodedStatus, emptyStatus, type InstanceRow, newRowBase } from '@omenative/api';
import { StepRecorder } from './steps.js';

function statusOf(...rows: readonly InstanceRow[]): DecodedStatus {
  return { ...emptyStatus, rows: new Map(rows.map((row) => [row.index, row])) };
}

const ready = (index: number, running: string): InstanceRow => ({ ...newRowBase(index), kind: 'ready', running });
const op = { retryCount: 0, reason: '', waiting: '', carry: {} } as const;
const surging = (index: number, target: string): InstanceRow => ({
  ...newRowBase(index),
  kind: 'updating',
  running: 'a',
  target,
  op: { ...op, type: 'Update', step: 'Surge', id: `${index}-${target}`, target, strategy: 'SurgeThenDrain' },
});

function read(...statuses: readonly DecodedStatus[]): readonly string[] {
  const recorder = new StepRecorder();
  for (const [at, status] of statuses.entries()) recorder.read(status, at);
  return recorder.steps.map((step) => `${step.wave}: ${step.instance} ${step.from} > ${step.to} ${step.ended}`);
}

describe('steps', () => {
  it('are in one wave while none of it has ended', () => {
    expect(
      read(
        statusOf(ready(0, 'a'), ready(1, 'a'), ready(2, 'a')),
        statusOf(surging(0, 'b'), ready(1, 'a'), ready(2, 'a')),
        statusOf(surging(0, 'b'), surging(1, 'b'), ready(2, 'a')),
        statusOf(ready(0, 'b'), surging(1, 'b'), surging(2, 'b')),
        statusOf(ready(0, 'b'), ready(1, 'b'), ready(2, 'b')),
      ),
    ).toEqual(['1: 0 a > b done', '1: 1 a > b done', '2: 2 a > b done']);
  });

  it('that had begun before are of wave 0', () => {
    expect(read(statusOf(surging(0, 'b'), ready(1, 'a')), statusOf(ready(0, 'b'), surging(1, 'b')))).toEqual([
      '0: 0 a > b done',
      '1: 1 a > b open',
    ]);
  });

  it('end as they do', () => {
    const failed: InstanceRow = { ...newRowBase(1), kind: 'failed', running: 'a', target: 'b' };
    expect(
      read(
        statusOf(ready(0, 'a'), ready(1, 'a'), ready(2, 'a'), ready(3, 'a')),
        statusOf(surging(0, 'b'), surging(1, 'b'), surging(2, 'b'), surging(3, 'b')),
        statusOf(surging(0, 'c'), failed, ready(2, 'a')),
      ),
    ).toEqual(['1: 0 a > b replaced', '1: 1 a > b failed', '1: 2 a > b givenUp', '1: 3 a > b done', '2: 0 a > c open']);
  });

  it('tell the hand-over of a gang by its source alone', () => {
    const from: InstanceRow = {
      ...newRowBase(0),
      kind: 'gangFrom',
      phase: 'Updating',
      running: 'a',
      op: { ...op, type: 'Update', step: 'Surge', id: 'from', target: 'b', surgeIndex: 3 },
    };
    const to: InstanceRow = {
      ...newRowBase(3),
      kind: 'gangTo',
      phase: 'Creating',
      op: { ...op, type: 'Update', step: 'GangSurgeTarget', id: 'to', target: 'b' },
    };
    const recorder = new StepRecorder();
    recorder.read(statusOf(ready(0, 'a')), 0);
    recorder.read(statusOf(from, to), 1);
    recorder.read(statusOf(ready(3, 'b')), 2);
    expect(recorder.steps).toMatchObject([{ instance: 0, replacement: 3, method: 'gang surge', ended: 'done' }]);
    const failing = new StepRecorder();
    failing.read(statusOf(from, to), 0);
    failing.read(statusOf({ ...from, phase: 'Failed' }, to), 1);
    expect(failing.steps).toMatchObject([{ instance: 0, ended: 'failed' }]);
  });
});
