/** `InferenceService`: a model, and the components that serve it. */
import { serviceScalingPolicy } from './autoscaling.js';
import { serviceComponent, serviceRouter } from './component.js';
import { type CustomResourceDefinition, defineResource } from './definition.js';
import { inferenceServiceStatus } from './inference-service-status.js';
import { placement, routing } from './placement.js';
import { acceleratorSelector, modelRef, runtimeRef } from './references.js';
import { rollout } from './rollout.js';
import {
  about,
  int64,
  list,
  named,
  object,
  oneOf,
  rule,
  type StructuralSchema,
  set,
  str,
  type ValidationRule,
  withRules,
} from './schema.js';

const headers = list(named('HeaderName', object({ name: str({ minLength: 1 }) }, ['name'])));

const traffic = named(
  'TrafficSpec',
  withRules(
    object({
      algorithm: about(
        "How generated routes balance requests; unset means the gateway's default.",
        oneOf('RoundRobin', 'LeastRequest', 'Random', 'ConsistentHash'),
      ),
      consistentHash: named(
        'ConsistentHash',
        object({
          type: oneOf('Header', 'Cookie', 'SourceIP'),
          headers: about('Headers that are hashed.', headers),
          cookie: named(
            'HashCookie',
            object(
              {
                name: str({ minLength: 1 }),
                ttlSeconds: about('Above 0: the gateway issues the cookie.', int64({ minimum: 0 })),
              },
              ['name'],
            ),
          ),
        }),
      ),
      endpointOverride: named(
        'EndpointOverride',
        object({
          type: oneOf('Header', 'Metadata'),
          headers: about('Headers that hold host:port.', headers),
        }),
      ),
    }),
    rule(
      "has(self.consistentHash) == (has(self.algorithm) && self.algorithm == 'ConsistentHash')",
      'consistentHash and algorithm ConsistentHash go together; write both or neither',
    ),
  ),
);

const names = (role: string): StructuralSchema =>
  about(
    `Name of the standalone InferenceReplica that is the ${role}.`,
    withRules(
      set(str({ maxLength: 253 }), { maxItems: 16 }),
      rule('self.size() <= 1', `spec.replicaRefs.${role} names more than one replica; one entry per role is accepted`),
      {
        rule: "self.all(name, name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$'))",
        messageExpression: `'spec.replicaRefs.${role}[0] "' + self[0] + '" must match "[a-z]([-a-z0-9]*[a-z0-9])?"'`,
        message: `spec.replicaRefs.${role}[0] must match "[a-z]([-a-z0-9]*[a-z0-9])?"`,
      },
    ),
  );

const roles = ['engine', 'decoder', 'router'] as const;

/** CEL: roles `a` and `b` of the references name the same replica. */
const sameReplica = (a: string, b: string): string =>
  `(has(self.${a}) && has(self.${b}) && self.${a}.exists(name, name in self.${b}))`;

const replicaRefs = named(
  'ReplicaRefs',
  withRules(
    object({ engine: names('engine'), decoder: names('decoder'), router: names('router') }),
    rule(
      'has(self.engine) && self.engine.size() > 0',
      'spec.replicaRefs.engine is required when spec.replicaRefs is set; a service has an engine',
    ),
    rule(
      `!(${sameReplica('engine', 'decoder')} || ${sameReplica('engine', 'router')} || ${sameReplica('decoder', 'router')})`,
      'an InferenceReplica is named for two roles; a replica serves one role',
    ),
    rule(
      'self == oldSelf',
      'spec.replicaRefs is fixed at create; delete and recreate the InferenceService to front other replicas',
    ),
  ),
);

/** The fields that a service over existing replicas may not have, and why. */
const foreignToReplicaRefs: Readonly<Record<string, string>> = {
  rollout: 'a referenced replica rolls on its own',
  model: 'the referenced replicas carry their own model and runtime',
  runtime: 'the referenced replicas carry their own model and runtime',
  scalingPolicy: 'the service writes nothing on, and renders nothing for, a referenced replica',
  acceleratorSelector: 'the service writes nothing on, and renders nothing for, a referenced replica',
  placement: 'the referenced replicas exist in this cluster only',
  routing: 'the referenced replicas exist in this cluster only',
};

const replicaRefsRules: ValidationRule[] = [
  rule(
    'has(self.replicaRefs) == has(oldSelf.replicaRefs)',
    'spec.replicaRefs is fixed at create; delete and recreate the InferenceService to front other replicas',
  ),
  ...roles.map((role) =>
    rule(
      `!has(self.replicaRefs) || !has(self.${role})`,
      `spec.${role} and spec.replicaRefs cannot both be set; a service references all of its roles or none`,
    ),
  ),
  ...Object.entries(foreignToReplicaRefs).map(([field, why]) =>
    rule(
      `!has(self.replicaRefs) || !has(self.${field})`,
      `spec.${field} is not accepted with spec.replicaRefs; ${why}`,
    ),
  ),
  {
    rule: "!has(self.replicaRefs) || !has(self.deploymentMode) || self.deploymentMode == 'OMENative'",
    messageExpression:
      "'spec.deploymentMode ' + self.deploymentMode + ' is not accepted with spec.replicaRefs; a referenced replica is OMENative'",
    message: 'spec.deploymentMode must be OMENative with spec.replicaRefs',
  },
];

const modeAnnotation = 'ome.io/deploymentMode';

