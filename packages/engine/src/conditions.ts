/** Counters → conditions. The first matching row of each table wins; a transition time moves only with the status. */
import type { Condition, DecodedStatus, InstanceRow, Rev } from '@omenative/api';
import { resolveBudget } from './budgets.js';
import { isFailed } from './operations/row.js';
import type { Snapshot } from './snapshot.js';

type Verdict = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

/** `status.conditions`; those of other writers are kept where they are. */
export function conditionsOf(snapshot: Snapshot, status: DecodedStatus): readonly Condition[] {
  const verdicts = [
    readyVerdict(snapshot, status),
    stalledVerdict(snapshot, status),
    drainVerdict(status),
    timeoutVerdict(snapshot),
  ];
  return verdicts.reduce(
    (conditions, verdict) => withCondition(conditions, verdict, snapshot),
    snapshot.status.conditions,
  );
}

function withCondition(conditions: readonly Condition[], verdict: Verdict, snapshot: Snapshot): readonly Condition[] {
  const at = conditions.findIndex((condition) => condition.type === verdict.type);
  const old = conditions[at];
  const { generation } = snapshot.replica;
  if (
    old !== undefined &&
    old.status === verdict.status &&
    old.reason === verdict.reason &&
    old.message === verdict.message &&
    old.observedGeneration === generation
  ) {
    return conditions;
  }
  const next: Condition = {
    ...old,
    ...verdict,
    observedGeneration: generation,
    lastTransitionTime: old?.status === verdict.status ? old.lastTransitionTime : snapshot.now,
  };
  return at < 0 ? [...conditions, next] : conditions.with(at, next);
}

/** Where the rollout ends: at the update or, while the user rolls back, at the revision gone back to. */
function goalOf(snapshot: Snapshot, status: DecodedStatus): Rev | '' {
  return snapshot.target === snapshot.specRevision ? status.update : snapshot.target;
}

function countOn(rows: readonly InstanceRow[], rev: Rev | ''): number {
  return rows.filter((row) => row.running === rev).length;
}

/** Rows that a partition keeps behind count as arrived. */
function isStaged(snapshot: Snapshot, rows: readonly InstanceRow[]): boolean {
  const { partition } = snapshot.spec.update;
  const onTarget = countOn(rows, snapshot.target);
  return (
    partition > 0 &&
    rows.length === snapshot.spec.replicas &&
    rows.every((row) => row.kind === 'ready') &&
    onTarget === Math.max(0, rows.length - partition) &&
    onTarget < rows.length
  );
}

/** Every wanted Instance is Ready on `goal` and nothing else is left. */
function isComplete(snapshot: Snapshot, rows: readonly InstanceRow[], goal: Rev | ''): boolean {
  return rows.length === snapshot.spec.replicas && rows.every((row) => row.kind === 'ready' && row.running === goal);
}

/** Promoted when every Instance runs the goal; withdrawn when it claims what some Instance no longer runs. */
export function currentRevisionOf(snapshot: Snapshot, status: DecodedStatus): Rev | '' {
  const rows = [...status.rows.values()];
  const goal = goalOf(snapshot, status);
  const blocked = status.blocks.some((block) => block.target === goal);
  if (rows.length > 0 && isComplete(snapshot, rows, goal) && !blocked) return goal;
  const { current, update } = status;
  const contradicted = rows.some((row) => row.running !== '' && row.running !== current);
  return contradicted && (current === update || current === goal) ? '' : current;
}

function ready(status: string, reason: string, message: string): Verdict {
  return { type: 'Ready', status, reason, message };
}

