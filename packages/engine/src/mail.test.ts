import { describe, expect, it } from '@jest/globals';
import { annotation, type InstanceRow, type RetryBlock } from '@omenative/api';
import { parseReset } from './mail.js';
import { plan } from './plan.js';
import type { Plan } from './plan-types.js';
import type { Snapshot } from './snapshot.js';
import { pair, pairRunners } from './testing/pairs.js';
import { persisted, rowAfter, said, statusAfter, wishes } from './testing/read.js';
import { creatingRow, failedRow, heldBlock, parkedRow, recreatingRow, retryBlock } from './testing/rows.js';
import {
  chartConfig,
  gangPods,
  noon,
  payload,
  pod,
  readyRow,
  revisionOf,
  type WorldOptions,
  world,
} from './testing/world.js';

const v1 = revisionOf('v1');
const says = (reason: string, text: string): string =>
  `${reason}: InferenceReplica prod/chat-engine component=engine: ${text}`;
const resetText = (indices: string): string =>
  says(
    'InstancesReset',
    `reset instance(s) ${indices} at operator request (ome.io/reset-instances annotation): pods deleted and preserved operation cleared; the lifecycle passes rebuild them`,
  );
const skipText = (what: string): string => says('InstancesResetSkipped', `reset skipped${what}`);

/** Instance 0 failed before it ever ran, its pod is still there, and its revision is held. */
const failed: WorldOptions = {
  rows: [failedRow(0, undefined, 'v1')],
  pods: [pod({ health: 'crashLoop', gate: { state: 'absent' } })],
  status: { blocks: [heldBlock('v1')] },
};
const asking = (key: string, value: string, options: WorldOptions = {}): Snapshot =>
  world({ ...failed, ...options, replica: { annotations: { [key]: value } } });
const resetting = (value: string, options?: WorldOptions): Snapshot =>
  asking(annotation.resetInstances, value, options);
const releasing = (value: string, options?: WorldOptions): Snapshot =>
  asking(annotation.releaseHeldRevision, value, options);
const saidOfMail = (made: Plan): readonly string[] =>
  said(made).filter((text) => /^(InstancesReset|RetryBlock)/.test(text));
const isAcked = (made: Plan): boolean => wishes(made).some((wish) => wish.startsWith('ack '));

