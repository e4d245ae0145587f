import { describe, expect, it } from '@jest/globals';
import type { Script } from '../../base/options.js';
import type { Cluster } from '../../cluster.js';
import {
  conditionStatus,
  createPod,
  history,
  newCluster,
  PODS,
  podNamed,
  runUntilTrue,
} from '../../testing/fixtures.js';
import type { ContainerStatus } from '../model.js';

const STRATEGIC = 'application/strategic-merge-patch+json';

function withScripts(imageScripts: Readonly<Record<string, Partial<Script>>>): Cluster {
  return newCluster({ imageScripts });
}

/** What is reported of the container `main`; undefined before its kubelet has said anything. */
function main(cluster: Cluster, name = 'a'): ContainerStatus | undefined {
  return podNamed(cluster, name).status.containerStatuses?.find((one) => one.name === 'main');
}

function setGate(cluster: Cluster, status: string): void {
  const condition = { type: 'ome.io/serving', status, lastTransitionTime: '2026-11-05T10:00:00Z' };
  cluster.handle({
    method: 'PATCH',
    path: `${PODS}/a/status`,
    contentType: STRATEGIC,
    body: { status: { conditions: [condition] } },
  });
}

function setImage(cluster: Cluster, container: string, image: string): void {
  const body = { spec: { containers: [{ name: container, image }] } };
  cluster.handle({ method: 'PATCH', path: `${PODS}/a`, contentType: STRATEGIC, body });
}

function isReady(cluster: Cluster): boolean {
  return conditionStatus(cluster, 'a', 'Ready') === 'True';
}

function isGone(cluster: Cluster): boolean {
  return cluster.object('pods', 'default/a') === undefined;
}

const probed = { containers: [{ name: 'main', image: 'image:v1', readinessProbe: { tcpSocket: { port: 80 } } }] };

