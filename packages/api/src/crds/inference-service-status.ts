/** `InferenceService.status`: what is reachable, what runs, and why something does not. */
import { instanceRolloutHold } from './instance-status.js';
import { addressable, conditions } from './kubernetes.js';
import { placementStatus } from './placement-status.js';
import { canaryStatus, rolloutCoordination, rolloutStatus } from './rollout-status.js';
import {
  about,
  bool,
  int32,
  int64,
  list,
  listMap,
  mapOf,
  named,
  object,
  oneOf,
  type StructuralSchema,
  str,
  time,
} from './schema.js';

/** One revision and its share of the requests: `traffic[]` of a component and of a replica. */
export const trafficTargets: StructuralSchema = listMap(
  named(
    'ComponentTrafficTarget',
    object(
      {
        revisionName: about('Name of the Service of that revision.', str()),
        percent: int32({ minimum: 0, maximum: 100 }),
        tag: str(),
        latestRevision: bool(),
        pairingProtocol: str(),
      },
      ['revisionName', 'percent'],
    ),
  ),
  ['revisionName'],
);

const lifecycleStatus = named(
  'LifecycleStatus',
  object({
    observedGeneration: int64(),
    currentRevision: str(),
    updateRevision: str(),
    collisionCount: int32(),
    labelSelector: str(),
    replicas: int32(),
    readyReplicas: int32(),
    servingReplicas: int32(),
    availableReplicas: int32(),
    updatedReplicas: int32(),
    updatedReadyReplicas: int32(),
    conditions,
    rolloutHold: instanceRolloutHold,
  }),
);

const autoscalerStatus = named(
  'AutoscalerStatus',
  object({
    class: oneOf('HPA', 'KEDA', 'External', 'None'),
    managedBy: oneOf('ome', 'external', 'none'),
    specSource: str(),
    currentReplicas: int32(),
    desiredReplicas: int32(),
    lastScaleTime: time(),
    conditions,
    policy: named(
      'AutoscalerPolicyStatus',
      object({ name: str(), observedGeneration: int64(), portableDigest: str(), resolvedDigest: str() }, ['name']),
    ),
    shadowedPolicyRef: named(
      'ShadowedAutoscalerPolicyRef',
      object({ name: str(), portableDigest: str(), wouldRenderDigest: str() }, ['name']),
    ),
  }),
);

const componentStatus = named(
  'ComponentStatus',
  object({
    url: str(),
    restURL: str(),
    address: addressable,
    selectedAccelerator: named(
      'SelectedAccelerator',
      object({ acceleratorClass: str(), reason: str(), nodeSelector: mapOf(str()), resourceRequests: mapOf(str()) }, [
        'acceleratorClass',
      ]),
    ),
    lifecycle: about("Mirror of the replica's status.", lifecycleStatus),
    rolloutPhase: oneOf(
      'Stable',
      'Canarying',
      'BlueGreenStandby',
      'Pending',
      'Paused',
      'Promoting',
      'RollingBack',
      'RolledBack',
      'Failed',
    ),
    latestReadyRevision: str(),
    latestRolledoutRevision: str(),
    previousRolledoutRevision: str(),
    traffic: trafficTargets,
    canary: canaryStatus,
    autoscaler: autoscalerStatus,
    scaleTargetRef: named(
      'ScaleTargetRef',
      object({ apiVersion: str(), kind: str(), name: str() }, ['apiVersion', 'kind', 'name']),
    ),
  }),
);

const modelStates = ['', 'Pending', 'Standby', 'Loading', 'Loaded', 'FailedToLoad'];

const modelStatus = named(
  'ModelStatus',
  object({
    transitionStatus: oneOf('', 'UpToDate', 'InProgress', 'BlockedByFailedLoad', 'InvalidSpec'),
    modelRevisionStates: named(
      'ModelRevisionStates',
      object(
        {
          activeModelState: str({ enum: modelStates, default: 'Pending' }),
          targetModelState: str({ enum: modelStates, default: '' }),
        },
        ['activeModelState'],
      ),
    ),
    lastFailureInfo: named(
      'ModelFailureInfo',
      object({
        location: str(),
        message: str(),
        modelRevisionName: str(),
        reason: oneOf(
          'BaseModelNotReady',
          'BaseModelNotFound',
          'ModelLoadFailed',
          'RuntimeUnhealthy',
          'RuntimeDisabled',
          'NoSupportingRuntime',
          'RuntimeNotRecognized',
        ),
        time: time(),
        exitCode: int32(),
      }),
    ),
    modelCopies: named(
      'ModelCopies',
      object({ failedCopies: int32({ default: 0 }), totalCopies: int32() }, ['failedCopies']),
    ),
  }),
);

const migrationHistory = list(
  named(
    'MigrationHistoryEntry',
    object(
      {
        id: str(),
        component: str(),
        instance: int32(),
        mode: oneOf('Surge'),
        phase: oneOf(
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
        requestedAt: time(),
        replacementInstance: int32(),
        startedAt: time(),
        completedAt: time(),
        reason: str(),
        requestedBy: str(),
        outcomeReason: str(),
        events: list(named('MigrationHistoryEvent', object({ at: time(), message: str() }, ['at', 'message']))),
      },
      ['id', 'component', 'instance', 'requestedAt', 'mode', 'phase'],
    ),
  ),
);

const trafficStatus = named(
  'TrafficStatus',
  object({
    algorithm: str(),
    backendPolicyResource: named(
      'BackendPolicyResource',
      object({ apiVersion: str(), kind: str(), name: str() }, ['apiVersion', 'kind', 'name']),
    ),
    targetedHTTPRoutes: list(str()),
    conditions,
  }),
);

/** Knative's condition: looser than `metav1.Condition`, and in a list that is replaced whole. */
const serviceConditions: StructuralSchema = list(
  named(
    'ServiceCondition',
    object({ type: str(), status: str(), severity: str(), reason: str(), message: str(), lastTransitionTime: str() }, [
      'type',
      'status',
    ]),
  ),
);

/** `InferenceService.status`. Fields of other versions are kept. */
export const inferenceServiceStatus: StructuralSchema = named('InferenceServiceStatus', {
  ...object({
    observedGeneration: int64(),
    annotations: mapOf(str()),
    conditions: serviceConditions,
    address: about('Where the service is reached inside the cluster.', addressable),
    url: about('Where the service is reached.', str()),
    addresses: list(addressable),
    components: about('By component: engine, decoder, router.', mapOf(componentStatus)),
    modelStatus,
    migrationHistory,
    mountedOverlays: listMap(
      named(
        'MountedOverlay',
        object({ name: str(), envVar: str(), distribution: str(), mountPath: str() }, [
          'name',
          'envVar',
          'distribution',
        ]),
      ),
      ['name'],
    ),
    traffic: trafficStatus,
    canary: canaryStatus,
    pinnedRevisionName: str(),
    lastRuntimeSyncToken: str(),
    rollout: rolloutStatus,
    rolloutCoordination,
    placement: placementStatus,
  }),
  'x-kubernetes-preserve-unknown-fields': true,
});
