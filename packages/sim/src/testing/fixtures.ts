/** Objects and clusters for the tests of this package. */

import type { SimResponse } from '../api/call.js';
import type { JsonObject } from '../base/json.js';
import type { KubeObject } from '../base/object.js';
import { Cluster, type ClusterInit } from '../cluster.js';
import type { Pod } from '../parts/model.js';

/** 2026-11-05T10:00:00Z. */
export const START_MS = 1_793_872_800_000;

export const PODS = '/api/v1/namespaces/default/pods';

/** A cluster with two nodes, past its first seconds. */
export function newCluster(options: ClusterInit['options'] = {}, seed = 1): Cluster {
  const cluster = new Cluster({ seed, startMs: START_MS, options });
  for (const name of ['node-1', 'node-2']) cluster.addNode({ name });
  cluster.runUntil(START_MS + 5000);
  return cluster;
}

/** A pod of one container `main`. */
export function podBody(name: string, spec: JsonObject = {}, metadata: JsonObject = {}): JsonObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...metadata },
    spec: { containers: [{ name: 'main', image: 'image:v1' }], ...spec },
  };
}

export function createPod(
  cluster: Cluster,
  name: string,
  spec: JsonObject = {},
  metadata: JsonObject = {},
): SimResponse {
  return cluster.handle({ method: 'POST', path: PODS, body: podBody(name, spec, metadata) });
}

/** A pod of the default namespace; fails when it is not there. */
export function podNamed(cluster: Cluster, name: string): Pod {
  const pod = cluster.object('pods', `default/${name}`);
  if (pod === undefined) throw new Error(`there is no pod ${name}`);
  return pod as unknown as Pod;
}

/** Runs until a condition holds; returns how long that took, in milliseconds. Fails after `withinMs`. */
export function runUntilTrue(cluster: Cluster, condition: () => boolean, withinMs = 120_000): number {
  const fromMs = cluster.nowMs;
  while (!condition()) {
    if (cluster.nowMs - fromMs > withinMs) {
      const lines = cluster.trace(40).map(({ atMs, text }) => `+${(atMs - fromMs) / 1000} ${text}`);
      throw new Error(`not within ${withinMs} ms\n${lines.join('\n')}`);
    }
    if ((cluster.nextAtMs() ?? Number.POSITIVE_INFINITY) > cluster.nowMs + 100) cluster.runUntil(cluster.nowMs + 100);
    else cluster.step();
  }
  return cluster.nowMs - fromMs;
}

/** The status of a condition of a pod. */
export function conditionStatus(cluster: Cluster, name: string, type: string): string | undefined {
  return podNamed(cluster, name).status.conditions?.find((condition) => condition.type === type)?.status;
}

/** What a pod of that name went through, from the trace of its stored versions: phases, container states, readiness. */
export function history(cluster: Cluster, name: string): { readonly states: readonly string[]; stop(): void } {
  const states: string[] = [];
  const stop = cluster.onApplied((write) => {
    if (write.resource !== 'pods' || write.object.metadata.name !== name) return;
    const text = write.type === 'DELETED' ? 'gone' : describe(write.object);
    if (states.at(-1) !== text) states.push(text);
  });
  return { states, stop };
}

function describe(object: KubeObject): string {
  const pod = object as unknown as Pod;
  const [container] = pod.status.containerStatuses ?? [];
  const { waiting, running, terminated } = container?.state ?? {};
  const state = waiting?.reason ?? (running === undefined ? terminated?.reason : 'running') ?? '-';
  const going = pod.metadata.deletionTimestamp === undefined ? '' : ' terminating';
  return `${pod.status.phase} ${state}${container?.ready === true ? ' ready' : ''}${going}`;
}

/** One microtask queue drained. */
export function drained(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
