/**
 * `kubectl ome explain`: makes the snapshot that the controller would make from the objects as they are now, asks the same
 * planner, and tells what everything waits for. Nothing is written.
 */
import type { Component, Index } from '@omenative/api';
import {
  asInteger,
  asRecord,
  asText,
  type ComponentPlan,
  type JsonRecord,
  type ObjectMeta,
  type OperatorSettings,
  observeService,
  renderService,
  replicaPatch,
} from '@omenative/controllers/observe';
import { type Look, lookAround, type Reach, readTarget } from '../cluster/look.js';
import { Problem, type Remark } from '../cluster/problem.js';
import { viewReplica } from '../cluster/replica-view.js';
import { readSettings } from '../cluster/settings.js';
import { shortTarget, type Target, typeOf } from '../cluster/target.js';
import { type Report, reportOf } from '../report/report.js';
import { type ConditionReport, rawConditions } from './conditions.js';
import { type EventReport, recentEvents } from './events.js';
import { explainReplica, isWaiting, type ReplicaExplanation } from './replica.js';

export interface ComponentExplanation {
  readonly component: Component;
  /**
   * `projected`: it has, or is about to get, its replica. `held`: something stands in the way. `notManaged`: another
   * deployment mode runs it.
   */
  readonly state: 'projected' | 'held' | 'notManaged';
  /** What the manager has yet to do about its replica. */
  readonly due?: 'create' | 'update';
  readonly reason?: string;
  readonly message?: string;
}

export interface Explanation {
  /** `isvc/chat`. */
  readonly target: string;
  /** Whether anything waits, or is about to happen. */
  readonly waiting: boolean;
  /** Of an InferenceService; empty for a replica. */
  readonly conditions: readonly ConditionReport[];
  readonly components: readonly ComponentExplanation[];
  readonly replicas: readonly ReplicaExplanation[];
  /** Warnings of the last hour. */
  readonly events: readonly EventReport[];
}

export type ExplainReport = Report<'ExplainReport', Explanation>;

export interface ExplainOptions {
  readonly target: Target;
  /** Of a replica: that Instance alone. */
  readonly instance?: Index;
  /** Resources that make a pod subject to quota, as the manager was told; `all`: every pod is. */
  readonly quotaResources: readonly string[] | 'all';
}

/** @throws Problem when there is no such object or Instance, or something may not be read. */
export async function explain(reach: Reach, options: ExplainOptions): Promise<ExplainReport> {
  const { target, instance } = options;
  const raw = await readTarget(reach, typeOf(target.kind), target);
  const { settings, remarks } = await readSettings(reach);
  const look = await lookAround(reach, ownerOf(target, raw));
  const { caches, atMs } = look;
  const key = `${reach.namespace}/${target.name}`;
  const replicas = [...caches.replicas.store.values()].filter((replica) => {
    return target.kind === 'InferenceReplica' ? replica.meta.name === target.name : replica.parentName === target.name;
  });
  const views = replicas.map((replica) => viewReplica(caches, replica, settings, atMs));
  const explained = views.map((view) => explainReplica(view, instance));
  if (instance !== undefined && explained.every((replica) => replica.instances.length === 0)) {
    throw new Problem(`${shortTarget(target)} has no Instance ${instance}`);
  }
  const components = target.kind === 'InferenceService' ? componentsOf(look, settings, key, options) : [];
  const uids = new Set([
    asText(asRecord(raw['metadata'])['uid']),
    ...replicas.flatMap((replica) => uidsOf(replica.meta)),
  ]);
  const recent = await recentEvents(reach, uids, atMs);
  return reportOf({
    kind: 'ExplainReport',
    namespace: reach.namespace,
    name: target.name,
    atMs,
    sources: look.sources,
    content: {
      target: shortTarget(target),
      waiting: explained.some(isWaiting) || components.some(({ state, due }) => state === 'held' || due !== undefined),
      conditions: target.kind === 'InferenceService' ? rawConditions(asRecord(raw['status'])['conditions']) : [],
      components,
      replicas: explained,
      events: recent.events,
    },
    warnings: [...remarks, ...look.remarks, ...recent.remarks, ...staleRemarks(raw)],
  });
}

/** Whose name all names begin with: the InferenceService of a projected replica, else the replica itself. */
export function ownerOf(target: Target, raw: JsonRecord): string {
  if (target.kind === 'InferenceService') return target.name;
  return asText(asRecord(asRecord(raw['spec'])['parentRef'])['name']) || target.name;
}

/** A replica's Events may be told on its InferenceService. */
function uidsOf(meta: ObjectMeta): readonly string[] {
  return [meta.uid, meta.controller.uid];
}

function componentsOf(
  look: Look,
  settings: OperatorSettings,
  key: string,
  { quotaResources }: ExplainOptions,
): readonly ComponentExplanation[] {
  const world = observeService({ caches: look.caches, settings, quotaResources }, key);
  if (world === undefined) return [];
  const isBehind = (asInteger(world.service.status['observedGeneration']) ?? 0) < world.service.generation;
  return renderService(world).components.map((plan) => componentOf(plan, isBehind ? 'behind' : 'inStep'));
}

/** A difference to a replica that the manager has taken in is not its business but this tool's: it was started otherwise. */
function componentOf(plan: ComponentPlan, manager: 'behind' | 'inStep'): ComponentExplanation {
  const { component } = plan;
  switch (plan.as) {
    case 'projected': {
      if (plan.stored === undefined) return { component, state: 'projected', due: 'create' };
      const isDue = manager === 'behind' && replicaPatch(plan.desired, plan.stored) !== undefined;
      return { component, state: 'projected', ...(isDue ? { due: 'update' } : {}) };
    }
    case 'held':
      return { component, state: 'held', reason: plan.reason, message: plan.message };
    case 'notManaged':
      return { component, state: 'notManaged', reason: plan.mode.mode, message: `says ${plan.mode.from}` };
  }
}

/** The controller has not taken the newest spec in: what follows is what it will find. */
function staleRemarks(raw: JsonRecord): readonly Remark[] {
  const generation = asInteger(asRecord(raw['metadata'])['generation']) ?? 0;
  const observed = asInteger(asRecord(raw['status'])['observedGeneration']) ?? 0;
  if (observed >= generation) return [];
  const message = `the manager has seen generation ${observed} of ${generation}: if that stays so, look whether it runs and leads`;
  return [{ code: 'StatusStale', message }];
}
