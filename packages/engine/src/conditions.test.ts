import { describe, expect, it } from '@jest/globals';
import type { Condition, DecodedStatus, InstanceRow } from '@omenative/api';
import { conditionsOf, currentRevisionOf, goDuration } from './conditions.js';
import { publishCounts } from './counts.js';
import { plan } from './plan.js';
import type { PlanSpec, PodView, Snapshot } from './snapshot.js';
import { statusAfter } from './testing/read.js';
import { deletingRow, failedRow, surgingRow } from './testing/rows.js';
import { noon, payload, pod, readyRow, revisionOf, type WorldOptions, world } from './testing/world.js';

const v1 = revisionOf('v1');
const v2 = revisionOf('v2');

/** Conditions over a world as it is, without a plan that would move its rows on. */
function published(options: WorldOptions): { readonly snapshot: Snapshot; readonly status: DecodedStatus } {
  const snapshot = world(options);
  const counted = publishCounts(snapshot, snapshot.status.rows);
  return { snapshot, status: { ...snapshot.status, rows: counted.rows, counters: counted.counters } };
}

function verdict(type: string, options: WorldOptions): Partial<Condition> | undefined {
  const { snapshot, status } = published(options);
  const found = conditionsOf(snapshot, status).find((condition) => condition.type === type);
  return found && { status: found.status, reason: found.reason, message: found.message };
}

function spec(over: Partial<PlanSpec> & { readonly partition?: number } = {}): Partial<PlanSpec> {
  const { partition = 0, ...rest } = over;
  return { update: { type: 'SurgeThenDrain', partition, inPlace: 'markNotReady' }, ...rest };
}

const serving = (...indices: readonly number[]): readonly PodView[] => indices.map((index) => pod({ index }));
const ready = (...indices: readonly number[]): readonly InstanceRow[] => indices.map((index) => readyRow(index));
const arrived = { current: v1, update: v1 };

describe('Ready', () => {
  it.each<[string, WorldOptions, Partial<Condition>]>([
    [
      'is False as soon as one Instance failed, whatever else is true',
      { spec: spec({ replicas: 2, partition: 1 }), rows: [readyRow(0), failedRow(1, 'v1', 'v1')], status: arrived },
      { status: 'False', reason: 'InstanceFailed', message: 'At least one Instance has Phase=Failed' },
    ],
    [
      'is True in a stage that a partition ends [A4]',
      {
        spec: spec({ replicas: 2, partition: 1, payload: payload('v2') }),
        rows: [readyRow(0), readyRow(1, 'v2', { activeOrdinal: 1 })],
        pods: [pod({ index: 0 }), pod({ index: 1, image: 'v2', ordinal: 1 })],
        status: { current: v1 },
      },
      {
        status: 'True',
        reason: 'Staged',
        message: `Staged at partition 1: 1/2 Instances on ${v2}, 1 held on the prior revision`,
      },
    ],
    [
      'is Unknown while a rollout is under way, even when all Instances serve [A3]',
      { spec: spec({ replicas: 2 }), rows: ready(0, 1), pods: serving(0, 1), status: { current: '' } },
      { status: 'Unknown', reason: 'RolloutInProgress', message: `Rolling out ${v1} (2/2 Instances on target)` },
    ],
    [
      'is True when all Instances serve',
      { spec: spec({ replicas: 2 }), rows: ready(0, 1), pods: serving(0, 1), status: arrived },
      { status: 'True', reason: 'AllInstancesReady', message: '2/2 Instances Ready' },
    ],
    [
      'is True while no more are out than maxUnavailable lets be',
      {
        spec: {
          replicas: 4,
          update: { type: 'SurgeThenDrain', partition: 0, maxUnavailable: '25%', inPlace: 'markNotReady' },
        },
        rows: ready(0, 1, 2, 3),
        pods: serving(0, 1, 2),
        status: arrived,
      },
      { status: 'True', reason: 'MinimumAvailable', message: '3/4 Instances serving (min 3)' },
    ],
    [
      'is False when one more is out than that',
      {
        spec: {
          replicas: 4,
          update: { type: 'SurgeThenDrain', partition: 0, maxUnavailable: '25%', inPlace: 'markNotReady' },
        },
        rows: ready(0, 1, 2, 3),
        pods: serving(0, 1),
        status: arrived,
      },
      {
        status: 'False',
        reason: 'ReplicaCountMismatch',
        message: '2/4 Instances serving, need 3 (no rollout in flight)',
      },
    ],
    [
      'asks for every Instance when no maxUnavailable is set',
      { spec: spec({ replicas: 2 }), rows: ready(0, 1), pods: serving(0), status: arrived },
      {
        status: 'False',
        reason: 'ReplicaCountMismatch',
        message: '1/2 Instances serving, need 2 (no rollout in flight)',
      },
    ],
  ])('%s [E192]', (_, options, expected) => {
    expect(verdict('Ready', options)).toEqual(expected);
  });

  it.each<[string, WorldOptions]>([
    ['more than the stage has moved', { rows: [readyRow(0, 'v2'), readyRow(1, 'v2')] }],
    ['less than the stage has moved', { rows: [readyRow(0), readyRow(1)] }],
    ['something is still moving', { rows: [readyRow(0, 'v2'), surgingRow(1)] }],
    ['an Instance too many is left', { rows: [readyRow(0), readyRow(1, 'v2'), readyRow(2)] }],
  ])('is not Staged while %s', (_, options) => {
    const staged = spec({ replicas: 2, partition: 1, payload: payload('v2') });
    const found = verdict('Ready', { ...options, spec: staged, status: { current: v1 } });
    expect(found?.reason).toBe('RolloutInProgress');
  });
});

