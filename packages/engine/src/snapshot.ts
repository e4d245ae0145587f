/**
 * The input of a plan: one immutable picture of a replica and its world, taken before anything is decided. What is not in
 * here can't influence a decision. The controller's `observe` builds it; tests build it with `testing/world.ts`.
 */
import type { Component, DecodedStatus, EncodeOptions, Index, Rev, Runner, Sec, Strategy } from '@omenative/api';
import type { EffectKey, Outcome } from './effects.js';

export type Uid = string;

/** A count, or a percentage of the wanted Instances such as `25%`. Percentages round up. */
export type IntOrPercent = number | string;

export interface ReplicaHead {
  readonly namespace: string;
  readonly name: string;
  readonly uid: Uid;
  readonly resourceVersion: string;
  readonly generation: number;
  readonly annotations: Readonly<Record<string, string>>;
  /** `metadata.deletionTimestamp`; absent while the object lives. */
  readonly deletingSince?: Sec;
  readonly finalizer: 'present' | 'absent';
  /** The InferenceService that projected this replica; absent for a standalone one. */
  readonly parent?: { readonly name: string; readonly uid: Uid };
}

export interface RunnerSpec {
  readonly name: Runner;
  /** Pods of this runner in one Instance, at least 1. */
  readonly size: number;
}

/** What a revision stores and what its hash is made of. Templates are kept as written: no defaulting of ours. */
export interface RevisionPayload {
  readonly runners: readonly { readonly name: Runner; readonly size: number; readonly template: unknown }[];
  readonly topologyKey?: string;
  readonly pairingProtocol?: string;
}

export interface StoredRevision {
  readonly name: Rev;
  readonly uid: Uid;
  /** 8 hexadecimal digits. */
  readonly hash: string;
  /** `revision` of the ControllerRevision: grows with each new template. */
  readonly number: number;
  readonly payload: RevisionPayload;
}

export interface UpdatePolicy {
  readonly type: Strategy;
  readonly partition: number;
  /** Absent: no cap. */
  readonly maxSurge?: IntOrPercent;
  readonly maxUnavailable?: IntOrPercent;
  readonly inPlace: 'markNotReady' | 'keepReady';
}

/** The spec, with defaults filled in and lifecycle inheritance resolved. */
export interface PlanSpec {
  readonly component: Component;
  /** Prefix of all names: the InferenceService, or the standalone replica itself. */
  readonly owner: string;
  /** Wanted Instances, at least 1 (an unset or zero count runs one). */
  readonly replicas: number;
  readonly minReadySeconds: number;
  /** `[default]`, or `[leader, worker]`. */
  readonly runners: readonly RunnerSpec[];
  readonly restartPolicy: 'None' | 'RecreateInstanceOnPodRestart';
  readonly update: UpdatePolicy;
  /** Seconds one attempt may take; absent: no limit. */
  readonly instanceReadyTimeoutSec?: number;
  readonly pause: 'running' | 'recover' | 'freeze';
  /** `pacing.rollbackToRevision` when it names a revision of this replica. */
  readonly rollbackTo?: Rev;
  readonly revisionHistoryLimit?: number;
  readonly payload: RevisionPayload;
}

/** The operator's settings. An absent member turns its behaviour off; there are no hidden numbers. */
export interface LifecycleConfig {
  readonly stuckPodGraceSec?: number;
  readonly unschedulableGraceSec?: number;
  readonly abandonedReplacementGraceSec?: number;
  /** Missing pods one pass may create. */
  readonly scaleUpPodBatch?: number;
  /** Pods one wave of deletions may take: a count, or a percentage of all pods. */
  readonly scaleDownPodBatch?: IntOrPercent;
  readonly scaleDownRequeueSec?: number;
  readonly repairBatch?: number;
  readonly revisionHistoryLimit?: number;
  readonly retryBlockHistoryLimit?: number;
  readonly updateRetry?: {
    readonly maxAttempts: number;
    readonly initialDelaySec: number;
    readonly maxDelaySec: number;
    readonly multiplier: number;
  };
  readonly forceDelete?: { readonly overdueSlackSec: number; readonly nodeUnreachableThresholdSec: number };
  readonly teardownDeadlineSec?: number;
  /** What the operator wrote when it could not be read; the teardown message says so. */
  readonly teardownDeadlineInvalid?: string;
  readonly gangScheduleTimeout?: { readonly minSec: number; readonly maxSec: number };
  readonly requeue?: { readonly operationSec: number; readonly gateSec: number };
  readonly autoMigrateMaxAttempts?: number;
}

export interface TerminatedState {
  readonly reason: string;
  readonly exitCode: number;
  readonly message: string;
  readonly finishedAt?: Sec;
}

export interface ContainerView {
  readonly name: string;
  readonly kind: 'init' | 'regular';
  readonly ready: boolean;
  readonly restartCount: number;
  /** `spec.containers[].image`. */
  readonly image: string;
  /** What the kubelet reports it runs, by digest and by name; '' while nothing runs. */
  readonly imageID: string;
  readonly runningImage: string;
  readonly waiting?: { readonly reason: string; readonly message: string };
  readonly terminated?: TerminatedState;
  readonly lastTerminated?: TerminatedState;
}