/** CEL: the mode that the service itself declares for a component, or ''. */
function declaredMode(role: string): string {
  const ofService = "(has(self.deploymentMode) ? self.deploymentMode : '')";
  const annotated = `has(self.${role}.annotations) && '${modeAnnotation}' in self.${role}.annotations && self.${role}.annotations['${modeAnnotation}'] in ['RawDeployment', 'OMENative', 'MultiNode', 'VirtualDeployment']`;
  return `(${annotated} ? self.${role}.annotations['${modeAnnotation}'] : ${ofService})`;
}

const bothDeclareTheMode: ValidationRule = {
  rule: `!has(self.engine) || !has(self.decoder) || ${declaredMode('engine')} == ${declaredMode('decoder')} || (${declaredMode('engine')} != 'OMENative' && ${declaredMode('decoder')} != 'OMENative')`,
  messageExpression: `'InvalidDeploymentModeCombination: engine deploymentMode="' + ${declaredMode('engine')} + '" does not match decoder deploymentMode="' + ${declaredMode('decoder')} + '"; when either is OMENative, both must use the same value'`,
  message:
    'InvalidDeploymentModeCombination: engine and decoder declare different deployment modes; when either is OMENative, both must use the same value',
};

/** CEL: every component of a group that meets `filter` is declared by the service, and in mode OMENative. */
function groupsHold(filter: string, each: (role: (typeof roles)[number]) => string): string {
  return roles
    .map((role) => `(${each(role)} || !self.rollout.groups.exists(g, ${filter}'${role}' in g.components))`)
    .join(' && ');
}

const noGroups = '!has(self.rollout) || !has(self.rollout.groups)';

const groupRules: ValidationRule[] = [
  rule(
    `${noGroups} || (${groupsHold('', (role) => `has(self.${role})`)})`,
    'OrphanCoordinationGroup: spec.rollout.groups names a component that the service does not declare; add spec.<component> or remove it from the group',
  ),
  rule(
    `${noGroups} || (${groupsHold('!has(g.canary) && ', (role) => `!has(self.${role}) || ${declaredMode(role)} == 'OMENative'`)})`,
    'CoordinationRequiresOMENative: components of a rollout group must be declared OMENative; write spec.deploymentMode: OMENative',
  ),
  rule(
    `${noGroups} || (${groupsHold('has(g.canary) && ', (role) => `!has(self.${role}) || ${declaredMode(role)} == 'OMENative'`)})`,
    'CanaryRequiresOMENative: components of a canary group must be declared OMENative; write spec.deploymentMode: OMENative',
  ),
];

const spec = named(
  'InferenceServiceSpec',
  withRules(
    object({
      deploymentMode: about(
        'What runs the components: OMENative, or RawDeployment for plain Deployments.',
        oneOf('OMENative', 'RawDeployment'),
      ),
      model: about('The model to serve.', modelRef),
      runtime: about('The runtime to serve it with; unset means one is selected.', runtimeRef),
      engine: about('The component that serves, or prefills when there is a decoder.', serviceComponent('engine')),
      decoder: about('The component that decodes.', serviceComponent('decoder')),
      router: about('The component in front of the others.', serviceRouter),
      acceleratorSelector: about('Which accelerator the components run on.', acceleratorSelector),
      scalingPolicy: serviceScalingPolicy,
      traffic: about('How generated routes balance requests.', traffic),
      rollout: about('How the components roll out together.', rollout),
      placement: about('Multi-cluster: where the service runs.', placement),
      routing: about('Multi-cluster: how requests find a cluster.', routing),
      replicaRefs: about('Existing standalone replicas to put behind the service, instead of components.', replicaRefs),
      ttlSecondsAfterCreation: about('Delete the service this long after its creation.', int64({ minimum: 1 })),
    }),
    rule(
      'has(self.model) || has(self.runtime) || has(self.replicaRefs)',
      'at least one of spec.model or spec.runtime must be set',
    ),
    bothDeclareTheMode,
    ...groupRules,
    ...replicaRefsRules,
    rule(
      "!has(oldSelf.placement) || oldSelf.placement.policy != 'ClusterAffinity' || (has(self.placement) && self.placement.policy == 'ClusterAffinity')",
      'ClusterAffinity placement policy cannot be removed; drain and recreate the service to change placement ownership',
    ),
  ),
);

/** The `InferenceService` resource. */
export const inferenceService: CustomResourceDefinition = defineResource({
  kind: 'InferenceService',
  plural: 'inferenceservices',
  shortNames: ['isvc'],
  scope: 'Namespaced',
  description: 'A model, and the engine, decoder and router that serve it.',
  spec,
  status: inferenceServiceStatus,
  specHint: 'name a model or a runtime in it and declare an engine',
  rules: [
    {
      rule: "oldSelf.hasValue() || (self.metadata.name.size() <= 63 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$'))",
      optionalOldSelf: true,
      message:
        'metadata.name is the prefix of Service names and a label; it must match "[a-z]([-a-z0-9]*[a-z0-9])?" and have at most 63 characters',
    },
  ],
  columns: [
    { name: 'URL', type: 'string', jsonPath: '.status.url' },
    { name: 'Ready', type: 'string', jsonPath: ".status.conditions[?(@.type=='Ready')].status" },
    { name: 'BaseModel', type: 'string', jsonPath: '.spec.model.name' },
    { name: 'Runtime', type: 'string', jsonPath: '.spec.runtime.name' },
    { name: 'Placement', type: 'string', jsonPath: '.status.placement.phase', priority: 1 },
    { name: 'Plan-Source', type: 'string', jsonPath: '.status.rollout.activeRun.plan.groups[0].source', priority: 1 },
    {
      name: 'Plan-Drift',
      type: 'string',
      jsonPath: ".status.conditions[?(@.type=='RolloutPlanDrift')].status",
      priority: 1,
    },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
});
