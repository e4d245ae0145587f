/**
 * The status of an InferenceReplica as the engine sees it: rows as a closed union of legal states. What other writers may
 * leave behind and this union can't say is `foreign`: counted, kept, written back to the letter, never acted on.
 *
 * Laws (tested in `codec.test.ts`): encode(decode(w)) equals w for every schema-valid w, up to RFC 3339 form and null for
 * absent; decode(encode(r)) equals r.
 */
import type { Runner } from '../names.js';

/** Whole seconds since the epoch: the wire has no finer time. */
export type Sec = number;
export type Index = number;
/** Name of a ControllerRevision. */
export type Rev = string;
export type Json = unknown;
/** Wire members this version does not know, carried verbatim. */
export type Carry = Readonly<Record<string, Json>>;

export const phases = [
  'Pending',
  'Creating',
  'Ready',
  'Updating',
  'Restarting',
  'Migrating',
  'Failed',
  'Deleting',
] as const;
export type Phase = (typeof phases)[number];
export type Strategy = 'SurgeThenDrain' | 'RecreatePod' | 'InPlaceIfPossible' | 'InPlaceOnly';

/** Why a pod or an attempt failed; kept on the row after it recovered. */
export interface Termination {
  readonly podName: string;
  /** '' for a pod-level signal. */
  readonly containerName: string;
  readonly reason: string;
  /** Absent when no process ran. */
  readonly exitCode?: number;
  readonly message: string;
  readonly time: Sec;
  readonly carry?: Carry;
}

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: Sec;
  readonly observedGeneration?: number;
  readonly carry?: Carry;
}

export interface OperationBase {
  /** Idempotency key, unique within the row. */
  readonly id: string;
  readonly startedAt?: Sec;
  readonly lastProgressAt?: Sec;
  /** Absent: the clock is parked, or there is no limit; which of the two follows from `waiting` and configuration. */
  readonly deadline?: Sec;
  readonly retryCount: number;
  readonly target: Rev | '';
  /** Why the operation exists; written once. */
  readonly reason: string;
  /** Token of an outside hold. An open set: a token this version does not know survives and parks nothing. */
  readonly waiting: string;
  readonly capacityRefusedAt?: Sec;
  readonly strategy?: Strategy;
  readonly carry: Carry;
}

export type Operation<T, S> = OperationBase & { readonly type: T; readonly step: S };
export type CreateOp = Operation<'Create', 'CreatePods'>;
export type RestartOp = Operation<'Restart', 'Drain'>;
export type DeleteOp = Operation<'Delete', 'Drain'>;
export type InPlaceOp = Operation<'Update', 'InPlace'>;
export type RecreateOp = Operation<'Update', 'Drain'>;
export type ParkedOp = Operation<'Update', 'Parked'>;
/** `SurgeDrainSettle` is read (older writers), never written. */
export type SurgeOp = Operation<'Update', 'Surge' | 'SurgeDrain' | 'SurgeDrainSettle'> & {
  readonly surgeIndex?: never;
};
/** The source half of a gang surge. Index 0 is valid: test presence. */
export type GangFromOp = Operation<'Update', 'Surge' | 'SurgeDrain'> & { readonly surgeIndex: Index };
export type GangToOp = Operation<'Update', 'GangSurgeTarget' | 'GangSurgeTargetCleanup'>;
export type MigrateFromOp = Operation<'Migrate', 'CreateSurge'> & {
  readonly surgeIndex: Index;
  readonly requestUUID: string;
};
export type MigrateToOp = Operation<'Migrate', 'CreateSurge' | 'SurgeTarget'> & { readonly requestUUID: string };

/** What was last published about a row's pods. */
export interface PublishedCounts {
  readonly pods: number;
  readonly serving: number;
  readonly available: number;
  /** The Instance has pods and none carries a scheduling gate. */
  readonly admitted: boolean;
}

export interface RowBase {
  readonly index: Index;
  /** How many times the pods were recreated as a set; starts at 1. */
  readonly incarnation: number;
  /** The pod-name slot of a single-pod Instance; a surge alternates it. */
  readonly activeOrdinal: 0 | 1;
  readonly running: Rev | '';
  readonly target: Rev | '';
  readonly readySince?: Sec;
  readonly lastFailure?: Termination;
  /** `{reason}@{episode}`: messages and bookings made once. */
  readonly announced: readonly string[];
  readonly conditions: readonly Condition[];
  readonly published: PublishedCounts;
  readonly carry: Carry;
}

/** The operation a Failed row may keep. */
export type KeptOp = CreateOp | InPlaceOp | RecreateOp | SurgeOp | RestartOp;

