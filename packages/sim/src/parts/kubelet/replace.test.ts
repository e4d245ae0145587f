import { describe, expect, it } from '@jest/globals';
import type { Cluster } from '../../cluster.js';
import { conditionStatus, createPod, newCluster, PODS, podNamed, runUntilTrue } from '../../testing/fixtures.js';
import type { ContainerStatus } from '../model.js';

function setImage(cluster: Cluster, container: string, image: string, list = 'containers'): void {
  const body = { spec: { [list]: [{ name: container, image }] } };
  cluster.handle({
    method: 'PATCH',
    path: `${PODS}/a`,
    contentType: 'application/strategic-merge-patch+json',
    body,
  });
}

function statusOf(cluster: Cluster, container = 'main'): ContainerStatus | undefined {
  const { containerStatuses = [], initContainerStatuses = [] } = podNamed(cluster, 'a').status;
  return [...containerStatuses, ...initContainerStatuses].find((one) => one.name === container);
}

function isReady(cluster: Cluster): boolean {
  return conditionStatus(cluster, 'a', 'Ready') === 'True';
}

function isGone(cluster: Cluster): boolean {
  return cluster.object('pods', 'default/a') === undefined;
}

/** A cluster with a ready pod whose second image takes five minutes to pull. */
function slowly(readinessProbe?: object): Cluster {
  const cluster = newCluster({ imageScripts: { 'image:v2': { pullMs: [300_000, 300_000] } } });
  createPod(cluster, 'a', {
    containers: [{ name: 'main', image: 'image:v1', ...(readinessProbe === undefined ? {} : { readinessProbe }) }],
  });
  runUntilTrue(cluster, () => isReady(cluster));
  setImage(cluster, 'main', 'image:v2');
  return cluster;
}

describe('a slow pull of an image changed in place', () => {
  it('looks like the old container, running and ready, though nothing runs', () => {
    const cluster = slowly();
    cluster.runUntil(cluster.nowMs + 200_000);
    expect(statusOf(cluster)).toMatchObject({ image: 'docker.io/library/image:v1', ready: true, restartCount: 0 });
    expect(statusOf(cluster)?.state.running).toBeDefined();
    expect(podNamed(cluster, 'a').status).toMatchObject({ observedGeneration: 2 });
    expect(isReady(cluster)).toBe(true);
    runUntilTrue(cluster, () => statusOf(cluster)?.image === 'docker.io/library/image:v2', 200_000);
    expect(statusOf(cluster)).toMatchObject({ restartCount: 1, lastState: { terminated: { exitCode: 0 } } });
  });

  it('is not ready when a request is the probe, after as many failures as it takes', () => {
    const cluster = slowly({ tcpSocket: { port: 80 }, periodSeconds: 10, failureThreshold: 3 });
    const tookMs = runUntilTrue(cluster, () => !isReady(cluster));
    expect(tookMs).toBeGreaterThan(20_000);
    expect(tookMs).toBeLessThan(34_000);
    expect(statusOf(cluster)?.state.running).toBeDefined();
  });

  it('stays ready when a command is the probe, because it can not be run at all', () => {
    const cluster = slowly({ exec: { command: ['true'] } });
    cluster.runUntil(cluster.nowMs + 200_000);
    expect(isReady(cluster)).toBe(true);
  });

  it('holds up the deletion of the pod', () => {
    const cluster = slowly();
    cluster.runUntil(cluster.nowMs + 10_000);
    cluster.handle({ method: 'DELETE', path: `${PODS}/a` });
    cluster.runUntil(cluster.nowMs + 250_000);
    expect(isGone(cluster)).toBe(false);
    runUntilTrue(cluster, () => isGone(cluster));
  });

  it('begins again when the kubelet comes back', () => {
    const cluster = slowly();
    cluster.runUntil(cluster.nowMs + 10_000);
    const name = podNamed(cluster, 'a').spec.nodeName;
    cluster.schedule(cluster.nowMs, 'nodeStop', { name });
    cluster.schedule(cluster.nowMs + 20_000, 'nodeStart', { name });
    runUntilTrue(cluster, () => statusOf(cluster)?.image === 'docker.io/library/image:v2', 400_000);
    expect(statusOf(cluster)).toMatchObject({ restartCount: 1, ready: true });
  });
});

