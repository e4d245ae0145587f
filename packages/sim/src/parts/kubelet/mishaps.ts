/** Things that befall the containers of a pod from outside, as agenda entries for tests and demos. */

import type { World } from '../../base/world.js';
import { podByUid } from '../act.js';
import type { Pod } from '../model.js';
import { containerEnd, stopContainer } from './containers.js';
import { type ContainerRun, changeContainer, containerOf, type PodRun, runOf, saveRun } from './run.js';

/** Names a container: `pod` is `namespace/name`; without `container` it is the first one. */
export interface Victim {
  readonly pod: string;
  readonly container?: string;
}

interface Found {
  readonly pod: Pod;
  readonly run: PodRun;
  readonly container: ContainerRun;
}

function find(world: World, victim: Victim): Found | undefined {
  const pod = world.store.get('pods', victim.pod) as Pod | undefined;
  const run = pod === undefined ? undefined : runOf(world, pod.metadata.uid);
  if (pod === undefined || run === undefined || podByUid(world, run.key, run.uid) === undefined) return undefined;
  const mains = run.containers.filter((one) => one.role === 'main');
  const container = victim.container === undefined ? mains[0] : containerOf(run, victim.container);
  return container === undefined ? undefined : { pod, run, container };
}

/** A running container ends: out of memory, a fault of its own. It restarts by the pod's policy. */
export function exitNow(
  world: World,
  victim: Victim & { readonly exitCode: number; readonly reason: string },
): PodRun | undefined {
  const found = find(world, victim);
  if (found === undefined || found.container.state.is !== 'running') return undefined;
  return containerEnd(world, found.pod, found.run, found.container, victim.exitCode, victim.reason);
}

/** The readiness probe of a running container fails from now on, or passes again. */
export function probeNow(world: World, victim: Victim, verdict: 'passes' | 'fails'): PodRun | undefined {
  const found = find(world, victim);
  if (found === undefined || found.container.state.is !== 'running') return undefined;
  return changeContainer(world, found.run, found.container.name, { ready: verdict === 'passes' });
}

/** The kubelet needs the room: the pod fails with the reason Evicted, and its containers are ended. */
export function evictNow(world: World, victim: Victim): PodRun | undefined {
  const found = find(world, victim);
  if (found === undefined || found.run.rejected !== undefined) return undefined;
  const { pod, run } = found;
  for (const container of run.containers) {
    if (container.state.is === 'running') stopContainer(world, pod, run, container, world.nowMs + 1000);
  }
  const rejected = { reason: 'Evicted', message: 'The node was low on resource: memory. ' };
  const { replacing: _given, ...rest } = run;
  return saveRun(world, { ...rest, rejected, killAtMs: world.nowMs + 1000 });
}
