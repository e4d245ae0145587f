/** The records of an InferenceReplica's status: one row an Instance, its operation, and what failed or is held. */
import { conditions } from './kubernetes.js';
import {
  about,
  bool,
  int32,
  int64,
  list,
  listMap,
  named,
  object,
  oneOf,
  type StructuralSchema,
  set,
  str,
  time,
} from './schema.js';

/** The phase of an Instance. */
export const instancePhase: StructuralSchema = named(
  'InstancePhase',
  oneOf('Pending', 'Creating', 'Ready', 'Updating', 'Restarting', 'Migrating', 'Failed', 'Deleting'),
);

/** What is being done to an Instance; written before it is done. */
export const instanceOperation: StructuralSchema = named(
  'InstanceOperation',
  object(
    {
      id: str(),
      type: oneOf('Create', 'Update', 'Restart', 'Migrate', 'Delete'),
      step: about('Where the operation resumes.', str()),
      startedAt: time(),
      lastProgressAt: time(),
      deadline: about('When the attempt is given up; null while the clock is parked.', { ...time(), nullable: true }),
      retryCount: int32(),
      targetRevision: str(),
      reason: about('Why the operation was started.', str()),
      waiting: about('Token of what holds it up from outside, such as QuotaExceeded.', str()),
      capacityRefusedAt: about('When a pod was last refused for quota.', time()),
      strategy: str(),
      surgeIndex: about('Index of the replacement.', int32()),
      fromNode: str(),
      hintTargetNodes: list(str()),
      requestUUID: str(),
    },
    ['id', 'type', 'step', 'startedAt', 'lastProgressAt'],
  ),
);

/** How a pod of an Instance failed. */
export const instanceTermination: StructuralSchema = named(
  'InstanceTermination',
  object(
    {
      podName: str(),
      containerName: about('Empty for a failure of the pod as a whole.', str()),
      reason: str(),
      exitCode: about('Absent when no process ran.', int32()),
      message: str(),
      time: time(),
    },
    ['podName'],
  ),
);

/** The last reason an update was held, on a replica and in its service's mirror. */
export const instanceRolloutHold: StructuralSchema = named(
  'RolloutHoldStatus',
  object(
    {
      gate: oneOf('Pairing', 'Ratio', 'Sequential', 'Budget', 'RetryBlock', 'Held', 'Plan'),
      reason: str(),
      since: about('When this gate began to hold this target.', time()),
      target: about('The ControllerRevision that is held.', str()),
    },
    ['gate', 'reason', 'since'],
  ),
);

/** Once-only messages that were sent, as `{reason}@{episode}`. */
export const announced: StructuralSchema = set(str());

/** One Instance. */
export const instanceRow: StructuralSchema = named(
  'InstanceStatus',
  object(
    {
      index: int32(),
      phase: instancePhase,
      incarnation: about('How many times all pods were recreated.', int64()),
      runningRevision: str(),
      targetRevision: str(),
      podCount: int32(),
      servingPodCount: int32(),
      availablePodCount: int32(),
      readyPodCount: about('Kept for older readers; not written.', int32()),
      scheduledPodCount: about('Kept for older readers; not written.', int32()),
      nodesOccupied: about('Kept for older readers; not written.', set(str())),
      admitted: about('None of its pods waits behind a scheduling gate.', bool()),
      conditions,
      readySince: time(),
      operation: instanceOperation,
      activeOrdinal: about('Which of the two pod names a single-pod Instance uses.', int32({ minimum: 0, maximum: 1 })),
      lastFailure: instanceTermination,
      announced,
    },
    ['index', 'phase'],
  ),
);

/** How far a revision may be tried again after it failed. */
export const retryBlock: StructuralSchema = named(
  'RetryBlockStatus',
  object(
    {
      targetRevision: str(),
      state: oneOf('Backoff', 'Held', 'RetryInProgress'),
      attemptsStarted: int32(),
      nextRetryAt: time(),
      firstFailureAt: time(),
      lastFailureAt: time(),
      reason: str(),
    },
    ['targetRevision', 'state', 'attemptsStarted'],
  ),
);

/** One migration, requested or automatic. */
export const migration: StructuralSchema = named(
  'MigrationStatus',
  object(
    {
      requestUUID: str(),
      trigger: oneOf('Manual', 'Auto'),
      sourceInstance: int32(),
      phase: named(
        'MigrationPhase',
        oneOf(
          'Accepted',
          'SurgePending',
          'SurgeReady',
          'Draining',
          'Completed',
          'Failed',
          'Relocated',
          'Pending',
          'InProgress',
        ),
      ),
      startedAt: time(),
      deadline: about('When it is given up; absent when it has no limit.', time()),
      surgeInstance: int32(),
      allocatedAt: time(),
      fromNode: str(),
      hintTargetNodes: list(str()),
      attempt: int32(),
      reason: str(),
      message: str(),
      completedAt: time(),
      succeeded: bool(),
    },
    ['requestUUID', 'trigger', 'sourceInstance', 'phase', 'startedAt'],
  ),
);

/** Rows by index. */
export const instanceRows: StructuralSchema = listMap(instanceRow, ['index']);
