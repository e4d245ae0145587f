/**
 * The second half of a plan: what the persisted rows now ask of the world. It looks at rows and world only, never at how the
 * rows came about, so that a controller killed between the write and its effects asks for the same again.
 */
import type { DecodedStatus } from '@omenative/api';
import { type Demand, demandOfCreate, demandOfDelete, demandOfResting, demandOfSurge } from './demand/instances.js';
import { demandOfReplica } from './demand/replica.js';
import { type Chain, lanes } from './effects.js';
import { isSurging } from './operations/update-surge.js';
import type { Snapshot } from './snapshot.js';
import { type Unit, unitsOf } from './units.js';

export function demand(snapshot: Snapshot, status: DecodedStatus): Demand {
  const isEnding = snapshot.replica.deletingSince !== undefined;
  const wishes = unitsOf(snapshot, status.rows)
    .filter((unit) => !snapshot.blind.has(unit.index))
    // A replica that goes makes no pods: what is not being deleted yet waits for its turn as it is.
    .filter((unit) => !isEnding || unit.row.kind === 'deleting')
    .map((unit) => demandOf(snapshot, unit));
  const all = [demandOfReplica(snapshot, status), ...wishes];
  return {
    chains: inLaneOrder(all.flatMap((wish) => wish.chains)),
    holds: all.flatMap((wish) => wish.holds),
  };
}

function demandOf(snapshot: Snapshot, unit: Unit): Demand {
  const { row } = unit;
  switch (row.kind) {
    case 'creating':
      return demandOfCreate(snapshot, unit, row);
    case 'updating':
      return isSurging(row) ? demandOfSurge(snapshot, unit, row) : { chains: [], holds: [] };
    case 'deleting':
      return demandOfDelete(snapshot, unit, row);
    case 'ready':
    case 'pending':
    case 'failed':
      return demandOfResting(snapshot, unit, row);
    case 'restarting':
    case 'parked':
    case 'gangFrom':
    case 'gangTo':
    case 'migrateFrom':
    case 'migrateTo':
    case 'foreign':
      return { chains: [], holds: [] };
  }
}

function inLaneOrder(chains: readonly Chain[]): readonly Chain[] {
  return lanes.flatMap((lane) => chains.filter((chain) => chain.lane === lane));
}
