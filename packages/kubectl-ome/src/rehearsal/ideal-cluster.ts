/**
 * The ideal world that a rehearsal plays in: it takes every status, carries every effect out at once, and lets each pod and
 * each Service do its next thing when a second goes by. Nothing in it fails, and nothing of it is anywhere but in memory.
 */
import type { DecodedStatus, Index, Rev } from '@omenative/api';
import {
  changedGate,
  type Effect,
  type Plan,
  type PodView,
  type Snapshot,
  type StoredRevision,
  type Uid,
} from '@omenative/engine';
import { bornPod, nextStage, patchedPod, startSec, unmarkedPod } from './ideal-pod.js';

/** A quota that stood in the way a moment ago still does. */
function refusedOperations(status: DecodedStatus): ReadonlySet<string> {
  const refused = [...status.rows.values()].flatMap((row) => {
    const op = row.kind === 'foreign' || row.kind === 'failed' || !('op' in row) ? undefined : row.op;
    return op?.capacityRefusedAt === undefined ? [] : [op.id];
  });
  return new Set(refused);
}

export class IdealCluster {
  #now: number;
  #status: DecodedStatus;
  #finalizer: Snapshot['replica']['finalizer'];
  #headlessService: Snapshot['headlessService'];
  #isGone = false;
  #uids = 0;
  readonly #start: Snapshot;
  /** Operations whose pods a quota refuses today. */
  readonly #refused: ReadonlySet<string>;
  /** What users have asked for on the replica. */
  readonly #annotations: Map<string, string>;
  /** By name. */
  readonly #pods: Map<string, PodView> = new Map();
  /** Pods that requests are sent to. */
  readonly #routed: Set<Uid> = new Set();
  readonly #revisions: Map<Rev, StoredRevision | 'gone'>;

  /** Starts where `start` stands. */
  constructor(start: Snapshot) {
    this.#start = start;
    this.#now = start.now;
    this.#status = start.status;
    this.#finalizer = start.replica.finalizer;
    this.#headlessService = start.headlessService;
    this.#annotations = new Map(Object.entries(start.replica.annotations));
    this.#revisions = new Map(start.revisions);
    this.#refused = refusedOperations(start.status);
    for (const pod of [...start.pods.values()].flat()) {
      this.#pods.set(pod.name, pod);
      if (start.rotation.get(pod.uid) === 'in') this.#routed.add(pod.uid);
    }
  }

  /** Seconds since the epoch. */
  get now(): number {
    return this.#now;
  }

  get status(): DecodedStatus {
    return this.#status;
  }

  /** The replica itself is no more. */
  get isGone(): boolean {
    return this.#isGone;
  }

