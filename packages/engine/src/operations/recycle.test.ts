import { describe, expect, it } from '@jest/globals';
import type { CreateOp, InstanceRow } from '@omenative/api';
import { withoutSpentBookings } from '../bookings.js';
import { plan } from '../plan.js';
import { retryDelaySec } from '../retry.js';
import type { LifecycleConfig, PodView } from '../snapshot.js';
import { holdOf, persisted, rowAfter, said, wishes } from '../testing/read.js';
import { creatingRow, dueAt, openedAt, surgingRow } from '../testing/rows.js';
import { chartConfig, noon, payload, pod, type WorldOptions, world } from '../testing/world.js';

const ended = pod({
  health: 'failed',
  over: { statusReason: 'UnexpectedAdmissionError', statusMessage: 'no gpu', containers: [] },
});
const booking = `TerminalPodRecycled@${ended.uid}`;
const creating = (op: Partial<CreateOp> = {}, row: Partial<InstanceRow> = {}): InstanceRow =>
  creatingRow(0, 'v1', { op, row });
const withEnded = (options: WorldOptions = {}) => world({ rows: [creating()], pods: [ended], ...options });

describe('an ended pod of an attempt', () => {
  it('is booked on the row, with what it died of, before it is deleted [E209] [E19]', () => {
    const row = rowAfter(withEnded());
    expect(row).toMatchObject({
      kind: 'creating',
      announced: [booking],
      lastFailure: { podName: ended.name, reason: 'UnexpectedAdmissionError', message: 'no gpu', time: noon },
      op: { id: 'create-0', retryCount: 1, lastProgressAt: noon },
    });
  });

  it('is deleted only under such a booking, and its name used again only when it is gone [E19] [B48]', () => {
    const booked = persisted(withEnded());
    expect(wishes(plan(booked))).toEqual(['delete 0-default-0']);
    expect(
      wishes(plan(world({ rows: [creating({ retryCount: 1, lastProgressAt: noon - 1 })], pods: [ended] }))),
    ).toEqual([]);
    expect(wishes(plan({ ...booked, pods: new Map() }))).toEqual(['create 0-default-0']);
  });

  it('is booked once, however often the plan looks [B33]', () => {
    const booked = persisted(withEnded());
    expect(persisted({ ...booked, now: noon + 1000 }).status).toEqual(booked.status);
  });

  it('that is the replacement of an update blames no revision and keeps its reason [E55]', () => {
    const { uid, ...rest } = ended;
    const replacement: PodView = { ...rest, name: 'chat-engine-0-default-1', uid: `${uid}-1`, revisionHash: '' };
    const snapshot = world({ spec: { payload: payload('v2') }, rows: [surgingRow(0)], pods: [pod(), replacement] });
    const after = persisted(snapshot);
    expect(after.status.rows.get(0)).toMatchObject({
      kind: 'updating',
      lastFailure: { reason: 'UnexpectedAdmissionError' },
    });
    expect(after.status.blocks).toEqual([]);
    expect(wishes(plan(after))).toEqual(['delete 0-default-1']);
  });

  it('is said with its name, what became of it, and the count', () => {
    expect(said(plan(withEnded()))).toEqual([
      'TerminalPodRecycled: OMENative component=engine instance=0: pod chat-engine-0-default-0 (Failed/UnexpectedAdmissionError) is deleted and created again (recycle 1)',
    ]);
  });
});

const second = (sinceLastSec: number, config: LifecycleConfig = chartConfig) =>
  withEnded({ rows: [creating({ retryCount: 1, lastProgressAt: noon - sinceLastSec })], config });

describe('the pace of recycling', () => {
  it('is immediate for the first ended pod of an attempt', () => {
    expect(rowAfter(withEnded({ rows: [creating({ lastProgressAt: noon })] }))).toMatchObject({
      op: { retryCount: 1 },
    });
  });

  it('follows the retry policy from then on, and wakes the plan [B53] [B44]', () => {
    expect(rowAfter(second(59))).toMatchObject({ op: { retryCount: 1 } });
    expect(rowAfter(second(60))).toMatchObject({ op: { retryCount: 2 } });
    const made = plan(second(59));
    expect(holdOf(made, 'RecyclePacing')?.wake).toContainEqual({ at: noon + 1 });
    expect(made.wakeAt).toBe(noon + 1);
  });

  it('is nobody’s business without a retry policy', () => {
    const { updateRetry: _, ...config } = chartConfig;
    expect(rowAfter(second(0, config))).toMatchObject({ op: { retryCount: 2 } });
  });

  it('ends with the deadline of the attempt', () => {
    const row = rowAfter(withEnded({ now: dueAt }));
    expect(row).toMatchObject({ kind: 'failed' });
    expect(row?.announced).toEqual([]);
  });

  it.each([
    [1, 60],
    [2, 120],
    [5, 960],
    [6, 1800],
    [900, 1800],
  ])('waits before attempt %p for %p seconds more', (attempt, delay) => {
    const policy = { maxAttempts: 3, initialDelaySec: 60, maxDelaySec: 1800, multiplier: 2 };
    expect(retryDelaySec(policy, attempt)).toBe(delay);
  });

  it('rounds a fraction of a second up, and takes the longest delay where none comes out', () => {
    const policy = { maxAttempts: 3, initialDelaySec: 1, maxDelaySec: 50, multiplier: 1.5 };
    expect(retryDelaySec(policy, 2)).toBe(2);
    expect(retryDelaySec({ ...policy, initialDelaySec: 0 }, 1)).toBe(50);
  });
});

describe('a booking', () => {
  it('is dropped when its pod is gone, and others are kept', () => {
    const row = creating({}, { announced: [booking, 'TerminalPodRecycled@old', 'Other@x'] });
    expect(withoutSpentBookings(row, [ended]).announced).toEqual([booking, 'Other@x']);
    expect(withoutSpentBookings(row, []).announced).toEqual(['Other@x']);
    const clean = creating();
    expect(withoutSpentBookings(clean, [])).toBe(clean);
    expect(openedAt).toBeLessThan(noon);
  });
});
