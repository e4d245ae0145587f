/** Which Services an InferenceService should have, and which of its own it should have no longer. */
import { type Component, components, label } from '@omenative/api';
import type { ServiceRecord } from '../inferencereplica/routing.js';
import { asRecord, asRecords, asText, asTextMap } from '../shared/json.js';
import { mergeComponent } from './merge.js';
import { serviceAnnotations } from './metadata.js';
import { servicePorts } from './ports.js';
import { type ComponentPlan, liveHashes, type ServicePlan, type ServiceWorld } from './render.js';
import { componentOf } from './service-record.js';
import {
  type DesiredService,
  externalService,
  type RoutedComponent,
  revisionService,
  stableService,
} from './services.js';

/** A component's replica as it is now, seen in the cache or in the reply to our own write. */
export interface StandingReplica {
  readonly name: string;
  readonly uid: string;
  /** Its spec, from which the ports of a component that can't be rendered are read. */
  readonly spec: Readonly<Record<string, unknown>>;
}

export interface RoutingPlan {
  readonly wanted: readonly DesiredService[];
  readonly surplus: readonly ServiceRecord[];
}

/** A service with this label is not to be reached from outside its cluster. */
const visibilityLabel = 'networking.knative.dev/visibility';

/** `standing` holds the replicas that exist, those of removed components included. */
export function planRouting(
  world: ServiceWorld,
  plan: ServicePlan,
  standing: ReadonlyMap<Component, StandingReplica>,
): RoutingPlan {
  const wanted: DesiredService[] = [];
  const routed = new Map<Component, RoutedComponent>();
  /** Components about whose revisions nothing can be told: nothing of theirs is removed. */
  const unreadable = new Set<string>();
  for (const component of components) {
    const of = routedComponent(world, plan, component, standing.get(component));
    if (of === undefined) continue;
    routed.set(component, of);
    wanted.push(stableService(of));
    const stored = world.replicas.find((replica) => replica.meta.uid === of.replica.uid);
    const hashes = stored === undefined ? new Set<string>() : liveHashes(stored, world.podHashes(stored.meta.uid));
    if (hashes === undefined) unreadable.add(component);
    for (const hash of [...(hashes ?? [])].toSorted()) wanted.push(revisionService(of, hash));
  }
  const entry = entryComponent(world, plan, routed);
  if (entry !== undefined && isEntryWanted(world)) wanted.push(externalService(entry));
  return { wanted, surplus: surplusServices(world, plan, wanted, standing, unreadable) };
}

/** Whether the InferenceService is entered by the Service of its name. */
export function isEntryWanted(world: ServiceWorld): boolean {
  return (
    world.settings.ingress.creation === 'disabled' && world.service.meta.labels[visibilityLabel] !== 'cluster-local'
  );
}

function routedComponent(
  world: ServiceWorld,
  plan: ServicePlan,
  component: Component,
  replica: StandingReplica | undefined,
): RoutedComponent | undefined {
  const own = plan.components.find((candidate) => candidate.component === component);
  if (replica === undefined || own?.as === 'notManaged') return undefined;
  const runtime = plan.runtime.found === 'runtime' ? asRecord(plan.runtime.spec[`${component}Config`]) : {};
  const merged = mergeComponent(runtime, componentOf(world.service, component));
  const runners = asRecords((own?.as === 'projected' ? own.desired.spec : replica.spec)['runners']);
  const componentWords = asTextMap(merged['annotations']);
  return {
    service: world.service,
    component,
    replica: { name: replica.name, uid: replica.uid },
    podsPerInstance: runners.length > 1 ? 'many' : 'one',
    ports: servicePorts(runners, asTextMap(merged['servicePortAppProtocols'])),
    annotations: serviceAnnotations(world.service.meta.annotations, componentWords),
    words: { ...world.service.meta.annotations, ...componentWords },
    pairingProtocol: asText(replica.spec['pairingProtocol']),
  };
}

/**
 * Requests enter by the router, else by the engine. A router that is added to a running service takes over when it serves,
 * not when it is declared.
 */
function entryComponent(
  world: ServiceWorld,
  plan: ServicePlan,
  routed: ReadonlyMap<Component, RoutedComponent>,
): RoutedComponent | undefined {
  const router = plan.components.find((candidate) => candidate.component === 'router');
  const engine = routed.get('engine');
  if (router === undefined) return engine;
  const existing = world.services.find((service) => service.meta.name === world.service.meta.name);
  const isEngineServing = existing?.selector[label.component] === 'engine' && engine !== undefined;
  return isEngineServing && !isServing(router) ? engine : routed.get('router');
}

function isServing(plan: ComponentPlan): boolean {
  return plan.stored?.status.ok === true && plan.stored.status.status.counters.serving > 0;
}

function surplusServices(
  world: ServiceWorld,
  plan: ServicePlan,
  wanted: readonly DesiredService[],
  standing: ReadonlyMap<Component, StandingReplica>,
  unreadable: ReadonlySet<string>,
): readonly ServiceRecord[] {
  const names = new Set(wanted.map((service) => service.name));
  const declared = new Set<string>(plan.components.map((component) => component.component));
  return world.services.filter((service) => {
    const { meta } = service;
    if (meta.controller.uid !== world.service.meta.uid || names.has(meta.name) || meta.deletionAt !== undefined)
      return false;
    const component = meta.labels[label.component] ?? '';
    if (component === 'external-service') return !isEntryWanted(world);
    const own = plan.components.find((candidate) => candidate.component === component);
    if (own?.as === 'notManaged' || unreadable.has(component)) return false;
    const hasReplica = components.some((candidate) => candidate === component && standing.has(candidate));
    // A component that is gone takes its Services with it, once its replica has drained.
    return hasReplica ? meta.labels[label.revisionHash] !== undefined : !declared.has(component);
  });
}
