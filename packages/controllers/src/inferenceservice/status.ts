/** The status of an InferenceService: what its components, Services and lookups amount to. */
import { annotation, apiVersion, type Component, type DecodedStatus, formatTime } from '@omenative/api';
import { resolveBudget } from '@omenative/engine';
import type { ReplicaRecord } from '../inferencereplica/replica-record.js';
import { asInteger, asRecord, type JsonRecord } from '../shared/json.js';
import { isUnserved } from './autoscaler.js';
import { mergeConditions, readyCondition, type ServiceCondition } from './conditions.js';
import type { ComponentPlan, ServicePlan, ServiceWorld } from './render.js';
import { isEntryWanted } from './routing-plan.js';
import type { DesiredService } from './services.js';
import { unsupportedFields } from './unsupported.js';

/** What came of the writes of a pass. */
export interface PassOutcome {
  /** Components whose replica or Service could not be written, and why. */
  readonly failed: ReadonlyMap<Component, { readonly reason: string; readonly message: string }>;
  /** The same for the Service that requests enter by. */
  readonly entryFailed?: { readonly reason: string; readonly message: string };
  readonly services: readonly DesiredService[];
}

const owned = [
  'EngineReady',
  'DecoderReady',
  'RouterReady',
  'IngressReady',
  'Ready',
  'RuntimeReady',
  'ModelReady',
  'AutoscalerResolved',
  'UnsupportedFields',
];

/** `nowText` is the time of a transition, RFC 3339. Members of the stored status that are not ours are kept. */
export function serviceStatus(
  world: ServiceWorld,
  plan: ServicePlan,
  outcome: PassOutcome,
  nowText: string,
): JsonRecord {
  const { service } = world;
  const parts = plan.components.map((component) => componentCondition(component, outcome));
  const engine = parts.find((condition) => condition.type === 'EngineReady') ?? engineMissing;
  const ingress = ingressCondition(world, outcome);
  const ready = readyCondition([engine, ingress]);
  const conditions = [
    ready,
    ...parts,
    ...(parts.includes(engine) ? [] : [engine]),
    ingress,
    ...runtimeCondition(service.status, plan),
    ...modelCondition(plan),
    ...autoscalerCondition(plan),
    ...unsupportedCondition(world),
  ];
  const { components: _components, modelStatus: _modelStatus, url: _url, address: _address, ...kept } = service.status;
  const url = entryUrl(world, outcome);
  return {
    ...kept,
    observedGeneration: service.generation,
    conditions: mergeConditions(service.status['conditions'], conditions, owned, nowText),
    ...(url === undefined ? {} : { url, address: { url } }),
    ...componentsMember(world, plan, parts, outcome),
    ...modelStatusMember(plan, ready),
  };
}

function conditionType(component: Component): string {
  return `${component[0]?.toUpperCase()}${component.slice(1)}Ready`;
}

const engineMissing: ServiceCondition = {
  type: 'EngineReady',
  status: 'False',
  reason: 'DeploymentModeError',
  message: 'spec.engine is missing, and every InferenceService needs an engine: add it',
};

function componentCondition(plan: ComponentPlan, outcome: PassOutcome): ServiceCondition {
  const type = conditionType(plan.component);
  const failed = outcome.failed.get(plan.component);
  if (plan.as === 'notManaged') {
    const { mode, from } = plan.mode;
    const message =
      `the ${plan.component}'s deployment mode is ${mode} (${from}), which this controller does not run: ` +
      'set spec.deploymentMode to OMENative, or leave it to the controller of that mode';
    return { type, status: 'Unknown', reason: 'DeploymentModeNotManaged', message };
  }
  if (failed !== undefined) return { type, status: 'False', ...failed };
  if (plan.stored !== undefined) return servingCondition(type, plan.stored);
  if (plan.as === 'held') return { type, status: 'False', reason: plan.reason, message: plan.message };
  return { type, status: 'False', reason: 'InsufficientAvailable', message: countMessage(0, plan.desired.minReplicas) };
}

/** True while enough Instances serve. At least one has to: a budget that allows none to serve does not make a service. */
function servingCondition(type: string, replica: ReplicaRecord): ServiceCondition {
  if (!replica.status.ok) {
    const { reason, message } = replica.status;
    return { type, status: 'Unknown', reason: 'InstanceStatusDecodeFailed', message: `${reason}: ${message}` };
  }
  const total = Math.max(1, asInteger(replica.spec['replicas']) ?? 1);
  const { serving } = replica.status.status.counters;
  const minimum = Math.max(1, total - (maxUnavailable(replica, total) ?? 0));
  if (serving >= total) return { type, status: 'True', reason: 'Ready', message: 'All Instances are Ready' };
  if (serving >= minimum) {
    return {
      type,
      status: 'True',
      reason: 'MinimumAvailable',
      message: `${serving}/${total} Instances serving (min ${minimum})`,
    };
  }
  return {
    type,
    status: 'False',
    reason: 'InsufficientAvailable',
    message: `${serving}/${total} Instances serving, need ${minimum}`,
  };
}

