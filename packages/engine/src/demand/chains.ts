/** Effects in chains, and chains in groups: what may follow what, and what waits for all of the others. */
import type { InstanceRow } from '@omenative/api';
import { isBooked } from '../bookings.js';
import type { Chain, Cover, Effect } from '../effects.js';
import type { Hold } from '../hold.js';
import type { PodSet } from '../units.js';
import { coverOf, deleteNow, type Removal, type Wish } from './pods.js';
import { route } from './writers.js';

export interface Demand {
  readonly chains: readonly Chain[];
  readonly holds: readonly Hold[];
}

export const nothing: Demand = { chains: [], holds: [] };
export const nothingMade: Wish = { effects: [], holds: [] };

/** Ended pods whose recycling is booked on the row. */
export function recycled(row: InstanceRow, set: PodSet, covers: Cover = coverOf(row)): readonly Effect[] {
  return set.slots.flatMap(({ occupant }) =>
    occupant.is === 'terminal' && isBooked(row, occupant.pod, 'TerminalPodRecycled')
      ? deleteNow(occupant.pod, covers)
      : [],
  );
}

/** Workers first and the leader last, so that a gang takes requests only when all of it is in. */
export function routeAll(set: PodSet, covers: Parameters<typeof route>[1]): readonly Effect[] {
  return set.live
    .toSorted((a, b) => Number(a.runner === 'leader') - Number(b.runner === 'leader'))
    .flatMap((pod) => route(pod, covers));
}

/** Nothing is deleted before all of the group is out of rotation. */
export function removals(group: readonly Removal[]): readonly (Chain | undefined)[] {
  const allOut = group.every((removal) => removal.isOut);
  return [
    chain(
      'unroute',
      group.flatMap((removal) => removal.out),
    ),
    ...(allOut ? group.flatMap((removal) => removal.gone.map((effect) => chain('delete', [effect]))) : []),
  ];
}

/** One chain a unit: what can't be completed is not begun, and a refusal for the whole namespace stops the lane. */
export function creates(effects: readonly Effect[]): Chain | undefined {
  if (effects.length === 0) return undefined;
  return { lane: 'create', effects, stopLaneOn: ['quota', 'throttled', 'namespaceTerminating'] };
}

export function chain(lane: Chain['lane'], effects: readonly Effect[]): Chain | undefined {
  return effects.length === 0 ? undefined : { lane, effects, stopLaneOn: ['throttled'] };
}

export function joined(chains: readonly (Chain | undefined)[], holds: readonly Hold[]): Demand {
  return { chains: chains.filter((item): item is Chain => item !== undefined), holds };
}
