import { describe, expect, it } from '@jest/globals';
import type { Component } from '@omenative/api';
import { asRecord, asRecords, type JsonRecord } from '../shared/json.js';
import { render } from './render.js';
import { planRouting, type StandingReplica } from './routing-plan.js';
import { type PassOutcome, serviceStatus } from './status.js';
import {
  echoRuntime,
  rawRuntime,
  replicaOf,
  serviceOf,
  settingsOf,
  type WorldParts,
  worldOf,
} from './testing/objects.js';

const runtime = { kind: 'ServingRuntime', name: 'echo' };
const now = '2026-01-02T00:00:00Z';

interface Case extends Partial<WorldParts> {
  readonly spec?: JsonRecord;
  readonly meta?: JsonRecord;
  readonly before?: JsonRecord;
  readonly outcome?: Partial<PassOutcome>;
}

function status({ spec = {}, meta = {}, before = {}, outcome = {}, ...parts }: Case): JsonRecord {
  const service = serviceOf(
    { deploymentMode: 'OMENative', runtime, engine: { autoscaler: { class: 'None' } }, ...spec },
    meta,
    before,
  );
  const world = worldOf({ service, servingRuntimes: [rawRuntime(echoRuntime)], ...parts });
  const plan = render(world);
  const standing = new Map<Component, StandingReplica>();
  for (const { component, stored } of plan.components) {
    if (stored !== undefined)
      standing.set(component, { name: stored.meta.name, uid: stored.meta.uid, spec: stored.spec });
  }
  const { wanted } = planRouting(world, plan, standing);
  return serviceStatus(world, plan, { failed: new Map(), services: wanted, ...outcome }, now);
}

function condition(of: JsonRecord, type: string): JsonRecord | undefined {
  return asRecords(of['conditions']).find((item) => item['type'] === type);
}

const surge = (maxUnavailable: unknown): JsonRecord => ({
  lifecycle: { updateStrategy: { type: 'RecreatePod', rollingUpdate: { maxUnavailable } } },
});

describe('EngineReady', () => {
  it.each([
    ['all serve', { replicas: 3 }, 3, 'True', 'Ready', 'All Instances are Ready'],
    ['more than all serve, in a surge', { replicas: 3 }, 4, 'True', 'Ready', 'All Instances are Ready'],
    ['enough serve', { replicas: 4, ...surge('25%') }, 3, 'True', 'MinimumAvailable', '3/4 Instances serving (min 3)'],
    [
      'too few serve',
      { replicas: 4, ...surge(1) },
      2,
      'False',
      'InsufficientAvailable',
      '2/4 Instances serving, need 3',
    ],
    [
      'without a budget all have to',
      { replicas: 4 },
      3,
      'False',
      'InsufficientAvailable',
      '3/4 Instances serving, need 4',
    ],
    ['a count of none runs one', { replicas: 0 }, 0, 'False', 'InsufficientAvailable', '0/1 Instances serving, need 1'],
    [
      'no budget makes a service of nothing',
      { replicas: 1, ...surge('100%') },
      0,
      'False',
      'InsufficientAvailable',
      '0/1 Instances serving, need 1',
    ],
  ])('%s', (_case, spec, serving, wanted, reason, message) => {
    const of = status({ replicas: [replicaOf(spec, { servingReplicas: serving })] });
    expect(condition(of, 'EngineReady')).toEqual({
      type: 'EngineReady',
      status: wanted,
      reason,
      message,
      lastTransitionTime: now,
    });
  });

  it('is unknown for a backend that this controller does not run, and says what to set', () => {
    const of = status({ spec: { deploymentMode: undefined } });
    expect(condition(of, 'EngineReady')).toMatchObject({ status: 'Unknown', reason: 'DeploymentModeNotManaged' });
    expect(condition(of, 'EngineReady')?.['message']).toBe(
      "the engine's deployment mode is RawDeployment (the default), which this controller does not run: " +
        'set spec.deploymentMode to OMENative, or leave it to the controller of that mode',
    );
    expect(condition(of, 'Ready')).toMatchObject({ status: 'Unknown', reason: 'DeploymentModeNotManaged' });
  });

  it('says what stands in the way when nothing runs, and tells the truth about what runs all the same', () => {
    const spec = { runtime: { name: 'gone' } };
    expect(condition(status({ spec }), 'EngineReady')).toMatchObject({ status: 'False', reason: 'RuntimeNotFound' });
    const running = status({ spec, replicas: [replicaOf({}, { servingReplicas: 1 })] });
    expect(condition(running, 'EngineReady')).toMatchObject({ status: 'True', reason: 'Ready' });
    expect(condition(running, 'RuntimeReady')).toMatchObject({ status: 'False', reason: 'RuntimeNotFound' });
  });

  it('is unknown when the replica’s status can’t be read', () => {
    const of = status({ replicas: [replicaOf({}, { instanceStatusEncoding: 'ColumnarV3' })] });
    expect(condition(of, 'EngineReady')).toMatchObject({ status: 'Unknown', reason: 'InstanceStatusDecodeFailed' });
  });

  it('shows a write that was refused', () => {
    const failed = new Map([['engine' as const, { reason: 'ComponentReconcileError', message: 'denied' }]]);
    expect(condition(status({ outcome: { failed } }), 'EngineReady')).toMatchObject({
      reason: 'ComponentReconcileError',
      message: 'denied',
    });
  });

  it('is False without an engine', () => {
    const of = status({ spec: { engine: undefined } });
    expect(condition(of, 'EngineReady')).toMatchObject({ status: 'False', reason: 'DeploymentModeError' });
  });
});