function countMessage(serving: number, total: number): string {
  return `${serving}/${total} Instances serving, need ${total}`;
}

function maxUnavailable(replica: ReplicaRecord, total: number): number | undefined {
  const strategy = asRecord(asRecord(replica.spec['lifecycle'])['updateStrategy']);
  const value = asRecord(strategy['rollingUpdate'])['maxUnavailable'];
  return resolveBudget(typeof value === 'number' || typeof value === 'string' ? value : undefined, total);
}

function ingressCondition(world: ServiceWorld, outcome: PassOutcome): ServiceCondition {
  const type = 'IngressReady';
  if (outcome.entryFailed !== undefined) return { type, status: 'False', ...outcome.entryFailed };
  if (world.settings.ingress.creation === 'enabled') {
    const message =
      'routes are not made: set ingress.disableIngressCreation to true in the ConfigMap inferenceservice-config';
    return { type, status: 'False', reason: 'IngressNotAvailable', message };
  }
  const message = 'Ingress creation is disabled, using external service for access';
  return { type, status: 'True', reason: 'IngressDisabled', message };
}

/** Only after a problem: False while there is one, and True once it has passed. */
function runtimeCondition(stored: JsonRecord, plan: ServicePlan): readonly ServiceCondition[] {
  const type = 'RuntimeReady';
  const { runtime } = plan;
  if (runtime.found === 'problem') {
    // A service whose components all run elsewhere has a problem that is not ours to report.
    if (plan.components.length > 0 && plan.components.every((component) => component.as === 'notManaged')) return [];
    return [{ type, status: 'False', reason: runtime.reason, message: runtime.message }];
  }
  const unrendered = plan.components.find((component) => component.as === 'held' && isRenderReason(component.reason));
  if (unrendered?.as === 'held')
    return [{ type, status: 'False', reason: unrendered.reason, message: unrendered.message }];
  const had =
    Array.isArray(stored['conditions']) && stored['conditions'].some((item) => asRecord(item)['type'] === type);
  return had
    ? [{ type, status: 'True', reason: 'RuntimeResolved', message: `runtime "${runtime.name}" is in use` }]
    : [];
}

function isRenderReason(reason: string): boolean {
  return ['RuntimePieceMissing', 'RenderFailed', 'InvalidLeaderWorkerPairing', 'ReadyPolicyInvalid'].includes(reason);
}

function modelCondition(plan: ServicePlan): readonly ServiceCondition[] {
  const type = 'ModelReady';
  switch (plan.model.found) {
    case 'none':
      return [];
    case 'problem':
      return [{ type, status: 'False', reason: plan.model.reason, message: plan.model.message }];
    case 'model': {
      const { waiting, model } = plan.model;
      if (waiting !== undefined) return [{ type, status: 'False', reason: 'ModelNotReady', message: waiting }];
      return [{ type, status: 'True', reason: 'ModelResolved', message: `${model.kind} "${model.name}" is in use` }];
    }
  }
}

/** Until autoscalers are run, a component that asks for one, or for nothing, is told who holds its count. */
function autoscalerCondition(plan: ServicePlan): readonly ServiceCondition[] {
  const unserved = plan.components.filter(
    (component) => component.as === 'projected' && isUnserved(component.autoscaler),
  );
  if (unserved.length === 0) return [];
  const words = unserved.map((component) => {
    if (component.as !== 'projected') return '';
    const { asked, source } = component.autoscaler;
    const what = source === 'default' ? 'no class is set' : `class ${asked}`;
    return `${component.component}: ${what}, the count stays at minReplicas (${component.desired.minReplicas})`;
  });
  const message = `HPA and KEDA are not run by this release; ${words.join('; ')}; set autoscaler.class to None or External to choose who owns the count`;
  return [{ type: 'AutoscalerResolved', status: 'False', reason: 'ClassUnavailable', message }];
}

function unsupportedCondition(world: ServiceWorld): readonly ServiceCondition[] {
  const fields = unsupportedFields(world.service);
  if (fields.length === 0) return [];
  const message = `kept, and without effect in this release: ${fields.join(', ')}`;
  return [{ type: 'UnsupportedFields', status: 'True', reason: 'FieldsWithoutEffect', message }];
}

function entryUrl(world: ServiceWorld, outcome: PassOutcome): string | undefined {
  if (isEntryWanted(world)) return urlOf(outcome.services.find((service) => service.kind === 'external'));
  const stable = outcome.services.filter((service) => service.kind === 'stable');
  return urlOf(
    stable.find((service) => service.component === 'router') ??
      stable.find((service) => service.component === 'engine'),
  );
}

