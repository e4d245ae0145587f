/** The life of one container: pulled, started, ready, ended, started again. Each step is an agenda entry. */

import { type Script, scriptFor } from '../../base/options.js';
import type { Range } from '../../base/random.js';
import type { World } from '../../base/world.js';
import { recordEvent } from '../events.js';
import type { Container, Pod } from '../model.js';
import {
  type ContainerEvent,
  type ContainerRun,
  changeContainer,
  containerOf,
  type Ended,
  expect,
  type PodRun,
  saveRun,
} from './run.js';

/** A container that ran for this long starts again without a wait. */
const CALM_MS = 600_000;

/** A container that has not started yet. */
export function freshContainer(container: Container, role: ContainerRun['role']): ContainerRun {
  return {
    name: container.name,
    role,
    image: container.image,
    state: { is: 'waiting', reason: role === 'main' ? 'ContainerCreating' : 'PodInitializing' },
    ready: false,
    restarts: 0,
    crashes: 0,
    pullFailures: 0,
    exits: 0,
    epoch: 0,
  };
}

/** True for an init container that holds up nothing any more: it is through, or, as a sidecar, was started once. */
export function isPassed(container: ContainerRun): boolean {
  if (container.role === 'sidecar') return container.created !== undefined;
  return container.state.is === 'ended' && container.state.end.exitCode === 0;
}

/** Sets out to start a container: the pull comes first unless the node has the image. */
export function begin(world: World, pod: Pod, run: PodRun, name: string): void {
  const found = containerOf(run, name);
  if (found === undefined) return;
  const next = changeContainer(world, run, name, { epoch: found.epoch + 1 });
  const container = containerOf(next, name) ?? found;
  const script = scriptFor(world.options, container.image);
  if (world.notes.has(imageKey(run.node, container.image))) {
    expect(world, next, container, 'pulled', [0, 0]);
    return;
  }
  event(world, pod, run, name, 'Normal', 'Pulling', `Pulling image "${container.image}"`);
  const fails = script.pull === 'fail' || (script.pull !== 'ok' && container.pullFailures < script.pull.failTimes);
  expect(world, next, container, fails ? 'pullFailed' : 'pulled', script.pullMs);
}

function imageKey(node: string, image: string): string {
  return `image/${node}/${image}`;
}

/** The digest of an image, as the kubelet reports it. */
function imageDigest(world: World, image: string): string {
  const { digest } = scriptFor(world.options, image);
  if (digest !== undefined) return digest;
  let hash = 0x811c9dc5;
  let digits = '';
  for (let round = 0; round < 8; round += 1) {
    for (let i = 0; i < image.length; i += 1) hash = Math.imul(hash ^ image.charCodeAt(i), 0x01000193);
    digits += (hash >>> 0).toString(16).padStart(8, '0');
  }
  return `${image.replace(/[:@][^/]*$/, '')}@sha256:${digits}`;
}

/** Carries out a step and returns the pod's run after it; undefined when the step is out of date. */
export function containerStep(world: World, pod: Pod, run: PodRun, args: ContainerEvent): PodRun | undefined {
  const container = containerOf(run, args.name);
  if (container === undefined) return undefined;
  if (args.event === 'probeMissed') return probeMissed(world, run, container, args.epoch);
  if (container.epoch !== args.epoch) return undefined;
  const { name } = container;
  const script = runningScript(world, container);
  switch (args.event) {
    case 'pull':
      begin(world, pod, run, name);
      return undefined;
    case 'pulled':
      world.notes.set(imageKey(run.node, container.image), true);
      event(
        world,
        pod,
        run,
        name,
        'Normal',
        'Pulled',
        `Container image "${container.image}" is present on the machine`,
      );
      expect(world, run, container, 'started', script.startMs);
      return changeContainer(world, run, name, { pullFailures: 0 });
    case 'pullFailed':
      return pullFailed(world, pod, run, container);
    case 'pullBackoff': {
      const message = `Back-off pulling image "${container.image}"`;
      event(world, pod, run, name, 'Normal', 'BackOff', message);
      return changeContainer(world, run, name, { state: { is: 'waiting', reason: 'ImagePullBackOff', message } });
    }
    case 'started':
      return started(world, pod, run, container);
    case 'ready':
      return changeContainer(world, run, name, { ready: true });
    case 'exited':
      return containerEnd(world, pod, run, container, script.exitCode, script.exitCode === 0 ? 'Completed' : 'Error');
    case 'stopped':
      return containerEnd(
        world,
        pod,
        run,
        container,
        script.termExitCode,
        script.termExitCode === 0 ? 'Completed' : 'Error',
      );
    case 'killed':
      return containerEnd(world, pod, run, container, 137, 'Error');
    case 'backoffOver':
      begin(world, pod, run, name);
      return undefined;
  }
}

