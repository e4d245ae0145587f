/** The lifecycle in effect for a component: the InferenceService's word, then the runtime's, then the operator's default. */
import type { UpdateStrategyDefault } from '../config/settings.js';
import { parseDurationMs } from '../shared/duration.js';
import { asRecord, asText, type JsonRecord } from '../shared/json.js';

/** `merged` is the service's block over the runtime's, leaf by leaf. */
export function effectiveLifecycle(merged: JsonRecord, operator: UpdateStrategyDefault | undefined): JsonRecord {
  // minReadySeconds has a field of its own on the replica; the nested one is not read there.
  const { minReadySeconds: _moved, instanceReadyTimeout, updateStrategy, ...rest } = merged;
  return {
    ...rest,
    ...timeoutMember(instanceReadyTimeout),
    updateStrategy: effectiveStrategy(asRecord(updateStrategy), operator),
  };
}

/** Zero hides the runtime's value and leaves the operator's in charge, which the replica looks up by itself. */
function timeoutMember(value: unknown): JsonRecord {
  const ms = parseDurationMs(asText(value));
  return ms === undefined || ms <= 0 ? {} : { instanceReadyTimeout: value };
}

/** Only the budget that the strategy reads gets a default: the other would cap what nobody asked to cap. */
function effectiveStrategy(merged: JsonRecord, operator: UpdateStrategyDefault = {}): JsonRecord {
  const type = asText(merged['type']) || operator.type || 'SurgeThenDrain';
  const fallback =
    type === 'SurgeThenDrain' ? { maxSurge: operator.maxSurge } : { maxUnavailable: operator.maxUnavailable };
  const rollingUpdate = { ...fallback, ...asRecord(merged['rollingUpdate']) };
  const set = Object.entries(rollingUpdate).filter(([, value]) => value !== undefined);
  return { ...merged, type, ...(set.length === 0 ? {} : { rollingUpdate: Object.fromEntries(set) }) };
}

/** Seconds of Ready before a pod is available: the merged block, zero included, then the operator's, then none. */
export function effectiveMinReadySeconds(merged: JsonRecord, operator: number | undefined): number {
  const own = merged['minReadySeconds'];
  return typeof own === 'number' ? own : (operator ?? 0);
}
