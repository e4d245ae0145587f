/** One replica explained: what it is after, what holds it, and what is about to happen. */
import { type Component, type Counters, formatTime, type Index } from '@omenative/api';
import { asInteger, asText, type ReplicaRecord } from '@omenative/controllers/observe';
import type { ReplicaView } from '../cluster/replica-view.js';
import { type ConditionReport, replicaConditions } from './conditions.js';
import { dueOf } from './due.js';
import { type HoldReport, holdReports } from './holds.js';
import { type InstanceReport, instanceReports } from './instances.js';

export interface RetryBlockReport {
  readonly revision: string;
  readonly state: 'Backoff' | 'Held' | 'RetryInProgress';
  readonly attempts: number;
  /** RFC 3339. */
  readonly nextRetryAt?: string;
  readonly lastFailureAt?: string;
  readonly reason: string;
}

export interface ReplicaExplanation {
  readonly replica: string;
  readonly component: Component | '';
  /** Instances wanted. */
  readonly wanted: number;
  readonly counts?: Counters;
  readonly revisions?: { readonly current: string; readonly update: string; readonly target: string };
  readonly pause?: 'recover' | 'freeze';
  /** RFC 3339: it is being deleted. */
  readonly deletingSince?: string;
  /** Nothing at all is done for it, and why. */
  readonly blocked?: { readonly reason: string; readonly message: string };
  readonly rolloutHold?: {
    readonly gate: string;
    readonly reason: string;
    readonly target?: string;
    readonly since: string;
  };
  readonly retryBlocks: readonly RetryBlockReport[];
  readonly conditions: readonly ConditionReport[];
  readonly holds: readonly HoldReport[];
  readonly instances: readonly InstanceReport[];
  /** What the controller will do in its next pass. */
  readonly due: readonly string[];
}

/** With `only`, what concerns that Instance, and the replica's own waits. */
export function explainReplica(view: ReplicaView, only: Index | undefined): ReplicaExplanation {
  const { record } = view;
  const head = headOf(record);
  if (view.is === 'blocked') {
    const { reason, message } = view;
    const nothing = { retryBlocks: [], conditions: [], holds: [], instances: [], due: [] };
    const conditions = record.status.ok ? replicaConditions(record.status.status.conditions) : [];
    return { ...head, blocked: { reason, message }, ...nothing, conditions };
  }
  const { snapshot, plan } = view;
  // What is decided and not written yet is what one asks about.
  const status = plan.status ?? snapshot.status;
  const holds = plan.holds.filter((hold) => only === undefined || hold.index === undefined || hold.index === only);
  return {
    ...head,
    wanted: snapshot.spec.replicas,
    counts: status.counters,
    revisions: { current: status.current, update: status.update, target: snapshot.target },
    ...(snapshot.spec.pause === 'running' ? {} : { pause: snapshot.spec.pause }),
    ...rolloutHoldOf(status.rolloutHold),
    retryBlocks: status.blocks.map((block) => ({
      revision: block.target,
      state: block.state,
      attempts: block.attempts,
      ...(block.nextRetryAt === undefined ? {} : { nextRetryAt: formatTime(block.nextRetryAt) }),
      ...(block.lastFailureAt === undefined ? {} : { lastFailureAt: formatTime(block.lastFailureAt) }),
      reason: block.reason,
    })),
    conditions: replicaConditions(snapshot.status.conditions),
    holds: holdReports(snapshot, status, holds),
    instances: instanceReports(snapshot, status, only),
    due: dueOf(plan),
  };
}

/** Whether anything of it waits for anything. A replica whose pass has yet to come waits for that. */
export function isWaiting(replica: ReplicaExplanation): boolean {
  const { holds, due, blocked, rolloutHold, retryBlocks } = replica;
  return holds.length + due.length + retryBlocks.length > 0 || blocked !== undefined || rolloutHold !== undefined;
}

function headOf(record: ReplicaRecord): Pick<ReplicaExplanation, 'replica' | 'component' | 'wanted' | 'deletingSince'> {
  const { deletionAt } = record.meta;
  return {
    replica: record.meta.name,
    component: asText(record.spec['component']) as Component | '',
    wanted: asInteger(record.spec['replicas']) ?? 1,
    ...(deletionAt === undefined ? {} : { deletingSince: formatTime(deletionAt) }),
  };
}

function rolloutHoldOf(
  hold:
    | { readonly gate: string; readonly reason: string; readonly target?: string; readonly since: number }
    | undefined,
): Pick<ReplicaExplanation, 'rolloutHold'> {
  if (hold === undefined) return {};
  const { gate, reason, target, since } = hold;
  return { rolloutHold: { gate, reason, ...(target === undefined ? {} : { target }), since: formatTime(since) } };
}
