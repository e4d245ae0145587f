/** What a manager is told when it is built: the flags of the process, in the units of the code. */

export interface LeaderElectionTiming {
  /** Milliseconds for which others wait before they take the lease of a silent holder. */
  readonly leaseDurationMs: number;
  /** Milliseconds after the last renewal at which a holder gives up. */
  readonly renewDeadlineMs: number;
  /** Milliseconds between two tries. */
  readonly retryPeriodMs: number;
}

export interface ManagerOptions {
  /** Where the Lease and the ConfigMap `inferenceservice-config` are. */
  readonly namespace: string;
  /** `off`: this process is the only one, and works at once. */
  readonly leaderElection: LeaderElectionTiming | 'off';
  /** `disabled`: InferenceReplicas are projected and not acted on. */
  readonly inferenceReplicaController: 'enabled' | 'disabled';
  /** Objects worked on at once. */
  readonly concurrency: { readonly inferenceServices: number; readonly inferenceReplicas: number };
  /** Pod writes in flight. Default 32. */
  readonly maxInFlight?: number;
  /** Resources that make a pod subject to Kueue's quota; absent: every pod is. */
  readonly quotaResources?: readonly string[];
  /** `apply`: bring the CustomResourceDefinitions, the namespace and, when there is none, the ConfigMap first. */
  readonly installation: 'leave' | 'apply';
  /** Milliseconds after which every object is looked at, whatever happened. Absent: never. */
  readonly safetyPollMs?: number;
  /** Milliseconds that `stop` waits for the passes under way. */
  readonly stopGraceMs: number;
}

/** The defaults of the flags. */
export const defaultOptions: ManagerOptions = {
  namespace: 'ome',
  leaderElection: 'off',
  inferenceReplicaController: 'enabled',
  concurrency: { inferenceServices: 1, inferenceReplicas: 1 },
  installation: 'leave',
  safetyPollMs: 600_000,
  stopGraceMs: 8000,
};

/** Name of the Lease. */
export const leaseName = 'ome-controller-manager-leader-lock';

/** Who reports Events and owns fields. */
export const managerName = 'ome-controller-manager';
