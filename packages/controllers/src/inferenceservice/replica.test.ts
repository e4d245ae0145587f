import { describe, expect, it } from '@jest/globals';
import type { OperatorSettings } from '../config/settings.js';
import { replicaRecordOf } from '../inferencereplica/replica-record.js';
import { asRecord, type JsonRecord } from '../shared/json.js';
import { render } from './render.js';
import { type DesiredReplica, newReplica, replicaPatch } from './replica.js';
import {
  type catalogOf,
  echoRuntime,
  rawRuntime,
  replicaOf,
  serviceOf,
  settingsOf,
  worldOf,
} from './testing/objects.js';

const runtime = { kind: 'ServingRuntime', name: 'echo' };

interface Case {
  readonly engine?: JsonRecord;
  readonly spec?: JsonRecord;
  readonly meta?: JsonRecord;
  readonly runtimeSpec?: JsonRecord;
  readonly settings?: OperatorSettings;
}

function desired({
  engine = {},
  spec = {},
  meta = {},
  runtimeSpec = echoRuntime,
  settings = settingsOf(),
}: Case = {}): DesiredReplica {
  const service = serviceOf({ deploymentMode: 'OMENative', runtime, engine, ...spec }, meta);
  const plan = render(worldOf({ service, servingRuntimes: [rawRuntime(runtimeSpec)], settings }));
  const component = plan.components[0];
  if (component?.as !== 'projected') throw new Error(`not projected: ${JSON.stringify(component)}`);
  return component.desired;
}

/** The replica as the API server would hold it after its creation. */
function stored(wanted: DesiredReplica, change: JsonRecord = {}): ReturnType<typeof replicaRecordOf> {
  const object = newReplica(wanted);
  return replicaRecordOf({
    ...object,
    metadata: {
      ...asRecord(object['metadata']),
      uid: 'uid-chat-engine',
      resourceVersion: '20',
      ...asRecord(change['metadata']),
    },
    spec: { ...asRecord(object['spec']), ...asRecord(change['spec']) },
  });
}

