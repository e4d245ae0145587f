import { describe, expect, it } from '@jest/globals';
import type { JsonRecord } from '../shared/json.js';
import { asRecord, asRecords } from '../shared/json.js';
import { modelViewOf } from './model.js';
import { RenderError } from './render-error.js';
import { type RunnerTemplate, renderRunners, type TemplateInput } from './templates.js';

const base: TemplateInput = {
  component: 'engine',
  service: { name: 'chat', namespace: 'lab', labels: {}, annotations: {} },
  own: {},
  runtime: { runner: { name: 'ome-container', image: 'echo:1' } },
  runtimeSpec: {},
  runtimeName: 'echo',
  acceleratorResources: ['nvidia.com/gpu'],
  quotaResources: 'all',
};

function render(change: Partial<TemplateInput>): readonly RunnerTemplate[] {
  return renderRunners({ ...base, ...change });
}

function podOf(change: Partial<TemplateInput>, at = 0): JsonRecord {
  return asRecord(render(change)[at]?.template['spec']);
}

function mainOf(change: Partial<TemplateInput>, at = 0): JsonRecord {
  return asRecords(podOf(change, at)['containers'])[0] ?? {};
}

const gangRuntime = {
  tolerations: [{ key: 'gpu', operator: 'Exists' }],
  volumes: [{ name: 'shm', emptyDir: { medium: 'Memory' } }],
  leader: {
    nodeSelector: { role: 'leader' },
    runner: { name: 'sglang', image: 'sglang:1', ports: [{ containerPort: 8080 }] },
  },
  worker: { size: 3, runner: { name: 'sglang', image: 'sglang:1' } },
};