describe('a request to reset', () => {
  it.each([
    ['all', { of: 'all' }],
    [' all ', { of: 'all' }],
    ['0', { of: 'some', indices: [0] }],
    ['3, 0,3', { of: 'some', indices: [0, 3] }],
    ['All', { of: 'none', why: '"All" is not a non-negative instance index' }],
    ['0,-1', { of: 'none', why: '"-1" is not a non-negative instance index' }],
    ['', { of: 'none', why: '"" is not a non-negative instance index' }],
    ['1.5', { of: 'none', why: '"1.5" is not a non-negative instance index' }],
  ])('%p is read', (value, wanted) => {
    expect(parseReset(value)).toEqual(wanted);
  });

  it('takes the pods of a Failed Instance away, forgets what it failed at, says so and is taken off', () => {
    const made = plan(resetting('0'));
    expect(saidOfMail(made)).toEqual([resetText('0')]);
    expect(wishes(made)).toEqual(['delete 0-default-0', 'ack ome.io/reset-instances=0']);
    expect(made.status?.rows.get(0)).toMatchObject({
      kind: 'failed',
      target: '',
      lastFailure: { reason: 'CrashLoopBackOff' },
    });
    expect(made.chains[0]?.effects[0]?.covers).toEqual({ by: 'rule', rule: 'reset' });
  });

  it('has its pods out of rotation before they are deleted', () => {
    const routed = pod({ health: 'containersReady', gate: { state: 'true' } });
    expect(wishes(plan(resetting('0', { pods: [routed] })))).toEqual([
      'out 0-default-0',
      'ack ome.io/reset-instances=0',
    ]);
  });

  it('asks for the same again after a crash, and takes the request off once more [E211]', () => {
    const again = plan(persisted(resetting('0')));
    expect(wishes(again)).toEqual(['delete 0-default-0', 'ack ome.io/reset-instances=0']);
    expect(again.status).toBeUndefined();
  });

  it('lets the pods that it has sentenced not heal the Instance', () => {
    const late = pod({ health: 'starting' });
    const sentenced = persisted(resetting('0', { pods: [late] }));
    const serving = { ...sentenced, pods: new Map([[0, [{ ...pod(), uid: late.uid }]]]) };
    expect(rowAfter(serving)?.kind).toBe('failed');
    expect(wishes(plan(serving))).toContain('out 0-default-0');
  });

  it.each<[string, WorldOptions]>([
    ['as soon as its revision may be tried', { status: {} }],
    ['without a retry policy too', { status: {}, config: { stuckPodGraceSec: 60 } }],
    [
      'though it was the cluster that failed it',
      {
        status: {},
        rows: [
          failedRow(0, undefined, 'v1', {
            lastFailure: { podName: '', containerName: '', reason: 'Unschedulable', message: '', time: noon },
          }),
        ],
      },
    ],
  ])('has the Instance created again %s', (_, options) => {
    const { [annotation.resetInstances]: __, ...annotations } = resetting('0').replica.annotations;
    const after = persisted(resetting('0', { ...options, spec: { pause: 'recover' } }));
    expect(after.status.rows.get(0)?.kind).toBe('failed');
    const resumed = { ...after, pods: new Map(), replica: { ...after.replica, annotations } };
    expect(rowAfter({ ...resumed, spec: { ...resumed.spec, pause: 'running' } })).toMatchObject({
      kind: 'creating',
      op: { target: v1, reason: 'it is tried again' },
    });
  });

  it('does not go past a held revision', () => {
    const after = persisted(resetting('0'));
    expect(rowAfter({ ...after, pods: new Map() })?.kind).toBe('failed');
  });

  it.each<[string, string, WorldOptions, string]>([
    ['serves', '0', { rows: [readyRow(0)], pods: [pod()], status: {} }, ' for instance(s) 0 (still serving)'],
    [
      'serves on what it ran after a failed update',
      '0',
      {
        rows: [failedRow(0, 'v1', 'v2')],
        pods: [pod()],
        spec: { payload: payload('v2') },
        status: { blocks: [heldBlock('v2')] },
      },
      ' for instance(s) 0 (still serving)',
    ],
    ['is being created', '0', { rows: [creatingRow(0)], pods: [] }, ' for instance(s) 0 (Phase=Creating)'],
    ['has been reset already', '0', { pods: [] }, ' for instance(s) 0 (nothing to reset)'],
    ['is not there', '7', {}, ' for instance(s) 7 (no such instance)'],
    [
      'holds a failed update',
      '0',
      { rows: [parkedRow(0, 'v1', 'v2', { op: { waiting: 'Held' } })] },
      ' for instance(s) 0 (owned by Update)',
    ],
  ])('skips an Instance that %s, and says why', (_, value, options, what) => {
    const made = plan(resetting(value, options));
    expect(saidOfMail(made)).toEqual([skipText(what)]);
    expect(isAcked(made)).toBe(true);
    expect(wishes(made).filter((wish) => wish.startsWith('delete'))).toEqual([]);
  });

  it('skips a gang whose leader takes requests, though a worker is lost', () => {
    const [leader] = gangPods(0, 1, 'serving');
    const rows = [{ ...failedRow(0, undefined, 'v1'), target: revisionOf('v1', pairRunners) }];
    const options: WorldOptions = { spec: { runners: pairRunners }, rows, pods: leader === undefined ? [] : [leader] };
    expect(saidOfMail(plan(resetting('0', options)))).toEqual([skipText(' for instance(s) 0 (still serving)')]);
  });

  it('skips a gang that keeps its failed update, whichever kind that is', () => {
    const { op, ...row } = recreatingRow(0, 'v1', 'v2', { runners: pairRunners }) as InstanceRow & { kind: 'updating' };
    const kept = { ...row, kind: 'failed', kept: op } as InstanceRow;
    const spec = { runners: pairRunners, payload: payload('v2', pairRunners) };
    const status = { blocks: [{ ...heldBlock('v2'), target: op.target }] };
    const owned = [skipText(' for instance(s) 0 (owned by Update)')];
    expect(saidOfMail(plan(resetting('0', { spec, rows: [kept], pods: [], status })))).toEqual(owned);
    const [source, marker] = pair(0, 1, { phase: 'Failed' });
    const rows = [source, marker] as readonly InstanceRow[];
    const pods = [...gangPods(0, 1, 'starting'), ...gangPods(1, 1, 'starting', 'v2')];
    const surging = resetting('0', { spec, rows, pods, status });
    const settled = { ...persisted(surging), replica: surging.replica };
    expect(saidOfMail(plan(settled))).toEqual(owned);
  });

  it('of all says what it did and what it could not, and leaves the rest alone', () => {
    const rows = [failedRow(0, undefined, 'v1'), failedRow(1, undefined, 'v1'), readyRow(2), parkedRow(3)];
    const pods = [0, 1, 3].map((index) => pod({ index, health: 'crashLoop' }));
    const spec = { replicas: 4, payload: payload('v1') };
    const all = resetting('all', { spec, rows, pods: [...pods.slice(0, 1), ...pods.slice(2), pod({ index: 2 })] });
    const settled = persisted({ ...all, replica: { ...all.replica, annotations: {} } });
    expect(saidOfMail(plan({ ...settled, replica: all.replica }))).toEqual([
      resetText('0'),
      skipText(' for instance(s) 1 (nothing to reset)'),
      skipText(' for instance(s) 3 (owned by Update)'),
    ]);
  });

  it('of all where none is Failed says that', () => {
    const made = plan(resetting('all', { rows: [readyRow(0)], pods: [pod()], status: {} }));
    expect(saidOfMail(made)).toEqual([
      says('InstancesResetSkipped', 'reset skipped: none is Failed; nothing to reset'),
    ]);
    expect(isAcked(made)).toBe(true);
  });

  it('that can not be read resets nothing, says why, and is taken off', () => {
    const made = plan(resetting('All'));
    expect(made.events.map(({ type, reason }) => [type, reason])).toContainEqual(['Warning', 'InstancesResetRejected']);
    expect(saidOfMail(made)).toEqual([
      says(
        'InstancesResetRejected',
        'ome.io/reset-instances="All" rejected: "All" is not a non-negative instance index; nothing reset',
      ),
    ]);
    expect(wishes(made)).toEqual(['ack ome.io/reset-instances=All']);
  });

  it('waits while the watch lags on a Failed Instance that it names: nothing is done, said or taken off [B28]', () => {
    const made = plan(resetting('0', { blind: [0] }));
    expect(saidOfMail(made)).toEqual([]);
    expect(wishes(made)).toEqual([]);
  });

  it('waits for the next pass where this one has just given an Instance up', () => {
    const ended = pod({ health: 'failed' });
    const first = resetting('0', { rows: [parkedRow(0)], pods: [ended] });
    expect(saidOfMail(plan(first))).toEqual([]);
    expect(wishes(plan(first))).toEqual([]);
    expect(saidOfMail(plan(persisted(first)))).toEqual([resetText('0')]);
  });

  it('takes an Instance that moves in this very pass for what it becomes', () => {
    const parking = resetting('0', { rows: [parkedRow(0)] });
    expect(saidOfMail(plan(parking))).toEqual([skipText(' for instance(s) 0 (owned by Update)')]);
    const demoted = plan(resetting('0', { rows: [readyRow(0)], pods: [], status: {} }));
    expect(saidOfMail(demoted)).toEqual([skipText(' for instance(s) 0 (Phase=Pending)')]);
    const healing = plan(resetting('0', { pods: [pod()], status: {} }));
    expect(saidOfMail(healing)).toEqual([skipText(' for instance(s) 0 (still serving)')]);
  });

  it('is acted on while the rollout is paused, and not while the replica goes', () => {
    expect(saidOfMail(plan(resetting('0', { spec: { pause: 'freeze' } })))).toEqual([resetText('0')]);
    const going = world({
      ...failed,
      replica: { deletingSince: noon, annotations: { [annotation.resetInstances]: '0' } },
    });
    expect(saidOfMail(plan(going))).toEqual([]);
  });
});

