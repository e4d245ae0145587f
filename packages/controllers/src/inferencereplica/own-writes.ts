/**
 * What this process has written to pods and the cache does not show yet. An Instance with such a write is blind: nothing is
 * decided about it until the pod stream has passed the write, or a live read has settled one that went without an answer.
 */
import type { Index } from '@omenative/api';
import { type Client, classify, Floors, type Informer, newest, type Runtime } from '@omenative/kube';
import { podType } from '../shared/resources.js';
import type { PodRecord } from './pod-view.js';

/** An Instance by the UID of its replica, so that a replica made anew under the same name starts with nothing. */
export interface InstanceId {
  readonly replicaUid: string;
  readonly index: Index;
}

interface PodName {
  readonly namespace: string;
  readonly name: string;
}

const pods = 'pods';

export class OwnWrites {
  readonly #floors: Floors;
  readonly #pods: Informer<PodRecord>;
  /** By replica: Instances with a floor or an unanswered write, until found to see again. */
  readonly #written: Map<string, Set<Index>> = new Map();
  /** Pods whose write went without an answer, by unit. */
  readonly #lost: Map<string, Map<string, PodName>> = new Map();

  constructor(runtime: Runtime, informer: Informer<PodRecord>) {
    this.#floors = new Floors(runtime);
    this.#pods = informer;
  }

  /** The server answered a write to a pod of this Instance with this version. */
  answered(instance: InstanceId, resourceVersion: string): void {
    this.#floors.raise(pods, unitOf(instance), resourceVersion);
    this.#remember(instance);
  }

  /** A write to this pod went without an answer: it may have been applied, or yet be. */
  lost(instance: InstanceId, pod: PodName): void {
    const unit = unitOf(instance);
    this.#floors.markUnknown(pods, unit);
    const names = this.#lost.get(unit) ?? new Map<string, PodName>();
    names.set(`${pod.namespace}/${pod.name}`, pod);
    this.#lost.set(unit, names);
    this.#remember(instance);
  }

  /** Instances of the replica about which the cache may not be believed now. */
  blind(replicaUid: string): ReadonlySet<Index> {
    const blind = new Set<Index>();
    const written = this.#written.get(replicaUid);
    for (const index of written ?? []) {
      if (this.#floors.isBlind(pods, unitOf({ replicaUid, index }), this.#pods.store.position)) blind.add(index);
      else written?.delete(index);
    }
    if (written?.size === 0) this.#written.delete(replicaUid);
    return blind;
  }

  /** The version that the pod stream must reach before no answered write of the replica is ahead of it; '' when none is. */
  horizon(replicaUid: string): string {
    let horizon = '';
    for (const index of this.#written.get(replicaUid) ?? []) {
      horizon = newest(horizon, this.#floors.floor(pods, unitOf({ replicaUid, index })) ?? '');
    }
    return horizon;
  }

  /** Reads live what unanswered writes of the replica left open. What can't be read now stays open. */
  async settle(client: Client, replicaUid: string): Promise<void> {
    const indices = [...(this.#written.get(replicaUid) ?? [])].toSorted((a, b) => a - b);
    await Promise.all(indices.map((index) => this.#settleUnit(client, unitOf({ replicaUid, index }))));
  }

  /** Versions that the pod stream has not reached in ten seconds. */
  unreached(): readonly string[] {
    return this.#floors
      .overdue({ [pods]: this.#pods.store.position })
      .filter((floor) => floor.why === 'unreached')
      .map((floor) => floor.resourceVersion);
  }

  /** Milliseconds for which the longest blind Instance of all replicas has been so; undefined when none is. */
  oldestMs(): number | undefined {
    return this.#floors.oldestMs({ [pods]: this.#pods.store.position });
  }

  /** The replica is no more. */
  forget(replicaUid: string): void {
    for (const index of this.#written.get(replicaUid) ?? []) {
      this.#floors.forget(unitOf({ replicaUid, index }));
      this.#lost.delete(unitOf({ replicaUid, index }));
    }
    this.#written.delete(replicaUid);
  }

  async #settleUnit(client: Client, unit: string): Promise<void> {
    const names = this.#lost.get(unit);
    if (names === undefined) return;
    for (const [key, name] of names) {
      if (await readLive(client, this.#pods, name)) names.delete(key);
    }
    if (names.size > 0) return;
    this.#lost.delete(unit);
    this.#floors.clearUnknown(pods, unit);
  }

  #remember(instance: InstanceId): void {
    const indices = this.#written.get(instance.replicaUid) ?? new Set<Index>();
    indices.add(instance.index);
    this.#written.set(instance.replicaUid, indices);
  }
}

/** Reads one pod live and folds what is found into the cache. Whether there was an answer. */
export async function readLive(client: Client, informer: Informer<PodRecord>, name: PodName): Promise<boolean> {
  const key = `${name.namespace}/${name.name}`;
  try {
    informer.takeIn(await client.get(podType, name));
    return true;
  } catch (error) {
    if (classify(error) !== 'notFound') return false;
    const uid = informer.store.meta(key)?.uid;
    if (uid !== undefined) informer.takeInDeletion(key, uid);
    return true;
  }
}

function unitOf(instance: InstanceId): string {
  return `${instance.replicaUid}/${instance.index}`;
}
