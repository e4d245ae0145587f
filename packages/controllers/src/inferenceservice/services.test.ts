import { describe, expect, it } from '@jest/globals';
import type { Component } from '@omenative/api';
import { serviceRecordOf } from '../inferencereplica/routing.js';
import { asRecord, type JsonRecord } from '../shared/json.js';
import { type ComponentPlan, render } from './render.js';
import { planRouting, type StandingReplica } from './routing-plan.js';
import { newService, servicePatch } from './services.js';
import {
  echoRuntime,
  rawRuntime,
  replicaOf,
  serviceOf,
  settingsOf,
  storedService,
  type WorldParts,
  worldOf,
} from './testing/objects.js';

const runtime = { kind: 'ServingRuntime', name: 'echo' };
const ours = { component: 'engine', 'ome.io/inferenceservice': 'chat', 'ome.io/managed-by': 'OMENative' };
const router = { runner: { image: 'router:1', ports: [{ containerPort: 80 }] } };

function plan(
  parts: Partial<WorldParts> & { readonly spec?: JsonRecord; readonly meta?: JsonRecord },
): ReturnType<typeof planRouting> {
  const { spec = {}, meta = {}, ...rest } = parts;
  const service = serviceOf({ deploymentMode: 'OMENative', runtime, engine: {}, ...spec }, meta);
  const world = worldOf({ service, servingRuntimes: [rawRuntime(echoRuntime)], ...rest });
  const servicePlan = render(world);
  const standing = new Map<Component, StandingReplica>();
  const note = (component: Component, replica: ComponentPlan['stored']): void => {
    if (replica !== undefined)
      standing.set(component, { name: replica.meta.name, uid: replica.meta.uid, spec: replica.spec });
  };
  for (const { component, stored } of servicePlan.components) note(component, stored);
  for (const replica of servicePlan.removed) note(replica.spec['component'] as Component, replica);
  return planRouting(world, servicePlan, standing);
}

function names(parts: Parameters<typeof plan>[0]): readonly string[] {
  return plan(parts).wanted.map((service) => service.name);
}

const revisionLabels = (hash: string): JsonRecord => ({ component: 'engine', 'ome.io/revision-hash': hash });