describe('a projected replica', () => {
  it('carries what the API pages say', () => {
    const annotations = { 'b.example/y': '1', 'a.example/x': '1', 'ome.io/revision-history-limit': '4' };
    const meta = { generation: 7, annotations };
    const engine = { minReplicas: 2, topologyKey: 'zone', topologySpread: 'Preferred', autoscaler: { class: 'None' } };
    expect(newReplica(desired({ engine, meta }))).toEqual({
      apiVersion: 'ome.io/v1beta1',
      kind: 'InferenceReplica',
      metadata: {
        name: 'chat-engine',
        namespace: 'lab',
        labels: { component: 'engine', 'ome.io/inferenceservice': 'chat', 'ome.io/managed-by': 'OMENative' },
        annotations: {
          'ome.io/controller-write': 'true',
          'ome.io/parent-generation': '7',
          'ome.io/revision-excluded-annotation-keys': 'a.example/x,b.example/y',
        },
        ownerReferences: [
          {
            apiVersion: 'ome.io/v1beta1',
            kind: 'InferenceService',
            name: 'chat',
            uid: 'uid-chat',
            controller: true,
            blockOwnerDeletion: true,
          },
        ],
      },
      spec: {
        component: 'engine',
        parentRef: { name: 'chat' },
        replicas: 2,
        minReadySeconds: 0,
        topologyKey: 'zone',
        topologySpread: 'Preferred',
        lifecycle: { updateStrategy: { type: 'SurgeThenDrain' } },
        autoscaler: { class: 'None' },
        revisionHistoryLimit: 4,
        runners: [expect.objectContaining({ name: 'default', size: 1 })],
      },
    });
  });

  it('names as excluded only annotations that the component does not declare itself', () => {
    const meta = { annotations: { 'a.example/x': '1', 'b.example/y': '1' } };
    const engine = { annotations: { 'b.example/y': '2' } };
    expect(desired({ engine, meta }).annotations['ome.io/revision-excluded-annotation-keys']).toBe('a.example/x');
    expect(desired({ engine }).annotations).not.toHaveProperty('ome.io/revision-excluded-annotation-keys');
  });

  it.each([
    ['true', { paused: true }],
    ['freeze', { paused: true, pauseMode: 'Freeze' }],
    ['True', {}],
    ['yes', {}],
    ['', {}],
  ])('is paused by the annotation %j as %j [A13]', (word, wanted) => {
    const { spec } = desired({ meta: { annotations: { 'ome.io/rollout-paused': word } } });
    const { paused, pauseMode } = spec;
    expect({ ...(paused === undefined ? {} : { paused }), ...(pauseMode === undefined ? {} : { pauseMode }) }).toEqual(
      wanted,
    );
  });

  it.each([
    ['the service', { minReplicas: 4 }, 3, 2, 4],
    ['the runtime', {}, 3, 2, 3],
    ['the operator', {}, undefined, 2, 2],
    ['one, when nobody says', {}, undefined, undefined, 1],
    ['one, when somebody says none: zero is a word', { minReplicas: 0 }, 3, 2, 1],
  ])('takes its count from %s', (_case, engine, ofRuntime, ofOperator, wanted) => {
    const runtimeSpec = { engineConfig: { ...asRecord(echoRuntime['engineConfig']), minReplicas: ofRuntime } };
    const settings = settingsOf(
      ofOperator === undefined ? {} : { deploy: { replicas: { defaultMinReplicas: ofOperator } } },
    );
    expect(desired({ engine, runtimeSpec, settings }).minReplicas).toBe(wanted);
  });

  const operator = settingsOf({
    deploy: {
      minReadySeconds: 30,
      updateStrategy: { engine: { type: 'RecreatePod', maxSurge: '10%', maxUnavailable: '20%' } },
    },
  });

  it.each([
    [
      'the operator’s type with the budget it reads',
      {},
      {},
      { type: 'RecreatePod', rollingUpdate: { maxUnavailable: '20%' } },
    ],
    [
      'a surge with the surge budget alone',
      { type: 'SurgeThenDrain' },
      {},
      { type: 'SurgeThenDrain', rollingUpdate: { maxSurge: '10%' } },
    ],
    [
      'the runtime’s budgets under the service’s type',
      { type: 'InPlaceIfPossible' },
      { type: 'SurgeThenDrain', rollingUpdate: { maxUnavailable: 2, maxSurge: 1 } },
      { type: 'InPlaceIfPossible', rollingUpdate: { maxUnavailable: 2, maxSurge: 1 } },
    ],
    [
      'a zero that somebody wrote',
      { rollingUpdate: { maxUnavailable: 0 } },
      {},
      { type: 'RecreatePod', rollingUpdate: { maxUnavailable: 0 } },
    ],
  ])('updates by %s', (_case, ofService, ofRuntime, wanted) => {
    const runtimeSpec = {
      engineConfig: { ...asRecord(echoRuntime['engineConfig']), lifecycle: { updateStrategy: ofRuntime } },
    };
    const engine = { lifecycle: { updateStrategy: ofService } };
    expect(asRecord(desired({ engine, runtimeSpec, settings: operator }).spec['lifecycle'])['updateStrategy']).toEqual(
      wanted,
    );
  });

  it.each([
    ['the service, even when it says zero', { minReadySeconds: 0 }, { minReadySeconds: 5 }, 0],
    ['the runtime', {}, { minReadySeconds: 5 }, 5],
    ['the operator', {}, {}, 30],
  ])('takes minReadySeconds, at the top, from %s', (_case, ofService, ofRuntime, wanted) => {
    const runtimeSpec = { engineConfig: { ...asRecord(echoRuntime['engineConfig']), lifecycle: ofRuntime } };
    const { spec } = desired({ engine: { lifecycle: ofService }, runtimeSpec, settings: operator });
    expect(spec['minReadySeconds']).toBe(wanted);
    expect(spec['lifecycle']).not.toHaveProperty('minReadySeconds');
  });

  it.each([
    ['the service’s', { instanceReadyTimeout: '2m' }, { instanceReadyTimeout: '45m' }, '2m'],
    ['the runtime’s', {}, { instanceReadyTimeout: '45m' }, '45m'],
    [
      'none, when the service says zero and hides the runtime’s',
      { instanceReadyTimeout: '0s' },
      { instanceReadyTimeout: '45m' },
      undefined,
    ],
  ])('has %s timeout', (_case, ofService, ofRuntime, wanted) => {
    const runtimeSpec = { engineConfig: { ...asRecord(echoRuntime['engineConfig']), lifecycle: ofRuntime } };
    const { spec } = desired({ engine: { lifecycle: ofService }, runtimeSpec });
    expect(asRecord(spec['lifecycle'])['instanceReadyTimeout']).toBe(wanted);
  });

  it('takes the pairing protocol of the rollout, unless it is a router', () => {
    const router = { router: { runner: { image: 'r' } } };
    const service = serviceOf({
      deploymentMode: 'OMENative',
      runtime,
      engine: {},
      ...router,
      rollout: { pairingProtocol: 'p1' },
    });
    const plan = render(worldOf({ service, servingRuntimes: [rawRuntime(echoRuntime)] }));
    const protocols = plan.components.map((one) =>
      one.as === 'projected' ? one.desired.spec['pairingProtocol'] : one.as,
    );
    expect(protocols).toEqual(['p1', undefined]);
  });
});