describe('a pod on its way up', () => {
  it('is created, runs, and is ready when its probe passes', () => {
    const cluster = withScripts({ image: { readyMs: [5000, 5000] } });
    const { states } = history(cluster, 'a');
    createPod(cluster, 'a', probed);
    runUntilTrue(cluster, () => isReady(cluster));
    expect(states).toEqual(['Pending -', 'Pending ContainerCreating', 'Running running', 'Running running ready']);
    expect(podNamed(cluster, 'a').status).toMatchObject({ podIP: expect.any(String), observedGeneration: 1 });
  });

  it('is ready as soon as it runs without a probe, and never with one that never passes', () => {
    const cluster = withScripts({ image: { readyMs: 'never' } });
    createPod(cluster, 'a', probed);
    createPod(cluster, 'b');
    runUntilTrue(cluster, () => conditionStatus(cluster, 'b', 'Ready') === 'True');
    cluster.runUntil(cluster.nowMs + 600_000);
    expect(isReady(cluster)).toBe(false);
    expect(main(cluster)?.state.running).toBeDefined();
  });

  it('is Ready only with its gates, which the kubelet sees late, and says which one is missing', () => {
    const cluster = newCluster();
    createPod(cluster, 'a', { readinessGates: [{ conditionType: 'ome.io/serving' }] });
    runUntilTrue(cluster, () => conditionStatus(cluster, 'a', 'ContainersReady') === 'True');
    expect(podNamed(cluster, 'a').status.conditions).toContainEqual(
      expect.objectContaining({
        type: 'Ready',
        status: 'False',
        reason: 'ReadinessGatesNotReady',
        message: 'corresponding condition of pod readiness gate "ome.io/serving" does not exist.',
      }),
    );
    setGate(cluster, 'True');
    expect(runUntilTrue(cluster, () => isReady(cluster))).toBeGreaterThanOrEqual(200);
    setGate(cluster, 'False');
    runUntilTrue(cluster, () => !isReady(cluster));
    expect(conditionStatus(cluster, 'a', 'ContainersReady')).toBe('True');
  });

  it('runs init containers one by one before the others', () => {
    const cluster = newCluster();
    const init = ['one', 'two'].map((name) => ({ name, image: 'image:v1' }));
    createPod(cluster, 'a', { initContainers: init });
    const seen: string[] = [];
    cluster.onApplied(({ object }) => {
      const status = object['status'] as {
        initContainerStatuses?: ContainerStatus[];
        containerStatuses?: ContainerStatus[];
      };
      const all = [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
      const running = all
        .filter((one) => one.state.running !== undefined)
        .map((one) => one.name)
        .join();
      if (running !== '' && seen.at(-1) !== running) seen.push(running);
    });
    runUntilTrue(cluster, () => isReady(cluster));
    expect(seen).toEqual(['one', 'two', 'main']);
  });

  it('may be refused by its kubelet, with phase and reason', () => {
    const cluster = newCluster({ admissionRejectChance: 1 });
    createPod(cluster, 'a');
    runUntilTrue(cluster, () => podNamed(cluster, 'a').status.phase === 'Failed');
    expect(podNamed(cluster, 'a').status).toMatchObject({
      reason: expect.stringMatching(/^(OutOfcpu|UnexpectedAdmissionError)$/),
    });
  });
});

describe('a pod in trouble', () => {
  it('alternates between the two words for an image that can not be pulled, ever more slowly', () => {
    const cluster = withScripts({ image: { pull: 'fail' } });
    const { states } = history(cluster, 'a');
    createPod(cluster, 'a');
    cluster.runUntil(cluster.nowMs + 120_000);
    expect(states.slice(0, 6)).toEqual([
      'Pending -',
      'Pending ContainerCreating',
      'Pending ErrImagePull',
      'Pending ImagePullBackOff',
      'Pending ErrImagePull',
      'Pending ImagePullBackOff',
    ]);
    expect(states.length).toBeLessThan(12);
  });

  it('recovers when the image appears', () => {
    const cluster = withScripts({ image: { pull: { failTimes: 2 } } });
    createPod(cluster, 'a');
    runUntilTrue(cluster, () => isReady(cluster));
    expect(main(cluster)?.restartCount).toBe(0);
  });

  it('restarts at once, then after 10 s, 20 s, 40 s: a crash loop with counters and the last end', () => {
    const cluster = withScripts({ image: { exitMs: [100, 100], exitCode: 3 } });
    createPod(cluster, 'a');
    const starts: number[] = [];
    cluster.onApplied(({ object }) => {
      const [status] = (object['status'] as { containerStatuses?: ContainerStatus[] }).containerStatuses ?? [];
      if (status !== undefined && status.restartCount > starts.length) starts.push(cluster.nowMs);
    });
    cluster.runUntil(cluster.nowMs + 100_000);
    const gaps = starts.map((at, i) => Math.round((at - (starts[i - 1] ?? at)) / 10_000) * 10);
    expect(gaps.slice(0, 4)).toEqual([0, 10, 20, 40]);
    expect(main(cluster)).toMatchObject({
      restartCount: 4,
      ready: false,
      state: { waiting: { reason: 'CrashLoopBackOff' } },
      lastState: { terminated: { exitCode: 3, reason: 'Error' } },
    });
    expect(podNamed(cluster, 'a').status.phase).toBe('Running');
  });

  it('stays up after as many crashes as its script has', () => {
    const cluster = withScripts({ image: { exitMs: [100, 100], exitCode: 1, exitTimes: 2 } });
    createPod(cluster, 'a');
    cluster.runUntil(cluster.nowMs + 120_000);
    expect(main(cluster)).toMatchObject({ restartCount: 2, ready: true });
  });

  it.each([
    [0, 'Succeeded'],
    [1, 'Failed'],
  ])('that is not to be restarted ends with code %d as %s', (exitCode, phase) => {
    const cluster = withScripts({ image: { exitMs: [100, 100], exitCode } });
    createPod(cluster, 'a', { restartPolicy: 'Never' });
    runUntilTrue(cluster, () => podNamed(cluster, 'a').status.phase === phase);
    expect(main(cluster)).toMatchObject({ restartCount: 0, state: { terminated: { exitCode } } });
    expect(conditionStatus(cluster, 'a', 'Ready')).toBe('False');
  });
});

describe('an image changed in place', () => {
  const two = {
    containers: [
      { name: 'main', image: 'image:v1' },
      { name: 'side', image: 'image:v1' },
    ],
  };

  it('restarts that container alone, in the same pod, with another imageID', () => {
    const cluster = newCluster();
    createPod(cluster, 'a', two);
    runUntilTrue(cluster, () => isReady(cluster));
    const before = podNamed(cluster, 'a');
    setImage(cluster, 'main', 'image:v2');
    runUntilTrue(cluster, () => main(cluster)?.image === 'docker.io/library/image:v2' && isReady(cluster));
    const after = podNamed(cluster, 'a');
    const counts = after.status.containerStatuses?.map((one) => `${one.name} ${one.restartCount}`);
    expect(counts).toEqual(['main 1', 'side 0']);
    expect(after.metadata.uid).toBe(before.metadata.uid);
    expect(main(cluster)?.imageID).not.toBe(before.status.containerStatuses?.[0]?.imageID);
    expect(main(cluster)?.lastState.terminated).toBeDefined();
  });

  it('shows the old image until the old container has ended', () => {
    const cluster = withScripts({ image: { termMs: [4000, 4000] } });
    createPod(cluster, 'a', two);
    runUntilTrue(cluster, () => isReady(cluster));
    setImage(cluster, 'main', 'image:v2');
    cluster.runUntil(cluster.nowMs + 3000);
    expect(main(cluster)).toMatchObject({ image: 'docker.io/library/image:v1', ready: true });
    runUntilTrue(cluster, () => main(cluster)?.image === 'docker.io/library/image:v2');
  });

  it('frees a container that waits for an image it can not have', () => {
    const cluster = withScripts({ 'image:v1': { pull: 'fail' } });
    createPod(cluster, 'a');
    runUntilTrue(cluster, () => main(cluster)?.state.waiting?.reason === 'ImagePullBackOff');
    setImage(cluster, 'main', 'image:v2');
    runUntilTrue(cluster, () => isReady(cluster), 10_000);
    expect(main(cluster)?.restartCount).toBe(0);
  });

  it('keeps the imageID when both tags are one digest', () => {
    const cluster = withScripts({ image: { digest: 'image@sha256:same' } });
    createPod(cluster, 'a');
    runUntilTrue(cluster, () => isReady(cluster));
    setImage(cluster, 'main', 'image:v2');
    runUntilTrue(cluster, () => main(cluster)?.restartCount === 1 && isReady(cluster));
    expect(main(cluster)?.imageID).toBe('image@sha256:same');
  });
});

function end(cluster: Cluster, gracePeriodSeconds?: number): void {
  cluster.handle({
    method: 'DELETE',
    path: `${PODS}/a`,
    ...(gracePeriodSeconds === undefined ? {} : { body: { gracePeriodSeconds } }),
  });
}

describe('a pod on its way out', () => {
  it('ends on SIGTERM, shows its final phase while terminating, and only then goes', () => {
    const cluster = newCluster();
    createPod(cluster, 'a');
    runUntilTrue(cluster, () => isReady(cluster));
    const { states } = history(cluster, 'a');
    end(cluster);
    runUntilTrue(cluster, () => isGone(cluster), 10_000);
    expect(states).toEqual(['Running running ready terminating', 'Succeeded Completed terminating', 'gone']);
  });

  it('is not ready any more once its containers have ended', () => {
    const cluster = newCluster();
    createPod(cluster, 'a');
    runUntilTrue(cluster, () => isReady(cluster));
    end(cluster);
    runUntilTrue(cluster, () => podNamed(cluster, 'a').status.phase === 'Succeeded');
    expect(podNamed(cluster, 'a').status.conditions).toContainEqual(
      expect.objectContaining({ type: 'Ready', status: 'False', reason: 'PodCompleted' }),
    );
  });

  it('is killed at the end of its grace when it does not listen: 137, Failed', () => {
    const cluster = withScripts({ image: { onTerm: 'ignore' } });
    createPod(cluster, 'a', { terminationGracePeriodSeconds: 20 });
    runUntilTrue(cluster, () => isReady(cluster));
    const { states } = history(cluster, 'a');
    end(cluster);
    const tookMs = runUntilTrue(cluster, () => isGone(cluster), 60_000);
    expect(tookMs).toBeGreaterThanOrEqual(20_000);
    expect(tookMs).toBeLessThan(26_000);
    expect(states).toEqual(['Running running ready terminating', 'Failed Error terminating', 'gone']);
  });

  it('goes sooner when its grace is shortened on the way', () => {
    const cluster = withScripts({ image: { onTerm: 'ignore' } });
    createPod(cluster, 'a', { terminationGracePeriodSeconds: 300 });
    runUntilTrue(cluster, () => isReady(cluster));
    end(cluster);
    cluster.runUntil(cluster.nowMs + 10_000);
    end(cluster, 5);
    expect(runUntilTrue(cluster, () => isGone(cluster), 60_000)).toBeLessThan(12_000);
  });

  it('runs its preStop hook first, within the grace', () => {
    const cluster = newCluster();
    const preStop = { exec: { command: ['sh', '-c', 'sleep 8'] } };
    createPod(cluster, 'a', { containers: [{ name: 'main', image: 'image:v1', lifecycle: { preStop } }] });
    runUntilTrue(cluster, () => isReady(cluster));
    end(cluster);
    const tookMs = runUntilTrue(cluster, () => isGone(cluster), 60_000);
    expect(tookMs).toBeGreaterThanOrEqual(8000);
    expect(tookMs).toBeLessThan(13_000);
  });

  it('leaves nothing running when it was removed by force', () => {
    const cluster = newCluster();
    cluster.handle({
      method: 'POST',
      path: '/api/v1/namespaces/default/services',
      body: {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 's' },
        spec: { selector: { app: 'a' }, ports: [{ port: 80 }] },
      },
    });
    createPod(cluster, 'a', {}, { labels: { app: 'a' } });
    runUntilTrue(cluster, () => cluster.probe('default/s').ok);
    end(cluster, 0);
    expect(isGone(cluster)).toBe(true);
    runUntilTrue(cluster, () => !cluster.probe('default/s').ok, 10_000);
  });

  it('ends without a restart when it was in a crash loop', () => {
    const cluster = withScripts({ image: { exitMs: [100, 100], exitCode: 1 } });
    createPod(cluster, 'a');
    runUntilTrue(cluster, () => main(cluster)?.restartCount === 2);
    end(cluster);
    runUntilTrue(cluster, () => isGone(cluster), 10_000);
  });
});
