/** From an InferenceService and its world to what should exist. Pure; what the world answers comes back in `status.ts`. */
import { type Component, components, replicaName, revisionHashOf } from '@omenative/api';
import type { OperatorSettings } from '../config/settings.js';
import type { ReplicaRecord } from '../inferencereplica/replica-record.js';
import type { ServiceRecord } from '../inferencereplica/routing.js';
import { asRecord } from '../shared/json.js';
import { type ResolvedAutoscaler, resolveAutoscaler } from './autoscaler.js';
import { type Catalog, lookUpModel, lookUpRuntime, type ModelLookup, type RuntimeLookup } from './lookup.js';
import { modeMismatch, type ResolvedMode, resolveMode } from './mode.js';
import { RenderError } from './render-error.js';
import { type DesiredReplica, desiredReplica } from './replica.js';
import { componentOf, declaredComponents, type InferenceServiceRecord } from './service-record.js';
import { renderRunners } from './templates.js';

/** Everything that a pass looks at. */
export interface ServiceWorld {
  readonly service: InferenceServiceRecord;
  readonly catalog: Catalog;
  /** Replicas that carry the service's name as their parent. */
  readonly replicas: readonly ReplicaRecord[];
  /** The replica of that name, whoever it belongs to. */
  replicaNamed(name: string): ReplicaRecord | undefined;
  /** Services that carry our label and select, or belong to, what bears the service's name. */
  readonly services: readonly ServiceRecord[];
  /** Revision hashes on the pods that a replica controls. */
  podHashes(replicaUid: string): ReadonlySet<string>;
  readonly settings: OperatorSettings;
  /** Resources that make a pod subject to quota; `all`: every pod is. */
  readonly quotaResources: readonly string[] | 'all';
}

interface PlanBase {
  readonly component: Component;
  /** The component's replica in the cache, when it is ours. */
  readonly stored?: ReplicaRecord;
}

/** What is to be done about one declared component. */
export type ComponentPlan = PlanBase &
  (
    | { readonly as: 'projected'; readonly desired: DesiredReplica; readonly autoscaler: ResolvedAutoscaler }
    /** Something stands in the way: nothing is created or changed, and what runs goes on. */
    | { readonly as: 'held'; readonly reason: string; readonly message: string }
    /** Another backend runs it: nothing of it is ours. */
    | { readonly as: 'notManaged'; readonly mode: ResolvedMode }
  );

export interface ServicePlan {
  readonly runtime: RuntimeLookup;
  readonly model: ModelLookup;
  readonly components: readonly ComponentPlan[];
  /** Replicas of components that are no longer declared. */
  readonly removed: readonly ReplicaRecord[];
}

export function render(world: ServiceWorld): ServicePlan {
  const { service, catalog } = world;
  const runtime = lookUpRuntime(service, catalog);
  const model = lookUpModel(service, catalog);
  const declared = declaredComponents(service);
  const modes = new Map(declared.map((component) => [component, modeOf(service, component, runtime)]));
  const blocked = blockedComponents(declared, modes);
  const plans = declared.map((component): ComponentPlan => {
    const mode = modes.get(component);
    const reason = blocked.get(component);
    const base = { component, ...storedMember(world, component) };
    if (reason !== undefined) return { ...base, as: 'held', reason: 'DeploymentModeError', message: reason };
    if (mode !== undefined && mode.mode !== 'OMENative') return { ...base, as: 'notManaged', mode };
    return { ...base, ...planComponent(world, component, runtime, model) };
  });
  return { runtime, model, components: plans, removed: removedReplicas(world, declared) };
}

/** The revision hashes that a replica's rows, revisions or pods name; undefined when its status can't be read. */
export function liveHashes(replica: ReplicaRecord, podHashes: ReadonlySet<string>): ReadonlySet<string> | undefined {
  if (!replica.status.ok) return undefined;
  const { status } = replica.status;
  const names = [status.current, status.update];
  for (const row of status.rows.values()) {
    names.push(row.running, row.target);
    if ('op' in row && row.kind !== 'foreign') names.push(row.op.target);
    if (row.kind === 'failed' && row.kept !== undefined) names.push(row.kept.target);
  }
  const hashes = new Set(podHashes);
  for (const name of names) hashes.add(revisionHashOf(name));
  hashes.delete('');
  return hashes;
}

