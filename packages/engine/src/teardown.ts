/**
 * The end of a replica: its finalizer holds until every pod is drained and gone, or until the operator's deadline gives the
 * rest to the garbage collector. Both are said in an Event that names the way out.
 */
import { type DecodedStatus, teardownFinalizer } from '@omenative/api';
import { goDuration } from './conditions.js';
import type { EventIntent } from './effects.js';
import type { Hold } from './hold.js';
import type { Snapshot } from './snapshot.js';

/** Things that must go before the finalizer may: rows, pods, and pods without a usable index. */
export function blockers(snapshot: Snapshot, status: DecodedStatus): number {
  return status.rows.size + podsLeft(snapshot);
}

function podsLeft(snapshot: Snapshot): number {
  return [...snapshot.pods.values()].reduce((sum, pods) => sum + pods.length, 0) + snapshot.strays.length;
}

/** Counted from the object's deletion; without a configured deadline it never is. */
export function isTeardownOverdue(snapshot: Snapshot): boolean {
  const { deletingSince } = snapshot.replica;
  const deadline = snapshot.config.teardownDeadlineSec;
  return deletingSince !== undefined && deadline !== undefined && snapshot.now >= deletingSince + deadline;
}

export interface TeardownReport {
  readonly events: readonly EventIntent[];
  readonly holds: readonly Hold[];
}

/** What is said while the replica goes, once each: the Event is the same one however many pods are left by then. */
export function reportTeardown(snapshot: Snapshot, status: DecodedStatus): TeardownReport {
  const { replica, spec, config } = snapshot;
  if (replica.deletingSince === undefined || blockers(snapshot, status) === 0) return { events: [], holds: [] };
  const selector = `selector: parent="${spec.owner}", component="${spec.component}"`;
  const wayOut = `manual escape: kubectl patch inferencereplica ${replica.name} -n ${replica.namespace} --type=merge -p '{"metadata":{"finalizers":null}}'`;
  const pods = podsLeft(snapshot);
  const deadline = config.teardownDeadlineSec;
  if (isTeardownOverdue(snapshot)) {
    const text = `teardown deadline ${goDuration(deadline ?? 0)} exceeded (${pods} owned pod(s) observed; ${selector}); releasing finalizer ${teardownFinalizer} to background GC; ${wayOut}`;
    return {
      events: [{ reason: 'TeardownDeadlineExceeded', type: 'Warning', episode: String(replica.deletingSince), text }],
      holds: [],
    };
  }
  const hold: Hold = {
    is: 'Teardown',
    text: `${pods} pod(s) and ${status.rows.size} Instance(s) are drained before the replica goes`,
    wake: [{ on: 'pod', key: '*' }, ...(deadline === undefined ? [] : [{ at: replica.deletingSince + deadline }])],
  };
  if (deadline !== undefined) return { events: [], holds: [hold] };
  const why =
    config.teardownDeadlineInvalid === undefined
      ? 'no lifecycle.teardown.deadline configured'
      : 'lifecycle.teardown.deadline configured but invalid';
  const text = `teardown blocked: ${pods} owned pod(s) and 0 owned PodGroup(s) remain (${selector}); finalizer ${teardownFinalizer} holds until cleanup completes (${why}); ${wayOut}`;
  return {
    events: [{ reason: 'TeardownBlocked', type: 'Warning', episode: String(replica.deletingSince), text }],
    holds: [hold],
  };
}