describe('an image changed in place while the kubelet is away', () => {
  it('is replaced when the kubelet is back, though the change before it was under way', () => {
    const cluster = newCluster({ imageScripts: { image: { termMs: [15_000, 15_000] } } });
    createPod(cluster, 'a');
    runUntilTrue(cluster, () => isReady(cluster));
    setImage(cluster, 'main', 'image:v2');
    cluster.runUntil(cluster.nowMs + 3000);
    const name = podNamed(cluster, 'a').spec.nodeName;
    cluster.schedule(cluster.nowMs, 'nodeStop', { name });
    cluster.runUntil(cluster.nowMs + 1000);
    setImage(cluster, 'main', 'image:v3');
    cluster.schedule(cluster.nowMs + 1000, 'nodeStart', { name });
    runUntilTrue(cluster, () => statusOf(cluster)?.image === 'docker.io/library/image:v3');
    expect(statusOf(cluster)?.restartCount).toBe(1);
  });
});

describe('a change that the kubelet has not seen', () => {
  it('is not observed in what it reports of older ones', () => {
    const cluster = newCluster({ kubeletLagMs: [2000, 2000] });
    createPod(cluster, 'a');
    runUntilTrue(cluster, () => isReady(cluster));
    setImage(cluster, 'main', 'image:v2');
    cluster.schedule(cluster.nowMs, 'containerExit', { pod: 'default/a', exitCode: 1, reason: 'Error' });
    runUntilTrue(cluster, () => !isReady(cluster), 1900);
    expect(podNamed(cluster, 'a').metadata.generation).toBe(2);
    expect(podNamed(cluster, 'a').status).toMatchObject({ observedGeneration: 1 });
  });
});

describe('a sidecar', () => {
  it('ends after the container it serves', () => {
    const cluster = newCluster({ imageScripts: { 'image:slow': { termMs: [6000, 6000] } } });
    createPod(cluster, 'a', {
      initContainers: [{ name: 'side', image: 'image:v1', restartPolicy: 'Always' }],
      containers: [{ name: 'main', image: 'image:slow' }],
    });
    runUntilTrue(cluster, () => isReady(cluster));
    cluster.handle({ method: 'DELETE', path: `${PODS}/a` });
    runUntilTrue(cluster, () => statusOf(cluster)?.state.terminated !== undefined);
    const ends = [statusOf(cluster), statusOf(cluster, 'side')].map(
      (one) => one?.state.terminated?.finishedAt ?? 'never',
    );
    expect(ends[0]).toMatch(/^2026/);
    expect((ends[1] ?? '') >= (ends[0] ?? '')).toBe(true);
    runUntilTrue(cluster, () => isGone(cluster), 10_000);
  });

  it('is started again when it ends, and holds up nothing a second time', () => {
    const cluster = newCluster({ imageScripts: { 'image:side': { exitMs: [30_000, 30_000], exitTimes: 1 } } });
    createPod(cluster, 'a', {
      initContainers: [{ name: 'side', image: 'image:side', restartPolicy: 'Always' }],
      containers: [{ name: 'main', image: 'image:v1' }],
      restartPolicy: 'Never',
    });
    runUntilTrue(cluster, () => isReady(cluster));
    runUntilTrue(cluster, () => statusOf(cluster, 'side')?.restartCount === 1 && isReady(cluster));
    expect(statusOf(cluster)?.restartCount).toBe(0);
    expect(conditionStatus(cluster, 'a', 'Initialized')).toBe('True');
  });
});
