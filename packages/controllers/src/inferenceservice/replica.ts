/** The InferenceReplica that a component is projected to, and the patch that brings a stored one to it. */
import { annotation, apiVersion, type Component, replicaName, selectorLabels } from '@omenative/api';
import { mergePatchBetween } from '@omenative/kube';
import type { OperatorSettings } from '../config/settings.js';
import type { ReplicaRecord } from '../inferencereplica/replica-record.js';
import { asInteger, asRecord, asText, asTextMap, type JsonRecord } from '../shared/json.js';
import type { ResolvedAutoscaler } from './autoscaler.js';
import { wantedCount } from './count.js';
import { effectiveLifecycle, effectiveMinReadySeconds } from './lifecycle.js';
import { mergeComponent } from './merge.js';
import { podAnnotations } from './metadata.js';
import { RenderError } from './render-error.js';
import { componentOf, type InferenceServiceRecord } from './service-record.js';
import type { RunnerTemplate } from './templates.js';

/** A replica as this controller wants it. Members of the spec that it does not name belong to others. */
export interface DesiredReplica {
  readonly component: Component;
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly ownerReference: JsonRecord;
  /** The members this controller owns; one that is absent here must be absent there, `replicas` excepted. */
  readonly spec: JsonRecord;
  /** What the count is created with. */
  readonly minReplicas: number;
  readonly countOwner: ResolvedAutoscaler['countOwner'];
}

/** Members of a replica's spec that follow the InferenceService. `replicas` and `pacing` have rules of their own. */
const ownedSpec = [
  'component',
  'parentRef',
  'minReadySeconds',
  'topologyKey',
  'topologySpread',
  'topologySpreadKey',
  'pairingProtocol',
  'lifecycle',
  'runners',
  'autoscaler',
  'revisionHistoryLimit',
  'paused',
  'pauseMode',
] as const;

/** Annotations of a replica that this controller sets or removes. */
const ownedAnnotations = [
  annotation.controllerWrite,
  annotation.parentGeneration,
  annotation.excludedAnnotationKeys,
] as const;

export interface ReplicaInput {
  readonly service: InferenceServiceRecord;
  readonly component: Component;
  /** The same component of the runtime. */
  readonly runtime: JsonRecord;
  readonly runners: readonly RunnerTemplate[];
  readonly autoscaler: ResolvedAutoscaler;
  readonly settings: OperatorSettings;
}

/** @throws RenderError when the component asks for what no replica can do. */
export function desiredReplica(input: ReplicaInput): DesiredReplica {
  const { service, component, runners, autoscaler, settings } = input;
  const { meta } = service;
  const merged = mergeComponent(input.runtime, componentOf(service, component));
  const lifecycle = asRecord(merged['lifecycle']);
  if (runners.length > 1 && lifecycle['readyPolicy'] === 'None') {
    const message = `spec.${component}.lifecycle.readyPolicy None is for single pods: leave it out, or write AllPodReady`;
    throw new RenderError('ReadyPolicyInvalid', message);
  }
  const pairing = component === 'router' ? '' : asText(asRecord(service.spec['rollout'])['pairingProtocol']);
  const spec = {
    component,
    parentRef: { name: meta.name },
    minReadySeconds: effectiveMinReadySeconds(lifecycle, settings.deploy.minReadySeconds),
    ...textMember('topologyKey', merged['topologyKey']),
    ...textMember('topologySpread', merged['topologySpread']),
    ...textMember('topologySpreadKey', merged['topologySpreadKey']),
    ...textMember('pairingProtocol', pairing),
    lifecycle: effectiveLifecycle(lifecycle, settings.deploy.updateStrategy[component]),
    runners: runners.map(({ name, size, template }) => ({ name, size, template })),
    ...(autoscaler.block === undefined ? {} : { autoscaler: autoscaler.block }),
    ...historyLimitMember(meta.annotations[annotation.revisionHistoryLimit]),
    ...pauseMembers(meta.annotations[annotation.rolloutPaused]),
  };
  const minReplicas = asInteger(merged['minReplicas']) ?? settings.deploy.defaultMinReplicas ?? 1;
  return {
    component,
    namespace: meta.namespace,
    name: replicaName(meta.name, component),
    labels: selectorLabels(meta.name, component),
    annotations: replicaAnnotations(service, asTextMap(merged['annotations'])),
    ownerReference: {
      apiVersion,
      kind: 'InferenceService',
      name: meta.name,
      uid: meta.uid,
      controller: true,
      // A foreground deletion of the service waits until the replica has drained.
      blockOwnerDeletion: true,
    },
    spec,
    minReplicas: Math.max(1, minReplicas),
    countOwner: autoscaler.countOwner,
  };
}

/** The object to create. */
export function newReplica(desired: DesiredReplica): JsonRecord {
  return {
    apiVersion,
    kind: 'InferenceReplica',
    metadata: {
      name: desired.name,
      namespace: desired.namespace,
      labels: desired.labels,
      annotations: desired.annotations,
      ownerReferences: [desired.ownerReference],
    },
    spec: { ...desired.spec, replicas: desired.minReplicas },
  };
}

/**
 * The merge patch that brings a stored replica to what is wanted, for this very version of it; undefined when there is
 * nothing to change. `pacing`, and a count that somebody else owns, stay what they are.
 */
export function replicaPatch(desired: DesiredReplica, stored: ReplicaRecord): JsonRecord | undefined {
  const spec = mergePatchBetween(pick(stored.spec, [...ownedSpec, 'replicas']), {
    ...pick(desired.spec, ownedSpec),
    replicas: wantedCount(desired, asInteger(stored.spec['replicas'])),
  });
  const metadata = mergePatchBetween(
    {
      labels: pick(stored.meta.labels, Object.keys(desired.labels)),
      annotations: pick(stored.meta.annotations, ownedAnnotations),
    },
    { labels: desired.labels, annotations: desired.annotations },
  );
  if (spec === undefined && metadata === undefined) return undefined;
  const { uid, resourceVersion } = stored.meta;
  return { metadata: { ...asRecord(metadata), uid, resourceVersion }, ...(spec === undefined ? {} : { spec }) };
}

function replicaAnnotations(
  service: InferenceServiceRecord,
  component: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const { serviceOnlyKeys } = podAnnotations(service.meta.annotations, component);
  return {
    [annotation.controllerWrite]: 'true',
    [annotation.parentGeneration]: String(service.generation),
    ...(serviceOnlyKeys.length === 0 ? {} : { [annotation.excludedAnnotationKeys]: serviceOnlyKeys.join(',') }),
  };
}

/** Only these two words count; anything else leaves the rollout running. */
function pauseMembers(word: string | undefined): JsonRecord {
  if (word === 'true') return { paused: true };
  return word === 'freeze' ? { paused: true, pauseMode: 'Freeze' } : {};
}

function historyLimitMember(word: string | undefined): JsonRecord {
  return word !== undefined && /^[1-9][0-9]{0,8}$/.test(word) ? { revisionHistoryLimit: Number(word) } : {};
}

function textMember(name: string, value: unknown): JsonRecord {
  const text = asText(value);
  return text === '' ? {} : { [name]: text };
}

function pick(object: JsonRecord, keys: readonly string[]): JsonRecord {
  return Object.fromEntries(keys.filter((key) => object[key] !== undefined).map((key) => [key, object[key]]));
}