describe('the patch of a stored replica', () => {
  it('is none when nothing changed', () => {
    const wanted = desired({ engine: { minReplicas: 2 } });
    expect(replicaPatch(wanted, stored(wanted))).toBeUndefined();
  });

  it('names what changed, for this very version of the object', () => {
    const before = desired({ engine: { minReplicas: 2, lifecycle: { instanceReadyTimeout: '2m' } } });
    const after = desired({
      engine: { minReplicas: 3, lifecycle: { restartPolicy: 'None' } },
      meta: { generation: 8 },
    });
    expect(replicaPatch(after, stored(before))).toEqual({
      metadata: { uid: 'uid-chat-engine', resourceVersion: '20', annotations: { 'ome.io/parent-generation': '8' } },
      spec: { replicas: 3, lifecycle: { instanceReadyTimeout: null, restartPolicy: 'None' } },
    });
  });

  it('leaves pacing and what it does not own alone, and clears what the service no longer asks for', () => {
    const wanted = desired({ engine: {} });
    const paused = stored(wanted, {
      spec: { pacing: { partition: 1 }, paused: true, pauseMode: 'Freeze', placementReplicaLimit: 3 },
    });
    expect(replicaPatch(wanted, paused)?.['spec']).toEqual({ paused: null, pauseMode: null });
  });

  it.each([
    ['None', 5, 2],
    ['unset', 5, 2],
    ['HPA', 5, 2],
    ['KEDA', 5, 2],
    ['External', 5, undefined],
    ['External', 0, 2],
  ])('with class %s and a stored count of %s writes the count %s [B61]', (autoscalerClass, count, written) => {
    const autoscaler = autoscalerClass === 'unset' ? {} : { autoscaler: { class: autoscalerClass } };
    const wanted = desired({ engine: { minReplicas: 2, ...autoscaler } });
    const patch = replicaPatch(wanted, stored(wanted, { spec: { replicas: count } }));
    expect(asRecord(patch?.['spec'])['replicas']).toBe(written);
  });

  it('restores a count that was taken away', () => {
    const wanted = desired({ engine: { minReplicas: 2, autoscaler: { class: 'External' } } });
    const without = stored(wanted, { spec: { replicas: undefined } });
    expect(replicaPatch(wanted, without)?.['spec']).toEqual({ replicas: 2 });
  });

  it('removes an excluded-keys annotation that names nothing any more, and no other', () => {
    const before = desired({ meta: { annotations: { 'a.example/x': '1' } } });
    const after = desired({});
    const reset = stored(before, {
      metadata: { annotations: { ...before.annotations, 'ome.io/reset-instances': 'all' } },
    });
    expect(asRecord(replicaPatch(after, reset)?.['metadata'])['annotations']).toEqual({
      'ome.io/revision-excluded-annotation-keys': null,
    });
  });
});

