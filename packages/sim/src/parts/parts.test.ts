import { describe, expect, it } from '@jest/globals';
import { asList, type JsonObject } from '../base/json.js';
import type { Cluster } from '../cluster.js';
import { conditionStatus, createPod, newCluster, PODS, podNamed, runUntilTrue } from '../testing/fixtures.js';

const SERVICES = '/api/v1/namespaces/default/services';
const SLICES = 'endpointslices.discovery.k8s.io';
const APP = { labels: { app: 'x' } };

function post(cluster: Cluster, path: string, body: JsonObject): void {
  const answer = cluster.handle({ method: 'POST', path, body });
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
}

function service(cluster: Cluster, name: string): void {
  post(cluster, SERVICES, {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name },
    spec: { selector: { app: 'x' }, ports: [{ port: 80 }] },
  });
}

function sizes(cluster: Cluster): readonly number[] {
  return cluster.objects(SLICES).map((slice) => asList(slice['endpoints']).length);
}

describe('EndpointSlices of a large Service', () => {
  it('hold a hundred endpoints each, keep them where they are, and go when they are empty', () => {
    const cluster = newCluster();
    for (let i = 0; i < 10; i += 1) cluster.addNode({ name: `more-${i}` });
    service(cluster, 's');
    for (let i = 0; i < 230; i += 1) createPod(cluster, `p${i}`, {}, APP);
    runUntilTrue(cluster, () => sizes(cluster).reduce((sum, size) => sum + size, 0) === 230);
    expect(Math.max(...sizes(cluster))).toBe(100);
    const before = sizes(cluster).length;
    for (let i = 0; i < 229; i += 1) {
      cluster.handle({ method: 'DELETE', path: `${PODS}/p${i}`, body: { gracePeriodSeconds: 0 } });
    }
    runUntilTrue(cluster, () => sizes(cluster).join() === '1');
    expect(before).toBeGreaterThan(2);
  });
});

describe('traffic', () => {
  it('reaches a ready pod, and nobody where there is none', () => {
    const cluster = newCluster();
    service(cluster, 's');
    expect(cluster.probe('default/s')).toEqual({ ok: false, why: 'no endpoints' });
    createPod(cluster, 'a', {}, APP);
    runUntilTrue(cluster, () => cluster.probe('default/s').ok);
    expect(cluster.probe('default/s')).toEqual({ ok: true, pod: 'a' });
  });

  it('fails when a pod ends before the last client has heard of it, and not when it lingers', () => {
    const failures = [undefined, { preStop: { sleep: { seconds: 5 } } }].map((lifecycle) => {
      const cluster = newCluster({ proxyLagMs: [1500, 2500], imageScripts: { image: { termMs: [1, 5] } } });
      service(cluster, 's');
      const container = { name: 'main', image: 'image:v1', ...(lifecycle === undefined ? {} : { lifecycle }) };
      for (const name of ['a', 'b']) createPod(cluster, name, { containers: [container] }, APP);
      const both = () => ['a', 'b'].every((name) => conditionStatus(cluster, name, 'Ready') === 'True');
      runUntilTrue(cluster, both);
      cluster.runUntil(cluster.nowMs + 10_000);
      cluster.handle({ method: 'DELETE', path: `${PODS}/a` });
      let failed = 0;
      for (let i = 0; i < 200; i += 1) {
        cluster.runUntil(cluster.nowMs + 50);
        if (!cluster.probe('default/s').ok) failed += 1;
      }
      return failed;
    });
    expect(failures[0]).toBeGreaterThan(0);
    expect(failures[1]).toBe(0);
  });
});

/** A cluster with a ready pod `a`. */
function running(): Cluster {
  const cluster = newCluster();
  createPod(cluster, 'a');
  runUntilTrue(cluster, () => conditionStatus(cluster, 'a', 'Ready') === 'True');
  return cluster;
}