describe('the Services of an InferenceService', () => {
  it('are the stable one and the one to enter by, owned by the service and by the replica', () => {
    const owners = [
      {
        apiVersion: 'ome.io/v1beta1',
        kind: 'InferenceService',
        name: 'chat',
        uid: 'uid-chat',
        controller: true,
        blockOwnerDeletion: false,
      },
      {
        apiVersion: 'ome.io/v1beta1',
        kind: 'InferenceReplica',
        name: 'chat-engine',
        uid: 'uid-chat-engine',
        blockOwnerDeletion: false,
      },
    ];
    const [stable, external] = plan({ replicas: [replicaOf({})] }).wanted.map(newService);
    const ports = [{ name: 'http', protocol: 'TCP', port: 8080, targetPort: 'http' }];
    expect(stable).toEqual({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'chat-engine', namespace: 'lab', labels: ours, annotations: {}, ownerReferences: owners },
      spec: { selector: ours, ports },
    });
    expect(external).toEqual({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: {
        name: 'chat',
        namespace: 'lab',
        labels: { ...ours, component: 'external-service' },
        annotations: {},
        ownerReferences: owners,
      },
      spec: { selector: ours, ports },
    });
  });

  it('select the leaders of a gang alone, whoever declared its workers', () => {
    const gangRuntime = {
      engineConfig: {
        leader: { runner: { image: 'a', ports: [{ containerPort: 9 }] } },
        worker: { runner: { image: 'a' } },
      },
    };
    const replicas = [replicaOf({}, { currentRevision: 'chat-engine-0a1b2c3d' })];
    const { wanted } = plan({ replicas, servingRuntimes: [rawRuntime(gangRuntime)] });
    expect(wanted.map((service) => service.selector)).toEqual([
      { ...ours, 'ome.io/runner': 'leader' },
      { ...ours, 'ome.io/runner': 'leader', 'ome.io/revision-hash': '0a1b2c3d' },
      { ...ours, 'ome.io/runner': 'leader' },
    ]);
    expect(wanted.map((service) => service.ports[0]?.name)).toEqual(['tcp-9', 'tcp-9', 'tcp-9']);
  });

  it('take type and address at creation, annotations without those of pods, and app protocols', () => {
    const meta = {
      annotations: {
        'ome.io/service-type': 'ClusterIP',
        team: 'a',
        'prometheus.io/scrape': 'true',
        'ome.io/inject-model-init': 'x',
      },
    };
    const engine = {
      annotations: { 'ome.io/service-type': 'LoadBalancer', 'ome.io/load-balancer-ip': '10.1.1.1' },
      servicePortAppProtocols: { http: 'kubernetes.io/h2c' },
    };
    const [stable] = plan({ spec: { engine }, meta, replicas: [replicaOf({})] }).wanted.map(newService);
    expect(asRecord(stable?.['metadata'])['annotations']).toEqual({ team: 'a' });
    expect(stable?.['spec']).toMatchObject({
      type: 'LoadBalancer',
      loadBalancerIP: '10.1.1.1',
      ports: [{ appProtocol: 'kubernetes.io/h2c' }],
    });
  });

  it('exist for each revision that is current, updated to, in a row, or on a pod, and for no other', () => {
    const status = {
      currentRevision: 'chat-engine-11111111',
      updateRevision: 'chat-engine-22222222',
      instanceStatuses: [{ index: 0, phase: 'Ready', runningRevision: 'chat-engine-33333333' }],
    };
    const services = ['11111111', '55555555'].map((hash) =>
      storedService(`chat-engine-rev-${hash}`, revisionLabels(hash)),
    );
    const { wanted, surplus } = plan({
      replicas: [replicaOf({}, status)],
      podHashes: { 'uid-chat-engine': ['44444444'] },
      services,
    });
    expect(wanted.filter((service) => service.kind === 'revision').map((service) => service.name)).toEqual([
      'chat-engine-rev-11111111',
      'chat-engine-rev-22222222',
      'chat-engine-rev-33333333',
      'chat-engine-rev-44444444',
    ]);
    expect(surplus.map((service) => service.meta.name)).toEqual(['chat-engine-rev-55555555']);
  });

  it('are not removed while the rows that would want them can’t be read', () => {
    const services = [
      storedService('chat-engine-rev-55555555', { component: 'engine', 'ome.io/revision-hash': '55555555' }),
    ];
    const unreadable = replicaOf({}, { instanceStatusEncoding: 'ColumnarV3' });
    expect(plan({ replicas: [unreadable], services }).surplus).toEqual([]);
  });

  it('wait for the replica they belong to', () => {
    expect(names({})).toEqual([]);
  });

  it('outlive their component until its replica has drained', () => {
    const labels = { component: 'decoder' };
    const services = [
      storedService('chat-decoder', labels),
      storedService('chat-decoder-rev-1a1a1a1a', { ...labels, 'ome.io/revision-hash': '1a1a1a1a' }),
    ];
    const decoder = replicaOf(
      { component: 'decoder' },
      { currentRevision: 'chat-decoder-1a1a1a1a' },
      { deletionTimestamp: '2026-01-01T00:00:00Z' },
    );
    expect(plan({ replicas: [replicaOf({}), decoder], services }).surplus).toEqual([]);
    const gone = plan({ replicas: [replicaOf({})], services }).surplus;
    expect(gone.map((service) => service.meta.name)).toEqual(['chat-decoder', 'chat-decoder-rev-1a1a1a1a']);
  });

  it('of a component that has no replica at present stay for the next one', () => {
    const services = [
      storedService('chat-engine', { component: 'engine' }),
      storedService('chat-engine-rev-11111111', revisionLabels('11111111')),
    ];
    expect(plan({ services }).surplus).toEqual([]);
  });

  it('of others are never removed, and those of a component that runs elsewhere are left alone', () => {
    const foreign = storedService('chat-decoder', { component: 'decoder' }, {}, { ownerReferences: [] });
    expect(plan({ replicas: [replicaOf({})], services: [foreign] }).surplus).toEqual([]);
    const own = storedService('chat-engine', { component: 'engine' });
    expect(plan({ spec: { deploymentMode: 'RawDeployment' }, services: [own] })).toEqual({ wanted: [], surplus: [] });
  });
});

const entry = (parts: Parameters<typeof plan>[0]): string | undefined =>
  plan(parts).wanted.find((service) => service.kind === 'external')?.component;

const routerReplica = (serving: number): ReturnType<typeof replicaOf> =>
  replicaOf({ component: 'router' }, { servingReplicas: serving });

