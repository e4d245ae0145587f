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
  /** UIDs of pods that a manager was told it had made, by manager and path. */
  readonly #made: Map<string, string> = new Map();
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

  /** What a manager asks for, before it is applied. */
  checkRequest(request: Request): void {
    const { method, path } = request;
    const body = (request.body ?? {}) as RequestBody;
    if (method === 'DELETE' && path.includes('/pods/') && body.preconditions?.uid === undefined) {
      this.violations.push(new Violation(`DELETE ${path} names no UID: it would hit whoever has that name by then`));
    }
    const isStatus = method === 'PUT' && path.includes('/inferencereplicas/') && path.endsWith('/status');
    if (isStatus && body.metadata?.resourceVersion === undefined) {
      this.violations.push(new Violation(`PUT ${path} names no resourceVersion: it would undo what others wrote`));
    }
  }

  /** What the manager `by` was told. */
  checkAnswer(by: string, request: Request, response: { readonly status: number; readonly body: unknown }): void {
    const { method, path } = request;
    const sent = ((request.body ?? {}) as RequestBody).metadata;
    const got = ((response.body ?? {}) as RequestBody).metadata;
    if (method === 'PUT' && path.endsWith('/status') && response.status === 200) {
      const isNothingNew = sent?.resourceVersion !== undefined && sent.resourceVersion === got?.resourceVersion;
      if (isNothingNew) this.violations.push(new Violation(`PUT ${path} says nothing new`));
    }
    if (method !== 'POST' || !path.endsWith('/pods')) return;
    const name = `${by} ${path}/${sent?.name}`;
    if (response.status === 201 && got?.uid !== undefined) this.#made.set(name, got.uid);
    const made = this.#made.get(name);
    const there = this.#cluster.object(pods, `${sent?.namespace}/${sent?.name}`);
    if (response.status === 409 && made !== undefined && there?.metadata.uid === made) {
      this.violations.push(
        new Violation(`POST ${path} asks again for pod ${sent?.name}, which was made and answered for`),
      );
    }
  }

  check(write: AppliedWrite, isManager: boolean): void {
    try {
      if (write.resource === replicas && write.type === 'DELETED') this.#checkNothingLeft(write);
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

  /** 7: a replica goes only after the last of its pods. */
  #checkNothingLeft(write: AppliedWrite): void {
    const left = this.#podsOf(write.object.metadata.name);
    if (left.length > 0) throw this.#violation(write, `it goes while ${left.length} of its pods are there`);
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
    if (before === undefined) return;
    if (!isGateOpen(before) && isGateOpen(object)) this.#checkTogether(write);
    if (isLive(before) && (write.type === 'DELETED' || !isLive(object))) this.#checkUnrouted(write);
    if (!isServing(before)) return;
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

  /** A gang enters rotation together: nobody before all containers of all members are ready. */
  #checkTogether(write: AppliedWrite): void {
    const { labels = {} } = write.object.metadata;
    const members = this.#podsOf(ownerOf(write.object)).filter(
      (pod) =>
        labels[label.runner] !== 'default' &&
        isLive(pod) &&
        pod.metadata.labels?.[label.instanceIndex] === labels[label.instanceIndex],
    );
    const late = members.find((pod) => condition(pod, 'ContainersReady') !== 'True');
    if (late !== undefined && !this.isPodChaos) {
      throw this.#violation(write, `it enters rotation before ${late.metadata.name} is ready`);
    }
  }

  /** A pod is deleted only once no routing Service sends requests to it any more. */
  #checkUnrouted(write: AppliedWrite): void {
    const { uid } = write.object.metadata;
    const routing = this.#cluster.objects('endpointslices.discovery.k8s.io').filter((slice) => {
      const service = slice.metadata.labels?.['kubernetes.io/service-name'] ?? '';
      return !service.endsWith('-headless');
    });
    const listed = routing.find((slice) =>
      ((slice['endpoints'] ?? []) as readonly Endpoint[]).some(
        (endpoint) => endpoint.targetRef?.uid === uid && endpoint.conditions?.ready !== false,
      ),
    );
    if (listed !== undefined)
      throw this.#violation(write, `it is deleted while ${listed.metadata.name} still lists it`);
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
    return new Violation(
      `${write.type} ${write.resource} ${namespace}/${name} by ${write.by} at rv ${write.rv}: ${what}`,
    );
  }
}

interface Request {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
}

interface RequestBody {
  readonly metadata?: {
    readonly name?: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
  };
  readonly preconditions?: { readonly uid?: string };
}

interface Endpoint {
  readonly targetRef?: { readonly uid?: string };
  readonly conditions?: { readonly ready?: boolean };
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
