/** What an InferenceService reports about its rollouts: canaries, the pinned run and the coordination of groups. */
import { pinnedRolloutGroup, rolloutPolicyRef } from './rollout.js';
import {
  bool,
  int32,
  int64,
  intOrString,
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

/** `status.canary` and `status.components.*.canary`. */
export const canaryStatus: StructuralSchema = named(
  'CanaryStatus',
  object(
    {
      currentStep: int32(),
      observedTrafficWeight: int32(),
      targetID: str(),
      canaryRevisionHash: str(),
      stableRevisionHash: str(),
      stepEnteredTime: time(),
      promotedThrough: str(),
      preStepHold: bool(),
      rolledBackRevisionHash: str(),
      analysisFailedChecks: int32(),
      lastEvaluationTime: time(),
      lastConclusiveEvaluationTime: time(),
      capacityWaitSince: time(),
      metricResults: listMap(
        named(
          'CanaryMetricResult',
          object(
            {
              name: str(),
              passed: bool(),
              value: str(),
              threshold: str(),
              operator: str(),
              message: str(),
              time: time(),
            },
            ['name', 'passed'],
          ),
        ),
        ['name'],
      ),
      failed: named(
        'CanaryFailure',
        object({ reason: oneOf('CapacityTimeout', 'AnalysisStalled', 'StableRevisionMissing'), time: time() }, [
          'reason',
        ]),
      ),
    },
    ['currentStep', 'observedTrafficWeight'],
  ),
);

const source = oneOf('Inline', 'Policy');

const targetRevisions = listMap(
  named('RunTargetRevision', object({ component: str(), revision: str(), stableRevision: str() }, ['component'])),
  ['component'],
);

const activeRun = named(
  'RolloutRun',
  object(
    {
      runID: str(),
      openedAt: time(),
      pinnedAt: time(),
      targetRevisions,
      plan: named(
        'RolloutPlan',
        object({
          groups: list(
            named(
              'PinnedGroup',
              object(
                {
                  source,
                  group: pinnedRolloutGroup,
                  policyRef: rolloutPolicyRef,
                  policyGeneration: int64(),
                  portableDigest: str(),
                },
                ['source', 'group'],
              ),
            ),
          ),
        }),
      ),
    },
    ['runID', 'openedAt', 'pinnedAt', 'plan'],
  ),
);

const lastRun = named(
  'ClosedRolloutRun',
  object(
    {
      outcome: oneOf('Completed', 'RolledBack', 'Superseded'),
      openedAt: time(),
      closedAt: time(),
      targetRevisions,
      groups: list(
        named('ClosedRunGroup', object({ source, policyRef: rolloutPolicyRef, portableDigest: str() }, ['source'])),
      ),
    },
    ['outcome'],
  ),
);

/** `status.rollout`. */
export const rolloutStatus: StructuralSchema = named(
  'RolloutStatus',
  object({
    activeRun,
    lastRun,
    groups: list(
      named(
        'RolloutGroupStatus',
        object(
          {
            index: int32(),
            source,
            policyRef: rolloutPolicyRef,
            observedDigest: str(),
            shadowedPolicyRef: named(
              'ShadowedRolloutPolicyRef',
              object({ name: str(), wouldPinDigest: str() }, ['name']),
            ),
          },
          ['index', 'source'],
        ),
      ),
    ),
  }),
);

const counts = mapOf(int32());

/** `status.rolloutCoordination`. */
export const rolloutCoordination: StructuralSchema = named(
  'RolloutCoordinationStatus',
  object({
    groups: listMap(
      named(
        'CoordinationGroupStatus',
        object(
          {
            name: str(),
            components: list(str()),
            order: list(str()),
            policy: oneOf('BlueGreen', 'RollingUpdate', 'Independent', 'Sequential'),
            phase: oneOf(
              'Idle',
              'Surging',
              'Waiting',
              'Shifting',
              'Draining',
              'ScalingDown',
              'Staged',
              'Failed',
              'RollingBack',
              'Paused',
            ),
            compositePhase: str(),
            currentComponent: str(),
            previousComponent: str(),
            message: str(),
            observedSurge: intOrString(),
            observedRatio: named('ObservedRatio', object({ original: counts, current: counts, newPods: counts })),
            lastTransitionTime: time(),
          },
          ['name'],
        ),
      ),
      ['name'],
    ),
  }),
);
