/** The count of a component's Instances: what it is to be, and what is said to those whose own does not stay. */
import { annotation } from '@omenative/api';
import type { ReplicaRecord } from '../inferencereplica/replica-record.js';
import { asInteger } from '../shared/json.js';
import type { DesiredReplica } from './replica.js';

/** A count of zero or none runs one Instance without saying so: whoever owns the count, it is put right. */
export function wantedCount(desired: DesiredReplica, stored: number | undefined): number {
  return desired.countOwner === 'other' && stored !== undefined && stored > 0 ? stored : desired.minReplicas;
}

/**
 * Why the stored count does not stay, for whoever scaled the replica; undefined when it does, and when the InferenceService
 * has changed since it was set: that is then the reason, and whoever changed it knows.
 */
export function countReset(desired: DesiredReplica, stored: ReplicaRecord): string | undefined {
  const from = asInteger(stored.spec['replicas']);
  const to = wantedCount(desired, from);
  const isSameParent =
    stored.meta.annotations[annotation.parentGeneration] === desired.annotations[annotation.parentGeneration];
  if (from === undefined || from === to || !isSameParent) return undefined;
  const { component, name } = desired;
  const reason =
    from < 1
      ? 'a component has one Instance at least'
      : `the count is spec.${component}.minReplicas of the InferenceService: set that, or set ` +
        `spec.${component}.autoscaler.class to External to scale the replica itself`;
  return `spec.replicas of InferenceReplica ${name} is set from ${from} to ${to}: ${reason}`;
}