/** One reason a pod is held out of rotation; each writer owns one hold a key. */
export interface GateHold {
  readonly writer: string;
  readonly key: string;
}

/** The `ome.io/serving` condition. `absent` is an implicit lifecycle hold; `malformed` is never treated as empty. */
export type GateView =
  | { readonly state: 'absent' }
  | { readonly state: 'malformed'; readonly message: string }
  | { readonly state: 'true' }
  | { readonly state: 'false'; readonly holds: readonly GateHold[] };

/** The record on a pod of an in-place update: what it should run, and how often its containers had restarted before. */
export interface InPlaceMarker {
  readonly targetImages: Readonly<Record<string, string>>;
  readonly restartCounts: Readonly<Record<string, number>>;
}

export interface PodView {
  readonly name: string;
  readonly uid: Uid;
  readonly resourceVersion: string;
  readonly createdAt: Sec;
  readonly index: Index;
  /** Absent: the label is missing or not a number, so nobody knows which life of the Instance the pod belongs to. */
  readonly incarnation?: number;
  readonly runner?: Runner;
  /** '' when the label is missing. */
  readonly revisionHash: string;
  /** '' while unscheduled. */
  readonly node: string;
  readonly phase: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
  readonly statusReason: string;
  readonly statusMessage: string;
  /** `metadata.deletionTimestamp`: when its grace ends, not when the deletion was asked for. */
  readonly deletionAt?: Sec;
  readonly finalizers: readonly string[];
  /** It carries a scheduling gate. */
  readonly gated: boolean;
  readonly unschedulable?: { readonly since?: Sec; readonly message: string };
  readonly containersReady: boolean;
  /** `Ready` is True. */
  readonly ready: boolean;
  /** When `Ready` last changed. */
  readonly readyChangedAt?: Sec;
  readonly gate: GateView;
  /** Absent: no in-place update was recorded, or what was recorded can't be read. */
  readonly inPlace?: InPlaceMarker;
  /** The kubelet has not yet seen the spec as it is now, so what it reports may be of an earlier one. */
  readonly isUnobserved?: true;
  readonly containers: readonly ContainerView[];
}

/** Answers to `Plan.reads`, valid for this pass only. */
export interface Proofs {
  /** Pod names that a live read, or a DELETED event for a dying pod, showed to be absent. */
  readonly absentPods: ReadonlySet<string>;
  /** Indices whose pods were read live in this pass: what `pods` holds for them is all there is. */
  readonly readIndices: ReadonlySet<Index>;
}

/** What the API server said to a dry run of the pods of a revision. */
export type TemplateCheck =
  | { readonly of: Rev; readonly is: 'accepted' }
  /** It has not been asked yet, or could not say; `text` for people, when there is something to tell. */
  | { readonly of: Rev; readonly is: 'unknown'; readonly retryAt: Sec; readonly text?: string }
  | { readonly of: Rev; readonly is: 'refused'; readonly message: string };

/** Everything a plan may look at. */
export interface Snapshot {
  /** Whole seconds, floored. */
  readonly now: Sec;
  readonly replica: ReplicaHead;
  readonly spec: PlanSpec;
  readonly config: LifecycleConfig;
  readonly status: DecodedStatus;
  /** How the status is written; absent: as the chart has it. */
  readonly statusEncoding?: EncodeOptions;
  /** The revision of the spec as written: `status.updateRevision` to be. */
  readonly specRevision: Rev;
  /** What Instances should run: `specRevision`, or the revision that the user rolls back to. */
  readonly target: Rev;
  /** The target and every revision that a row, an operation or a block names. */
  readonly revisions: ReadonlyMap<Rev, StoredRevision | 'gone'>;
  readonly pods: ReadonlyMap<Index, readonly PodView[]>;
  /** Pods we own whose index label is missing or unusable. */
  readonly strays: readonly PodView[];
  /** Over every routing Service that selects the pod, never the headless one. Absent: unknown, so the pod is kept. */
  readonly rotation: ReadonlyMap<Uid, 'in' | 'out'>;
  /** Pods that the headless Service's slices list. */
  readonly discoverable: ReadonlySet<Uid>;
  /** Nodes that take no new pods (`spec.unschedulable`), as far as our pods are on them. Only a preference hangs on it. */
  readonly cordoned: ReadonlySet<string>;
  readonly headlessService: 'present' | 'absent' | 'terminating' | 'foreign';
  readonly inbox: ReadonlyMap<EffectKey, Outcome>;
  /** Of the target; absent while nothing hangs on it. */
  readonly templateCheck?: TemplateCheck;
  /** Instances with a write of ours that the cache has not shown yet. */
  readonly blind: ReadonlySet<Index>;
  readonly proofs: Proofs;
}