describe('the Service to enter by', () => {
  const toEngine = storedService('chat', { component: 'external-service' }, { selector: ours });

  it('fronts the router, else the engine', () => {
    expect(entry({ replicas: [replicaOf({})] })).toBe('engine');
    expect(entry({ spec: { router }, replicas: [replicaOf({}), routerReplica(0)] })).toBe('router');
  });

  it('moves from a running engine to a new router when the router serves, not before [B13]', () => {
    const parts = { spec: { router }, services: [toEngine] };
    expect(entry({ ...parts, replicas: [replicaOf({}), routerReplica(0)] })).toBe('engine');
    expect(entry({ ...parts, replicas: [replicaOf({}), routerReplica(1)] })).toBe('router');
  });

  it.each([
    ['routes are made', { settings: settingsOf({ ingress: { disableIngressCreation: false } }) }],
    [
      'the service is for its cluster alone',
      { meta: { labels: { 'networking.knative.dev/visibility': 'cluster-local' } } },
    ],
  ])('is not there when %s', (_case, parts) => {
    const { wanted, surplus } = plan({ ...parts, replicas: [replicaOf({})], services: [toEngine] });
    expect(wanted.map((service) => service.kind)).toEqual(['stable']);
    expect(surplus).toEqual([toEngine]);
  });
});

describe('drift of a Service', () => {
  const [desired] = plan({ replicas: [replicaOf({})], meta: { annotations: { team: 'a' } } }).wanted;
  if (desired === undefined) throw new Error('no Service is wanted');

  function stored(
    change: { readonly metadata?: JsonRecord; readonly spec?: JsonRecord } = {},
  ): ReturnType<typeof serviceRecordOf> {
    const object = newService(desired as NonNullable<typeof desired>);
    const defaults = { clusterIP: '10.0.0.1', type: 'ClusterIP', sessionAffinity: 'None' };
    return serviceRecordOf({
      ...object,
      metadata: { ...asRecord(object['metadata']), uid: 'uid-svc', resourceVersion: '30', ...change.metadata },
      spec: { ...defaults, ...asRecord(object['spec']), ...change.spec },
    });
  }

  it('is none right after creation, and none in what belongs to others', () => {
    expect(servicePatch(desired, stored())).toBeUndefined();
    const metadata = { labels: { ...desired.labels, extra: 'x' }, annotations: { team: 'a', 'cloud/lb': 'id' } };
    expect(
      servicePatch(desired, stored({ metadata, spec: { type: 'LoadBalancer', clusterIP: '10.0.0.9' } })),
    ).toBeUndefined();
  });

  it('is put right in the selector, surplus keys included, for this very version', () => {
    const selector = { ...ours, component: 'decoder', app: 'else' };
    expect(servicePatch(desired, stored({ spec: { selector } }))).toEqual({
      metadata: { uid: 'uid-svc', resourceVersion: '30' },
      spec: { selector: { ...ours, app: null } },
    });
  });

  it('is put right in the ports, and a node port that was handed out is kept', () => {
    const ports = [{ name: 'web', protocol: 'TCP', port: 8080, targetPort: 'http', nodePort: 30_080 }];
    expect(servicePatch(desired, stored({ spec: { ports } }))?.['spec']).toEqual({
      ports: [{ name: 'http', protocol: 'TCP', port: 8080, targetPort: 'http', nodePort: 30_080 }],
    });
    const same = [{ name: 'http', port: 8080, targetPort: 'http', nodePort: 30_080 }];
    expect(servicePatch(desired, stored({ spec: { ports: same } }))).toBeUndefined();
  });

  it('is put right in labels, annotations and owners, and those of others stay', () => {
    const other = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'uid-x' };
    const before = { ...desired.ownerReferences[1], uid: 'uid-of-the-replica-before' };
    const metadata = {
      labels: { component: 'engine' },
      annotations: {},
      ownerReferences: [desired.ownerReferences[0], other, before],
    };
    expect(servicePatch(desired, stored({ metadata }))?.['metadata']).toEqual({
      uid: 'uid-svc',
      resourceVersion: '30',
      labels: { 'ome.io/inferenceservice': 'chat', 'ome.io/managed-by': 'OMENative' },
      annotations: { team: 'a' },
      ownerReferences: [other, ...desired.ownerReferences],
    });
  });
});
