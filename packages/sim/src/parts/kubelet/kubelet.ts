/** The kubelets: each runs the pods bound to its node, a little behind the API server. */

import { equal } from '../../base/json.js';
import { keyOf } from '../../base/object.js';
import type { Change } from '../../base/store.js';
import type { Part, World } from '../../base/world.js';
import { deleteObject, podByUid, store } from '../act.js';
import { conditionOf, isTerminal, type Pod } from '../model.js';
import { clockOffsetMs, nodeState } from '../node-state.js';
import { begin, containerStep, event, freshContainer, isPassed, LEAST_GRACE_MS, stopContainer } from './containers.js';
import { evictNow, exitNow, probeNow, type Victim } from './mishaps.js';
import { goOn, lookAgain, replaceImages, reported } from './replace.js';
import {
  allRuns,
  type ContainerEvent,
  changeContainer,
  containerOf,
  dropRun,
  type Ended,
  type PodRun,
  runOf,
  saveRun,
} from './run.js';
import { podStatus } from './status.js';

/** How a kubelet refuses a pod that was bound to its node. */
const REJECTIONS = [
  {
    reason: 'OutOfcpu',
    message: "Pod was rejected: Node didn't have enough resource: cpu, requested: 1000, used: 8000, capacity: 8000",
  },
  {
    reason: 'UnexpectedAdmissionError',
    message: 'Pod was rejected: Allocate failed due to requested number of devices unavailable, which is unexpected',
  },
] as const;

interface Seen {
  readonly key: string;
  readonly uid: string;
  readonly node: string;
}

export const kubelet: Part = {
  handlers: {
    'kubelet.see': (world: World, seen: Seen) => {
      if (nodeState(world, seen.node) === 'up') see(world, seen);
    },
    'kubelet.container': (world: World, args: ContainerEvent) => {
      const run = runOf(world, args.uid);
      if (run !== undefined) step(world, run, args);
    },
    'kubelet.status': (world: World, args: { readonly uid: string }) => {
      const run = runOf(world, args.uid);
      if (run !== undefined && nodeState(world, run.node) === 'up') report(world, run);
    },
    'kubelet.remove': (world: World, args: { readonly uid: string }) => {
      const run = runOf(world, args.uid);
      if (run !== undefined && nodeState(world, run.node) === 'up') removePod(world, run);
    },
    /** A running container ends: `{pod: 'ns/name', container?, exitCode, reason}`. */
    containerExit: (world: World, args: Victim & { readonly exitCode: number; readonly reason: string }) => {
      afterMishap(world, exitNow(world, args));
    },
    /** A readiness probe begins to fail: `{pod, container?}`. */
    probeFail: (world: World, args: Victim) => afterMishap(world, probeNow(world, args, 'fails')),
    /** And passes again. */
    probePass: (world: World, args: Victim) => afterMishap(world, probeNow(world, args, 'passes')),
    /** The node runs short, and the kubelet evicts the pod: `{pod}`. */
    podEvict: (world: World, args: Victim) => afterMishap(world, evictNow(world, args)),
  },

  onChange(world: World, change: Change): void {
    if (change.resource !== 'pods') return;
    const pod = change.object as Pod;
    const { nodeName } = pod.spec;
    if (nodeName === undefined || !concernsKubelet(change)) return;
    world.after(world.options.kubeletLagMs, 'kubelet.see', { key: keyOf(pod), uid: pod.metadata.uid, node: nodeName });
  },
};

function afterMishap(world: World, run: PodRun | undefined): void {
  if (run === undefined) return;
  const pod = podByUid(world, run.key, run.uid);
  reportSoon(world, pod === undefined ? run : goOn(world, pod, run));
}

function concernsKubelet(change: Change): boolean {
  if (change.type !== 'MODIFIED') return true;
  const pod = change.object as Pod;
  const before = change.previous as Pod;
  if (!equal(pod.spec, before.spec)) return true;
  if (pod.metadata.deletionTimestamp !== before.metadata.deletionTimestamp) return true;
  return (pod.spec.readinessGates ?? []).some(({ conditionType }) => {
    const now = conditionOf(pod.status.conditions, conditionType)?.status;
    return now !== conditionOf(before.status.conditions, conditionType)?.status;
  });
}