const servingReplica = (component: string, count: number): ReturnType<typeof replicaOf> =>
  replicaOf({ component }, { servingReplicas: count });

describe('Ready', () => {
  const spec = { decoder: {}, router: { runner: { image: 'r' } } };
  const decoderRuntime = { ...echoRuntime, decoderConfig: echoRuntime['engineConfig'] };
  const servingRuntimes = [rawRuntime(decoderRuntime)];

  it('waits for the engine and the way in, not for decoder and router', () => {
    const replicas = [servingReplica('engine', 1), servingReplica('decoder', 0), servingReplica('router', 0)];
    const of = status({ spec, servingRuntimes, replicas });
    expect(
      asRecords(of['conditions'])
        .slice(0, 5)
        .map((item) => [item['type'], item['status']].join('=')),
    ).toEqual(['Ready=True', 'EngineReady=True', 'DecoderReady=False', 'RouterReady=False', 'IngressReady=True']);
    expect(condition(of, 'IngressReady')).toMatchObject({
      reason: 'IngressDisabled',
      message: 'Ingress creation is disabled, using external service for access',
    });
  });

  it('is False when the Service to enter by can’t be made', () => {
    const entryFailed = { reason: 'ServiceNameTaken', message: 'the name is taken' };
    const of = status({ replicas: [servingReplica('engine', 1)], outcome: { entryFailed } });
    expect(condition(of, 'Ready')).toMatchObject({ status: 'False', ...entryFailed });
  });

  it('is False when routes are wanted, which are not made here', () => {
    const settings = settingsOf({ ingress: { disableIngressCreation: false } });
    const of = status({ replicas: [servingReplica('engine', 1)], settings });
    expect(condition(of, 'IngressReady')).toMatchObject({ status: 'False', reason: 'IngressNotAvailable' });
  });
});

describe('conditions', () => {
  const replicas = [replicaOf({}, { servingReplicas: 1 })];

  it('keep the time of their transition while the status stays, and take a new one when it changes', () => {
    const early = '2026-01-01T00:00:00Z';
    const before = {
      conditions: [
        { type: 'EngineReady', status: 'True', reason: 'MinimumAvailable', lastTransitionTime: early },
        { type: 'Ready', status: 'False', lastTransitionTime: early },
      ],
    };
    const of = status({ replicas, before });
    expect(condition(of, 'EngineReady')).toMatchObject({ reason: 'Ready', lastTransitionTime: early });
    expect(condition(of, 'Ready')).toMatchObject({ status: 'True', lastTransitionTime: now });
  });

  it('of others stay, and ours go when they have nothing to say', () => {
    const before = {
      conditions: [
        { type: 'TrafficReady', status: 'True' },
        { type: 'DecoderReady', status: 'True' },
      ],
    };
    const types = asRecords(status({ replicas, before })['conditions']).map((item) => item['type']);
    expect(types).toEqual(['Ready', 'EngineReady', 'IngressReady', 'TrafficReady']);
  });

  it('speak of the runtime only after a problem with it', () => {
    expect(condition(status({ replicas }), 'RuntimeReady')).toBeUndefined();
    const before = { conditions: [{ type: 'RuntimeReady', status: 'False', reason: 'RuntimeNotFound' }] };
    expect(condition(status({ replicas, before }), 'RuntimeReady')).toMatchObject({
      status: 'True',
      reason: 'RuntimeResolved',
    });
  });

  it.each([
    [{}, 'engine: no class is set, the count stays at minReplicas (1)'],
    [{ autoscaler: { class: 'KEDA' }, minReplicas: 2 }, 'engine: class KEDA, the count stays at minReplicas (2)'],
  ])('say who holds the count of %j', (engine, message) => {
    const resolved = condition(status({ spec: { engine } }), 'AutoscalerResolved');
    expect(resolved).toMatchObject({ status: 'False', reason: 'ClassUnavailable' });
    expect(resolved?.['message']).toContain(message);
  });

  it('name the fields that have no effect, and only those', () => {
    expect(condition(status({}), 'UnsupportedFields')).toBeUndefined();
    const spec = {
      rollout: { groups: [{ components: ['engine'] }], pairingProtocol: 'p' },
      engine: { minAvailable: 1 },
    };
    expect(condition(status({ spec }), 'UnsupportedFields')?.['message']).toBe(
      'kept, and without effect in this release: spec.engine.minAvailable, spec.rollout.groups',
    );
  });

  it('bound their messages', () => {
    const failed = new Map([['engine' as const, { reason: 'ComponentReconcileError', message: 'x'.repeat(5000) }]]);
    expect(String(condition(status({ outcome: { failed } }), 'EngineReady')?.['message']).length).toBe(1024);
  });
});