/** What the container that runs, or ran last, does; its successor's image may be another. */
function runningScript(world: World, container: ContainerRun): Script {
  return scriptFor(world.options, container.created?.image ?? container.image);
}

/** True for a container whose image changed under it. */
export function isOutdated(container: ContainerRun): boolean {
  return container.created !== undefined && container.created.image !== container.image;
}

function pullFailed(world: World, pod: Pod, run: PodRun, container: ContainerRun): PodRun {
  const message = `failed to pull image "${container.image}": not found`;
  event(world, pod, run, container.name, 'Warning', 'Failed', `Failed to pull image "${container.image}": not found`);
  const failures = container.pullFailures + 1;
  expect(world, run, container, 'pullBackoff', [1000, 3000]);
  const waitMs = grown(world.options.pullBackoffMs, failures - 1);
  expect(world, run, container, 'pull', [waitMs + 3000, waitMs + 4000]);
  const state = { is: 'waiting', reason: 'ErrImagePull', message } as const;
  return changeContainer(world, run, container.name, { state, pullFailures: failures });
}

function started(world: World, pod: Pod, run: PodRun, container: ContainerRun): PodRun {
  const { name } = container;
  const script = scriptFor(world.options, container.image);
  const spec = containerSpec(pod, name);
  // Only a container that has run before counts as restarted, and only once it runs again.
  const restarts = container.lastEnd === undefined ? container.restarts : container.restarts + 1;
  const id = `containerd://${run.uid.slice(-12)}${name}${restarts}`;
  const probed = spec?.readinessProbe !== undefined;
  event(world, pod, run, name, 'Normal', 'Created', `Created container: ${name}`);
  event(world, pod, run, name, 'Normal', 'Started', `Started container ${name}`);
  const mayExit = script.exitMs !== undefined && container.exits < (script.exitTimes ?? Number.POSITIVE_INFINITY);
  if (script.exitMs !== undefined && mayExit) expect(world, run, container, 'exited', script.exitMs);
  else if (container.role === 'init')
    expect(world, run, container, 'stopped', script.readyMs === 'never' ? [0, 0] : script.readyMs);
  if (container.role !== 'init' && probed && script.readyMs !== 'never')
    expect(world, run, container, 'ready', script.readyMs);
  return changeContainer(world, run, name, {
    state: { is: 'running', startedMs: world.nowMs, id },
    created: { image: container.image, imageID: imageDigest(world, container.image) },
    restarts,
    ready: container.role !== 'init' && !probed,
  });
}

/** Records the end of a container and, where the pod is to go on, sets out to start it again. */
export function containerEnd(
  world: World,
  pod: Pod,
  run: PodRun,
  container: ContainerRun,
  exitCode: number,
  reason: string,
): PodRun {
  if (container.state.is !== 'running') return run;
  const { startedMs, id } = container.state;
  const end: Ended = { exitCode, reason, startedMs, finishedMs: world.nowMs, id };
  const calm = world.nowMs - startedMs >= CALM_MS;
  const outdated = isOutdated(container);
  const again: ContainerRun = {
    ...container,
    state: { is: 'ended', end },
    lastEnd: end,
    ready: false,
    crashes: outdated || calm ? 0 : container.crashes + 1,
    exits: outdated ? 0 : container.exits + 1,
    epoch: container.epoch + 1,
  };
  const containers = run.containers.map((one) => (one.name === container.name ? again : one));
  const ended = saveRun(world, { ...run, containers });
  if (run.replacing?.toEnd.includes(container.name)) {
    missProbes(world, pod, ended, again);
    return ended;
  }
  if (run.killAtMs !== undefined || !mayRestart(pod, again, exitCode)) return ended;
  return restartLater(world, pod, ended, again, again.crashes);
}

// While a container is replaced its readiness probe goes on. A request finds nobody and fails; a command can't be run at
// all, which counts for nothing.
function missProbes(world: World, pod: Pod, run: PodRun, container: ContainerRun): void {
  const probe = containerSpec(pod, container.name)?.readinessProbe;
  if (probe === undefined || probe.exec !== undefined) return;
  const { failureThreshold = 3, periodSeconds = 10 } = probe;
  expect(world, run, container, 'probeMissed', [
    (failureThreshold - 1) * periodSeconds * 1000,
    failureThreshold * periodSeconds * 1000,
  ]);
}