  get pods(): readonly PodView[] {
    return [...this.#pods.values()];
  }

  /** Whether requests are sent to this pod, and will be for as long as nobody asks for its end. */
  isRouted(pod: PodView): boolean {
    return this.#routed.has(pod.uid) && pod.deletionAt === undefined;
  }

  /** What the planner sees. `read` are the Instances that it asked to be read live. */
  snapshot(read: ReadonlySet<Index>): Snapshot {
    const pods = new Map<Index, readonly PodView[]>();
    for (const pod of this.#pods.values()) pods.set(pod.index, [...(pods.get(pod.index) ?? []), pod]);
    return {
      ...this.#start,
      now: this.#now,
      replica: {
        ...this.#start.replica,
        finalizer: this.#finalizer,
        annotations: Object.fromEntries(this.#annotations),
      },
      status: this.#status,
      revisions: new Map(this.#revisions),
      pods,
      rotation: new Map(this.pods.map((pod) => [pod.uid, this.#routed.has(pod.uid) ? 'in' : 'out'])),
      discoverable: new Set(this.pods.map((pod) => pod.uid)),
      headlessService: this.#headlessService,
      inbox: new Map(),
      blind: new Set(),
      proofs: { absentPods: new Set(), readIndices: new Set([...read, ...this.#status.rows.keys()]) },
    };
  }

  /** Does what a plan says: makes what its status names, takes the status, carries its effects out. */
  apply(plan: Plan): void {
    for (const effect of plan.prepare) this.#carryOut(effect);
    if (plan.status !== undefined) this.#status = plan.status;
    for (const { effects } of plan.chains) for (const effect of effects) if (!this.#carryOut(effect)) break;
  }

  /** When something next happens by itself; undefined when nothing does. */
  get nextAt(): number | undefined {
    const { pods } = this;
    if (pods.some((pod) => this.#isRoutedWrongly(pod))) return this.#now + 1;
    for (let at = this.#now + 1; at <= this.#now + startSec; at += 1) {
      if (pods.some((pod) => nextStage(pod, at, this.#start.now) !== pod)) return at;
    }
    return undefined;
  }

  /** Seconds go by; each pod, and then each Service, does its next thing. */
  tick(seconds: number): void {
    this.#now += seconds;
    for (const pod of this.pods) {
      const next = nextStage(pod, this.#now, this.#start.now);
      if (next === undefined) {
        this.#pods.delete(pod.name);
        this.#routed.delete(pod.uid);
      } else if (next !== pod) {
        this.#pods.set(pod.name, next);
      }
    }
    for (const pod of this.pods) {
      if (!this.#isRoutedWrongly(pod)) continue;
      if (this.#routed.has(pod.uid)) this.#routed.delete(pod.uid);
      else this.#routed.add(pod.uid);
    }
  }

  /** Services of an InferenceService send requests to leaders only; a worker serves through its leader. */
  #isRoutedWrongly(pod: PodView): boolean {
    const isEntry = pod.runner !== 'worker' || this.#start.replica.parent === undefined;
    return this.#routed.has(pod.uid) !== (isEntry && pod.ready && pod.deletionAt === undefined);
  }

  /** Whether it could be done. */
  #carryOut(effect: Effect): boolean {
    switch (effect.do) {
      case 'finalizer':
        this.#finalizer = effect.change === 'add' ? 'present' : 'absent';
        this.#isGone = effect.change === 'remove';
        return true;
      case 'createRevision':
        this.#storeRevision(effect.rev);
        return true;
      case 'deleteRevision':
        this.#revisions.delete(effect.rev);
        return true;
      case 'ensureHeadless':
        this.#headlessService = 'present';
        return true;
      case 'deleteHeadless':
        this.#headlessService = 'absent';
        return true;
      case 'createPod': {
        const revision = this.#revisions.get(effect.rev);
        if (this.#pods.has(effect.name)) return true;
        if (effect.covers.by === 'operation' && this.#refused.has(effect.covers.id)) return false;
        if (revision === undefined || revision === 'gone') return false;
        this.#uids += 1;
        const pod = bornPod(effect, this.#start.spec, revision, `rehearsed-${this.#uids}`, this.#now);
        this.#pods.set(pod.name, pod);
        return true;
      }
      case 'gate':
        return this.#change(effect.pod, (pod) => ({
          ...pod,
          gate: changedGate(pod.gate, effect.hold, effect.change),
        }));
      case 'patchInPlace':
        return this.#change(effect.pod, (pod) => patchedPod(pod, effect));
      case 'dropMarker':
        return this.#change(effect.pod, unmarkedPod);
      case 'ackMail':
        if (this.#annotations.get(effect.annotation) === effect.value) this.#annotations.delete(effect.annotation);
        return true;
      case 'deletePod': {
        const { pod, guard, graceSeconds = 30 } = effect;
        if (guard === 'unroutedLive' && this.#routed.has(pod.uid)) return false;
        return this.#change(pod, (found) =>
          found.deletionAt === undefined ? { ...found, deletionAt: this.#now + graceSeconds } : found,
        );
      }
    }
  }

  #change(ref: { readonly name: string; readonly uid: Uid }, change: (pod: PodView) => PodView): boolean {
    const pod = this.#pods.get(ref.name);
    if (pod?.uid === ref.uid) this.#pods.set(pod.name, change(pod));
    return true;
  }

  /** The only revision that is ever made is that of the spec. */
  #storeRevision(rev: Rev): void {
    const numbers = [...this.#revisions.values()].map((stored) => (stored === 'gone' ? 0 : stored.number));
    this.#revisions.set(rev, {
      name: rev,
      uid: `rehearsed-${rev}`,
      hash: rev.slice(-8),
      number: Math.max(0, ...numbers) + 1,
      payload: this.#start.spec.payload,
    });
  }
}
