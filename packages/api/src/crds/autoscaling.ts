/** Who scales a component: its `autoscaler`, a reference to a policy, and the policy that ties components together. */
import {
  about,
  int32,
  list,
  mapOf,
  named,
  object,
  oneOf,
  preserved,
  quantity,
  rule,
  type StructuralSchema,
  str,
  withRules,
} from './schema.js';

/** A component's `autoscaler`, and the resolved block on a replica. */
export const autoscaler: StructuralSchema = named(
  'ComponentAutoscaler',
  withRules(
    object(
      {
        class: about(
          'Which scaler: HPA or KEDA are created for you, External is yours, None keeps the count fixed.',
          named('AutoscalerClass', oneOf('HPA', 'KEDA', 'External', 'None')),
        ),
        hpa: named(
          'HpaSettings',
          object({
            metrics: about('Metrics of autoscaling/v2, passed on as written.', list(preserved())),
            behavior: about('Behavior of autoscaling/v2, passed on as written.', preserved()),
          }),
        ),
        keda: named(
          'KedaSettings',
          object(
            {
              triggers: about('Triggers of a ScaledObject, passed on as written.', list(preserved(), { minItems: 1 })),
              advanced: preserved(),
              pollingInterval: about('Seconds between two looks at the triggers.', int32()),
              cooldownPeriod: about('Seconds without an active trigger before scaling down.', int32()),
              idleReplicaCount: about('Count while no trigger is active; below minReplicas.', int32()),
              fallback: preserved(),
            },
            ['triggers'],
          ),
        ),
      },
      ['class'],
    ),
    rule(
      "self.class != 'KEDA' || has(self.keda)",
      'KedaTriggersRequired: class KEDA needs at least 1 trigger; list them in keda.triggers',
    ),
  ),
);

/** A component's `autoscalerPolicyRef`. */
export const autoscalerPolicyRef: StructuralSchema = named(
  'AutoscalerPolicyRef',
  withRules(
    object(
      {
        name: str({ minLength: 1 }),
        kind: { ...oneOf('AutoscalerPolicy', 'ClusterAutoscalerPolicy'), default: 'AutoscalerPolicy' },
      },
      ['name'],
    ),
    rule("self.kind == 'AutoscalerPolicy'", 'kind ClusterAutoscalerPolicy is reserved; write kind: AutoscalerPolicy'),
  ),
);

const scalingModes = oneOf('Independent', 'Proportional', 'Pinned');

function scalingPolicyWith(mode: StructuralSchema): StructuralSchema {
  return named(
    'ScalingPolicy',
    object(
      {
        mode: about('How the counts of the components relate.', { ...mode, default: 'Independent' }),
        proportional: named(
          'ProportionalScaling',
          object(
            {
              anchor: { ...oneOf('engine', 'decoder', 'router'), default: 'engine' },
              ratios: about('Follower component to its count for each one of the anchor.', mapOf(quantity())),
            },
            ['anchor'],
          ),
        ),
      },
      ['mode'],
    ),
  );
}

/** `scalingPolicy` of a runtime. */
export const scalingPolicy: StructuralSchema = scalingPolicyWith(scalingModes);

/** `spec.scalingPolicy` of an InferenceService: only the mode that exists may be chosen. */
export const serviceScalingPolicy: StructuralSchema = scalingPolicyWith(
  withRules(
    scalingModes,
    rule("self == 'Independent'", 'ScalingModeNotImplemented: only mode Independent works; write mode: Independent'),
  ),
);
