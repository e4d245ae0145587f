import { afterEach, describe, expect, it } from '@jest/globals';
import { Client, type EventRecord, testing } from '@omenative/kube';
import { type Caches, createCaches, startCaches, stopCaches } from '../caches.js';
import { OperatorConfig } from '../config/operator-config.js';
import { asRecord, type JsonRecord } from '../shared/json.js';
import { InferenceServiceController } from './controller.js';
import { nameRetryMs } from './name-holds.js';
import { conditionsOf, FakeApi } from './testing/fake-api.js';
import { echoRuntime, rawRuntime } from './testing/objects.js';

const engineSpec = { autoscaler: { class: 'None' }, minReplicas: 2 };

class Run {
  readonly api: FakeApi = new FakeApi();
  readonly runtime: testing.VirtualRuntime = new testing.VirtualRuntime();
  readonly events: EventRecord[] = [];
  readonly logged: string[] = [];
  readonly config: OperatorConfig = new OperatorConfig({ omenativeStatus: '{"instanceStatusEncoding":"DenseV1"}' });
  readonly caches: Caches;
  readonly controller: InferenceServiceController;

  constructor() {
    const { runtime } = this;
    const { transport } = this.api;
    const client = new Client({ transport, runtime, retry: { maxAttempts: 1, maxWaitMs: 0 } });
    this.caches = createCaches({
      transport,
      runtime,
      configNamespace: 'ome',
      report: ({ message }) => this.logged.push(message),
    });
    this.controller = new InferenceServiceController({
      runtime,
      client,
      caches: this.caches,
      config: this.config,
      events: { record: (event) => this.events.push(event) },
      log: (_level, message) => this.logged.push(message),
    });
  }

  async start(): Promise<this> {
    startCaches(this.caches);
    this.controller.start();
    await this.settle();
    return this;
  }

  /** Lets everything happen that comes within a second. */
  async settle(ms = 1000): Promise<void> {
    await this.runtime.advance(ms);
  }

  apply(spec: JsonRecord = {}, meta: JsonRecord = {}): void {
    const engine = { ...engineSpec, ...asRecord(spec['engine']) };
    const whole = { deploymentMode: 'OMENative', runtime: { kind: 'ServingRuntime', name: 'echo' }, ...spec, engine };
    this.api.put('inferenceservices', {
      metadata: { name: 'chat', namespace: 'lab', uid: 'uid-chat', ...meta },
      spec: whole,
    });
  }

  /** The replica controller's part: a status in which `serving` Instances serve. */
  report(serving: number, status: JsonRecord = {}, name = 'chat-engine'): void {
    const replica = asRecord(this.api.get('inferencereplicas', name));
    const { generation, annotations: _annotations, ...metadata } = asRecord(replica['metadata']);
    const whole = {
      observedGeneration: generation,
      servingReplicas: serving,
      currentRevision: `${name}-1a1a1a1a`,
      ...status,
    };
    const held = asRecord(asRecord(replica['metadata']));
    this.api.put('inferencereplicas', {
      ...replica,
      metadata: { ...metadata, ...held, finalizers: ['ome.io/ir-teardown'] },
      status: whole,
    });
  }

  conditions(): readonly string[] {
    return conditionsOf(this.api.get('inferenceservices', 'chat'));
  }

  /** The writes since the last call. */
  writes(): readonly string[] {
    return this.api.writes.splice(0);
  }
}

let run: Run;

async function started(): Promise<Run> {
  run = new Run();
  run.api.put('servingruntimes', rawRuntime(echoRuntime));
  return run.start();
}

/** A service that serves, and nothing left to do. */
async function startedAndServing(spec: JsonRecord = {}): Promise<Run> {
  await started();
  run.apply(spec);
  await run.settle();
  run.report(2);
  await run.settle();
  run.writes();
  return run;
}

afterEach(async () => {
  await run.controller.stop();
  stopCaches(run.caches);
});