function see(world: World, { key, uid, node }: Seen): void {
  const pod = podByUid(world, key, uid);
  const run = runOf(world, uid);
  if (pod === undefined) {
    if (run !== undefined) endOrphan(world, run);
    return;
  }
  if (run === undefined) {
    // A node that is not in the API has no kubelet.
    if (world.store.get('nodes', node) === undefined) return;
    if (isTerminal(pod) && pod.metadata.deletionTimestamp === undefined) return;
    admit(world, pod, node);
    return;
  }
  // Not even a deletion interrupts a replacement that is under way.
  if (run.replacing !== undefined) {
    lookAgain(world, run);
    return;
  }
  const seen = seenAs(world, pod, run);
  if (pod.metadata.deletionTimestamp !== undefined) terminate(world, pod, seen);
  else reportSoon(world, replaceImages(world, pod, seen));
}

function seenAs(world: World, pod: Pod, run: PodRun): PodRun {
  const { generation } = pod.metadata;
  return generation === undefined || generation === run.generation ? run : saveRun(world, { ...run, generation });
}

function admit(world: World, pod: Pod, node: string): void {
  const { uid, generation } = pod.metadata;
  const seen = generation === undefined ? {} : { generation };
  const base = { key: keyOf(pod), uid, node, ip: nextAddress(world), ...seen };
  if (world.random.chance(world.options.admissionRejectChance)) {
    const rejected = REJECTIONS[world.random.next() % REJECTIONS.length];
    if (rejected === undefined) return;
    reportSoon(world, saveRun(world, { ...base, containers: [], rejected }));
    return;
  }
  const init = (pod.spec.initContainers ?? []).map((one) =>
    freshContainer(one, one.restartPolicy === 'Always' ? 'sidecar' : 'init'),
  );
  const main = pod.spec.containers.map((one) => freshContainer(one, 'main'));
  const waitsForInit = init.length > 0;
  const run = saveRun(world, {
    ...base,
    containers: [
      ...init,
      ...(waitsForInit
        ? main.map((one) => ({ ...one, state: { is: 'waiting', reason: 'PodInitializing' } as const }))
        : main),
    ],
  });
  if (pod.metadata.deletionTimestamp !== undefined) {
    terminate(world, pod, run);
    return;
  }
  startNext(world, pod, run);
  reportSoon(world, run);
}

/** Starts the next init container, or all main ones once the init containers are through. */
function startNext(world: World, pod: Pod, run: PodRun): void {
  const next = run.containers.find((one) => one.role !== 'main' && !isPassed(one));
  if (next !== undefined) {
    if (next.epoch === 0) begin(world, pod, run, next.name);
    return;
  }
  for (const { name } of run.containers.filter((one) => one.role === 'main' && one.epoch === 0)) {
    begin(world, pod, runOf(world, run.uid) ?? run, name);
  }
}

function step(world: World, run: PodRun, args: ContainerEvent): void {
  const state = nodeState(world, run.node);
  // Without its kubelet a container can only end; nothing is pulled, started or probed.
  const ends = args.event === 'exited' || args.event === 'stopped' || args.event === 'killed';
  if (state === 'crashed' || (state === 'silent' && !ends)) return;
  const pod = podByUid(world, run.key, run.uid) ?? lastKnown(run);
  const after = containerStep(world, pod, run, args);
  if (after === undefined) return;
  const current = runOf(world, run.uid) ?? after;
  if (current.killAtMs !== undefined) endSidecars(world, pod, current, current.killAtMs);
  else if (ends || args.event === 'started') startNext(world, pod, current);
  if (current.killAtMs !== undefined && isOver(current)) finish(world, current);
  else reportSoon(world, goOn(world, pod, runOf(world, run.uid) ?? current));
}

function isOver(run: PodRun): boolean {
  return run.containers.every((one) => one.state.is !== 'running');
}

/** What a kubelet remembers of a pod that has left the API: enough to end its containers. */
function lastKnown(run: PodRun): Pod {
  const [namespace = '', name = ''] = run.key.split('/');
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace, uid: run.uid, resourceVersion: '0', creationTimestamp: '' },
    spec: { containers: run.containers.map(({ name: own, image }) => ({ name: own, image })), restartPolicy: 'Never' },
    status: { phase: 'Unknown' },
  };
}

function terminate(world: World, pod: Pod, run: PodRun): void {
  const graceMs = (pod.metadata.deletionGracePeriodSeconds ?? 30) * 1000;
  const killAtMs = world.nowMs + Math.max(graceMs, LEAST_GRACE_MS);
  if (run.killAtMs !== undefined && run.killAtMs <= killAtMs) return;
  endContainers(world, pod, run, killAtMs);
}