export type RowState =
  | { readonly kind: 'ready' }
  | { readonly kind: 'pending' }
  | { readonly kind: 'failed'; readonly kept?: KeptOp }
  | { readonly kind: 'creating'; readonly op: CreateOp }
  | { readonly kind: 'updating'; readonly op: InPlaceOp | RecreateOp | SurgeOp }
  | { readonly kind: 'parked'; readonly phase: 'Updating' | 'Failed'; readonly op: ParkedOp }
  | { readonly kind: 'gangFrom'; readonly phase: 'Updating' | 'Failed'; readonly op: GangFromOp }
  | { readonly kind: 'gangTo'; readonly phase: 'Creating' | 'Failed'; readonly op: GangToOp }
  | { readonly kind: 'restarting'; readonly op: RestartOp }
  | { readonly kind: 'migrateFrom'; readonly op: MigrateFromOp }
  | { readonly kind: 'migrateTo'; readonly op: MigrateToOp }
  | { readonly kind: 'deleting'; readonly op: DeleteOp }
  // What only foreign writers produce: Ready or Pending with an operation, Creating or Migrating without one, an unknown
  // type or step, Failed with Migrate or Delete, a gang claim in an impossible phase.
  | {
      readonly kind: 'foreign';
      readonly phase: Phase;
      readonly op?: Json;
      readonly readAs: 'create' | 'migrate' | 'nothing';
    };

export type InstanceRow = RowBase & RowState;

export interface RetryBlock {
  readonly target: Rev;
  readonly state: 'Backoff' | 'Held' | 'RetryInProgress';
  readonly attempts: number;
  readonly nextRetryAt?: Sec;
  readonly firstFailureAt?: Sec;
  readonly lastFailureAt?: Sec;
  readonly reason: string;
  readonly carry: Carry;
}

export interface MigrationRecord {
  readonly uuid: string;
  readonly trigger: 'Manual' | 'Auto';
  readonly source: Index;
  readonly surge?: Index;
  readonly fromNode: string;
  readonly phase: string;
  readonly allocatedAt?: Sec;
  readonly startedAt?: Sec;
  readonly deadline?: Sec;
  readonly carry: Carry;
}

/** How rows are stored: one after the other, or grouped by value. */
export type StatusEncoding = 'DenseV1' | 'ColumnarV2';

/** Counts of Instances, not pods. */
export interface Counters {
  readonly replicas: number;
  readonly ready: number;
  readonly serving: number;
  readonly available: number;
  readonly updated: number;
  readonly updatedReady: number;
}

export const rolloutGates = ['Pairing', 'Ratio', 'Sequential', 'Budget', 'RetryBlock', 'Held', 'Plan'] as const;
export type RolloutGate = (typeof rolloutGates)[number];

export interface RolloutHold {
  readonly gate: RolloutGate;
  readonly reason: string;
  readonly target?: Rev;
  /** Restarts only when gate or target changes. */
  readonly since: Sec;
  readonly carry?: Carry;
}

export interface DecodedStatus {
  readonly observedGeneration: number;
  readonly counters: Counters;
  readonly labelSelector: string;
  readonly rolloutHold?: RolloutHold;
  /** Rows by index. */
  readonly rows: ReadonlyMap<Index, InstanceRow>;
  /** The order rows had on the wire; an index of `rows` that is missing here sorts ascending at the end. */
  readonly order: readonly Index[];
  readonly blocks: readonly RetryBlock[];
  readonly migrations: readonly MigrationRecord[];
  readonly conditions: readonly Condition[];
  readonly current: Rev | '';
  readonly update: Rev | '';
  readonly collisionCount: number;
  /** How the rows were stored when they were read. */
  readonly stored: StatusEncoding;
  readonly carry: Carry;
}

/** The status of a replica that nobody has written yet. */
export const emptyStatus: DecodedStatus = {
  observedGeneration: 0,
  counters: { replicas: 0, ready: 0, serving: 0, available: 0, updated: 0, updatedReady: 0 },
  labelSelector: '',
  rows: new Map(),
  order: [],
  blocks: [],
  migrations: [],
  conditions: [],
  current: '',
  update: '',
  collisionCount: 0,
  stored: 'DenseV1',
  carry: {},
};

/** The phase a row has on the wire. */
export function phaseOf(row: InstanceRow): Phase {
  switch (row.kind) {
    case 'ready':
      return 'Ready';
    case 'pending':
      return 'Pending';
    case 'failed':
      return 'Failed';
    case 'creating':
    case 'migrateTo':
      return 'Creating';
    case 'updating':
      return 'Updating';
    case 'restarting':
      return 'Restarting';
    case 'migrateFrom':
      return 'Migrating';
    case 'deleting':
      return 'Deleting';
    case 'parked':
    case 'gangFrom':
    case 'gangTo':
    case 'foreign':
      return row.phase;
  }
}

/** A fresh row's common part; `runner` pods come later. */
export function newRowBase(index: Index): RowBase {
  return {
    index,
    incarnation: 1,
    activeOrdinal: 0,
    running: '',
    target: '',
    announced: [],
    conditions: [],
    published: { pods: 0, serving: 0, available: 0, admitted: false },
    carry: {},
  };
}

export type { Runner };
