/** How the Instances of a component are created, updated, repaired and moved: `lifecycle`. */
import {
  about,
  bool,
  duration,
  int32,
  intOrString,
  named,
  object,
  oneOf,
  rule,
  type StructuralSchema,
  withRules,
} from './schema.js';

/** CEL: `field` of an object is a budget of nothing, however it is written. */
export const isZero = (field: string): string => `has(self.${field}) && (self.${field} == 0 || self.${field} == '0%')`;

/** CEL: `self` is a count or a percentage. */
const isCountOrPercent = "type(self) == int ? int(self) >= 0 : string(self).matches('^[0-9]{1,9}%$')";

/** A number of Instances, or a percentage of them that is rounded up. */
const budget = (field: string, description: string): StructuralSchema =>
  about(
    description,
    withRules(
      intOrString(),
      rule(isCountOrPercent, `${field} must be a number of Instances of at least 0, or a percentage such as "25%"`),
    ),
  );

const rollingUpdate = named(
  'RollingUpdate',
  object({
    partition: about('How many of the lowest Instances stay on their revision.', int32({ minimum: 0 })),
    maxUnavailable: budget(
      'maxUnavailable',
      'How many Instances may be out of service; read by the strategies that do not surge, and by repairs.',
    ),
    maxSurge: budget('maxSurge', 'How many Instances may have a replacement beside them; read by SurgeThenDrain.'),
  }),
);

/** A rule for writers that must be told: with both budgets at zero no update can ever start. */
export const rollingUpdateThatCanStart: StructuralSchema = withRules(
  rollingUpdate,
  rule(
    `!(${isZero('maxSurge')} && ${isZero('maxUnavailable')})`,
    'maxSurge and maxUnavailable are both 0, so no Instance could ever be updated; set one of them to at least 1',
  ),
);

function lifecycleWith(rolling: StructuralSchema): StructuralSchema {
  const updateStrategy = named(
    'UpdateStrategy',
    object({
      type: about(
        'How a new revision replaces an old one; unset means SurgeThenDrain.',
        named('UpdateStrategyType', oneOf('SurgeThenDrain', 'RecreatePod', 'InPlaceIfPossible', 'InPlaceOnly')),
      ),
      rollingUpdate: rolling,
      inPlaceUpdateStrategy: named(
        'InPlaceUpdateStrategy',
        object({
          gracePeriodSeconds: about('Accepted for compatibility; has no effect.', int32({ minimum: 0 })),
          markNotReadyDuringLifecycle: about('Whether a pod leaves rotation before its image changes.', bool()),
        }),
      ),
    }),
  );
  return named(
    'LifecycleSpec',
    object({
      restartPolicy: about(
        'Whether an Instance is recreated when one of its pods restarts; unset means yes for multi-pod Instances.',
        oneOf('None', 'RecreateInstanceOnPodRestart'),
      ),
      updateStrategy,
      readyPolicy: about(
        'When an Instance counts as Ready; None is for single-pod Instances only.',
        oneOf('AllPodReady', 'None'),
      ),
      instanceReadyTimeout: about('How long one attempt to bring an Instance up may take, such as 30m.', duration()),
      minReadySeconds: about('Seconds a pod must stay Ready before it counts as Available.', int32({ minimum: 0 })),
      migrationPolicy: named(
        'MigrationPolicy',
        object({
          mode: about(
            'Never refuses requests to move an Instance and turns relocation off.',
            oneOf('Auto', 'Surge', 'Never'),
          ),
        }),
      ),
    }),
  );
}

/** `lifecycle` of a runtime and of a replica: a stalled budget is reported by a condition, not refused. */
export const lifecycle: StructuralSchema = lifecycleWith(rollingUpdate);

/** `lifecycle` of an InferenceService's components. */
export const serviceLifecycle: StructuralSchema = lifecycleWith(rollingUpdateThatCanStart);
