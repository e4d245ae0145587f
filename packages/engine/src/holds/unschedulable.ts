/** No node has room for a pod. The scheduler says so in a condition whose time moves on flips only. */
import type { Sec } from '@omenative/api';
import type { PodView } from '../snapshot.js';
import { isLive } from '../units.js';

export interface Homeless {
  readonly pod: PodView;
  readonly since: Sec;
  /** The scheduler's words. */
  readonly message: string;
}

/** The first by name of the pods without a node, so that the evidence does not wander; one whose time is unknown never counts. */
export function homelessSince(pods: readonly PodView[]): Homeless | undefined {
  const homeless = pods
    .filter((pod) => isLive(pod) && pod.node === '' && pod.unschedulable?.since !== undefined)
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))[0];
  const { since, message = '' } = homeless?.unschedulable ?? {};
  return homeless === undefined || since === undefined ? undefined : { pod: homeless, since, message };
}
