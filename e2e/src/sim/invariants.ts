/**
 * What must hold at every write that is applied, whoever made it and however late it arrives. Judged by the true world,
 * not by anybody's cache.
 */
import { decodeStatus, type InstanceRow, label } from '@omenative/api';
import type { AppliedWrite, Cluster, KubeObject } from '@omenative/sim';

/** A rule was broken. The text names the rule, the object and the write. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

const pods = 'pods';
const replicas = 'inferencereplicas.ome.io';

export class Invariants {
  readonly #cluster: Cluster;
  readonly violations: Violation[] = [];
  /** The most pods that one replica may have at any time, by replica name; set by the scenario. */
  readonly podCap: Map<string, number> = new Map();
  /**
   * Whether the scenario makes serving pods fail by itself: then a replacement may stop serving behind the controller's
   * back, and a source that was given up in good faith is not counted against it.
   */
  isPodChaos = false;
  /** `possible`: a write may be applied long after its sender gave up, so that what it makes need not be on record. */
  lateWrites: 'none' | 'possible' = 'none';

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  check(write: AppliedWrite, isManager: boolean): void {
    try {
      if (write.resource !== pods) return;
      this.#checkCap(write);
      this.#checkTwins(write);
      if (isManager) this.#checkManagerWrite(write);
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      this.violations.push(error);
    }
  }

  /** 1: never more pods than replicas, surge and hand-overs allow. */
  #checkCap(write: AppliedWrite): void {
    if (write.type !== 'ADDED') return;
    for (const [name, cap] of this.podCap) {
      const live = this.#podsOf(name).filter(isLive);
      if (live.length > cap + (this.lateWrites === 'possible' ? 1 : 0)) {
        throw this.#violation(write, `replica ${name} has ${live.length} live pods, and ${cap} are allowed`);
      }
    }
  }

  /** 3: no two live pods with the same Instance, runner and ordinal. */
  #checkTwins(write: AppliedWrite): void {
    if (write.type !== 'ADDED') return;
    const { labels = {}, namespace } = write.object.metadata;
    const twin = this.#cluster
      .objects(pods, namespace)
      .filter((pod) => isLive(pod) && pod.metadata.uid !== write.object.metadata.uid)
      .find((pod) =>
        [label.inferenceService, label.component, label.instanceIndex, label.runner, label.podOrdinal].every(
          (key) => pod.metadata.labels?.[key] === labels[key],
        ),
      );
    if (twin !== undefined) throw this.#violation(write, `it doubles ${twin.metadata.name}`);
  }

  #checkManagerWrite(write: AppliedWrite): void {
    const { object } = write;
    if (write.type === 'ADDED') {
      // 4: what is made is on record before it is made.
      const row = this.#rowOf(object);
      if (row === undefined && this.lateWrites === 'none') throw this.#violation(write, 'no row speaks of it');
      return;
    }
    const before = write.previous;
    if (before === undefined || !isServing(before)) return;
    const goesAway = write.type === 'DELETED' || (isLive(before) && !isLive(object));
    const leavesRotation = isGateOpen(before) && !isGateOpen(object);
    if (goesAway && isGateOpen(before)) {
      throw this.#violation(write, 'a pod in rotation is deleted before it has left rotation');
    }
    if (goesAway || leavesRotation) this.#checkTakedown(write, before);
  }

  /** 2: a serving pod is taken away only when its Instance goes, or when its replacement serves. */
  #checkTakedown(write: AppliedWrite, before: KubeObject): void {
    const row = this.#rowOf(before);
    if (row?.kind === 'deleting') return;
    const isDraining = row?.kind === 'updating' && row.op.step !== 'InPlace' && row.op.step.startsWith('SurgeDrain');
    const index = before.metadata.labels?.[label.instanceIndex];
    const others = this.#podsOf(ownerOf(before)).filter(
      (pod) => pod.metadata.labels?.[label.instanceIndex] === index && pod.metadata.uid !== before.metadata.uid,
    );
    const isReplaced = this.isPodChaos || others.some(isServing);
    if (isDraining && isReplaced) return;
    throw this.#violation(
      write,
      `a serving pod is taken away while its row is ${row === undefined ? 'gone' : row.kind} and ${
        others.some(isServing) ? 'another' : 'no other'
      } pod of the Instance serves`,
    );
  }

  #rowOf(pod: KubeObject): InstanceRow | undefined {
    const replica = this.#cluster.object(replicas, `${pod.metadata.namespace}/${ownerOf(pod)}`);
    if (replica === undefined) return undefined;
    const decoded = decodeStatus(replica['status'] ?? {});
    if (!decoded.ok) return undefined;
    return decoded.status.rows.get(Number(pod.metadata.labels?.[label.instanceIndex]));
  }

  #podsOf(replica: string): readonly KubeObject[] {
    return this.#cluster.objects(pods).filter((pod) => ownerOf(pod) === replica);
  }

  #violation(write: AppliedWrite, what: string): Violation {
    const { namespace = '', name } = write.object.metadata;
    return new Violation(`${write.type} pod ${namespace}/${name} by ${write.by} at rv ${write.rv}: ${what}`);
  }
}

function ownerOf(pod: KubeObject): string {
  return pod.metadata.ownerReferences?.find((owner) => owner.controller === true)?.name ?? '';
}

interface PodStatus {
  readonly phase?: string;
  readonly conditions?: readonly { readonly type: string; readonly status: string }[];
}

function statusOf(pod: KubeObject): PodStatus {
  return pod['status'] ?? {};
}

function condition(pod: KubeObject, type: string): string {
  return statusOf(pod).conditions?.find((item) => item.type === type)?.status ?? '';
}

export function isLive(pod: KubeObject): boolean {
  const { phase } = statusOf(pod);
  return pod.metadata.deletionTimestamp === undefined && phase !== 'Failed' && phase !== 'Succeeded';
}

export function isGateOpen(pod: KubeObject): boolean {
  return condition(pod, 'ome.io/serving') === 'True';
}

export function isReady(pod: KubeObject): boolean {
  return condition(pod, 'Ready') === 'True';
}

export function isServing(pod: KubeObject): boolean {
  return isLive(pod) && isReady(pod);
}
