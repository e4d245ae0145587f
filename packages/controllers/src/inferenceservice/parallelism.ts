/** `PARALLELISM_SIZE`: how many accelerators serve one Instance. */
import { asRecord, type JsonRecord } from '../shared/json.js';

/**
 * Accelerators of one pod times the pods of an Instance; undefined when no pod asks for any. The first container that asks
 * gives the number: all pods of an Instance run alike.
 */
export function parallelismSize(
  mains: readonly JsonRecord[],
  podsPerInstance: number,
  resourceNames: readonly string[],
): number | undefined {
  for (const main of mains) {
    const each = acceleratorsOf(main, resourceNames);
    if (each > 0) return each * podsPerInstance;
  }
  return undefined;
}

/** Whether any of these containers asks for one of these resources. */
export function requestsAny(containers: readonly JsonRecord[], resourceNames: readonly string[]): boolean {
  return containers.some((container) => acceleratorsOf(container, resourceNames) > 0);
}

function acceleratorsOf(container: JsonRecord, resourceNames: readonly string[]): number {
  const resources = asRecord(container['resources']);
  let count = 0;
  for (const name of resourceNames) {
    const amounts = ['limits', 'requests'].map((side) => wholeQuantity(asRecord(resources[side])[name]));
    count += Math.max(...amounts);
  }
  return count;
}

/** Extended resources come in whole numbers; anything else counts as none. */
function wholeQuantity(value: unknown): number {
  const count =
    typeof value === 'number' ? value : typeof value === 'string' && /^[0-9]+$/.test(value) ? Number(value) : 0;
  return Number.isSafeInteger(count) ? count : 0;
}
