import { describe, expect, it } from '@jest/globals';
import type { StoredRevision } from '@omenative/engine';
import { asRecord, asRecords, type JsonRecord } from '../shared/json.js';
import { renderPod } from './render.js';
import { headOf, replicaRecordOf } from './replica-record.js';
import { specViewOf } from './spec-view.js';
import { rawReplica, template } from './testing/objects.js';

interface Options {
  readonly spec?: JsonRecord;
  readonly metadata?: JsonRecord;
  readonly pod?: Partial<Parameters<typeof renderPod>[0]['pod']>;
}

function render({ spec = {}, metadata = {}, pod = {} }: Options): JsonRecord {
  const record = replicaRecordOf(rawReplica({ spec, metadata }));
  const view = specViewOf(record, {}, () => false);
  if (!view.ok) throw new Error(view.message);
  const revision: StoredRevision = {
    name: 'chat-engine-0123abcd',
    uid: 'r',
    hash: '0123abcd',
    number: 1,
    payload: view.spec.payload,
  };
  return renderPod({
    replica: headOf(record),
    spec: view.spec,
    live: view.live,
    revision,
    pod: {
      index: 2,
      incarnation: 3,
      runner: 'default',
      ordinal: 1,
      avoidNodes: [],
      ...pod,
    },
  });
}

const gang = {
  replicas: 2,
  topologyKey: 'rack',
  runners: [
    { name: 'leader', size: 1, template: template('leader:1') },
    { name: 'worker', size: 2, template: template('worker:1') },
  ],
};
const worker = { runner: 'worker', ordinal: 1 } as const;

function envOf(pod: JsonRecord): Readonly<Record<string, unknown>> {
  const [container] = asRecords(asRecord(pod['spec'])['containers']);
  return Object.fromEntries(asRecords(container?.['env']).map((variable) => [variable['name'], variable['value']]));
}

function labelsOf(pod: JsonRecord): JsonRecord {
  return asRecord(asRecord(pod['metadata'])['labels']);
}

function constraintsOf(pod: JsonRecord): unknown {
  return asRecord(pod['spec'])['topologySpreadConstraints'];
}

function spreadBy(spec: JsonRecord): unknown {
  return constraintsOf(render({ spec: { topologySpread: 'Required', ...spec } }));
}

function termsOf(pod: JsonRecord): unknown {
  const { nodeAffinity } = asRecord(asRecord(pod['spec'])['affinity']);
  return asRecord(asRecord(nodeAffinity)['requiredDuringSchedulingIgnoredDuringExecution'])['nodeSelectorTerms'];
}

