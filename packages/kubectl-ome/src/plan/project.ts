/** What a changed object means for its replicas: for an InferenceService its projection, rendered as the controller does. */
import type { Component } from '@omenative/api';
import {
  asInteger,
  asRecord,
  type Caches,
  type ComponentPlan,
  type DesiredReplica,
  inferenceServiceOf,
  type JsonRecord,
  newReplica,
  type OperatorSettings,
  objectRecordOf,
  observeService,
  type ReplicaRecord,
  renderService,
  replicaPatch,
  replicaRecordOf,
  type ServiceWorld,
} from '@omenative/controllers/observe';
import type { Remark } from '../cluster/problem.js';
import type { Changed } from './change.js';
import { merged } from './merge-patch.js';

/** One replica, before and after. */
export type ReplicaChange =
  | {
      readonly as: 'changed';
      readonly name: string;
      readonly component: Component | '';
      /** Absent: it is created. */
      readonly before?: ReplicaRecord;
      readonly after: ReplicaRecord;
    }
  /** It stays as it is, or is not made, for a reason. */
  | {
      readonly as: 'held';
      readonly name: string;
      readonly component: Component;
      readonly reason: string;
      readonly message: string;
    };

export interface Projection {
  readonly replicas: readonly ReplicaChange[];
  readonly remarks: readonly Remark[];
}

export interface ProjectionInit {
  readonly caches: Caches;
  readonly settings: OperatorSettings;
  readonly quotaResources: ServiceWorld['quotaResources'];
  readonly namespace: string;
  readonly nowSec: number;
}

/** The change of a replica itself. */
export function ownChange({ before, after, target }: Changed): Projection {
  const record = replicaRecordOf(settled(after));
  const change: ReplicaChange = {
    as: 'changed',
    name: target.name,
    component: (record.spec['component'] ?? '') as Component | '',
    ...(before === undefined ? {} : { before: replicaRecordOf(before) }),
    after: record,
  };
  return { replicas: [change], remarks: [] };
}

/** The changes of an InferenceService's replicas. */
export function projectedChanges(init: ProjectionInit, { before, after, target }: Changed): Projection {
  const { caches, settings, quotaResources, namespace, nowSec } = init;
  if (before === undefined) caches.inferenceServices.takeIn(settled(after));
  const world = observeService({ caches, settings, quotaResources }, `${namespace}/${target.name}`);
  if (world === undefined) return { replicas: [], remarks: [] };
  const next = renderService({ ...world, service: inferenceServiceOf(objectRecordOf(settled(after))) });
  const remarks = before === undefined ? [] : differences(renderService(world).components, before);
  const kept = next.components.map((plan) => changeOf(plan, target.name));
  const removed = next.removed.map(
    (replica): ReplicaChange => ({
      as: 'changed',
      name: replica.meta.name,
      component: replica.spec['component'] as Component,
      before: replica,
      after: { ...replica, meta: { ...replica.meta, deletionAt: nowSec } },
    }),
  );
  return { replicas: [...kept, ...removed], remarks };
}

function changeOf(plan: ComponentPlan, service: string): ReplicaChange {
  const { component, stored } = plan;
  const name = stored?.meta.name ?? `${service}-${component}`;
  switch (plan.as) {
    case 'held':
      return { as: 'held', name, component, reason: plan.reason, message: plan.message };
    case 'notManaged': {
      const message = `the ${component} is run as ${plan.mode.mode}, as ${plan.mode.from} says`;
      return { as: 'held', name, component, reason: 'NotManaged', message };
    }
    case 'projected':
      return stored === undefined
        ? { as: 'changed', name, component, after: replicaRecordOf(settled(newReplica(plan.desired))) }
        : { as: 'changed', name, component, before: stored, after: patched(stored, plan.desired) };
  }
}

/** The stored replica with what the controller would patch. */
function patched(stored: ReplicaRecord, desired: DesiredReplica): ReplicaRecord {
  const patch = replicaPatch(desired, stored);
  if (patch === undefined) return stored;
  const base = asRecord(merged(stored.base, patch));
  const { annotations, labels } = asRecord(base['metadata']);
  return {
    ...stored,
    meta: {
      ...stored.meta,
      annotations: annotations as ReplicaRecord['meta']['annotations'],
      labels: labels as ReplicaRecord['meta']['labels'],
    },
    generation: patch['spec'] === undefined ? stored.generation : stored.generation + 1,
    spec: asRecord(base['spec']),
    base,
  };
}

/** An object that was never stored, with what the server gives one when it is. */
function settled(object: JsonRecord): JsonRecord {
  const metadata = asRecord(object['metadata']);
  const defaults = { uid: 'rehearsed', resourceVersion: '1', generation: 1 };
  const known = Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== '' && value !== undefined));
  return { ...object, metadata: { ...defaults, ...known } };
}

/**
 * The controller has acted on the service as it is, and this tool would render it differently: what it was started with is
 * not what the manager was started with.
 */
function differences(components: readonly ComponentPlan[], service: JsonRecord): readonly Remark[] {
  const generation = asInteger(asRecord(service['metadata'])['generation']);
  if (asInteger(asRecord(service['status'])['observedGeneration']) !== generation) return [];
  return components.flatMap((plan): Remark[] => {
    if (plan.as !== 'projected' || plan.stored === undefined) return [];
    const members = Object.keys(asRecord(replicaPatch(plan.desired, plan.stored)?.['spec']));
    if (members.length === 0) return [];
    const message = `${plan.stored.meta.name} is not as this tool renders it (${members.join(', ')}), before any change: give --accelerator-resources as the manager has it, and --ome-namespace; else the plan shows that difference too`;
    return [{ code: 'RenderDiffers', message }];
  });
}