describe('an InferenceService that is applied', () => {
  it('gets a replica, then Services in front of it, then its status, each written once', async () => {
    await started();
    run.apply();
    await run.settle();
    expect(run.writes()).toEqual([
      'POST inferencereplicas/chat-engine',
      'POST services/chat-engine',
      'POST services/chat',
      'PUT inferenceservices/chat',
    ]);
    expect(run.conditions()).toEqual([
      'Ready=False/InsufficientAvailable',
      'EngineReady=False/InsufficientAvailable',
      'IngressReady=True/IngressDisabled',
    ]);
    run.report(2);
    await run.settle();
    expect(run.writes()).toEqual(['POST services/chat-engine-rev-1a1a1a1a', 'PUT inferenceservices/chat']);
    expect(run.conditions()).toEqual(['Ready=True', 'EngineReady=True/Ready', 'IngressReady=True/IngressDisabled']);
    expect(run.logged).toEqual([
      'InferenceService lab/chat: Ready is False: InsufficientAvailable',
      'InferenceService lab/chat: Ready is True',
    ]);
  });

  it('is left in peace: a minute of nothing writes nothing', async () => {
    await startedAndServing();
    await run.settle(60_000);
    run.apply();
    await run.settle();
    expect(run.writes()).toEqual([]);
    expect(run.logged.filter((line) => !line.includes(': Ready is '))).toEqual([]);
  });

  it('tells of counts at most once a second, and of what matters at once', async () => {
    await startedAndServing();
    await run.settle(2000);
    for (let ready = 0; ready < 20; ready++) {
      run.report(2, { readyReplicas: ready });
      await run.settle(100);
    }
    expect(run.writes().length).toBeLessThanOrEqual(3);
    await run.settle();
    const { engine } = asRecord(asRecord(run.api.get('inferenceservices', 'chat')?.['status'])['components']);
    expect(asRecord(asRecord(engine)['lifecycle'])['readyReplicas']).toBe(19);
    run.writes();
    run.report(2, { readyReplicas: 1 });
    await run.settle(100);
    run.report(0);
    await run.settle(200);
    expect(run.conditions()).toContain('Ready=False/InsufficientAvailable');
  });

  it('rolls out a change to its replica, and only that', async () => {
    await startedAndServing();
    run.apply({ engine: { minReplicas: 3, runner: { name: 'ome-container', image: 'echo:2' } } });
    await run.settle();
    expect(run.writes()).toEqual(['PATCH inferencereplicas/chat-engine', 'PUT inferenceservices/chat']);
    expect(asRecord(run.api.get('inferencereplicas', 'chat-engine')?.['spec'])['replicas']).toBe(3);
  });

  it('holds the count of its replica, and tells whoever scales that, once for each value', async () => {
    await startedAndServing();
    const scale = async (replicas: number): Promise<void> => {
      const replica = asRecord(run.api.get('inferencereplicas', 'chat-engine'));
      run.api.put('inferencereplicas', { ...replica, spec: { ...asRecord(replica['spec']), replicas } });
      await run.settle();
      expect(asRecord(run.api.get('inferencereplicas', 'chat-engine')?.['spec'])['replicas']).toBe(2);
    };
    await scale(5);
    await scale(4);
    await scale(5);
    expect(run.events.map(({ regarding, reason }) => `${reason} ${regarding.kind}/${regarding.name}`)).toEqual(
      Array.from({ length: 3 }, () => 'ReplicaCountReset InferenceService/chat'),
    );
    expect(run.events[0]?.message).toContain('chat-engine is set from 5 to 2: the count is spec.engine.minReplicas');
    expect(run.events[2]?.episode).toBe(run.events[0]?.episode);
    expect(new Set(run.events.map(({ episode }) => episode)).size).toBe(2);
    run.apply({ engine: { minReplicas: 3 } }, { generation: 2 });
    await run.settle();
    expect(run.events).toHaveLength(3);
  });

  it('takes its replica and Services along when it is deleted, and writes nothing itself', async () => {
    await startedAndServing();
    run.api.put('inferenceservices', {
      ...run.api.get('inferenceservices', 'chat'),
      metadata: {
        ...asRecord(run.api.get('inferenceservices', 'chat')?.['metadata']),
        deletionTimestamp: '2026-01-01T00:00:00Z',
      },
    });
    await run.settle();
    run.api.remove('inferenceservices', 'chat');
    await run.settle();
    expect(run.writes()).toEqual([]);
  });
});