function nativeService(spec: JsonRecord): ReturnType<typeof serviceOf> {
  return serviceOf({ deploymentMode: 'OMENative', runtime, engine: {}, ...spec });
}

describe('what stands in the way of a replica', () => {
  const gangRuntime = { engineConfig: { leader: { runner: { image: 'a' } }, worker: { runner: { image: 'a' } } } };
  const foreign = replicaOf({ parentRef: undefined }, {}, { ownerReferences: [] });
  const earlier = replicaOf(
    {},
    {},
    {
      ownerReferences: [{ kind: 'InferenceService', name: 'chat', uid: 'uid-before', controller: true }],
      deletionTimestamp: '2026-01-01T00:00:00Z',
    },
  );
  const going = replicaOf({}, {}, { deletionTimestamp: '2026-01-01T00:00:00Z' });

  it.each([
    ['no runtime', nativeService({ runtime: undefined }), [], 'RuntimeNotFound', 'spec.runtime is not set'],
    [
      'a runtime that is missing',
      nativeService({ runtime: { name: 'else' } }),
      [],
      'RuntimeNotFound',
      'ClusterServingRuntime "else" does not exist: create it',
    ],
    [
      'a model that is missing',
      nativeService({ model: { name: 'qwen' } }),
      [],
      'ModelNotFound',
      'ClusterBaseModel "qwen" does not exist: create it',
    ],
    [
      'readyPolicy None on a gang',
      nativeService({ engine: { lifecycle: { readyPolicy: 'None' } } }),
      [],
      'ReadyPolicyInvalid',
      'write AllPodReady',
      gangRuntime,
    ],
    [
      'a foreign replica of its name',
      nativeService({}),
      [foreign],
      'ReplicaNameTaken',
      'stands alone; delete it, or rename the InferenceService',
    ],
    [
      'the replica of an earlier service of its name [B50]',
      nativeService({}),
      [earlier],
      'ReplicaNameTaken',
      'an earlier InferenceService',
    ],
    [
      'its own replica on its way out',
      nativeService({}),
      [going],
      'ReplicaTerminating',
      'a new one is made once it is gone',
    ],
  ])('%s', (_case, of, replicas, reason, message, runtimeSpec: JsonRecord = echoRuntime) => {
    const plan = render(worldOf({ service: of, replicas, servingRuntimes: [rawRuntime(runtimeSpec)] }));
    expect(plan.components).toEqual([
      expect.objectContaining({ as: 'held', reason, message: expect.stringContaining(message) }),
    ]);
  });

  it('is a model that is on no node, until there is something to leave alone', () => {
    const model = {
      metadata: { name: 'qwen' },
      spec: { storage: { storageUri: 'hf://a/b', path: '/m' } },
      status: { state: 'In_Transit' },
    };
    const parts = {
      service: nativeService({ model: { name: 'qwen' } }),
      clusterBaseModels: [model],
      servingRuntimes: [rawRuntime(echoRuntime)],
    };
    expect(render(worldOf(parts)).components[0]).toMatchObject({ as: 'held', reason: 'ModelNotReady' });
    expect(render(worldOf({ ...parts, replicas: [replicaOf({})] })).components[0]?.as).toBe('projected');
    const ready = { ...model, status: { state: 'Ready' } };
    expect(render(worldOf({ ...parts, clusterBaseModels: [ready] })).components[0]?.as).toBe('projected');
  });

  it('is another backend, which then has the component to itself', () => {
    const plan = render(
      worldOf({ service: serviceOf({ runtime, engine: {} }), servingRuntimes: [rawRuntime(echoRuntime)] }),
    );
    expect(plan.components).toEqual([
      expect.objectContaining({ as: 'notManaged', mode: expect.objectContaining({ mode: 'RawDeployment' }) }),
    ]);
  });

  it('is an engine that is not declared, for every other component', () => {
    const of = serviceOf({ deploymentMode: 'OMENative', runtime, router: {} });
    const plan = render(worldOf({ service: of, servingRuntimes: [rawRuntime(echoRuntime)] }));
    expect(plan.components).toEqual([expect.objectContaining({ as: 'held', reason: 'DeploymentModeError' })]);
  });

  it('is a decoder of another mode, for both', () => {
    const decoder = { annotations: { 'ome.io/deploymentMode': 'RawDeployment' }, runner: { image: 'd' } };
    const of = nativeService({ decoder, router: { runner: { image: 'r' } } });
    const plan = render(worldOf({ service: of, servingRuntimes: [rawRuntime(echoRuntime)] }));
    expect(plan.components.map((one) => one.as)).toEqual(['held', 'held', 'projected']);
  });

  it('never touches a replica of a component that is still declared; one that is not is removed when it is ours', () => {
    const replicas = [
      replicaOf({}),
      replicaOf({ component: 'decoder' }),
      replicaOf({ component: 'router' }, {}, { ownerReferences: [] }),
    ];
    const plan = render(worldOf({ service: nativeService({}), replicas, servingRuntimes: [rawRuntime(echoRuntime)] }));
    expect(plan.removed.map((replica) => replica.meta.name)).toEqual(['chat-decoder']);
  });
});