function modeOf(service: InferenceServiceRecord, component: Component, runtime: RuntimeLookup): ResolvedMode {
  const runtimeSpec = runtime.found === 'runtime' ? asRecord(runtime.spec[`${component}Config`]) : {};
  return resolveMode(component, service.spec, componentOf(service, component), runtimeSpec);
}

/** Components that can't run for the sake of another one, and why. */
function blockedComponents(
  declared: readonly Component[],
  modes: ReadonlyMap<Component, ResolvedMode>,
): ReadonlyMap<Component, string> {
  const blocked = new Map<Component, string>();
  if (!declared.includes('engine')) {
    const message =
      'spec.engine is missing, and every InferenceService needs an engine: add it, engine: {} is enough when the runtime has the rest';
    for (const component of declared) blocked.set(component, message);
    return blocked;
  }
  const engine = modes.get('engine');
  const decoder = modes.get('decoder');
  const mismatch = engine === undefined || decoder === undefined ? undefined : modeMismatch(engine, decoder);
  if (mismatch !== undefined) for (const component of ['engine', 'decoder'] as const) blocked.set(component, mismatch);
  return blocked;
}

function storedMember(world: ServiceWorld, component: Component): { readonly stored?: ReplicaRecord } {
  const stored = world.replicaNamed(replicaName(world.service.meta.name, component));
  return stored !== undefined && isOurs(world, stored) ? { stored } : {};
}

function isOurs(world: ServiceWorld, replica: ReplicaRecord): boolean {
  return replica.meta.controller.uid === world.service.meta.uid;
}

type Outcome =
  | { readonly as: 'projected'; readonly desired: DesiredReplica; readonly autoscaler: ResolvedAutoscaler }
  | { readonly as: 'held'; readonly reason: string; readonly message: string };

function planComponent(world: ServiceWorld, component: Component, runtime: RuntimeLookup, model: ModelLookup): Outcome {
  const { service, settings } = world;
  const name = replicaName(service.meta.name, component);
  const standing = world.replicaNamed(name);
  if (standing !== undefined && !isOurs(world, standing)) return held('ReplicaNameTaken', nameTaken(standing));
  if (standing?.meta.deletionAt !== undefined) {
    return held('ReplicaTerminating', `InferenceReplica "${name}" is being deleted; a new one is made once it is gone`);
  }
  if (runtime.found === 'problem') return held(runtime.reason, runtime.message);
  if (model.found === 'problem') return held(model.reason, model.message);
  if (model.found === 'model' && model.waiting !== undefined && standing === undefined) {
    return held('ModelNotReady', `${model.waiting}; the ${component} starts when a node has it`);
  }
  const own = componentOf(service, component);
  const runtimePart = asRecord(runtime.spec[`${component}Config`]);
  try {
    const { terminationGracePeriodSeconds } = settings.deploy;
    const runners = renderRunners({
      component,
      service: service.meta,
      own,
      runtime: runtimePart,
      runtimeSpec: runtime.spec,
      runtimeName: runtime.name,
      ...(model.found === 'model' ? { model: model.model } : {}),
      ...(terminationGracePeriodSeconds === undefined ? {} : { terminationGracePeriodSeconds }),
      acceleratorResources: settings.acceleratorResources,
      quotaResources: world.quotaResources,
    });
    const autoscaler = resolveAutoscaler(own, runtimePart);
    const desired = desiredReplica({ service, component, runtime: runtimePart, runners, autoscaler, settings });
    return { as: 'projected', desired, autoscaler };
  } catch (error) {
    if (error instanceof RenderError) return held(error.reason, error.message);
    throw error;
  }
}

function held(reason: string, message: string): Outcome {
  return { as: 'held', reason, message };
}

function nameTaken(standing: ReplicaRecord): string {
  const { name, deletionAt, controller } = standing.meta;
  if (controller.kind === 'InferenceService' && deletionAt !== undefined) {
    return `InferenceReplica "${name}" belongs to an earlier InferenceService "${controller.name}" and is still being removed`;
  }
  const owner = controller.kind === '' ? 'stands alone' : `belongs to ${controller.kind} "${controller.name}"`;
  return `the name is taken: InferenceReplica "${name}" exists and ${owner}; delete it, or rename the InferenceService`;
}

function removedReplicas(world: ServiceWorld, declared: readonly Component[]): readonly ReplicaRecord[] {
  return world.replicas.filter((replica) => {
    const component = components.find((candidate) => candidate === replica.spec['component']);
    return isOurs(world, replica) && component !== undefined && !declared.includes(component);
  });
}
