/** What no single look at the cluster can show: how many there were at once, what came before what, how often. */
import { isNewer } from '@omenative/kube';
import type { PodSeen, ReplicaSeen, SliceSeen } from './records.js';

/** A pod that a Service began to send requests to. */
interface Entry {
  readonly service: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

export class Ledger {
  /** Pods seen since the beginning, the latest state of each, by UID. */
  readonly #pods = new Map<string, PodSeen>();
  /** The version at which a pod's gate was first seen open, by UID. */
  readonly #opened = new Map<string, string>();
  readonly #entries = new Map<string, Entry>();
  readonly #live = new Set<string>();
  readonly #most = new Map<string, number>();
  readonly #statusWrites = new Map<string, number>();
  readonly #instances = new Map<string, Set<number>>();

  pod(before: PodSeen | undefined, now: PodSeen | undefined): void {
    const pod = now ?? before;
    if (pod === undefined) return;
    this.#pods.set(pod.uid, pod);
    if (now === undefined || now.stage === 'ended') this.#live.delete(pod.uid);
    else this.#live.add(pod.uid);
    this.#most.set(pod.replica, Math.max(this.#most.get(pod.replica) ?? 0, this.live(pod.replica)));
    if (pod.gate === 'open' && !this.#opened.has(pod.uid)) this.#opened.set(pod.uid, pod.resourceVersion);
  }

  replica(before: ReplicaSeen | undefined, now: ReplicaSeen | undefined): void {
    if (now === undefined || now.statusText === (before?.statusText ?? 'null')) return;
    this.#statusWrites.set(now.name, (this.#statusWrites.get(now.name) ?? 0) + 1);
    const indexes = this.#instances.get(now.name) ?? new Set();
    for (const index of now.instances.keys()) indexes.add(index);
    this.#instances.set(now.name, indexes);
  }

  slice(now: SliceSeen | undefined): void {
    for (const { uid } of now?.ready ?? []) {
      const { service = '', resourceVersion = '' } = now ?? {};
      const key = `${service} ${uid}`;
      if (!this.#entries.has(key)) this.#entries.set(key, { service, uid, resourceVersion });
    }
  }

  /** Forgets how many there were at once, up to now. */
  newPeriod(): void {
    for (const replica of this.#most.keys()) this.#most.set(replica, this.live(replica));
  }

  /** Pods of a replica whose containers have not ended, those that terminate included. */
  live(replica: string): number {
    return [...this.#live].filter((uid) => this.#pods.get(uid)?.replica === replica).length;
  }

  /** The most live pods that a replica had at once in this period. */
  mostAtOnce(replica: string): number {
    return this.#most.get(replica) ?? 0;
  }

  podsCreated(): number {
    return this.#pods.size;
  }

  /** How often the status of a replica changed, and how many Instances it ever had. */
  statusWrites(replica: string): { readonly writes: number; readonly instances: number } {
    return {
      writes: this.#statusWrites.get(replica) ?? 0,
      instances: this.#instances.get(replica)?.size ?? 0,
    };
  }

  /**
   * Pods that a Service sent requests to before the gate of each of the Instance's `size` pods was open. All watches
   * count by one sequence of versions, so that what came first can be told across them.
   */
  earlyEntries(service: string, size: number): readonly string[] {
    const entries = [...this.#entries.values()].filter((entry) => entry.service === service);
    return entries.flatMap(({ uid, resourceVersion }) => {
      const pod = this.#pods.get(uid);
      const members = [...this.#pods.values()].filter(({ instance }) => instance === pod?.instance);
      const isComplete =
        members.length === size &&
        members.every((member) => isNewer(resourceVersion, this.#opened.get(member.uid) ?? resourceVersion));
      return isComplete ? [] : [pod?.name ?? uid];
    });
  }
}