describe('every kind that it depends on wakes it [B100]', () => {
  it.each<[string, (of: Run) => void, readonly string[]]>([
    [
      'a runtime',
      (of) => of.api.put('servingruntimes', rawRuntime({ engineConfig: { runner: { image: 'echo:3' } } })),
      [
        'PATCH inferencereplicas/chat-engine',
        'PATCH services/chat-engine',
        'PATCH services/chat-engine-rev-1a1a1a1a',
        'PATCH services/chat',
      ],
    ],
    [
      'a replica that drifts',
      (of) =>
        of.api.put('inferencereplicas', {
          ...of.api.get('inferencereplicas', 'chat-engine'),
          spec: { ...asRecord(of.api.get('inferencereplicas', 'chat-engine')?.['spec']), replicas: 9 },
        }),
      ['PATCH inferencereplicas/chat-engine'],
    ],
    [
      'a replica that is deleted',
      (of) => of.api.remove('inferencereplicas', 'chat-engine'),
      [
        'POST inferencereplicas/chat-engine',
        'PATCH services/chat-engine',
        'PATCH services/chat',
        'PUT inferenceservices/chat',
        'DELETE services/chat-engine-rev-1a1a1a1a',
      ],
    ],
    ['a Service that is deleted', (of) => of.api.remove('services', 'chat-engine'), ['POST services/chat-engine']],
    [
      'a Service whose selector drifts',
      (of) =>
        of.api.put('services', { ...of.api.get('services', 'chat'), spec: { selector: { app: 'x' }, ports: [] } }),
      ['PATCH services/chat'],
    ],
    [
      'the settings',
      (of) =>
        of.config.update({
          omenativeStatus: '{"instanceStatusEncoding":"DenseV1"}',
          deploy: '{"terminationGracePeriodSeconds":60}',
        }),
      ['PATCH inferencereplicas/chat-engine'],
    ],
    [
      'a pod of a revision',
      (of) => of.api.put('pods', podOf('chat-engine-0-default-0', '2b2b2b2b')),
      ['POST services/chat-engine-rev-2b2b2b2b'],
    ],
  ])('%s', async (_kind, change, wanted) => {
    await startedAndServing();
    change(run);
    await run.settle();
    expect([...run.writes()].toSorted()).toEqual([...wanted].toSorted());
  });

  it('a pod that goes takes the Service of its revision with it', async () => {
    await startedAndServing();
    run.api.put('pods', podOf('chat-engine-0-default-0', '2b2b2b2b'));
    await run.settle();
    expect(run.api.names('services')).toContain('chat-engine-rev-2b2b2b2b');
    run.api.remove('pods', 'chat-engine-0-default-0');
    await run.settle();
    expect(run.api.names('services')).not.toContain('chat-engine-rev-2b2b2b2b');
  });

  it('a model', async () => {
    await started();
    run.apply({ model: { name: 'qwen' } });
    await run.settle();
    expect(run.writes()).toEqual(['PUT inferenceservices/chat']);
    expect(run.conditions()).toContain('ModelReady=False/ModelNotFound');
    run.api.put('clusterbasemodels', {
      metadata: { name: 'qwen' },
      spec: { storage: { storageUri: 'hf://a/b', path: '/m' } },
    });
    await run.settle();
    expect(run.api.names('inferencereplicas')).toEqual(['chat-engine']);
  });
});

function podOf(name: string, hash: string): JsonRecord {
  const replica = asRecord(run.api.get('inferencereplicas', 'chat-engine')?.['metadata']);
  return {
    metadata: {
      name,
      namespace: 'lab',
      labels: {
        'ome.io/managed-by': 'OMENative',
        'ome.io/inferenceservice': 'chat',
        component: 'engine',
        'ome.io/revision-hash': hash,
      },
      ownerReferences: [{ kind: 'InferenceReplica', name: 'chat-engine', uid: replica['uid'], controller: true }],
    },
    spec: { containers: [] },
    status: {},
  };
}

describe('a runtime that goes away', () => {
  it('leaves the workload as it is, says so once, and takes over again when it is back', async () => {
    await startedAndServing();
    run.api.remove('servingruntimes', 'echo');
    await run.settle();
    expect(run.writes()).toEqual(['PUT inferenceservices/chat']);
    expect(run.conditions()).toContain('RuntimeReady=False/RuntimeNotFound');
    expect(run.conditions()).toContain('EngineReady=True/Ready');
    run.report(1);
    await run.settle();
    expect(new Set(run.events.map((event) => `${event.reason}/${event.episode}`)).size).toBe(1);
    run.api.put('servingruntimes', rawRuntime(echoRuntime));
    await run.settle();
    expect(run.conditions()).toContain('RuntimeReady=True/RuntimeResolved');
    expect(run.api.names('services')).toEqual(['chat', 'chat-engine', 'chat-engine-rev-1a1a1a1a']);
  });
});

