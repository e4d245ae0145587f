/** What a kubelet knows of a pod it runs: its private state, kept with the world as frozen data. */

import { freeze } from '../../base/json.js';
import type { Range } from '../../base/random.js';
import type { World } from '../../base/world.js';

export interface Ended {
  readonly exitCode: number;
  readonly reason: string;
  readonly startedMs: number;
  readonly finishedMs: number;
  readonly id: string;
}

export type ContainerState =
  | { readonly is: 'waiting'; readonly reason: string; readonly message?: string }
  | { readonly is: 'running'; readonly startedMs: number; readonly id: string }
  | { readonly is: 'ended'; readonly end: Ended };

export interface ContainerRun {
  readonly name: string;
  /** A sidecar is an init container that is to be restarted always: it starts before the main ones and runs beside them. */
  readonly role: 'init' | 'sidecar' | 'main';
  /** What it is to run, as the kubelet last saw it. */
  readonly image: string;
  /** What its last container was made from; that one may still be running. Absent until there was one. */
  readonly created?: { readonly image: string; readonly imageID: string };
  readonly state: ContainerState;
  readonly lastEnd?: Ended;
  readonly ready: boolean;
  readonly restarts: number;
  /** Starts in a row that did not last: how far its restart backoff has grown. */
  readonly crashes: number;
  readonly pullFailures: number;
  /** Exits of its own so far. */
  readonly exits: number;
  /** Events of an earlier epoch are ignored. */
  readonly epoch: number;
}

/**
 * Work on a pod during which its kubelet reports nothing: old containers are ended, one after the other, and then started
 * with their new images. A name leaves its list when that is done, or has failed.
 */
export interface Replacement {
  readonly toEnd: readonly string[];
  readonly toStart: readonly string[];
  /** The containers as they were last reported. */
  readonly shown: readonly ContainerRun[];
  /** The pod changed meanwhile: it is to be looked at again when this is over. */
  readonly again: boolean;
}

export interface PodRun {
  readonly key: string;
  readonly uid: string;
  readonly node: string;
  readonly ip: string;
  /** The generation of the pod that the kubelet has seen. */
  readonly generation?: number;
  readonly containers: readonly ContainerRun[];
  readonly replacing?: Replacement;
  /** Set once the kubelet has begun to end the pod: when SIGKILL comes. */
  readonly killAtMs?: number;
  /** The pod was refused at admission: no container ever ran. */
  readonly rejected?: { readonly reason: string; readonly message: string };
}

/** What happens to a container, as the argument of an agenda entry. */
export interface ContainerEvent {
  readonly uid: string;
  readonly name: string;
  readonly epoch: number;
  readonly event:
    | 'pulled'
    | 'pullFailed'
    | 'pullBackoff'
    | 'pull'
    | 'started'
    | 'ready'
    | 'probeMissed'
    | 'exited'
    | 'backoffOver'
    | 'killed'
    | 'stopped';
}

const PREFIX = 'kubelet/';

export function runOf(world: World, uid: string): PodRun | undefined {
  return world.notes.get(PREFIX + uid) as PodRun | undefined;
}

export function saveRun(world: World, run: PodRun): PodRun {
  world.notes.set(PREFIX + run.uid, freeze(run));
  return run;
}

export function dropRun(world: World, uid: string): void {
  world.notes.delete(PREFIX + uid);
}

/** Every pod that some kubelet runs. */
export function allRuns(world: World): readonly PodRun[] {
  const runs: PodRun[] = [];
  for (const [key, value] of world.notes) {
    if (key.startsWith(PREFIX)) runs.push(value as PodRun);
  }
  return runs;
}

/** A container of a pod's run. */
export function containerOf(run: PodRun, name: string): ContainerRun | undefined {
  return run.containers.find((one) => one.name === name);
}

/** Saves a change to one container and returns the pod's run. */
export function changeContainer(world: World, run: PodRun, name: string, change: Partial<ContainerRun>): PodRun {
  const containers = run.containers.map((one) => (one.name === name ? { ...one, ...change } : one));
  return saveRun(world, { ...run, containers });
}

/** Puts a container's next event on the agenda. */
export function expect(
  world: World,
  run: PodRun,
  container: ContainerRun,
  event: ContainerEvent['event'],
  delay: Range,
): void {
  const args: ContainerEvent = { uid: run.uid, name: container.name, epoch: container.epoch, event };
  world.after(delay, 'kubelet.container', args);
}
