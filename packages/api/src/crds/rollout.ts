/** `spec.rollout`: which components roll together, in what order, and by which progression. */

import { secretKeySelector } from './kubernetes.js';
import { isZero } from './lifecycle.js';
import {
  about,
  duration,
  int32,
  intOrString,
  list,
  listMap,
  mapOf,
  named,
  object,
  oneOf,
  rule,
  type StructuralSchema,
  str,
  withoutRules,
  withRules,
} from './schema.js';

/** Token that an engine and a decoder must share to be paired. */
export const pairingProtocol: StructuralSchema = about(
  'Opaque token of the engine-decoder protocol; only equal tokens are paired, an empty one pairs with any.',
  str({ maxLength: 63, pattern: '^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$' }),
);

const metric = named(
  'AnalysisMetric',
  object(
    {
      name: str({ maxLength: 253 }),
      query: about('PromQL; may use {{.Namespace}}, {{.ISVCName}}, {{.Component}} and the revision names.', str()),
      operator: about('The sample is healthy when it stands so to the threshold.', oneOf('LT', 'LTE', 'GT', 'GTE')),
      threshold: about('A number, in quotes.', str({ maxLength: 64 })),
    },
    ['name', 'query', 'operator', 'threshold'],
  ),
);

const analysis = named(
  'CanaryAnalysis',
  object(
    {
      interval: about('Time between two samples.', duration()),
      initialDelay: about('Time before the first sample.', duration()),
      failureLimit: about('Failing samples in one step that roll the canary back.', int32({ minimum: 1 })),
      onInconclusive: about(
        'What to do when the source does not answer.',
        oneOf('Hold', 'Rollback', 'RollbackOnStall'),
      ),
      metrics: listMap(metric, ['name'], { minItems: 1, maxItems: 10 }),
    },
    ['interval', 'failureLimit', 'metrics'],
  ),
);

const step = named(
  'CanaryStep',
  object(
    {
      capacity: about('How much of each component runs the new revision: a count, or "25%".', intOrString()),
      traffic: about('Percent of requests meant for the new revision.', int32({ minimum: 0, maximum: 100 })),
      pause: about(
        '{} waits for a promotion, {duration: 10m} for a time.',
        named('CanaryPause', object({ duration: duration() })),
      ),
      analysis,
    },
    ['capacity', 'traffic'],
  ),
);

const prometheus = named(
  'PrometheusSource',
  withRules(
    object({
      providerRef: named('MetricProviderRef', object({ name: str({ minLength: 1 }) }, ['name'])),
      serverAddress: about("Base URL; unset means the operator's default.", str()),
      authRef: secretKeySelector,
      headers: mapOf(str()),
    }),
    rule(
      '!(has(self.providerRef) && has(self.serverAddress))',
      'at most one of providerRef and serverAddress may be set',
    ),
  ),
);

/** CEL: the last of the steps finishes the rollout. */
const lastStepFinishes =
  '!has(self.steps) || self.steps.size() == 0 || (self.steps[self.steps.size() - 1].traffic == 100 && (type(self.steps[self.steps.size() - 1].capacity) == int || self.steps[self.steps.size() - 1].capacity == "100%"))';

const canary = named(
  'GroupCanary',
  withRules(
    object({
      steps: list(step, { maxItems: 20 }),
      prometheus,
      scaleDownDelaySeconds: about('Seconds between the traffic shift and the scale-down.', int32()),
      readyTimeout: about(
        "How long the capacity of a step may be missing; unset means the operator's default.",
        duration(),
      ),
    }),
    rule(
      lastStepFinishes,
      'CanaryInvalid: the last step must finish the rollout; write traffic: 100 and capacity: "100%" in it',
    ),
    rule(
      '!has(self.steps) || self.steps.all(s, type(s.capacity) == int || s.capacity.endsWith("%"))',
      'CanaryInvalid: capacity must be a number of Instances or a percentage such as "25%"',
    ),
  ),
);

const groupBudget = (field: string): StructuralSchema =>
  about(
    'A number of Instances, or a percentage that is rounded up; unset means 25%.',
    withRules(
      intOrString(),
      rule('type(self) != int || int(self) >= 0', `InvalidRollingUpdateInteger: ${field} must be at least 0`),
      rule(
        "type(self) == int || string(self).matches('^[0-9]{1,9}%$')",
        `InvalidRollingUpdatePercent: ${field} must be a number of Instances, or a percentage such as "25%"`,
      ),
    ),
  );

