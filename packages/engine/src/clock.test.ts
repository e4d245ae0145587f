import { describe, expect, it } from '@jest/globals';
import type { OperationBase } from '@omenative/api';
import { deadlineFrom, isOverdue, withClock } from './clock.js';

const op: OperationBase = {
  id: 'op-1',
  startedAt: 100,
  deadline: 400,
  retryCount: 0,
  target: '',
  reason: 'test',
  waiting: '',
  carry: {},
};
const parked = withClock(op, 'Paused', 200, 300);

describe('the clock of an operation', () => {
  it('gives a full window from now, and none without a timeout', () => {
    expect(deadlineFrom(100, 300)).toEqual({ deadline: 400 });
    expect(deadlineFrom(100, undefined)).toEqual({});
    expect(deadlineFrom(100, 0)).toEqual({});
  });

  it('stops while the rollout is paused, and says so [E167]', () => {
    expect(parked).toMatchObject({ waiting: 'Paused' });
    expect(parked).not.toHaveProperty('deadline');
  });

  it('starts over with a full window when the pause ends [E167]', () => {
    expect(withClock(parked, 'running', 1000, 300)).toMatchObject({ waiting: '', deadline: 1300 });
  });

  it('stops without a token while a scheduling gate is closed', () => {
    const gated = withClock(op, 'AdmissionGated', 200, 300);
    expect(gated).toMatchObject({ waiting: '' });
    expect(gated).not.toHaveProperty('deadline');
  });

  it.each(['Paused', 'AdmissionGated', 'running'] as const)(
    'changes nothing when it is %s already [E170]',
    (parking) => {
      const before = withClock(op, parking, 200, 300);
      expect(withClock(before, parking, 900, 300)).toBe(before);
    },
  );

  it('keeps a deadline that runs, whatever the timeout is now', () => {
    expect(withClock(op, 'running', 200, 9000)).toBe(op);
  });

  it('gives an operation without a deadline the timeout that has been set meanwhile', () => {
    const { deadline: _, ...unlimited } = op;
    expect(withClock(unlimited, 'running', 200, undefined)).toBe(unlimited);
    expect(withClock(unlimited, 'running', 200, 300)).toMatchObject({ deadline: 500 });
  });

  it.each([
    'QuotaExceeded',
    'AdmissionUnavailable',
    'Unschedulable',
    'PodGroupTerminating',
    'NodeUnknown',
    'CapacityProvisioning',
  ])('takes the hold %s, which nothing confirms here, off an operation and restarts its clock', (waiting) => {
    const { deadline: _, ...held } = { ...op, waiting };
    expect(withClock(held, 'running', 200, 300)).toMatchObject({ waiting: '', deadline: 500 });
  });

  it.each(['SourceUnrouted', 'SomethingNew'])(
    'leaves the token %s, which parks nothing, and its clock alone [E171]',
    (waiting) => {
      const told = { ...op, waiting };
      expect(withClock(told, 'running', 200, 300)).toBe(told);
    },
  );

  it('is overdue from its deadline on, and never without one [E160]', () => {
    expect(isOverdue(op, 399)).toBe(false);
    expect(isOverdue(op, 400)).toBe(true);
    const { deadline: _, ...unlimited } = op;
    expect(isOverdue(unlimited, Number.MAX_SAFE_INTEGER)).toBe(false);
  });
});