const imageOf = (kind: string | undefined, objects: Parameters<typeof catalogOf>[0]): unknown => {
  const service = serviceOf({ deploymentMode: 'OMENative', runtime: { name: 'echo', kind }, engine: {} });
  const component = render(worldOf({ service, ...objects })).components[0];
  if (component?.as !== 'projected') return component?.as === 'held' ? component.reason : undefined;
  return JSON.stringify(component.desired.spec['runners']).match(/"image":"(\w+)"/)?.[1];
};

describe('a runtime by its name', () => {
  const clusterWide = rawRuntime({ engineConfig: { runner: { image: 'cluster' } } }, { namespace: undefined });
  const own = rawRuntime({ engineConfig: { runner: { image: 'own' } } });

  it('is the cluster’s, else the namespace’s; with kind ServingRuntime only the namespace’s', () => {
    const both = { servingRuntimes: [own], clusterServingRuntimes: [clusterWide] };
    expect(imageOf(undefined, both)).toBe('cluster');
    expect(imageOf('ClusterServingRuntime', { servingRuntimes: [own] })).toBe('own');
    expect(imageOf('ServingRuntime', both)).toBe('own');
    expect(imageOf('ServingRuntime', { clusterServingRuntimes: [clusterWide] })).toBe('RuntimeNotFound');
  });

  it('is refused when it is disabled, pinned, or inherits', () => {
    expect(imageOf('ServingRuntime', { servingRuntimes: [rawRuntime({ ...echoRuntime, disabled: true })] })).toBe(
      'RuntimeDisabled',
    );
    const heir = rawRuntime(echoRuntime, { annotations: { 'ome.io/inherit-from': 'base' } });
    expect(imageOf('ServingRuntime', { servingRuntimes: [heir] })).toBe('RuntimeInheritanceUnavailable');
    const pinned = serviceOf({ deploymentMode: 'OMENative', runtime: { ...runtime, autoSync: false }, engine: {} });
    const plan = render(worldOf({ service: pinned, servingRuntimes: [rawRuntime(echoRuntime)] }));
    expect(plan.components[0]).toMatchObject({ as: 'held', reason: 'RuntimePinError' });
  });
});
