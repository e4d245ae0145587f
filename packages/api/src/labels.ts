/** Labels, annotations, finalizers and condition types that are part of the public contract. */
import type { Component } from './names.js';

export const apiGroup = 'ome.io';
export const apiVersion = 'ome.io/v1beta1';
/** Value of `ome.io/managed-by` on everything these controllers own. */
export const managedByValue = 'OMENative';

export const label = {
  inferenceService: 'ome.io/inferenceservice',
  component: 'component',
  managedBy: 'ome.io/managed-by',
  instanceIndex: 'ome.io/instance-index',
  incarnation: 'ome.io/instance-incarnation',
  runner: 'ome.io/runner',
  podOrdinal: 'ome.io/pod-ordinal',
  revisionHash: 'ome.io/revision-hash',
  pairingProtocol: 'ome.io/pairing-protocol',
  podGroup: 'scheduling.x-k8s.io/pod-group',
  serviceName: 'kubernetes.io/service-name',
} as const;

export const annotation = {
  deploymentMode: 'ome.io/deploymentMode',
  rolloutPaused: 'ome.io/rollout-paused',
  revisionHistoryLimit: 'ome.io/revision-history-limit',
  controllerWrite: 'ome.io/controller-write',
  parentGeneration: 'ome.io/parent-generation',
  excludedAnnotationKeys: 'ome.io/revision-excluded-annotation-keys',
  resetInstances: 'ome.io/reset-instances',
  releaseHeldRevision: 'ome.io/release-held-revision',
  serviceType: 'ome.io/service-type',
  inPlaceTransition: 'internal.ome.io/in-place-image-transition',
  migrationRequestPrefix: 'ome.io/migration-request-v1-',
} as const;

/** Holds an InferenceReplica until its pods are drained and gone. */
export const teardownFinalizer = 'ome.io/ir-teardown';

/** Pod condition and readiness gate: `True` while the pod may take requests. */
export const servingCondition = 'ome.io/serving';

/** Container that a runner without a name of its own is given. */
export const mainContainerName = 'ome-container';

/** The three labels that select a component's pods, in the order the API pages print them. */
export function selectorLabels(owner: string, component: Component): Readonly<Record<string, string>> {
  return { [label.component]: component, [label.inferenceService]: owner, [label.managedBy]: managedByValue };
}

/**
 * `status.labelSelector`: one pod an Instance (the leader, or the only one), so that an autoscaler that counts the
 * selected pods counts Instances and not gang members.
 */
export function scaleSelector(owner: string, component: Component): string {
  return `component=${component},ome.io/inferenceservice=${owner},ome.io/managed-by=${managedByValue},ome.io/runner in (default,leader)`;
}
