/**
 * An image changed in place: the containers that run the old one are ended, one by one, and only then are the new ones
 * pulled and started. A kubelet does this in one go, and reports nothing of the pod but readiness until it is through: a
 * pod that is being updated looks as it did before, with the new generation already observed.
 */

import type { World } from '../../base/world.js';
import { isTerminal, type Pod } from '../model.js';
import { begin, containerSpec, event, isOutdated, mayRestart, stopContainer } from './containers.js';
import {
  type ContainerRun,
  changeContainer,
  containerOf,
  type PodRun,
  type Replacement,
  runOf,
  saveRun,
} from './run.js';

/** Takes over the images of a pod's spec, and sets out to replace what runs others. Returns the pod's run. */
export function replaceImages(world: World, pod: Pod, run: PodRun): PodRun {
  if (isTerminal(pod)) return run;
  let current = run;
  const toEnd: string[] = [];
  for (const { name, image: before, role, state, created } of run.containers) {
    const image = containerSpec(pod, name)?.image;
    if (image === undefined) continue;
    if (image !== before) {
      current = changeContainer(world, current, name, { image, pullFailures: 0, crashes: 0, exits: 0 });
    }
    if (state.is === 'running') {
      // An init container that runs is left to its end: what comes after it is what matters.
      if (role !== 'init' && created?.image !== image) toEnd.push(name);
    } else if (image !== before && mayBegin(pod, current, name)) {
      begin(world, pod, current, name);
      current = runOf(world, run.uid) ?? current;
    }
  }
  if (toEnd.length === 0) return current;
  const replacing: Replacement = { toEnd, toStart: toEnd, shown: run.containers, again: false };
  return endNext(world, pod, saveRun(world, { ...current, replacing }));
}

// One that has never been set out for waits for its turn behind the init containers.
function mayBegin(pod: Pod, run: PodRun, name: string): boolean {
  const container = containerOf(run, name);
  if (container === undefined || container.epoch === 0) return false;
  return container.state.is !== 'ended' || mayRestart(pod, container, container.state.end.exitCode);
}

/** Goes on with a replacement after something happened to a container. Returns the pod's run. */
export function goOn(world: World, pod: Pod, run: PodRun): PodRun {
  const { replacing } = run;
  if (replacing === undefined) return run;
  const [ending] = replacing.toEnd;
  if (ending !== undefined) {
    if (containerOf(run, ending)?.state.is === 'running') return run;
    const toEnd = replacing.toEnd.slice(1);
    const next = saveRun(world, { ...run, replacing: { ...replacing, toEnd } });
    return toEnd.length > 0 ? endNext(world, pod, next) : startNext(world, pod, next);
  }
  const [starting] = replacing.toStart;
  const container = starting === undefined ? undefined : containerOf(run, starting);
  if (container !== undefined && !isStarted(container)) return run;
  const toStart = replacing.toStart.slice(1);
  if (toStart.length > 0)
    return startNext(world, pod, saveRun(world, { ...run, replacing: { ...replacing, toStart } }));
  const { replacing: _over, ...rest } = run;
  const over = saveRun(world, rest);
  if (replacing.again) world.schedule(world.nowMs, 'kubelet.see', { key: run.key, uid: run.uid, node: run.node });
  return over;
}

/** True once the attempt to start a container is over, whether it runs or could not be pulled. */
function isStarted(container: ContainerRun): boolean {
  return container.state.is === 'waiting' || !isOutdated(container);
}

function endNext(world: World, pod: Pod, run: PodRun): PodRun {
  const [name = ''] = run.replacing?.toEnd ?? [];
  const container = containerOf(run, name);
  if (container === undefined || container.state.is !== 'running') return goOn(world, pod, run);
  event(world, pod, run, name, 'Normal', 'Killing', `Container ${name} definition changed, will be restarted`);
  const next = changeContainer(world, run, name, { epoch: container.epoch + 1 });
  const graceMs = (pod.spec.terminationGracePeriodSeconds ?? 30) * 1000;
  stopContainer(world, pod, next, { ...container, epoch: container.epoch + 1 }, world.nowMs + graceMs);
  return next;
}

function startNext(world: World, pod: Pod, run: PodRun): PodRun {
  const [name = ''] = run.replacing?.toStart ?? [];
  begin(world, pod, run, name);
  return runOf(world, run.uid) ?? run;
}

/** The pod changed, or was deleted, while its containers are replaced: it is looked at again afterwards. */
export function lookAgain(world: World, run: PodRun): void {
  if (run.replacing !== undefined) saveRun(world, { ...run, replacing: { ...run.replacing, again: true } });
}

/** The run as it is reported: while containers are replaced nothing but readiness changes. */
export function reported(run: PodRun): PodRun {
  const { replacing } = run;
  if (replacing === undefined) return run;
  const containers = replacing.shown.map((one) => {
    const replaced = replacing.toStart.includes(one.name);
    return replaced ? one : { ...one, ready: containerOf(run, one.name)?.ready ?? one.ready };
  });
  return { ...run, containers };
}