function readyVerdict(snapshot: Snapshot, status: DecodedStatus): Verdict {
  const rows = [...status.rows.values()];
  const total = snapshot.spec.replicas;
  const { serving } = status.counters;
  const goal = goalOf(snapshot, status);
  const updated = countOn(rows, goal);
  if (rows.some(isFailed)) {
    return ready('False', 'InstanceFailed', 'At least one Instance has Phase=Failed');
  }
  if (isStaged(snapshot, rows)) {
    const { partition } = snapshot.spec.update;
    return ready(
      'True',
      'Staged',
      `Staged at partition ${partition}: ${updated}/${total} Instances on ${goal}, ${total - updated} held on the prior revision`,
    );
  }
  if (status.current !== goal) {
    return ready('Unknown', 'RolloutInProgress', `Rolling out ${goal} (${updated}/${total} Instances on target)`);
  }
  const slack = resolveBudget(snapshot.spec.update.maxUnavailable, total) ?? 0;
  const minimum = Math.max(0, total - slack);
  if (serving >= total) return ready('True', 'AllInstancesReady', `${status.counters.ready}/${total} Instances Ready`);
  if (serving >= minimum) {
    return ready('True', 'MinimumAvailable', `${serving}/${total} Instances serving (min ${minimum})`);
  }
  return ready(
    'False',
    'ReplicaCountMismatch',
    `${serving}/${total} Instances serving, need ${minimum} (no rollout in flight)`,
  );
}

function stalledVerdict(snapshot: Snapshot, status: DecodedStatus): Verdict {
  const rows = [...status.rows.values()];
  const goal = goalOf(snapshot, status);
  const check = snapshot.templateCheck;
  if (check?.is === 'refused' && check.of === snapshot.target && status.current !== goal) {
    return {
      type: 'RolloutStalled',
      status: 'True',
      reason: 'PodTemplateInvalid',
      message: `the API server refuses the pods of ${check.of}: ${check.message}`.slice(0, 1024),
    };
  }
  const failing = rows.filter((row) => row.running !== goal && failsOn(row, goal));
  if (status.current === goal || failing.length === 0) {
    return { type: 'RolloutStalled', status: 'False', reason: 'Progressing', message: 'No Instance fails the rollout' };
  }
  const reasons = new Map<string, number>();
  for (const row of failing) {
    const reason = row.lastFailure?.reason ?? 'Unknown';
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
  }
  const list = [...reasons]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([reason, count]) => `${reason} x${count}`)
    .join(', ');
  return {
    type: 'RolloutStalled',
    status: 'True',
    reason: 'InstancesFailing',
    message: `${failing.length}/${snapshot.spec.replicas} Instance(s) failing rollout to ${goal} (${list})`,
  };
}

/** Its last attempt failed; a gang that is Ready again on what it ran keeps the name of what it failed to become. */
function failsOn(row: InstanceRow, goal: Rev | ''): boolean {
  if (row.kind === 'ready') return row.target === goal && row.lastFailure !== undefined;
  return isFailed(row) || row.kind === 'parked';
}

function drainVerdict(status: DecodedStatus): Verdict {
  const overdue = [...status.rows.values()].filter(
    (row) => row.kind === 'deleting' && row.announced.includes(`DrainOverdue@${row.op.id}`),
  );
  if (overdue.length === 0) {
    return {
      type: 'DrainOverdue',
      status: 'False',
      reason: 'DrainsWithinDeadline',
      message: 'No Instance is past the deadline of its drain',
    };
  }
  const indices = overdue.map((row) => row.index).toSorted((a, b) => a - b);
  return {
    type: 'DrainOverdue',
    status: 'True',
    reason: 'DrainsOverdue',
    message: `Instance(s) ${indices.join(', ')} past the deadline of their drain`,
  };
}

function timeoutVerdict(snapshot: Snapshot): Verdict {
  const seconds = snapshot.spec.instanceReadyTimeoutSec;
  const type = 'InstanceReadyTimeoutUnconfigured';
  if (seconds === undefined) {
    return {
      type,
      status: 'True',
      reason: 'InstanceReadyTimeoutUnconfigured',
      message:
        'no instanceReadyTimeout is set on the Component or in lifecycle.instanceReadyTimeout; operations open with no readiness deadline',
    };
  }
  return {
    type,
    status: 'False',
    reason: 'InstanceReadyTimeoutConfigured',
    message: `Instance readiness deadline is ${goDuration(seconds)}`,
  };
}

/** Seconds as Go prints a duration: `45m0s`. */
export function goDuration(seconds: number): string {
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  const rest = seconds % 60;
  if (hours > 0) return `${hours}h${minutes}m${rest}s`;
  return minutes > 0 ? `${minutes}m${rest}s` : `${rest}s`;
}