function urlOf(service: DesiredService | undefined): string | undefined {
  const port = service?.ports[0]?.port;
  if (service === undefined || port === undefined) return undefined;
  return `http://${service.name}.${service.namespace}.svc.cluster.local${port === 80 ? '' : `:${port}`}`;
}

function componentsMember(
  world: ServiceWorld,
  plan: ServicePlan,
  conditions: readonly ServiceCondition[],
  outcome: PassOutcome,
): JsonRecord {
  const before = asRecord(world.service.status['components']);
  const components: Record<string, unknown> = {};
  for (const [at, component] of plan.components.entries()) {
    const held = asRecord(before[component.component]);
    // What another backend runs is another controller's to report.
    components[component.component] =
      component.as === 'notManaged'
        ? held
        : componentStatus(component, held, conditions[at]?.status === 'True', outcome);
  }
  const filled = Object.entries(components).filter(([, value]) => Object.keys(asRecord(value)).length > 0);
  return filled.length === 0 ? {} : { components: Object.fromEntries(filled) };
}

function componentStatus(plan: ComponentPlan, held: JsonRecord, isReady: boolean, outcome: PassOutcome): JsonRecord {
  const { url: _url, address: _address, lifecycle, scaleTargetRef: _ref, autoscaler: _autoscaler, ...kept } = held;
  const stable = outcome.services.find((service) => service.kind === 'stable' && service.component === plan.component);
  const url = isReady ? urlOf(stable) : undefined;
  const { stored } = plan;
  return {
    ...kept,
    ...(url === undefined ? {} : { url, address: { url } }),
    ...(stored === undefined
      ? {}
      : {
          scaleTargetRef: { apiVersion, kind: 'InferenceReplica', name: stored.meta.name },
          lifecycle: stored.status.ok ? lifecycleStatus(stored, stored.status.status, asRecord(lifecycle)) : lifecycle,
        }),
    ...(plan.as === 'projected' ? { autoscaler: autoscalerStatus(plan) } : {}),
  };
}

function autoscalerStatus(plan: Extract<ComponentPlan, { as: 'projected' }>): JsonRecord {
  const { asked, source, block } = plan.autoscaler;
  const effective = block === undefined ? 'None' : asked;
  return { class: effective, managedBy: effective === 'External' ? 'external' : 'none', specSource: source };
}

/** The replica's own words. The generation is that of the InferenceService which the replica has taken in. */
function lifecycleStatus(replica: ReplicaRecord, status: DecodedStatus, before: JsonRecord): JsonRecord {
  const isCurrent = status.observedGeneration >= replica.generation;
  const reflected = isCurrent ? Number(replica.meta.annotations[annotation.parentGeneration]) : Number.NaN;
  const observedGeneration = Number.isSafeInteger(reflected) ? reflected : before['observedGeneration'];
  const { counters, rolloutHold } = status;
  return {
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    ...(status.current === '' ? {} : { currentRevision: status.current }),
    ...(status.update === '' ? {} : { updateRevision: status.update }),
    ...(status.collisionCount === 0 ? {} : { collisionCount: status.collisionCount }),
    ...(status.labelSelector === '' ? {} : { labelSelector: status.labelSelector }),
    replicas: counters.replicas,
    readyReplicas: counters.ready,
    servingReplicas: counters.serving,
    availableReplicas: counters.available,
    updatedReplicas: counters.updated,
    updatedReadyReplicas: counters.updatedReady,
    ...(status.conditions.length === 0
      ? {}
      : {
          conditions: status.conditions.map(({ carry, lastTransitionTime, ...condition }) => ({
            ...carry,
            ...condition,
            lastTransitionTime: formatTime(lastTransitionTime),
          })),
        }),
    ...(rolloutHold === undefined
      ? {}
      : {
          rolloutHold: {
            gate: rolloutHold.gate,
            reason: rolloutHold.reason,
            since: formatTime(rolloutHold.since),
            ...(rolloutHold.target === undefined ? {} : { target: rolloutHold.target }),
          },
        }),
  };
}

function modelStatusMember(plan: ServicePlan, ready: ServiceCondition): JsonRecord {
  switch (plan.model.found) {
    case 'none':
      return {};
    case 'problem': {
      const reason = plan.model.reason === 'ModelNotFound' ? 'BaseModelNotFound' : 'BaseModelNotReady';
      return {
        modelStatus: { transitionStatus: 'InvalidSpec', lastFailureInfo: { reason, message: plan.model.message } },
      };
    }
    case 'model':
      return { modelStatus: { transitionStatus: ready.status === 'True' ? 'UpToDate' : 'InProgress' } };
  }
}
