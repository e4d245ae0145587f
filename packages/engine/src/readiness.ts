/** When a pod set may be promoted: every pod `Ready`, in rotation, and for as long as `minReadySeconds` asks. */
import type { Sec } from '@omenative/api';
import type { PodView } from './snapshot.js';
import { isServing, type PodSet } from './units.js';

export type Promotion =
  | { readonly is: 'now'; readonly readySince: Sec }
  /** Only time is missing. */
  | { readonly is: 'later'; readonly at: Sec }
  | { readonly is: 'never'; readonly lacking: readonly PodView[] };

/**
 * Measured from each pod's own `Ready` transition. `readySince` is never before the newest of them, whatever the kubelet's
 * clock says, or a restart that came before it would look like one that came after.
 */
export function promotionOf(set: PodSet, minReadySeconds: number, now: Sec): Promotion {
  const lacking = set.live.filter((pod) => !isServing(pod));
  if (!set.isComplete || lacking.length > 0) return { is: 'never', lacking };
  const newest = Math.max(...set.live.map((pod) => pod.readyChangedAt ?? now));
  const at = newest + minReadySeconds;
  if (minReadySeconds > 0 && at > now) return { is: 'later', at };
  return { is: 'now', readySince: Math.max(now, newest) };
}

/** Every slot is filled and every container ready: the moment a gang enters rotation together. */
export function isContainersReady(set: PodSet): boolean {
  return set.isComplete && set.live.every((pod) => pod.containersReady);
}

/** The whole set serves at this moment. */
export function servesNow(set: PodSet): boolean {
  return set.isComplete && set.live.every(isServing);
}
