/** Conditions that somebody should know of: those that are not as they are when all is well. */
import { type Condition, formatTime } from '@omenative/api';
import { asRecords, asText } from '@omenative/controllers/observe';

export interface ConditionReport {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  /** RFC 3339. */
  readonly since: string;
}

/** Conditions that are True when something is wrong; of all others False is the bad news. */
const badWhenTrue: ReadonlySet<string> = new Set([
  'RolloutStalled',
  'DrainOverdue',
  'InstanceReadyTimeoutUnconfigured',
  'UnsupportedFields',
]);

function matters(type: string, status: string): boolean {
  return badWhenTrue.has(type) ? status === 'True' : status !== 'True';
}

/** Of a replica's decoded status. */
export function replicaConditions(conditions: readonly Condition[]): readonly ConditionReport[] {
  return conditions
    .filter(({ type, status }) => matters(type, status))
    .map(({ type, status, reason, message, lastTransitionTime }) => {
      return { type, status, reason, message, since: formatTime(lastTransitionTime) };
    });
}

/** Of an object as the API server sent it. */
export function rawConditions(conditions: unknown): readonly ConditionReport[] {
  return asRecords(conditions)
    .map((item) => ({
      type: asText(item['type']),
      status: asText(item['status']),
      reason: asText(item['reason']),
      message: asText(item['message']),
      since: asText(item['lastTransitionTime']),
    }))
    .filter(({ type, status }) => matters(type, status));
}
