/**
 * `kubectl ome plan`: has the API server say what a change would make of the object, and rehearses with the controller's own
 * planner what the controller would then do. Nothing is written; the one write that is sent is a dry run.
 */
import type { Component } from '@omenative/api';
import type { ServiceWorld } from '@omenative/controllers/observe';
import { type Look, lookAround, type Reach } from '../cluster/look.js';
import type { Remark } from '../cluster/problem.js';
import { type ReplicaView, viewReplica } from '../cluster/replica-view.js';
import { readSettings, type Settings } from '../cluster/settings.js';
import { shortTarget } from '../cluster/target.js';
import { ownerOf } from '../explain/explain.js';
import { type Rehearsal, rehearse } from '../rehearsal/rehearse.js';
import { type Report, reportOf } from '../report/report.js';
import { type Change, dryRunOf } from './change.js';
import type { Changes } from './change-flags.js';
import { ownChange, projectedChanges, type ReplicaChange } from './project.js';
import { type StayReport, staysOf, type WaitReport, waitsOf } from './waits.js';
import { signatureOf, type WaveReport, wavesOf } from './waves.js';

export interface ReplicaPlan {
  readonly replica: string;
  readonly component: Component | '';
  /**
   * `steps`: the change makes a difference. `nothing`: what happens is what happens without it. `held`: the replica is not
   * touched, for the reason in `problem`. `blocked`: nothing at all would be done for the replica any more.
   */
  readonly effect: 'steps' | 'nothing' | 'held' | 'blocked';
  readonly problem?: { readonly reason: string; readonly message: string };
  /** Instances wanted. */
  readonly wanted?: { readonly before?: number; readonly after: number };
  readonly revision?: { readonly before?: string; readonly after: string; readonly isNew: boolean };
  /** As it would be; absent: it is not paused. */
  readonly pause?: 'recover' | 'freeze';
  readonly waves: readonly WaveReport[];
  readonly waits: readonly WaitReport[];
  readonly stays: readonly StayReport[];
  /** `gone`: the replica is removed. `cut`: it goes on beyond what was rehearsed. */
  readonly end: 'rest' | 'gone' | 'cut';
}

export interface TargetPlan {
  /** `isvc/chat`. */
  readonly target: string;
  readonly change: 'create' | 'update';
  readonly replicas: readonly ReplicaPlan[];
}

export interface PlanContent {
  readonly targets: readonly TargetPlan[];
}

export type PlanReport = Report<'PlanReport', PlanContent>;

export interface PlanOptions {
  readonly changes: Changes;
  /** Resources that make a pod subject to quota, as the manager was told; `all`: every pod is. */
  readonly quotaResources: ServiceWorld['quotaResources'];
}

/** @throws Problem when the API server refuses the change, or something may not be read. */
export async function planChange(reach: Reach, { changes, quotaResources }: PlanOptions): Promise<PlanReport> {
  const settings = await readSettings(reach);
  const targets: TargetPlan[] = [];
  const warnings: Remark[] = [...changes.remarks, ...settings.remarks];
  const sources = new Set<string>();
  for (const change of changes.changes) {
    const there = change.as === 'apply' ? { ...reach, namespace: change.namespace ?? reach.namespace } : reach;
    const planned = await planTarget(there, change, settings, quotaResources);
    targets.push(planned.plan);
    warnings.push(...planned.remarks);
    for (const source of planned.look.sources) sources.add(source);
  }
  return reportOf({
    kind: 'PlanReport',
    namespace: reach.namespace,
    name: changes.changes[0]?.target.name ?? '',
    atMs: reach.runtime.nowMs(),
    sources: [...sources].toSorted(),
    content: { targets },
    warnings: [...new Map(warnings.map((remark) => [remark.message, remark])).values()],
  });
}

interface Planned {
  readonly plan: TargetPlan;
  readonly remarks: readonly Remark[];
  readonly look: Look;
}

async function planTarget(
  reach: Reach,
  change: Change,
  { settings }: Settings,
  quotaResources: ServiceWorld['quotaResources'],
): Promise<Planned> {
  const changed = await dryRunOf(reach, change);
  const { target, before, after } = changed;
  const look = await lookAround(reach, ownerOf(target, after), after);
  const { caches, atMs } = look;
  const init = { caches, settings, quotaResources, namespace: reach.namespace, nowSec: Math.floor(atMs / 1000) };
  const projection = target.kind === 'InferenceReplica' ? ownChange(changed) : projectedChanges(init, changed);
  const view = (record: ReplicaView['record']): ReplicaView => viewReplica(caches, record, settings, atMs);
  const planned = projection.replicas.map((replica) => planReplica(replica, view));
  return {
    plan: {
      target: shortTarget(target),
      change: before === undefined ? 'create' : 'update',
      replicas: planned.map(({ plan }) => plan),
    },
    remarks: [...look.remarks, ...projection.remarks, ...planned.flatMap(({ remarks }) => remarks)],
    look,
  };
}

function planReplica(
  change: ReplicaChange,
  view: (record: ReplicaView['record']) => ReplicaView,
): { readonly plan: ReplicaPlan; readonly remarks: readonly Remark[] } {
  const { name: replica, component } = change;
  const none = { replica, component, waves: [], waits: [], stays: [], end: 'rest' } as const;
  if (change.as === 'held') {
    const { reason, message } = change;
    return { plan: { ...none, effect: 'held', problem: { reason, message } }, remarks: [] };
  }
  const after = view(change.after);
  const before = change.before === undefined ? undefined : view(change.before);
  if (after.is === 'blocked') {
    const { reason, message } = after;
    return { plan: { ...none, effect: 'blocked', problem: { reason, message } }, remarks: [] };
  }
  const rehearsal = rehearse(after.snapshot);
  const baseline = before?.is === 'seen' ? rehearse(before.snapshot) : undefined;
  const isSame = baseline !== undefined && signatureOf(baseline) === signatureOf(rehearsal);
  const { snapshot } = after;
  const old = before?.is === 'seen' ? before.snapshot : undefined;
  const stored = snapshot.revisions.get(snapshot.target);
  const plan: ReplicaPlan = {
    replica,
    component,
    effect: isSame ? 'nothing' : 'steps',
    wanted: { ...(old === undefined ? {} : { before: old.spec.replicas }), after: snapshot.spec.replicas },
    revision: {
      ...(old === undefined ? {} : { before: old.target }),
      after: snapshot.target,
      isNew: stored === undefined || stored === 'gone',
    },
    ...(snapshot.spec.pause === 'running' ? {} : { pause: snapshot.spec.pause }),
    waves: wavesOf(rehearsal),
    waits: waitsOf(rehearsal),
    stays: rehearsal.end === 'gone' ? [] : staysOf(rehearsal, snapshot),
    end: endOf(rehearsal),
  };
  const message = `${replica}: the rehearsal was broken off; the change goes on after what is shown`;
  return { plan, remarks: rehearsal.end === 'endless' ? [{ code: 'RehearsalCut', message }] : [] };
}

function endOf({ end }: Rehearsal): ReplicaPlan['end'] {
  return end === 'endless' ? 'cut' : end;
}