const putForeign = (plural: string, name: string): void => {
  run.api.put(plural, {
    metadata: { name, namespace: 'lab', uid: 'uid-putForeign', labels: { app: 'else' } },
    spec: { component: 'engine' },
  });
};

describe('objects of others', () => {
  it('a Service of our name is not adopted, is told, and is tried again when it may be gone [B105]', async () => {
    await started();
    putForeign('services', 'chat');
    run.apply();
    await run.settle();
    expect(run.conditions()).toContain('IngressReady=False/ServiceNameTaken');
    expect(new Set(run.events.map((event) => `${event.reason}/${event.episode}`)).size).toBe(1);
    expect(run.events[0]).toMatchObject({ type: 'Warning', reason: 'ServiceNameTaken' });
    expect(asRecord(run.api.get('services', 'chat')?.['metadata'])['labels']).toEqual({ app: 'else' });
    run.writes();
    run.report(2);
    await run.settle();
    expect(run.writes()).not.toContain('POST services/chat');
    run.api.remove('services', 'chat');
    await run.settle(nameRetryMs + 1000);
    expect(run.conditions()).toContain('IngressReady=True/IngressDisabled');
  });

  it('a replica of our name is not adopted, and its end wakes us [B105] [B50]', async () => {
    await started();
    putForeign('inferencereplicas', 'chat-engine');
    run.apply();
    await run.settle();
    expect(run.conditions()).toContain('EngineReady=False/ReplicaNameTaken');
    expect(run.writes()).toEqual(['PUT inferenceservices/chat']);
    run.api.remove('inferencereplicas', 'chat-engine');
    await run.settle();
    expect(run.writes()).toContain('POST inferencereplicas/chat-engine');
  });

  it('a replica of our name that the cache does not show yet is not adopted either [B105]', async () => {
    await started();
    run.api.muted.add('inferencereplicas');
    putForeign('inferencereplicas', 'chat-engine');
    run.apply();
    await run.settle();
    expect(run.conditions()).toContain('EngineReady=False/ReplicaNameTaken');
    expect(run.writes().filter((write) => write.startsWith('POST'))).toEqual(['POST inferencereplicas/chat-engine']);
  });

  it('a Service of ours that lost its labels gets them back', async () => {
    await startedAndServing();
    const service = asRecord(run.api.get('services', 'chat-engine'));
    run.api.put('services', { ...service, metadata: { ...asRecord(service['metadata']), labels: {} } });
    await run.settle();
    expect(asRecord(run.api.get('services', 'chat-engine')?.['metadata'])['labels']).toMatchObject({
      'ome.io/managed-by': 'OMENative',
    });
  });
});

describe('a component that is no longer declared', () => {
  const router = { router: { runner: { name: 'ome-container', image: 'r', ports: [{ containerPort: 80 }] } } };

  it('loses its replica, and its Services once that has drained', async () => {
    await startedAndServing(router);
    run.report(1, {}, 'chat-router');
    await run.settle();
    expect(asRecord(asRecord(run.api.get('services', 'chat'))['spec'])['selector']).toMatchObject({
      component: 'router',
    });
    run.writes();
    const { uid } = asRecord(run.api.get('inferencereplicas', 'chat-router')?.['metadata']);
    run.apply();
    await run.settle();
    const deletion = run.api.transport.requests.find((request) => request.method === 'DELETE');
    expect(deletion).toMatchObject({ path: expect.stringContaining('chat-router'), body: { preconditions: { uid } } });
    expect(run.writes().slice(0, 2)).toEqual(['PATCH inferencereplicas/chat-engine', 'PATCH services/chat']);
    expect(asRecord(run.api.get('inferencereplicas', 'chat-router')?.['metadata'])['deletionTimestamp']).toBeDefined();
    expect(run.api.names('services')).toContain('chat-router');
    run.api.remove('inferencereplicas', 'chat-router');
    await run.settle();
    expect(run.api.names('services')).toEqual(['chat', 'chat-engine', 'chat-engine-rev-1a1a1a1a']);
  });

  it('keeps its replica when the cache is behind and the service does declare it', async () => {
    await startedAndServing(router);
    run.report(1, {}, 'chat-router');
    await run.settle();
    const now = run.api.get('inferenceservices', 'chat');
    // The stream shows a state from before the router; the server knows better.
    run.api.intercept = (request) =>
      request.method === 'PATCH' ? testing.failure(409, 'Conflict', 'modified') : undefined;
    run.caches.inferenceServices.takeIn({
      ...now,
      metadata: { ...asRecord(now?.['metadata']), resourceVersion: '100000' },
      spec: { ...asRecord(now?.['spec']), router: undefined },
    });
    await run.settle();
    expect(run.writes()).not.toContain('DELETE inferencereplicas/chat-router');
  });
});