describe('the pods of a component', () => {
  it('is one pod with the runner as its main container, and sidecars behind it', () => {
    const own = { containers: [{ name: 'log', image: 'log:1' }], runner: { args: ['-v'] }, serviceAccountName: 'chat' };
    expect(render({ own })).toEqual([
      {
        name: 'default',
        size: 1,
        template: {
          metadata: { labels: { 'serving-runtime': 'echo', 'ome.io/runner': 'default' } },
          spec: {
            serviceAccountName: 'chat',
            containers: [
              { name: 'ome-container', image: 'echo:1', args: ['-v'] },
              { name: 'log', image: 'log:1' },
            ],
          },
        },
      },
    ]);
  });

  it('keeps what is not of a pod out of it', () => {
    const own = {
      minReplicas: 2,
      lifecycle: { minReadySeconds: 5 },
      autoscaler: { class: 'None' },
      topologyKey: 'zone',
      servicePortAppProtocols: { http: 'h2c' },
      timeoutSeconds: 30,
    };
    expect(Object.keys(podOf({ own }))).toEqual(['containers']);
  });

  it('names a runner without a name, and takes the one container of a pod without a runner', () => {
    expect(mainOf({ own: { runner: { image: 'a' } }, runtime: {} })['name']).toBe('ome-container');
    expect(mainOf({ own: { containers: [{ name: 'srv', image: 'a' }] }, runtime: {} })['name']).toBe('srv');
  });

  it('merges the runner over the container of its name', () => {
    const own = { containers: [{ name: 'ome-container', env: [{ name: 'A', value: '1' }] }] };
    expect(podOf({ own })['containers']).toEqual([
      { name: 'ome-container', image: 'echo:1', env: [{ name: 'A', value: '1' }] },
    ]);
  });

  it.each([
    [
      'nothing at all',
      { own: {}, runtime: {} },
      'RuntimePieceMissing',
      'runtime "echo" has no engineConfig and spec.engine.runner has no image',
    ],
    [
      'a runner without an image',
      { own: {}, runtime: { runner: { args: [] } } },
      'RenderFailed',
      'neither spec.engine.runner nor the engineConfig of runtime "echo" names an image',
    ],
    [
      'a leader without a worker',
      { own: { leader: {} }, runtime: {} },
      'InvalidLeaderWorkerPairing',
      'has a leader and no worker; add spec.engine.worker',
    ],
    [
      'a worker without an image',
      { own: {}, runtime: { leader: { runner: { image: 'a' } }, worker: {} } },
      'RenderFailed',
      'spec.engine.worker.runner',
    ],
  ])('refuses %s', (_case, change, reason, message) => {
    let thrown: unknown;
    try {
      render(change);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toBeInstanceOf(RenderError);
    expect(thrown).toMatchObject({ reason, message: expect.stringContaining(message) });
  });

  it.each([
    ['the operator', {}, {}, 600],
    ['the runtime over the operator', {}, { terminationGracePeriodSeconds: 30 }, 30],
    ['the service over the runtime', { terminationGracePeriodSeconds: 5 }, { terminationGracePeriodSeconds: 30 }, 5],
  ])('takes its grace from %s', (_case, own, runtime, wanted) => {
    const change = { own, runtime: { ...base.runtime, ...runtime }, terminationGracePeriodSeconds: 600 };
    expect(podOf(change)['terminationGracePeriodSeconds']).toBe(wanted);
  });

  it('puts the runtime’s node selector above its component’s and below the service’s', () => {
    const change = {
      own: { nodeSelector: { c: 'service' } },
      runtime: { ...base.runtime, nodeSelector: { a: 'config', b: 'config', c: 'config' } },
      runtimeSpec: { nodeSelector: { b: 'runtime', c: 'runtime' } },
    };
    expect(podOf(change)['nodeSelector']).toEqual({ a: 'config', b: 'runtime', c: 'service' });
    expect(podOf({ ...change, component: 'router' })['nodeSelector']).toEqual({
      a: 'config',
      b: 'config',
      c: 'service',
    });
  });

  it('takes the runtime’s scheduler unless a component names one', () => {
    const runtimeSpec = { schedulerName: 'gang' };
    expect(podOf({ runtimeSpec })['schedulerName']).toBe('gang');
    expect(podOf({ runtimeSpec, own: { schedulerName: 'mine' } })['schedulerName']).toBe('mine');
  });
});

describe('a gang', () => {
  it('is a leader and its workers, which share what the component says of pods', () => {
    const runners = render({ runtime: gangRuntime, own: { schedulerName: 'gang', worker: { size: 2 }, leader: {} } });
    expect(runners.map(({ name, size }) => [name, size])).toEqual([
      ['leader', 1],
      ['worker', 2],
    ]);
    for (const { template } of runners) {
      expect(template['spec']).toMatchObject({
        schedulerName: 'gang',
        tolerations: [{ key: 'gpu', operator: 'Exists' }],
        volumes: [{ name: 'shm', emptyDir: { medium: 'Memory' } }],
      });
    }
    expect(asRecord(runners[0]?.template['spec'])['nodeSelector']).toEqual({ role: 'leader' });
    expect(asRecord(runners[1]?.template['spec'])['nodeSelector']).toBeUndefined();
  });

  it.each([
    ['the service', { worker: { size: 2 } }, gangRuntime, 2],
    ['the runtime', {}, gangRuntime, 3],
    ['one, when nobody says', {}, { leader: gangRuntime.leader, worker: { runner: { image: 'a' } } }, 1],
  ])('takes its size from %s', (_case, own, runtime, size) => {
    expect(render({ own, runtime })[1]?.size).toBe(size);
  });

  it('has a worker, whatever the runtime says, unless the service says better [E24]', () => {
    const runtime = { ...gangRuntime, worker: { ...gangRuntime.worker, size: 0 } };
    expect(() => render({ runtime })).toThrow(
      'InvalidLeaderWorkerPairing: the runtime gives the engine a worker.size of 0, and a gang has one worker at least; ' +
        'set spec.engine.worker.size, or change the runtime',
    );
    expect(render({ runtime, own: { leader: {}, worker: { size: 2 } } })[1]?.size).toBe(2);
  });

  it('lets the service’s word for the component win over the runtime’s word for the leader', () => {
    const change = { runtime: gangRuntime, own: { nodeSelector: { role: 'any' } } };
    expect(podOf(change, 0)['nodeSelector']).toEqual({ role: 'any' });
  });

  it('does not give the component’s own containers to leader and workers', () => {
    const change = { runtime: { ...gangRuntime, containers: [{ name: 'x', image: 'x' }], runner: { image: 'y' } } };
    expect(podOf(change)['containers']).toHaveLength(1);
    expect(mainOf(change)['image']).toBe('sglang:1');
  });
});

describe('what OME adds to the main container', () => {
  const gpus = { runner: { name: 'ome-container', image: 'a', resources: { limits: { 'nvidia.com/gpu': '4' } } } };
  const model = modelViewOf('ClusterBaseModel', '', 'qwen', {
    storage: { storageUri: 'hf://Qwen/Qwen', path: '/models/qwen' },
  });

  it('is PARALLELISM_SIZE, accelerators of a pod times pods of an Instance, over whatever the user wrote', () => {
    const env = [
      { name: 'PARALLELISM_SIZE', value: '1' },
      { name: 'TP', value: '$(PARALLELISM_SIZE)' },
    ];
    expect(mainOf({ runtime: gpus, own: { runner: { env } } })['env']).toEqual([
      { name: 'PARALLELISM_SIZE', value: '4' },
      { name: 'TP', value: '$(PARALLELISM_SIZE)' },
    ]);
    const gang = { leader: gpus, worker: { size: 3, ...gpus } };
    expect([0, 1].map((at) => mainOf({ runtime: gang }, at)['env'])).toEqual([
      [{ name: 'PARALLELISM_SIZE', value: '16' }],
      [{ name: 'PARALLELISM_SIZE', value: '16' }],
    ]);
  });

  it('is no PARALLELISM_SIZE without accelerators, nor for ones that do not count', () => {
    expect(mainOf({})['env']).toBeUndefined();
    expect(mainOf({ runtime: gpus, acceleratorResources: ['google.com/tpu'] })['env']).toBeUndefined();
  });

  it('is the model: its path, its mount, and the nodes that hold it', () => {
    const spec = podOf({ model, own: { nodeSelector: { pool: 'a' } } });
    expect(spec).toEqual({
      nodeSelector: { pool: 'a', 'models.ome.io/clusterbasemodel.qwen': 'Ready' },
      volumes: [{ name: 'ome-model', hostPath: { path: '/models/qwen' } }],
      containers: [
        {
          name: 'ome-container',
          image: 'echo:1',
          env: [{ name: 'MODEL_PATH', value: '/models/qwen' }],
          volumeMounts: [{ name: 'ome-model', mountPath: '/models/qwen', readOnly: true }],
        },
      ],
    });
  });

  it('leaves a MODEL_PATH alone that the runner sets', () => {
    const own = { runner: { env: [{ name: 'MODEL_PATH', value: '/else' }] } };
    expect(mainOf({ model, own })['env']).toEqual([{ name: 'MODEL_PATH', value: '/else' }]);
  });

  it('mounts a model from its claim, on any node', () => {
    const onClaim = modelViewOf('BaseModel', 'lab', 'qwen', { storage: { storageUri: 'pvc://lab:weights/qwen/v1' } });
    const spec = podOf({ model: onClaim });
    expect(spec['nodeSelector']).toBeUndefined();
    expect(spec['volumes']).toEqual([
      { name: 'ome-model', persistentVolumeClaim: { claimName: 'weights', readOnly: true } },
    ]);
    expect(mainOf({ model: onClaim })['volumeMounts']).toEqual([
      { name: 'ome-model', mountPath: '/opt/ml/model', readOnly: true, subPath: 'qwen/v1' },
    ]);
  });

  it('gives a router its settings, which its own env beats, and no model', () => {
    const change = {
      component: 'router' as const,
      model,
      own: { config: { POLICY: 'random', LEVEL: 'debug' }, runner: { env: [{ name: 'LEVEL', value: 'info' }] } },
      runtime: { ...base.runtime, config: { POLICY: 'cache', SEED: '1' } },
    };
    expect(mainOf(change)['env']).toEqual([
      { name: 'POLICY', value: 'random' },
      { name: 'SEED', value: '1' },
      { name: 'LEVEL', value: 'info' },
    ]);
    expect(podOf(change)['volumes']).toBeUndefined();
  });

  it('fills placeholders from the metadata of the service', () => {
    const service = {
      name: 'chat',
      namespace: 'lab',
      labels: { tier: 'gold', 'a/b': 'slash' },
      annotations: { note: 'n' },
    };
    const args = [
      '{{.Name}}.{{ .Namespace }}',
      '{{.Labels.tier}}',
      '{{ .Annotations.note }}',
      '{{index .Labels `a/b`}}',
      '{{ messages }}',
    ];
    const change = { service, own: { runner: { args, env: [{ name: 'N', value: '{{.Name}}' }] } } };
    expect(mainOf(change)).toMatchObject({
      args: ['chat.lab', 'gold', 'n', 'slash', '{{ messages }}'],
      env: [{ name: 'N', value: 'chat' }],
    });
  });

  it('refuses a placeholder for a label that is not there', () => {
    expect(() => render({ own: { runner: { args: ['{{.Labels.tier}}'] } } })).toThrow(
      '{{.Labels.tier}}: the InferenceService has no label "tier"; add it, or change the runner',
    );
  });
});

function metadata(change: Partial<TemplateInput>): JsonRecord {
  return asRecord(render(change)[0]?.template['metadata']);
}

describe('labels and annotations of pods', () => {
  it('are the component’s, and annotations of the service below them, without words to controllers', () => {
    const annotations = {
      team: 'a',
      shared: 'service',
      'ome.io/rollout-paused': 'true',
      'ome.io/rollout-promote': 'abcdef',
      'ome.io/migration-request-v1-1': '{}',
      'kubectl.kubernetes.io/last-applied-configuration': '{}',
    };
    const change = {
      service: { ...base.service, annotations, labels: { app: 'not copied' } },
      own: { labels: { app: 'chat' }, annotations: { shared: 'component', 'ome.io/deploymentMode': 'OMENative' } },
      runtime: { ...base.runtime, labels: { app: 'runtime', by: 'runtime' } },
    };
    expect(metadata(change)).toEqual({
      labels: { app: 'chat', by: 'runtime', 'serving-runtime': 'echo', 'ome.io/runner': 'default' },
      annotations: { team: 'a', shared: 'component' },
    });
  });

  it.each([
    ['every pod, when every pod is under quota', 'all', {}, 'queue'],
    ['a pod that asks for what is under quota', ['nvidia.com/gpu'], { requests: { 'nvidia.com/gpu': 1 } }, 'queue'],
    ['no other pod', ['nvidia.com/gpu'], { requests: { cpu: '1' } }, undefined],
  ] as const)('carry the queue on %s', (_case, quotaResources, resources, wanted) => {
    const service = { ...base.service, labels: { 'kueue.x-k8s.io/queue-name': 'queue' } };
    const labels = asRecord(metadata({ service, quotaResources, own: { runner: { resources } } })['labels']);
    expect(labels['kueue.x-k8s.io/queue-name']).toBe(wanted);
  });
});
