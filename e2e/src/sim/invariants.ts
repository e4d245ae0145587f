/**
 * What must hold at every write that is applied, whoever made it and however late it arrives. Judged by the true world,
 * not by anybody's cache.
 */
import { annotation, decodeStatus, type InstanceRow, label } from '@omenative/api';
import type { AppliedWrite, Cluster, KubeObject } from '@omenative/sim';
import { Decisions } from './decisions.js';
import {
  condition,
  indexOf,
  isGangMember,
  isGateOpen,
  isInRotation,
  isLive,
  notRunning,
  ownerOf,
  servingIndices,
} from './pods.js';

/** A rule was broken. The text names the rule, the object and the write. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

const pods = 'pods';
const replicas = 'inferencereplicas.ome.io';

export class Invariants {
  readonly #cluster: Cluster;
  readonly #decisions: Decisions;
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
    this.#decisions = new Decisions(cluster);
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
      if (write.resource === replicas) this.#checkReplica(write, isManager);
      if (write.resource !== pods) return;
      this.#checkCap(write);
      this.#checkTwins(write);
      this.#checkBeside(write);
      if (isManager) this.#checkManagerWrite(write);
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      this.violations.push(error);
    }
  }

  #checkReplica(write: AppliedWrite, isManager: boolean): void {
    if (write.type === 'DELETED') this.#checkNothingLeft(write);
    this.#decisions.check(write, isManager, (what) => this.violations.push(this.#violation(write, what)));
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

  /**
   * 3: a gang is of one revision and one life. A single pod has another one beside it only while it is replaced, or when an
   * earlier replacement was left there.
   */
  #checkBeside(write: AppliedWrite): void {
    if (write.type !== 'ADDED' || this.lateWrites === 'possible') return;
    const { object } = write;
    const others = this.#podsOf(ownerOf(object)).filter(
      (pod) => indexOf(pod) === indexOf(object) && pod.metadata.uid !== object.metadata.uid,
    );
    if (!isGangMember(object)) {
      const count = others.filter(isLive).length + 1;
      if (count > 2) throw this.#violation(write, `it is the third live pod of Instance ${indexOf(object)}`);
      return;
    }
    const stranger = others.find((pod) =>
      [label.revisionHash, label.incarnation].some(
        (key) => pod.metadata.labels?.[key] !== object.metadata.labels?.[key],
      ),
    );
    if (stranger !== undefined) {
      throw this.#violation(write, `${stranger.metadata.name} of another life or revision of its gang is there still`);
    }
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
    if (!isGateOpen(before) && isGateOpen(object)) {
      this.#checkTogether(write);
      this.#checkRuns(write);
    }
    this.#checkMarker(write, before);
    if (isLive(before) && (write.type === 'DELETED' || !isLive(object))) this.#checkUnrouted(write);
    if (!isInRotation(before)) return;
    const goesAway = write.type === 'DELETED' || !isLive(object);
    if (goesAway) throw this.#violation(write, 'a pod in rotation is deleted before it has left rotation');
    if (!isGateOpen(object)) this.#checkTakedown(write, before);
  }

  /**
   * 2: a pod leaves rotation only when its Instance goes, or in the step of an update that takes it out; and its Instance
   * then serves no more only when its replacement serves, or when the budget allows it.
   */
  #checkTakedown(write: AppliedWrite, before: KubeObject): void {
    const row = this.#rowOf(before);
    if (row?.kind === 'deleting' || this.isPodChaos) return;
    const index = indexOf(before);
    const now = this.#podsOf(ownerOf(before));
    const serving = servingIndices(now);
    const then = servingIndices(now.map((pod) => (pod.metadata.uid === before.metadata.uid ? before : pod)));
    const isLost = then.has(index) && !serving.has(index);
    const what = row === undefined ? 'no row' : `row ${index} ${describe(row)}`;
    if (!takesOut(row))
      throw this.#violation(write, `it leaves rotation with ${what}, where no operation asks for that`);
    if (!isLost) return;
    const isReplaced = row.kind === 'gangFrom' && serving.has(row.op.surgeIndex);
    if (isReplaced) return;
    const replica = this.#cluster.object(replicas, `${before.metadata.namespace}/${ownerOf(before)}`);
    const mayBeLost = row.kind === 'updating' && (row.op.step === 'Drain' || row.op.step === 'InPlace');
    const floor = replica === undefined || !mayBeLost ? undefined : this.#decisions.floorOf(replica, row);
    if (floor !== undefined && serving.size >= floor) return;
    throw this.#violation(
      write,
      `Instance ${index} is taken out of service with ${what}, and ${serving.size} others serve${
        floor === undefined ? '' : `, where ${floor} must`
      }`,
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

  /** A pod that was changed in place enters rotation only with containers that run what it asks for. */
  #checkRuns(write: AppliedWrite): void {
    const late = notRunning(write.object);
    if (late !== undefined) throw this.#violation(write, `it enters rotation while its container runs ${late}`);
  }

  /** The record of a change in place stays until the Instance is stored as Ready: a successor has to go on from it. */
  #checkMarker(write: AppliedWrite, before: KubeObject): void {
    const isDropped = [before, write.object].map((pod) => pod.metadata.annotations?.[annotation.inPlaceTransition]);
    if (isDropped[0] === undefined || isDropped[1] !== undefined) return;
    const row = this.#rowOf(before);
    if (row?.kind !== 'ready') throw this.#violation(write, `its in-place marker goes while its row is ${row?.kind}`);
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

function describe(row: InstanceRow): string {
  return 'op' in row && row.kind !== 'foreign' ? `${row.kind} at ${row.op.step}` : row.kind;
}

/** The steps of operations that take pods out of rotation. */
function takesOut(row: InstanceRow | undefined): row is InstanceRow {
  if (row?.kind === 'updating') return row.op.step !== 'Surge';
  if (row?.kind === 'gangFrom') return row.op.step === 'SurgeDrain';
  return row?.kind === 'gangTo' && row.op.step === 'GangSurgeTargetCleanup';
}