describe('renderPod', () => {
  it('renders a single pod', () => {
    expect(render({ spec: { replicas: 4 } })).toMatchInlineSnapshot(`
     {
       "apiVersion": "v1",
       "kind": "Pod",
       "metadata": {
         "labels": {
           "component": "engine",
           "ome.io/inferenceservice": "chat",
           "ome.io/instance-incarnation": "3",
           "ome.io/instance-index": "2",
           "ome.io/managed-by": "OMENative",
           "ome.io/pod-ordinal": "1",
           "ome.io/revision-hash": "0123abcd",
           "ome.io/runner": "default",
         },
         "name": "chat-engine-2-default-1",
         "namespace": "team-a",
         "ownerReferences": [
           {
             "apiVersion": "ome.io/v1beta1",
             "blockOwnerDeletion": false,
             "controller": true,
             "kind": "InferenceReplica",
             "name": "chat-engine",
             "uid": "replica-uid",
           },
         ],
       },
       "spec": {
         "containers": [
           {
             "env": [
               {
                 "name": "OME_INFERENCESERVICE_NAME",
                 "value": "chat",
               },
               {
                 "name": "OME_COMPONENT",
                 "value": "engine",
               },
               {
                 "name": "OME_COMPONENT_REPLICAS",
                 "value": "4",
               },
               {
                 "name": "OME_INSTANCE_INDEX",
                 "value": "2",
               },
               {
                 "name": "OME_RUNNER",
                 "value": "default",
               },
               {
                 "name": "OME_RUNNER_SIZE",
                 "value": "1",
               },
               {
                 "name": "OME_RUNNER_INDEX",
                 "value": "0",
               },
               {
                 "name": "OME_INSTANCE_SUBDOMAIN",
                 "value": "chat-engine-2",
               },
             ],
             "image": "registry/engine:1",
             "name": "main",
           },
         ],
         "hostname": "chat-engine-2-default-1",
         "readinessGates": [
           {
             "conditionType": "ome.io/serving",
           },
         ],
         "subdomain": "chat-engine-headless",
       },
     }
    `);
  });

  it('renders the worker of a gang', () => {
    expect(render({ spec: gang, pod: worker })).toMatchInlineSnapshot(`
     {
       "apiVersion": "v1",
       "kind": "Pod",
       "metadata": {
         "labels": {
           "component": "engine",
           "ome.io/inferenceservice": "chat",
           "ome.io/instance-incarnation": "3",
           "ome.io/instance-index": "2",
           "ome.io/managed-by": "OMENative",
           "ome.io/pod-ordinal": "1",
           "ome.io/revision-hash": "0123abcd",
           "ome.io/runner": "worker",
           "scheduling.x-k8s.io/pod-group": "chat-engine-2",
         },
         "name": "chat-engine-2-worker-1",
         "namespace": "team-a",
         "ownerReferences": [
           {
             "apiVersion": "ome.io/v1beta1",
             "blockOwnerDeletion": false,
             "controller": true,
             "kind": "InferenceReplica",
             "name": "chat-engine",
             "uid": "replica-uid",
           },
         ],
       },
       "spec": {
         "affinity": {
           "podAffinity": {
             "requiredDuringSchedulingIgnoredDuringExecution": [
               {
                 "labelSelector": {
                   "matchLabels": {
                     "component": "engine",
                     "ome.io/inferenceservice": "chat",
                     "ome.io/instance-incarnation": "3",
                     "ome.io/instance-index": "2",
                     "ome.io/runner": "leader",
                   },
                 },
                 "topologyKey": "rack",
               },
             ],
           },
         },
         "containers": [
           {
             "env": [
               {
                 "name": "OME_INFERENCESERVICE_NAME",
                 "value": "chat",
               },
               {
                 "name": "OME_COMPONENT",
                 "value": "engine",
               },
               {
                 "name": "OME_COMPONENT_REPLICAS",
                 "value": "2",
               },
               {
                 "name": "OME_INSTANCE_INDEX",
                 "value": "2",
               },
               {
                 "name": "OME_RUNNER",
                 "value": "worker",
               },
               {
                 "name": "OME_RUNNER_SIZE",
                 "value": "2",
               },
               {
                 "name": "OME_RUNNER_INDEX",
                 "value": "1",
               },
               {
                 "name": "OME_INSTANCE_SUBDOMAIN",
                 "value": "chat-engine-2",
               },
               {
                 "name": "OME_LEADER_ADDRESS",
                 "value": "chat-engine-2-leader-0.chat-engine-headless",
               },
               {
                 "name": "OME_INSTANCE_POD_RANK",
                 "value": "2",
               },
               {
                 "name": "OME_INSTANCE_POD_COUNT",
                 "value": "3",
               },
             ],
             "image": "worker:1",
             "name": "main",
           },
         ],
         "hostname": "chat-engine-2-worker-1",
         "readinessGates": [
           {
             "conditionType": "ome.io/serving",
           },
         ],
         "subdomain": "chat-engine-headless",
       },
     }
    `);
  });

  it('tells the leader of a gang where it stands', () => {
    expect(envOf(render({ spec: gang, pod: { runner: 'leader', ordinal: 0 } }))).toMatchObject({
      OME_RUNNER: 'leader',
      OME_RUNNER_SIZE: '1',
      OME_LEADER_ADDRESS: 'chat-engine-2-leader-0.chat-engine-headless',
      OME_INSTANCE_POD_RANK: '0',
      OME_INSTANCE_POD_COUNT: '3',
    });
  });

  it('lets labels and variables of ours win, and keeps the rest', () => {
    const own = {
      metadata: { labels: { component: 'x', team: 'a' } },
      spec: {
        containers: [
          {
            image: 'e',
            env: [
              { name: 'OME_RUNNER', value: 'x' },
              { name: 'ARGS', value: '$(OME_INSTANCE_INDEX)' },
            ],
          },
          { name: 'side', image: 's' },
        ],
        initContainers: [{ name: 'init', image: 'i' }],
        readinessGates: [{ conditionType: 'ome.io/serving' }, { conditionType: 'x/y' }],
        restartPolicy: 'Never',
        schedulerName: 'mine',
      },
    };
    const pod = render({
      spec: { runners: [{ name: 'default', size: 1, template: own }] },
    });
    const spec = asRecord(pod['spec']);
    expect(labelsOf(pod)).toMatchObject({ component: 'engine', team: 'a' });
    expect(envOf(pod)).toMatchObject({
      OME_RUNNER: 'default',
      ARGS: '$(OME_INSTANCE_INDEX)',
    });
    const [main, side] = asRecords(spec['containers']);
    // A variable can refer to earlier ones only.
    expect(asRecords(main?.['env']).at(-1)).toEqual({
      name: 'ARGS',
      value: '$(OME_INSTANCE_INDEX)',
    });
    expect(main?.['name']).toBe('ome-container');
    expect(asRecords(side?.['env'])).not.toHaveLength(0);
    expect(spec['initContainers']).toEqual([{ name: 'init', image: 'i' }]);
    expect(spec['readinessGates']).toEqual([{ conditionType: 'ome.io/serving' }, { conditionType: 'x/y' }]);
    expect(spec).toMatchObject({
      restartPolicy: 'Never',
      schedulerName: 'mine',
    });
  });

  it('takes what no revision stores from the template of the day', () => {
    const own = {
      ...template(),
      metadata: {
        labels: { 'kueue.x-k8s.io/queue-name': 'q' },
        annotations: {
          'a/x': '1',
          'internal.ome.io/in-place-image-transition': '{}',
          'ome.io/rollout-promote': 'y',
        },
      },
    };
    const pod = render({
      spec: { runners: [{ name: 'default', size: 1, template: own }] },
      metadata: {
        annotations: { 'ome.io/revision-excluded-annotation-keys': 'a/x' },
      },
    });
    expect(labelsOf(pod)).toMatchObject({ 'kueue.x-k8s.io/queue-name': 'q' });
    expect(asRecord(pod['metadata'])['annotations']).toEqual({ 'a/x': '1' });
  });

  it('stamps the pairing protocol', () => {
    expect(labelsOf(render({ spec: { pairingProtocol: 'p2' } }))).toMatchObject({ 'ome.io/pairing-protocol': 'p2' });
  });

  it('bounds the name of a pod to what can be a host name [B58]', () => {
    const owner = `a${'b'.repeat(50)}`;
    const pod = render({ spec: { parentRef: { name: owner } } });
    const { name } = asRecord(pod['metadata']) as { name: string };
    expect(name.length).toBeLessThanOrEqual(63);
    expect(asRecord(pod['spec'])).toMatchObject({ hostname: name });
    expect(render({ spec: { parentRef: { name: owner } }, pod: { index: 3 } })['metadata']).not.toMatchObject({ name });
  });

  it.each([
    ['Required', 'DoNotSchedule'],
    ['Preferred', 'ScheduleAnyway'],
  ])('spreads anchors: %s', (topologySpread, whenUnsatisfiable) => {
    const constraint = {
      maxSkew: 1,
      topologyKey: 'zone',
      whenUnsatisfiable,
      labelSelector: {
        matchLabels: {
          component: 'engine',
          'ome.io/inferenceservice': 'chat',
          'ome.io/runner': 'leader',
        },
      },
    };
    const spec = { ...gang, topologySpread, topologySpreadKey: 'zone' };
    expect(constraintsOf(render({ spec, pod: { runner: 'leader', ordinal: 0 } }))).toEqual([constraint]);
    expect(constraintsOf(render({ spec, pod: worker }))).toBeUndefined();
  });

  it('spreads by the topology key when there is no other, not at all without any, and never over a rule of the user', () => {
    const own = [{ maxSkew: 5, topologyKey: 'rack', whenUnsatisfiable: 'ScheduleAnyway' }];
    expect(spreadBy({ topologyKey: 'rack' })).toMatchObject([{ topologyKey: 'rack', maxSkew: 1 }]);
    expect(spreadBy({})).toBeUndefined();
    const runners = [
      {
        name: 'default',
        size: 1,
        template: template('e', { topologySpreadConstraints: own }),
      },
    ];
    expect(spreadBy({ topologyKey: 'rack', runners })).toEqual(own);
  });

  it('leaves a required affinity of the user on the topology key alone', () => {
    const term = {
      topologyKey: 'rack',
      labelSelector: { matchLabels: { x: 'y' } },
    };
    const affinity = {
      podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] },
    };
    const runners = [gang.runners[0], { name: 'worker', size: 2, template: template('w', { affinity }) }];
    expect(asRecord(render({ spec: { ...gang, runners }, pod: worker })['spec'])['affinity']).toEqual(affinity);
  });

  it('forbids nodes in every term', () => {
    const required = {
      nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }, { matchFields: [{ key: 'f' }] }],
    };
    const affinity = {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: required,
      },
    };
    const notIn = {
      key: 'kubernetes.io/hostname',
      operator: 'NotIn',
      values: ['n1'],
    };
    const runners = [{ name: 'default', size: 1, template: template('e', { affinity }) }];
    expect(termsOf(render({ spec: { runners }, pod: { avoidNodes: ['n1'] } }))).toEqual([
      { matchExpressions: [{ key: 'a', operator: 'Exists' }, notIn] },
      { matchFields: [{ key: 'f' }], matchExpressions: [notIn] },
    ]);
    expect(termsOf(render({ pod: { avoidNodes: ['n1'] } }))).toEqual([{ matchExpressions: [notIn] }]);
  });

  it('tells TPU containers of a gang about each other', () => {
    const tpu = {
      spec: {
        containers: [
          {
            name: 'm',
            image: 'i',
            resources: { limits: { 'google.com/tpu': 4 } },
          },
        ],
      },
    };
    const runners = gang.runners.map((runner) => ({
      ...runner,
      template: tpu,
    }));
    const hosts = ['leader-0', 'worker-0', 'worker-1'].map((pod) => `chat-engine-2-${pod}.chat-engine-headless`);
    expect(envOf(render({ spec: { runners }, pod: worker }))).toMatchObject({
      TPU_WORKER_HOSTNAMES: hosts.join(','),
      TPU_WORKER_ID: '2',
      TPU_PROCESS_ADDRESSES: hosts.map((host) => `${host}:8476`).join(','),
      TPU_PROCESS_PORT: '8476',
      TPU_NAME: 'chat-engine-2',
    });
    expect(envOf(render({ spec: gang, pod: worker }))).not.toHaveProperty('TPU_NAME');
  });

  it('refuses a runner that the revision does not have', () => {
    expect(() => render({ pod: { runner: 'leader' } })).toThrow('revision chat-engine-0123abcd has no leader runner');
  });
});
