/** `spec.placement` and `spec.routing`: multi-cluster settings, kept for a control plane and ignored on a single cluster. */
import {
  about,
  bool,
  duration,
  int32,
  list,
  mapOf,
  named,
  object,
  oneOf,
  quantity,
  rule,
  type StructuralSchema,
  set,
  str,
  type ValidationRule,
  withRules,
} from './schema.js';

const requirement = named(
  'ClusterRequirement',
  object(
    {
      key: str({ minLength: 1 }),
      operator: oneOf('In', 'NotIn', 'Exists', 'DoesNotExist', 'Gt', 'Lt'),
      values: list(str(), { maxItems: 64 }),
    },
    ['key', 'operator'],
  ),
);

const affinityTerm = named(
  'ClusterAffinityTerm',
  withRules(
    object({
      weight: about('Share of this term in a static Split.', int32({ minimum: 1 })),
      matchExpressions: list(requirement, { maxItems: 64 }),
      matchFields: list(requirement, { maxItems: 64 }),
    }),
    rule(
      '(has(self.matchExpressions) && self.matchExpressions.size() > 0) || (has(self.matchFields) && self.matchFields.size() > 0)',
      'a cluster affinity term must contain a requirement',
    ),
  ),
);

/** `spec.placement`. */
export const placement: StructuralSchema = named(
  'PlacementSpec',
  withRules(
    object(
      {
        policy: about('How clusters are matched.', oneOf('ClusterAffinity')),
        mode: about('How many clusters the service runs in.', oneOf('Single', 'All', 'Split', 'SplitByCapacity')),
        clusterAffinity: {
          ...list(affinityTerm, { minItems: 1, maxItems: 64 }),
          nullable: true,
          description: 'Clusters that match any of these terms.',
        },
        maxSurge: about('Extra replicas while moving.', int32({ minimum: 0 })),
        replacementTimeout: about('Limit of one attempt to move a Single placement.', duration()),
        split: named(
          'PlacementSplit',
          object({
            replicas: about('Replicas over all clusters, at least.', int32({ minimum: 1 })),
            maxReplicasPerCluster: about('Replicas in one cluster, at most.', int32({ minimum: 0 })),
          }),
        ),
      },
      ['policy', 'mode'],
    ),
    rule(
      "!has(self.replacementTimeout) || duration(self.replacementTimeout) > duration('0s')",
      'replacementTimeout must be a positive duration',
    ),
    rule(
      "!has(self.replacementTimeout) || self.mode == 'Single'",
      'replacementTimeout requires ClusterAffinity Single placement',
    ),
  ),
);

const status = int32({ minimum: 100, maximum: 599 });
const count = int32({ minimum: 1 });

const isSet = (field: string): string => `has(self.${field})`;

/** The rules of a block that is either switched off or complete. */
function offOrComplete(
  what: string,
  fields: readonly string[],
  required: readonly string[],
  message: string,
): ValidationRule[] {
  return [
    rule(
      `!has(self.disabled) || !self.disabled || !(${fields.map(isSet).join(' || ')})`,
      `disabled must not be combined with ${what} configuration fields`,
    ),
    rule(`(has(self.disabled) && self.disabled) || (${required.map(isSet).join(' && ')})`, message),
    rule("!has(self.period) || duration(self.period) > duration('0s')", 'period must be positive'),
    rule("!has(self.timeout) || duration(self.timeout) > duration('0s')", 'timeout must be positive'),
    rule(
      '!has(self.period) || !has(self.timeout) || duration(self.timeout) < duration(self.period)',
      'timeout must be shorter than period',
    ),
  ];
}

const requestFields = {
  disabled: bool(),
  path: about('Appended to the endpoint.', str({ minLength: 1, pattern: '^/' })),
  method: oneOf('GET', 'HEAD', 'POST'),
  period: duration(),
  timeout: duration(),
} as const;

const probeFields = [
  'path',
  'method',
  'acceptStatuses',
  'gateStatuses',
  'period',
  'timeout',
  'failureThreshold',
  'successThreshold',
  'allFailedPolicy',
] as const;

const probe = named(
  'RoutingProbe',
  withRules(
    object({
      ...requestFields,
      acceptStatuses: about('Status codes that count as success.', set(status, { minItems: 1, maxItems: 500 })),
      gateStatuses: about('Status codes that count as failure.', set(status, { minItems: 1, maxItems: 500 })),
      failureThreshold: count,
      successThreshold: count,
      allFailedPolicy: oneOf('PreserveTraffic', 'Drain'),
    }),
    ...offOrComplete(
      'probe',
      probeFields,
      probeFields,
      'an enabled probe must specify path, method, acceptStatuses, gateStatuses, period, timeout, failureThreshold, successThreshold, and allFailedPolicy',
    ),
    rule(
      '!has(self.gateStatuses) || !self.gateStatuses.exists(s, s in [401, 403, 429])',
      'gateStatuses must not contain 401, 403, or 429',
    ),
  ),
);

const capacityRequired = ['path', 'method', 'format', 'period', 'timeout', 'samples', 'quorum', 'maxAge'] as const;

const capacity = named(
  'RoutingCapacity',
  withRules(
    object({
      ...requestFields,
      format: str({ minLength: 1 }),
      options: mapOf(str()),
      samples: count,
      quorum: count,
      maxAge: about('Age of the oldest usable report.', duration()),
    }),
    ...offOrComplete(
      'capacity',
      [...capacityRequired, 'options'],
      capacityRequired,
      'an enabled capacity poll must specify path, method, format, period, timeout, samples, quorum, and maxAge',
    ),
    rule(
      '!has(self.maxAge) || !has(self.period) || duration(self.maxAge) >= duration(self.period)',
      'maxAge must be at least period',
    ),
    rule('!has(self.quorum) || !has(self.samples) || self.quorum <= self.samples', 'quorum must not exceed samples'),
  ),
);

/** `spec.routing`. */
export const routing: StructuralSchema = named(
  'RoutingSpec',
  object({
    enabled: about('False opts this service out of routing between clusters.', bool()),
    capacityFactors: about('Cluster to its relative capacity; a missing one counts as 1.', mapOf(quantity())),
    probe,
    capacity,
    publisher: named(
      'RoutingPublisher',
      object({
        options: withRules(
          { ...mapOf(str({ maxLength: 16_384 })), maxProperties: 32 },
          rule(
            'self.all(key, key.size() >= 1 && key.size() <= 128 && self[key].size() >= 1 && self[key].size() <= 4096)',
            'publisher option keys must contain 1-128 characters and values must contain 1-4096 characters',
          ),
        ),
      }),
    ),
  }),
);
