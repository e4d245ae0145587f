/**
 * Engine, decoder and router: a pod spec and our own fields side by side. A runtime offers the same shape as a template
 * (`engineConfig` …) that the service's component is merged over.
 */
import { autoscaler, autoscalerPolicyRef } from './autoscaling.js';
import { componentPodFields, container, mainContainer, podSpecFields } from './kubernetes.js';
import { lifecycle, serviceLifecycle } from './lifecycle.js';
import { acceleratorSelector } from './references.js';
import {
  about,
  int32,
  int64,
  intOrString,
  mapOf,
  named,
  object,
  oneOf,
  preserved,
  rule,
  type StructuralSchema,
  str,
  type ValidationRule,
  withRules,
} from './schema.js';

type Role = 'engine' | 'decoder' | 'router';

const extensionFields = {
  minReplicas: about('Instances to run, and the least that an autoscaler may choose.', int32()),
  maxReplicas: about('The most Instances that an autoscaler may choose; 0 counts as unset.', int32()),
  timeoutSeconds: about('Request timeout of generated routes.', int64()),
  labels: about('Added to the workload and its pods.', mapOf(str())),
  annotations: about('Added to the workload and its pods.', mapOf(str())),
  servicePortAppProtocols: about('Service port name to appProtocol.', mapOf(str())),
  minAvailable: about('Pods that evictions must leave; not together with maxUnavailable.', intOrString()),
  maxUnavailable: about('Pods that evictions may take; not together with minAvailable.', intOrString()),
  deploymentStrategy: about('For RawDeployment only; OMENative reads lifecycle.updateStrategy.', preserved()),
  autoscaler,
  autoscalerPolicyRef,
} as const;

const gangFields = {
  topologyKey: about('Node label that all pods of an Instance must share.', str()),
  topologySpread: about('Whether Instances are spread over fault domains.', oneOf('Preferred', 'Required')),
  topologySpreadKey: about('Node label of the fault domain; unset means topologyKey.', str()),
  acceleratorOverride: acceleratorSelector,
} as const;

const leader = named(
  'LeaderSpec',
  object({ runner: about("The leader's main container.", container), ...podSpecFields }),
);
const worker = named(
  'WorkerSpec',
  object({
    size: about('Worker pods of an Instance; unset means 1.', int32()),
    runner: about("The workers' main container.", container),
    ...podSpecFields,
  }),
);

const routerConfig = about('Settings handed to the router as environment.', mapOf(str()));

/** The rules that an InferenceService's component must meet; `role` is named in the messages. */
function componentRules(role: Role): ValidationRule[] {
  const field = `spec.${role}`;
  const evictions = (name: 'minAvailable' | 'maxUnavailable'): ValidationRule =>
    rule(
      `!has(self.${name}) || (type(self.${name}) == int ? int(self.${name}) >= 0 : string(self.${name}).matches('^(100|[0-9]{1,2})%$'))`,
      `${field}.${name} must be a non-negative integer or a percentage from 0% to 100%`,
    );
  return [
    rule(
      '!(has(self.minAvailable) && has(self.maxUnavailable))',
      `${field}.minAvailable and ${field}.maxUnavailable cannot both be set; keep one of them`,
    ),
    evictions('minAvailable'),
    evictions('maxUnavailable'),
    rule('!has(self.minReplicas) || self.minReplicas >= 0', `${field}.minReplicas must be at least 0`),
    rule(
      '!has(self.minReplicas) || !has(self.maxReplicas) || self.maxReplicas == 0 || self.minReplicas <= self.maxReplicas',
      `${field}.minReplicas must be <= maxReplicas; raise ${field}.maxReplicas or leave it out`,
    ),
    rule(
      '!has(self.autoscaler) || !has(self.autoscaler.keda) || !has(self.autoscaler.keda.idleReplicaCount) || !has(self.minReplicas) || self.autoscaler.keda.idleReplicaCount < self.minReplicas',
      `KedaIdleBelowMin: ${field}.autoscaler.keda.idleReplicaCount must be below ${field}.minReplicas`,
    ),
  ];
}

function gangRules(role: Role): ValidationRule[] {
  const field = `spec.${role}`;
  return [
    rule(
      'has(self.leader) == has(self.worker)',
      `InvalidLeaderWorkerPairing: ${field}.leader and ${field}.worker go together; add the missing one (an empty {} takes the runtime's) or remove both`,
    ),
    rule(
      '!has(self.worker) || !has(self.worker.size) || self.worker.size >= 1',
      `InvalidLeaderWorkerPairing: ${field}.worker.size must be at least 1; for single-pod Instances remove leader and worker`,
    ),
    rule(
      "!(has(self.leader) || has(self.worker)) || !has(self.lifecycle) || !has(self.lifecycle.readyPolicy) || self.lifecycle.readyPolicy != 'None' || (has(self.annotations) && 'ome.io/deploymentMode' in self.annotations && self.annotations['ome.io/deploymentMode'] != 'OMENative')",
      `${field}.lifecycle.readyPolicy None is for single-pod Instances; with leader and worker write AllPodReady`,
    ),
  ];
}

/** `spec.engine` and `spec.decoder` of an InferenceService. */
export function serviceComponent(role: 'engine' | 'decoder'): StructuralSchema {
  return named(
    'ComponentSpec',
    withRules(
      object({
        ...extensionFields,
        ...gangFields,
        lifecycle: about('OMENative: how Instances are updated, repaired and moved.', serviceLifecycle),
        runner: about('The main container; its name may be left out.', mainContainer),
        leader: about('The leader pod of a multi-pod Instance.', leader),
        worker: about('The worker pods of a multi-pod Instance.', worker),
        ...componentPodFields,
      }),
      ...componentRules(role),
      ...gangRules(role),
    ),
  );
}

/** `spec.router` of an InferenceService. */
export const serviceRouter: StructuralSchema = named(
  'RouterSpec',
  withRules(
    object({
      ...extensionFields,
      lifecycle: about('OMENative: how Instances are updated, repaired and moved.', serviceLifecycle),
      runner: about('The main container; its name may be left out.', mainContainer),
      config: routerConfig,
      ...componentPodFields,
    }),
    ...componentRules('router'),
  ),
);

/** `engineConfig` and `decoderConfig` of a runtime. */
export const runtimeComponent: StructuralSchema = named(
  'RuntimeComponentSpec',
  object({ ...extensionFields, ...gangFields, lifecycle, runner: container, leader, worker, ...podSpecFields }),
);

/** `routerConfig` of a runtime. */
export const runtimeRouter: StructuralSchema = named(
  'RuntimeRouterSpec',
  object({ ...extensionFields, lifecycle, runner: container, config: routerConfig, ...podSpecFields }),
);
