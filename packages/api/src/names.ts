/**
 * Names of everything the controllers create. A name is derived from the owner and never stored: two managers that see
 * the same spec produce the same name, which is what makes a repeated create harmless.
 */
import { shortHash } from './hash.js';

export type Component = 'engine' | 'decoder' | 'router';
export const components: readonly Component[] = ['engine', 'decoder', 'router'];

/** The part a pod plays in its Instance: `default` alone, or `leader` and `worker` in a gang. */
export type Runner = 'default' | 'leader' | 'worker';

/** Longest DNS-1035/1123 label. */
const maxLabel = 63;

/** `name`, or when it is longer than a DNS label its beginning and a hash of the whole. */
export function boundedLabel(name: string): string {
  if (name.length <= maxLabel) return name;
  const hash = shortHash(name);
  return `${name.slice(0, maxLabel - hash.length - 1).replace(/[-.]+$/, '')}-${hash}`;
}

/** `{owner}-{component}`: the prefix of a component's objects. `owner` is the InferenceService, or a standalone replica. */
export function componentPrefix(owner: string, component: Component): string {
  return `${owner}-${component}`;
}

export function replicaName(inferenceService: string, component: Component): string {
  return componentPrefix(inferenceService, component);
}

/** The Service that users and peers send requests to. */
export function stableServiceName(owner: string, component: Component): string {
  return boundedLabel(componentPrefix(owner, component));
}

/** The headless Service that gives each pod its DNS name. */
export function headlessServiceName(owner: string, component: Component): string {
  return boundedLabel(`${componentPrefix(owner, component)}-headless`);
}

/** The Service that routes to the pods of one revision. */
export function revisionServiceName(owner: string, component: Component, revisionHash: string): string {
  return boundedLabel(`${componentPrefix(owner, component)}-rev-${revisionHash}`);
}

export function controllerRevisionName(owner: string, component: Component, revisionHash: string): string {
  return `${componentPrefix(owner, component)}-${revisionHash}`;
}

/** The 8 hexadecimal digits a ControllerRevision name ends in; '' for a name that has none. */
export function revisionHashOf(revisionName: string): string {
  return /-([0-9a-f]{8})$/.exec(revisionName)?.[1] ?? '';
}

export function podGroupName(owner: string, component: Component, index: number): string {
  return boundedLabel(`${componentPrefix(owner, component)}-${index}`);
}

/**
 * `{owner}-{component}-{index}-{runner}-{ordinal}`. Bounded to a DNS label because it is also the pod's hostname: a long
 * InferenceService name must not make pods that can't start.
 */
export function podName(owner: string, component: Component, index: number, runner: Runner, ordinal: number): string {
  return boundedLabel(`${componentPrefix(owner, component)}-${index}-${runner}-${ordinal}`);
}

/** `OME_INSTANCE_SUBDOMAIN`: an identifier for the workload, not a DNS name. */
export function instanceSubdomain(owner: string, component: Component, index: number): string {
  return `${componentPrefix(owner, component)}-${index}`;
}

/** Where a gang's members reach their leader. */
export function leaderAddress(owner: string, component: Component, index: number): string {
  return `${podName(owner, component, index, 'leader', 0)}.${headlessServiceName(owner, component)}`;
}