describe('mishaps', () => {
  it('a container may be ended from outside, and restarts', () => {
    const cluster = running();
    cluster.schedule(cluster.nowMs, 'containerExit', { pod: 'default/a', exitCode: 137, reason: 'OOMKilled' });
    runUntilTrue(cluster, () => podNamed(cluster, 'a').status.containerStatuses?.[0]?.restartCount === 1);
    expect(podNamed(cluster, 'a').status.containerStatuses?.[0]?.lastState.terminated).toMatchObject({
      exitCode: 137,
      reason: 'OOMKilled',
    });
  });

  it('a probe may fail and pass again', () => {
    const cluster = running();
    cluster.schedule(cluster.nowMs, 'probeFail', { pod: 'default/a' });
    runUntilTrue(cluster, () => conditionStatus(cluster, 'a', 'Ready') === 'False');
    cluster.schedule(cluster.nowMs, 'probePass', { pod: 'default/a' });
    runUntilTrue(cluster, () => conditionStatus(cluster, 'a', 'Ready') === 'True');
    expect(podNamed(cluster, 'a').status.containerStatuses?.[0]?.restartCount).toBe(0);
  });

  it('a pod may be evicted: Failed with a reason, and gone as soon as it is deleted', () => {
    const cluster = running();
    cluster.schedule(cluster.nowMs, 'podEvict', { pod: 'default/a' });
    runUntilTrue(cluster, () => podNamed(cluster, 'a').status.phase === 'Failed');
    expect(podNamed(cluster, 'a').status.reason).toBe('Evicted');
    cluster.handle({ method: 'DELETE', path: `${PODS}/a` });
    expect(cluster.object('pods', 'default/a')).toBeUndefined();
  });
});

const PODGROUP: JsonObject = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'podgroups.scheduling.x-k8s.io' },
  spec: {
    group: 'scheduling.x-k8s.io',
    scope: 'Namespaced',
    names: { plural: 'podgroups', kind: 'PodGroup' },
    versions: [
      {
        name: 'v1alpha1',
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        subresources: { status: {} },
      },
    ],
  },
};

/** A cluster of one node and a PodGroup of two. */
function gangCluster(cpu: number): Cluster {
  const cluster = newCluster();
  for (const name of ['node-1', 'node-2']) cluster.handle({ method: 'DELETE', path: `/api/v1/nodes/${name}` });
  cluster.addNode({ name: 'small', cpu });
  post(cluster, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', PODGROUP);
  post(cluster, '/apis/scheduling.x-k8s.io/v1alpha1/namespaces/default/podgroups', {
    apiVersion: 'scheduling.x-k8s.io/v1alpha1',
    kind: 'PodGroup',
    metadata: { name: 'g' },
    spec: { minMember: 2 },
  });
  return cluster;
}

function member(cluster: Cluster, name: string): void {
  const resources = { requests: { cpu: '1' } };
  const spec = {
    schedulerName: 'scheduler-plugins-scheduler',
    containers: [{ name: 'main', image: 'image:v1', resources }],
  };
  createPod(cluster, name, spec, { labels: { 'scheduling.x-k8s.io/pod-group': 'g' } });
}

function nodes(cluster: Cluster): readonly (string | undefined)[] {
  return cluster.objects('pods').map((pod) => (pod['spec'] as { nodeName?: string }).nodeName);
}

function phase(cluster: Cluster): unknown {
  return (cluster.object('podgroups.scheduling.x-k8s.io', 'default/g')?.['status'] as JsonObject | undefined)?.[
    'phase'
  ];
}

describe('gangs', () => {
  it('are placed together, or not at all while one of them does not fit', () => {
    const cluster = gangCluster(1);
    member(cluster, 'a');
    member(cluster, 'b');
    cluster.runUntil(cluster.nowMs + 60_000);
    expect(nodes(cluster)).toEqual([undefined, undefined]);
    expect(conditionStatus(cluster, 'a', 'PodScheduled')).toBe('False');
    expect(phase(cluster)).toBe('Scheduling');
    cluster.addNode({ name: 'second', cpu: 1 });
    runUntilTrue(cluster, () => phase(cluster) === 'Running');
    expect(new Set(nodes(cluster))).toEqual(new Set(['second', 'small']));
  });

  it('wait for members that are not there yet', () => {
    const cluster = gangCluster(8);
    member(cluster, 'a');
    cluster.runUntil(cluster.nowMs + 30_000);
    expect(nodes(cluster)).toEqual([undefined]);
    expect(phase(cluster)).toBe('Pending');
    member(cluster, 'b');
    runUntilTrue(cluster, () => nodes(cluster).every((node) => node === 'small'));
  });
});

it('takes custom objects away with their definition', () => {
  const cluster = newCluster();
  post(cluster, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', PODGROUP);
  post(cluster, '/apis/scheduling.x-k8s.io/v1alpha1/namespaces/default/podgroups', {
    apiVersion: 'scheduling.x-k8s.io/v1alpha1',
    kind: 'PodGroup',
    metadata: { name: 'g' },
  });
  cluster.handle({
    method: 'DELETE',
    path: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/podgroups.scheduling.x-k8s.io',
  });
  cluster.runUntil(cluster.nowMs + 5000);
  expect(cluster.objects('podgroups.scheduling.x-k8s.io')).toEqual([]);
});