describe('a request to release a revision', () => {
  const released = says(
    'RetryBlockReleased',
    `Held retryBlock for revision ${v1} removed at operator request (ome.io/release-held-revision annotation)`,
  );

  it.each([v1, v1.slice(-8), ` ${v1} `])('%p takes its hold away, says so and is taken off', (value) => {
    const made = plan(releasing(value));
    expect(saidOfMail(made)).toEqual([released]);
    expect(wishes(made)).toContain(`ack ome.io/release-held-revision=${value}`);
    expect(made.status?.blocks).toEqual([]);
  });

  it('lets the revision be tried in the very pass', () => {
    expect(statusAfter(releasing(v1)).rows.get(0)).toMatchObject({ kind: 'creating', op: { target: v1 } });
  });

  it('in a pause takes effect when that ends', () => {
    const paused = persisted(releasing(v1, { spec: { pause: 'recover' } }));
    expect(paused.status).toMatchObject({ blocks: [] });
    expect(paused.status.rows.get(0)?.kind).toBe('failed');
    expect(rowAfter({ ...paused, spec: { ...paused.spec, pause: 'running' } })?.kind).toBe('creating');
  });

  it.each<[string, RetryBlock, string]>([
    ['only waits for its next try', retryBlock('v1'), 'Backoff'],
    ['is being tried', retryBlock('v1', { state: 'RetryInProgress' }), 'RetryInProgress'],
  ])('leaves a revision alone that %s', (_, block, state) => {
    const made = plan(releasing(v1, { rows: [creatingRow(0)], pods: [], status: { blocks: [block] } }));
    expect(saidOfMail(made)).toEqual([
      says('RetryBlockReleaseSkipped', `retryBlock for revision ${v1} is ${state}, not Held; nothing to release`),
    ]);
    expect(isAcked(made)).toBe(true);
    expect((made.status ?? statusAfter(releasing(v1))).blocks).toEqual([block]);
  });

  it('that nothing is held by says that', () => {
    expect(saidOfMail(plan(releasing('chat-engine-00000000')))).toEqual([
      says(
        'RetryBlockReleaseSkipped',
        'release requested for revision "chat-engine-00000000" but no retryBlock exists for it; nothing to release',
      ),
    ]);
  });

  it('releases no other revision', () => {
    const blocks = [heldBlock('v1'), heldBlock('v2')];
    const options = {
      spec: { payload: payload('v2') },
      status: { blocks },
      config: { ...chartConfig, retryBlockHistoryLimit: 5 },
    };
    expect(statusAfter(releasing(v1, options)).blocks).toMatchObject([{ target: revisionOf('v2'), state: 'Held' }]);
  });
});