const rollingUpdate = named(
  'GroupRollingUpdate',
  withRules(
    object({ maxSurge: groupBudget('maxSurge'), maxUnavailable: groupBudget('maxUnavailable') }),
    rule(
      `!(${isZero('maxSurge')} && ${isZero('maxUnavailable')})`,
      'ZeroBudgetPacingUnstartable: maxSurge and maxUnavailable are both 0, so no Instance could ever be updated; set one of them to at least 1',
    ),
  ),
);

/** A reference to a RolloutPolicy and the progression it is said to hold. */
export const rolloutPolicyRef: StructuralSchema = named(
  'RolloutPolicyRef',
  object(
    {
      name: str({ minLength: 1 }),
      progression: oneOf('canary', 'blueGreen', 'rollingUpdate'),
      kind: str({ default: 'RolloutPolicy' }),
    },
    ['name', 'progression'],
  ),
);

const roleName = str({ maxLength: 63 });

const rolloutGroup = named(
  'RolloutGroup',
  withRules(
    object(
      {
        components: about(
          'The components that roll together: engine, decoder, router.',
          list(roleName, { minItems: 1, maxItems: 3 }),
        ),
        order: about('Not supported; leave it out.', list(roleName, { maxItems: 3 })),
        canary: about('Move to the new revision in steps.', canary),
        blueGreen: about(
          'Bring the new revision up beside the old one; also what a group without a progression does.',
          object({}),
        ),
        rollingUpdate: about('Replace the Instances a few at a time.', rollingUpdate),
        policyRef: about('Take the progression from a RolloutPolicy.', rolloutPolicyRef),
        soak: about('How long to wait after this group.', duration()),
        maintainRatio: named(
          'MaintainRatio',
          object({
            tolerance: about(
              'Percent that the ratio of the components may drift.',
              int32({ minimum: 0, maximum: 100 }),
            ),
          }),
        ),
      },
      ['components'],
    ),
    rule(
      '[has(self.canary), has(self.blueGreen), has(self.rollingUpdate)].filter(set, set).size() <= 1',
      'at most one of canary, blueGreen, or rollingUpdate may be set on a rollout group',
    ),
    rule(
      '!has(self.order) || self.order.all(c, c in self.components)',
      'order must reference only Components listed in this group',
    ),
    rule('!has(self.order) || self.order.size() == 0', 'OrderNotHonored: order has no effect; remove it'),
    rule(
      "self.components.all(c, c in ['engine', 'decoder', 'router'])",
      'InvalidComponentInCoordinationGroup: components may hold engine, decoder and router',
    ),
    rule(
      'self.components.all(c, self.components.filter(other, other == c).size() == 1)',
      'DuplicateComponentInCoordinationGroups: a component may be named once',
    ),
  ),
);

/** A group as a run has pinned it in status. */
export const pinnedRolloutGroup: StructuralSchema = withoutRules(rolloutGroup);

/** CEL: some group holds both halves of a pair and changes them together. */
const changesPairsTogether =
  "has(self.groups) && self.groups.exists(g, 'engine' in g.components && 'decoder' in g.components && !has(g.rollingUpdate))";

/** `spec.rollout` of an InferenceService. */
export const rollout: StructuralSchema = named(
  'RolloutSpec',
  withRules(
    object({
      groups: about('The groups, in order.', list(rolloutGroup, { maxItems: 3 })),
      groupOrdering: about(
        'Whether the order of the groups is kept; unset means Sequential.',
        oneOf('Sequential', 'Concurrent'),
      ),
      pairingProtocol,
    }),
    rule(
      '!has(self.groups) || self.groups.all(g, g.components.all(c, self.groups.filter(other, c in other.components).size() == 1))',
      'DuplicateComponentInCoordinationGroups: a component may be in one group only',
    ),
    rule(
      '!has(self.groups) || self.groups.filter(g, has(g.canary)).size() <= 1',
      'MultipleCanaryGroups: only one group may have a canary',
    ),
    rule(
      `!has(self.pairingProtocol) || !has(oldSelf.pairingProtocol) || self.pairingProtocol == oldSelf.pairingProtocol || (${changesPairsTogether})`,
      'PairingProtocolChangeUncoordinated: changing pairingProtocol needs engine and decoder in one group with blueGreen or canary',
    ),
  ),
);