describe('status.components', () => {
  const current = replicaOf(
    {},
    {
      currentRevision: 'chat-engine-11111111',
      updateRevision: 'chat-engine-22222222',
      replicas: 3,
      readyReplicas: 2,
      servingReplicas: 1,
      labelSelector: 'component=engine',
      conditions: [
        {
          type: 'Ready',
          status: 'Unknown',
          reason: 'RolloutInProgress',
          message: 'm',
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
      ],
      rolloutHold: { gate: 'Budget', reason: 'r', since: '2026-01-01T00:00:00Z', target: 'chat-engine-22222222' },
    },
    { annotations: { 'ome.io/parent-generation': '6' } },
  );

  it('mirror the replica in its own words, without its rows', () => {
    const engine = asRecord(asRecord(status({ replicas: [current] })['components'])['engine']);
    expect(engine).toEqual({
      url: 'http://chat-engine.lab.svc.cluster.local:8080',
      address: { url: 'http://chat-engine.lab.svc.cluster.local:8080' },
      scaleTargetRef: { apiVersion: 'ome.io/v1beta1', kind: 'InferenceReplica', name: 'chat-engine' },
      autoscaler: { class: 'None', managedBy: 'none', specSource: 'isvc' },
      lifecycle: {
        observedGeneration: 6,
        currentRevision: 'chat-engine-11111111',
        updateRevision: 'chat-engine-22222222',
        labelSelector: 'component=engine',
        replicas: 3,
        readyReplicas: 2,
        servingReplicas: 1,
        availableReplicas: 0,
        updatedReplicas: 0,
        updatedReadyReplicas: 0,
        conditions: [
          {
            type: 'Ready',
            status: 'Unknown',
            reason: 'RolloutInProgress',
            message: 'm',
            lastTransitionTime: '2026-01-01T00:00:00Z',
          },
        ],
        rolloutHold: { gate: 'Budget', reason: 'r', since: '2026-01-01T00:00:00Z', target: 'chat-engine-22222222' },
      },
    });
  });

  it('do not claim a generation that the replica has not acted on [B14]', () => {
    const behind = replicaOf(
      {},
      { observedGeneration: 1 },
      { generation: 2, annotations: { 'ome.io/parent-generation': '7' } },
    );
    const before = { components: { engine: { lifecycle: { observedGeneration: 5 } } } };
    const engine = asRecord(asRecord(status({ replicas: [behind], before })['components'])['engine']);
    expect(asRecord(engine['lifecycle'])['observedGeneration']).toBe(5);
  });

  it('keep what others write, and drop components that are gone', () => {
    const before = { components: { engine: { rolloutPhase: 'Stable' }, decoder: { lifecycle: {} } } };
    const components = asRecord(status({ replicas: [current], before })['components']);
    expect(Object.keys(components)).toEqual(['engine']);
    expect(asRecord(components['engine'])['rolloutPhase']).toBe('Stable');
  });
});

describe('the rest of the status', () => {
  it('tells where requests go, what generation was seen, and how the model does', () => {
    const model = { metadata: { name: 'qwen' }, spec: { storage: { storageUri: 'hf://a/b', path: '/m' } } };
    const parts = { spec: { model: { name: 'qwen' } }, clusterBaseModels: [model] };
    const of = status({ ...parts, replicas: [replicaOf({}, { servingReplicas: 1 })] });
    expect(of).toMatchObject({
      observedGeneration: 7,
      url: 'http://chat.lab.svc.cluster.local:8080',
      address: { url: 'http://chat.lab.svc.cluster.local:8080' },
      modelStatus: { transitionStatus: 'UpToDate' },
    });
    expect(status(parts)['modelStatus']).toEqual({ transitionStatus: 'InProgress' });
    expect(status({ spec: { model: { name: 'gone' } } })['modelStatus']).toMatchObject({
      transitionStatus: 'InvalidSpec',
      lastFailureInfo: { reason: 'BaseModelNotFound' },
    });
  });

  it('is the same when nothing changed', () => {
    const replicas = [replicaOf({}, { servingReplicas: 1 })];
    const once = status({ replicas });
    expect(status({ replicas, before: once })).toEqual(once);
  });
});
