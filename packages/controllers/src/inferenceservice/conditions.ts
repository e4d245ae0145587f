/** Conditions of an InferenceService: set, kept when nothing changed, and never lost when they are somebody else's. */
import { asRecords, asText, type JsonRecord } from '../shared/json.js';

export interface ServiceCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  /** '' for none. */
  readonly reason: string;
  readonly message: string;
}

/** Longest message: a long error text in several conditions must not make an object that can't be written. */
const maxMessage = 1024;

/**
 * The list as it is stored: `wanted`, then what others have written, in their order. A condition of `owned` that is not
 * wanted goes. The time of a transition is kept while the status is.
 */
export function mergeConditions(
  stored: unknown,
  wanted: readonly ServiceCondition[],
  owned: readonly string[],
  nowText: string,
): readonly JsonRecord[] {
  const held = asRecords(stored);
  const mine = wanted.map((condition) => {
    const before = held.find((item) => item['type'] === condition.type);
    const isSameStatus = before?.['status'] === condition.status;
    return {
      type: condition.type,
      status: condition.status,
      ...(condition.reason === '' ? {} : { reason: condition.reason }),
      ...(condition.message === '' ? {} : { message: condition.message.slice(0, maxMessage) }),
      lastTransitionTime: isSameStatus ? asText(before?.['lastTransitionTime']) || nowText : nowText,
    };
  });
  const others = held.filter(
    (item) => !owned.includes(asText(item['type'])) && !wanted.some((one) => one.type === item['type']),
  );
  return [...mine, ...others];
}

/** `Ready`: False as soon as one of them is, Unknown while one of them is. */
export function readyCondition(parts: readonly ServiceCondition[]): ServiceCondition {
  const failing = parts.find((part) => part.status === 'False') ?? parts.find((part) => part.status === 'Unknown');
  if (failing === undefined) return { type: 'Ready', status: 'True', reason: '', message: '' };
  return { ...failing, type: 'Ready' };
}
