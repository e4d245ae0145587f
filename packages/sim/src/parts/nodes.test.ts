import { describe, expect, it } from '@jest/globals';
import type { Cluster } from '../cluster.js';
import { conditionStatus, createPod, newCluster, podNamed, runUntilTrue } from '../testing/fixtures.js';
import type { Node } from './model.js';

function nodeNamed(cluster: Cluster, name: string): Node {
  return cluster.object('nodes', name) as unknown as Node;
}

function taints(cluster: Cluster, name: string): readonly string[] {
  return (nodeNamed(cluster, name).spec.taints ?? []).map(({ key, effect }) => `${key}:${effect}`);
}

function readiness(cluster: Cluster, name: string): string | undefined {
  return nodeNamed(cluster, name).status.conditions?.find(({ type }) => type === 'Ready')?.status;
}

function on(node: string, tolerationSeconds: number): { readonly [key: string]: unknown } {
  const keys = ['node.kubernetes.io/unreachable', 'node.kubernetes.io/not-ready'];
  const tolerations = keys.map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds }));
  return { nodeSelector: { 'kubernetes.io/hostname': node }, tolerations };
}

/** A cluster with a ready pod `a` on node-1. */
function withPod(tolerationSeconds: number): Cluster {
  const cluster = newCluster();
  createPod(cluster, 'a', on('node-1', tolerationSeconds));
  runUntilTrue(cluster, () => conditionStatus(cluster, 'a', 'Ready') === 'True');
  return cluster;
}

function strike(cluster: Cluster, what: 'nodeStop' | 'nodeCrash' | 'nodeStart'): void {
  cluster.schedule(cluster.nowMs, what, { name: 'node-1' });
}

describe('a node that goes silent', () => {
  it('is Unknown and tainted after its grace, and its pods are not ready', () => {
    const cluster = withPod(300);
    strike(cluster, 'nodeStop');
    const tookMs = runUntilTrue(cluster, () => readiness(cluster, 'node-1') === 'Unknown');
    expect(tookMs).toBeGreaterThanOrEqual(40_000);
    expect(taints(cluster, 'node-1')).toEqual([
      'node.kubernetes.io/unreachable:NoSchedule',
      'node.kubernetes.io/unreachable:NoExecute',
    ]);
    expect(conditionStatus(cluster, 'a', 'Ready')).toBe('False');
    expect(conditionStatus(cluster, 'a', 'ContainersReady')).toBe('True');
  });

  it('has its pods evicted after their toleration; they terminate for ever', () => {
    const cluster = withPod(60);
    strike(cluster, 'nodeStop');
    runUntilTrue(cluster, () => taints(cluster, 'node-1').length > 0);
    const tookMs = runUntilTrue(cluster, () => podNamed(cluster, 'a').metadata.deletionTimestamp !== undefined);
    expect(tookMs).toBeGreaterThanOrEqual(60_000);
    cluster.runUntil(cluster.nowMs + 3_600_000);
    expect(podNamed(cluster, 'a').status.phase).toBe('Running');
    expect(conditionStatus(cluster, 'a', 'DisruptionTarget')).toBe('True');
  });

  it('takes up its work where it was when it comes back in time', () => {
    const cluster = withPod(300);
    const { uid } = podNamed(cluster, 'a').metadata;
    strike(cluster, 'nodeStop');
    runUntilTrue(cluster, () => taints(cluster, 'node-1').length > 0);
    strike(cluster, 'nodeStart');
    runUntilTrue(
      cluster,
      () => conditionStatus(cluster, 'a', 'Ready') === 'True' && taints(cluster, 'node-1').length === 0,
    );
    expect(readiness(cluster, 'node-1')).toBe('True');
    cluster.runUntil(cluster.nowMs + 600_000);
    expect(podNamed(cluster, 'a').metadata).toMatchObject({ uid });
    expect(podNamed(cluster, 'a').status.containerStatuses?.[0]?.restartCount).toBe(0);
  });

  it('finishes the deletions it missed when it comes back late', () => {
    const cluster = withPod(10);
    strike(cluster, 'nodeStop');
    runUntilTrue(cluster, () => podNamed(cluster, 'a').metadata.deletionTimestamp !== undefined);
    strike(cluster, 'nodeStart');
    runUntilTrue(cluster, () => cluster.object('pods', 'default/a') === undefined);
  });
});

describe('a node that crashes', () => {
  it('comes back with its containers restarted', () => {
    const cluster = withPod(300);
    strike(cluster, 'nodeCrash');
    cluster.runUntil(cluster.nowMs + 60_000);
    strike(cluster, 'nodeStart');
    runUntilTrue(cluster, () => conditionStatus(cluster, 'a', 'Ready') === 'True');
    expect(podNamed(cluster, 'a').status.containerStatuses?.[0]).toMatchObject({
      restartCount: 1,
      lastState: { terminated: { reason: 'Unknown' } },
    });
  });
});

describe('a node that is gone for good', () => {
  it('takes its pods with it', () => {
    const cluster = withPod(300);
    strike(cluster, 'nodeCrash');
    cluster.handle({ method: 'DELETE', path: '/api/v1/nodes/node-1' });
    runUntilTrue(cluster, () => cluster.object('pods', 'default/a') === undefined);
  });
});

describe('a cordoned node', () => {
  it('keeps its pods and gets no new ones', () => {
    const cluster = withPod(300);
    const body = { spec: { unschedulable: true } };
    cluster.handle({
      method: 'PATCH',
      path: '/api/v1/nodes/node-1',
      contentType: 'application/merge-patch+json',
      body,
    });
    for (const name of ['b', 'c', 'd']) createPod(cluster, name);
    createPod(cluster, 'e', on('node-1', 300));
    cluster.runUntil(cluster.nowMs + 60_000);
    expect(['b', 'c', 'd'].map((name) => podNamed(cluster, name).spec.nodeName)).toEqual(Array(3).fill('node-2'));
    expect(podNamed(cluster, 'e').spec.nodeName).toBeUndefined();
    expect(podNamed(cluster, 'a').spec.nodeName).toBe('node-1');
  });
});