const broken = (index: number, reason: string): InstanceRow =>
  failedRow(index, 'v0', 'v1', {
    lastFailure: { podName: '', containerName: '', reason, message: '', time: noon },
  });

describe('RolloutStalled', () => {
  it('says what the API server has against the pods of the new revision', () => {
    const templateCheck = {
      of: revisionOf('v2'),
      is: 'refused',
      message: 'spec.containers[0]: Invalid value',
    } as const;
    const options = { spec: { payload: payload('v2') }, rows: [readyRow(0)], pods: [pod()], templateCheck };
    expect(verdict('RolloutStalled', options)).toMatchObject({
      status: 'True',
      reason: 'PodTemplateInvalid',
      message: expect.stringContaining('spec.containers[0]: Invalid value'),
    });
  });

  const rollout = { spec: spec({ replicas: 4 }), status: { current: revisionOf('v0') } } as const;

  it('counts the Instances that fail on their way, by reason', () => {
    const rows = [
      broken(0, 'ImagePullBackOff'),
      broken(1, 'CrashLoopBackOff'),
      broken(2, 'ImagePullBackOff'),
      readyRow(3),
    ];
    expect(verdict('RolloutStalled', { ...rollout, rows })).toEqual({
      status: 'True',
      reason: 'InstancesFailing',
      message: `3/4 Instance(s) failing rollout to ${v1} (CrashLoopBackOff x1, ImagePullBackOff x2)`,
    });
  });

  it.each<[string, WorldOptions]>([
    ['nothing fails', { ...rollout, rows: ready(0, 1) }],
    ['what failed is on the new revision already', { ...rollout, rows: [failedRow(0, 'v1', 'v1')] }],
    ['no rollout is under way', { ...rollout, rows: [failedRow(0, 'v0', 'v1')], status: arrived }],
  ])('is False while %s', (_, options) => {
    expect(verdict('RolloutStalled', options)).toMatchObject({ status: 'False', reason: 'Progressing' });
  });
});

const late = (index: number): InstanceRow =>
  deletingRow(index, 'v1', { row: { announced: [`DrainOverdue@delete-${index}`] } });

describe('DrainOverdue', () => {
  it('names the Instances that are past the deadline of their drain', () => {
    expect(verdict('DrainOverdue', { rows: [late(7), deletingRow(1), late(2)] })).toMatchObject({
      status: 'True',
      reason: 'DrainsOverdue',
      message: 'Instance(s) 2, 7 past the deadline of their drain',
    });
  });

  it('is False while drains are within theirs', () => {
    expect(verdict('DrainOverdue', { rows: [deletingRow(1)] })).toMatchObject({
      status: 'False',
      reason: 'DrainsWithinDeadline',
    });
  });
});