describe('writes that do not go through', () => {
  it('a conflict is planned again on what is there now', async () => {
    await startedAndServing();
    let conflicts = 0;
    run.api.intercept = (request) =>
      request.method === 'PATCH' && conflicts++ < 2 ? testing.failure(409, 'Conflict', 'modified') : undefined;
    run.apply({ engine: { minReplicas: 3 } });
    await run.settle();
    expect(asRecord(run.api.get('inferencereplicas', 'chat-engine')?.['spec'])['replicas']).toBe(3);
    expect(run.logged.filter((line) => !line.includes(': Ready is '))).toEqual([]);
  });

  it('a create without an answer is found to have happened', async () => {
    await started();
    let lost = 0;
    run.api.intercept = (request) => {
      if (request.method !== 'POST' || !request.path.endsWith('inferencereplicas') || lost++ > 0) return undefined;
      run.api.put('inferencereplicas', asRecord(request.body));
      return testing.noAnswer();
    };
    run.apply();
    await run.settle();
    expect(run.api.names('services')).toContain('chat-engine');
    expect(run.conditions()).toContain('EngineReady=False/InsufficientAvailable');
  });

  it('a refusal is shown and told in the server’s words, and tried again with patience [B101]', async () => {
    await started();
    run.api.intercept = (request) =>
      request.path.endsWith('inferencereplicas') ? testing.failure(422, 'Invalid', 'spec.runners is odd') : undefined;
    run.apply();
    await run.settle();
    expect(run.conditions()).toContain('EngineReady=False/ComponentReconcileError');
    expect(run.events[0]).toMatchObject({
      type: 'Warning',
      reason: 'ComponentReconcileError',
      message: 'spec.runners is odd',
    });
    run.writes();
    await run.settle(60_000);
    expect(run.writes().length).toBeLessThan(20);
  });

  it('a namespace on its way out is a last word: nothing is repeated [B91]', async () => {
    await started();
    run.api.intercept = (request) =>
      request.method === 'POST'
        ? testing.failure(
            403,
            'Forbidden',
            'unable to create new content in namespace lab because it is being terminated',
          )
        : undefined;
    run.apply();
    await run.settle();
    run.writes();
    await run.settle(60_000);
    expect(run.writes()).toEqual([]);
  });

  it('a replica that shows a later version of the service keeps an old view from acting', async () => {
    await startedAndServing();
    const replica = asRecord(run.api.get('inferencereplicas', 'chat-engine'));
    const metadata = asRecord(replica['metadata']);
    const annotations = { ...asRecord(metadata['annotations']), 'ome.io/parent-generation': '99' };
    run.api.put('inferencereplicas', {
      ...replica,
      metadata: { ...metadata, annotations },
      spec: { ...asRecord(replica['spec']), replicas: 7 },
    });
    await run.settle();
    expect(run.writes()).toEqual([]);
  });
});

describe('a virtual InferenceService', () => {
  it('is Ready by decree, and nothing is made for it', async () => {
    await started();
    run.apply({}, { annotations: { 'ome.io/deploymentMode': 'VirtualDeployment' } });
    await run.settle();
    expect(run.writes()).toEqual(['PUT inferenceservices/chat']);
    expect(run.conditions()).toEqual(['Ready=True/VirtualDeployment']);
    expect(asRecord(run.api.get('inferenceservices', 'chat')?.['status'])['url']).toBe(
      'http://chat.lab.svc.cluster.local',
    );
  });
});