// The epoch is the one in which the old container ended; setting out to start the new one begins another.
function probeMissed(world: World, run: PodRun, container: ContainerRun, epoch: number): PodRun | undefined {
  const { replacing } = run;
  const same = container.epoch === epoch || container.epoch === epoch + 1;
  if (replacing === undefined || !same || container.state.is === 'running') return undefined;
  const shown = replacing.shown.map((one) => (one.name === container.name ? { ...one, ready: false } : one));
  return saveRun(world, { ...run, replacing: { ...replacing, shown } });
}

/** Whether a container that ended so is started again. */
export function mayRestart(pod: Pod, container: ContainerRun, exitCode: number): boolean {
  if (container.role === 'sidecar') return true;
  if (container.role === 'init') return exitCode !== 0 && pod.spec.restartPolicy !== 'Never';
  const policy = pod.spec.restartPolicy ?? 'Always';
  return policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0);
}

// The first restart comes at once; each later one waits twice as long as the one before.
function restartLater(world: World, pod: Pod, run: PodRun, container: ContainerRun, crashes: number): PodRun {
  if (crashes <= 1) {
    expect(world, run, container, 'backoffOver', [100, 1000]);
    return run;
  }
  const waitMs = grown(world.options.crashBackoffMs, crashes - 2);
  expect(world, run, container, 'backoffOver', [waitMs, waitMs + 1000]);
  const seconds = waitMs >= 60_000 ? `${Math.floor(waitMs / 60_000)}m${(waitMs / 1000) % 60}s` : `${waitMs / 1000}s`;
  const message = `back-off ${seconds} restarting failed container=${container.name} pod=${pod.metadata.name}_${pod.metadata.namespace ?? ''}(${run.uid})`;
  event(
    world,
    pod,
    run,
    container.name,
    'Warning',
    'BackOff',
    `Back-off restarting failed container ${container.name}`,
  );
  return changeContainer(world, run, container.name, { state: { is: 'waiting', reason: 'CrashLoopBackOff', message } });
}

function grown([firstMs, longestMs]: Range, times: number): number {
  return Math.min(longestMs, firstMs * 2 ** Math.min(times, 16));
}

/** The container of a pod's spec, init containers included. */
export function containerSpec(pod: Pod, name: string): Container | undefined {
  return [...pod.spec.containers, ...(pod.spec.initContainers ?? [])].find((container) => container.name === name);
}

/** What the kubelet tells about one container of a pod. */
export function event(
  world: World,
  pod: Pod,
  run: PodRun,
  name: string,
  type: 'Normal' | 'Warning',
  reason: string,
  message: string,
): void {
  const fieldPath = `spec.containers{${name}}`;
  recordEvent(world, pod, { type, reason, message, component: 'kubelet', host: run.node, fieldPath });
}

/** What is left to a container after SIGTERM at least, even when its preStop hook has used up the grace. */
export const LEAST_GRACE_MS = 2000;

/** Tells a running container to end: preStop first, as long as there is time, then SIGTERM, and SIGKILL in the end. */
export function stopContainer(world: World, pod: Pod, run: PodRun, container: ContainerRun, graceEndMs: number): void {
  const script = runningScript(world, container);
  const preStopMs = preStopSeconds(containerSpec(pod, container.name)) * 1000;
  const termAtMs = Math.min(world.nowMs + preStopMs, graceEndMs);
  const killAtMs = Math.max(graceEndMs, termAtMs + LEAST_GRACE_MS);
  const endMs = termAtMs + world.random.within(script.termMs);
  const args = { uid: run.uid, name: container.name, epoch: container.epoch };
  if (script.onTerm === 'exit' && endMs < killAtMs)
    world.schedule(endMs, 'kubelet.container', { ...args, event: 'stopped' });
  else world.schedule(killAtMs, 'kubelet.container', { ...args, event: 'killed' });
}

function preStopSeconds(container: Container | undefined): number {
  const hook = container?.lifecycle?.preStop;
  if (hook?.sleep !== undefined) return hook.sleep.seconds;
  const match = /\bsleep\s+(\d+(?:\.\d+)?)/.exec(hook?.exec?.command?.join(' ') ?? '');
  return match === null ? 0 : Number(match[1]);
}