describe('InstanceReadyTimeoutUnconfigured', () => {
  it('prints the deadline as Go does', () => {
    expect(verdict('InstanceReadyTimeoutUnconfigured', { spec: { instanceReadyTimeoutSec: 2700 } })).toEqual({
      status: 'False',
      reason: 'InstanceReadyTimeoutConfigured',
      message: 'Instance readiness deadline is 45m0s',
    });
  });

  it('says that there is none', () => {
    const { snapshot, status } = published({});
    const { instanceReadyTimeoutSec: _, ...unlimited } = snapshot.spec;
    const found = conditionsOf({ ...snapshot, spec: unlimited }, status).find(
      (condition) => condition.type === 'InstanceReadyTimeoutUnconfigured',
    );
    expect(found).toMatchObject({ status: 'True', reason: 'InstanceReadyTimeoutUnconfigured' });
    expect(found?.message).toMatch(/^no instanceReadyTimeout is set/);
  });

  it.each([
    [0, '0s'],
    [59, '59s'],
    [60, '1m0s'],
    [3600, '1h0m0s'],
    [90061, '25h1m1s'],
  ])('writes %p seconds as %s', (seconds, text) => {
    expect(goDuration(seconds)).toBe(text);
  });
});

describe('a condition', () => {
  const steady = { rows: [readyRow(0)], pods: [pod()], status: arrived } as const;

  it('is written once and then left alone [E189]', () => {
    const once = statusAfter(world(steady));
    const later = world({ ...steady, status: once, now: noon + 500 });
    expect(plan(later).status).toBeUndefined();
  });

  it('keeps its transition time while only its words change, and moves it with its status', () => {
    const old: Condition = { type: 'Ready', status: 'True', reason: 'Old', message: 'old', lastTransitionTime: 5 };
    const at = (status: string): number | undefined =>
      statusAfter(world({ ...steady, status: { ...arrived, conditions: [{ ...old, status }] } })).conditions[0]
        ?.lastTransitionTime;
    expect(at('True')).toBe(5);
    expect(at('False')).toBe(noon);
  });

  it('of another writer stays where it is, to the letter', () => {
    const foreign: Condition = {
      type: 'Available',
      status: 'Maybe',
      reason: 'r',
      message: 'm',
      lastTransitionTime: 1,
      carry: { x: 1 },
    };
    const { conditions } = statusAfter(world({ ...steady, status: { ...arrived, conditions: [foreign] } }));
    expect(conditions[0]).toBe(foreign);
    expect(conditions.map(({ type }) => type)).toEqual([
      'Available',
      'Ready',
      'RolloutStalled',
      'DrainOverdue',
      'InstanceReadyTimeoutUnconfigured',
    ]);
  });

  it('speaks of the generation that was planned', () => {
    const { conditions } = statusAfter(world({ ...steady, replica: { generation: 9 } }));
    expect(conditions.map(({ observedGeneration }) => observedGeneration)).toEqual([9, 9, 9, 9]);
  });
});

const current = (options: WorldOptions): string => {
  const { snapshot, status } = published(options);
  return currentRevisionOf(snapshot, status);
};

describe('currentRevision', () => {
  const before = { current: revisionOf('v0') };

  it('is promoted when every wanted Instance is Ready on the update [E191] [B14]', () => {
    expect(current({ spec: { replicas: 2 }, rows: ready(0, 1), status: before })).toBe(v1);
  });

  it.each<[string, WorldOptions]>([
    ['an Instance is missing', { spec: { replicas: 2 }, rows: ready(0) }],
    ['an Instance too many is left', { rows: ready(0, 1) }],
    ['an Instance is still on its way', { rows: [surgingRow(0, 'v0', 'v1')] }],
    ['an Instance runs something else', { spec: { replicas: 2 }, rows: [readyRow(0), readyRow(1, 'v0')] }],
    ['there is no Instance', { rows: [] }],
    [
      'a retry block speaks against the update',
      { rows: ready(0), status: { blocks: [{ target: v1, state: 'Held', attempts: 3, reason: '', carry: {} }] } },
    ],
  ])('is kept while %s [E191]', (_, options) => {
    expect(current({ ...options, status: { ...before, ...options.status } })).toBe(revisionOf('v0'));
  });

  it('is withdrawn when an Instance no longer runs what it claims [E191]', () => {
    expect(current({ spec: { replicas: 2 }, rows: [readyRow(0), readyRow(1, 'v0')], status: { current: v1 } })).toBe(
      '',
    );
  });

  it('survives an Instance that is being made again', () => {
    expect(current({ spec: { replicas: 2 }, rows: [readyRow(0)], status: { current: v1 } })).toBe(v1);
  });
});