function endContainers(world: World, pod: Pod, run: PodRun, killAtMs: number): void {
  const { replacing: _given, ...rest } = run;
  let current = saveRun(world, { ...rest, killAtMs });
  for (const { name, role } of run.containers) {
    if (role !== 'sidecar') current = endOne(world, pod, current, name, killAtMs);
  }
  endSidecars(world, pod, current, killAtMs);
  const ended = runOf(world, run.uid) ?? current;
  if (isOver(ended)) finish(world, ended);
}

/** Sidecars outlive the containers they serve, and end one by one, the last that was started first. */
function endSidecars(world: World, pod: Pod, run: PodRun, killAtMs: number): void {
  if (run.containers.some((one) => one.role !== 'sidecar' && one.state.is === 'running')) return;
  const last = run.containers.findLast((one) => one.role === 'sidecar' && one.state.is === 'running');
  if (last !== undefined) endOne(world, pod, run, last.name, killAtMs);
}

/** A container that waits to be started again is not: its last end is its final one. */
function settle(world: World, run: PodRun, name: string, end: Ended): PodRun {
  return changeContainer(world, run, name, { state: { is: 'ended', end } });
}

function endOne(world: World, pod: Pod, run: PodRun, name: string, killAtMs: number): PodRun {
  const before = containerOf(run, name);
  if (before === undefined) return run;
  const next = changeContainer(world, run, name, { epoch: before.epoch + 1 });
  if (before.state.is !== 'running')
    return before.lastEnd === undefined ? next : settle(world, next, name, before.lastEnd);
  event(world, pod, run, name, 'Normal', 'Killing', `Stopping container ${name}`);
  stopContainer(world, pod, next, { ...before, epoch: before.epoch + 1 }, killAtMs);
  return next;
}

/** The pod left the API while its containers run: they are ended all the same. */
function endOrphan(world: World, run: PodRun): void {
  if (run.killAtMs === undefined) endContainers(world, lastKnown(run), run, world.nowMs + LEAST_GRACE_MS);
}

/** All containers have ended: the final phase is reported, and only then is the pod removed. */
function finish(world: World, run: PodRun): void {
  reportSoon(world, run);
  world.after([300, 1500], 'kubelet.remove', { uid: run.uid });
}

function removePod(world: World, run: PodRun): void {
  const pod = podByUid(world, run.key, run.uid);
  dropRun(world, run.uid);
  if (pod === undefined || pod.metadata.deletionTimestamp === undefined) return;
  deleteObject(world, 'pods', pod, { gracePeriodSeconds: 0, uid: run.uid, dryRun: 'none' }, `kubelet ${run.node}`);
}

function reportSoon(world: World, run: PodRun): void {
  world.after(world.options.statusLagMs, 'kubelet.status', { uid: run.uid });
}

function report(world: World, run: PodRun): void {
  const pod = podByUid(world, run.key, run.uid);
  if (pod === undefined) return;
  if (isTerminal(pod) && run.rejected === undefined && run.killAtMs === undefined) return;
  const status = podStatus(pod, reported(run), world.nowMs, clockOffsetMs(world, run.node));
  store(world, 'pods', { ...pod, status }, pod, `kubelet ${run.node}`);
}

function nextAddress(world: World): string {
  const last = world.notes.get('pod-addresses');
  const next = (typeof last === 'number' ? last : 1) + 1;
  world.notes.set('pod-addresses', next);
  return `10.244.${(next >> 8) & 255}.${next & 255}`;
}

/** Every kubelet of a node takes up its work again: pods it missed, containers that stand still. */
export function resume(world: World, node: string): void {
  for (const pod of world.store.list('pods') as Iterable<Pod>) {
    if (pod.spec.nodeName !== node) continue;
    world.after(world.options.kubeletLagMs, 'kubelet.see', { key: keyOf(pod), uid: pod.metadata.uid, node });
  }
  for (const run of allRuns(world)) {
    if (run.node !== node) continue;
    const pod = podByUid(world, run.key, run.uid);
    if (pod === undefined) {
      world.after(world.options.kubeletLagMs, 'kubelet.see', { key: run.key, uid: run.uid, node });
      continue;
    }
    const { replacing: _forgotten, ...rest } = run;
    saveRun(world, rest);
    for (const container of run.containers) revive(world, pod, rest, container.name);
    reportSoon(world, rest);
  }
}

function revive(world: World, pod: Pod, run: PodRun, name: string): void {
  const current = runOf(world, run.uid) ?? run;
  const container = containerOf(current, name);
  if (container === undefined || current.killAtMs !== undefined || container.state.is === 'running') return;
  const ended = container.state.is === 'ended';
  if (ended && (pod.spec.restartPolicy ?? 'Always') === 'Never') return;
  begin(world, pod, current, name);
}
