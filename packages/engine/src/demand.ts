/**
 * The second half of a plan: what the persisted rows now ask of the world. It looks at rows and world only, never at how the
 * rows came about, so that a controller killed between the write and its effects asks for the same again.
 */
import type { DecodedStatus } from '@omenative/api';
import { type Demand, nothing } from './demand/chains.js';
import {
  demandOfCreate,
  demandOfDelete,
  demandOfFailedKeeping,
  demandOfResting,
  demandOfSurge,
} from './demand/instances.js';
import { demandOfReplica } from './demand/replica.js';
import { demandOfGangSurge, demandOfInPlace, demandOfRecreate } from './demand/updates.js';
import { type Chain, lanes } from './effects.js';
import { isInPlace } from './operations/update-in-place.js';
import { isRecreating } from './operations/update-recreate.js';
import { isSurging } from './operations/update-surge.js';
import type { Snapshot } from './snapshot.js';
import { type Unit, unitsOf } from './units.js';

export function demand(snapshot: Snapshot, status: DecodedStatus): Demand {
  const isEnding = snapshot.replica.deletingSince !== undefined;
  const wishes = unitsOf(snapshot, status.rows)
    .filter((unit) => !isBlind(snapshot, unit))
    // A replica that goes makes no pods: what is not being deleted yet waits for its turn as it is.
    .filter((unit) => !isEnding || unit.row.kind === 'deleting')
    .map((unit) => demandOf(snapshot, status, unit));
  const all = [demandOfReplica(snapshot, status), ...wishes];
  return {
    chains: inLaneOrder(all.flatMap((wish) => wish.chains)),
    holds: all.flatMap((wish) => wish.holds),
  };
}

/** The two halves of a pair are seen together, or not at all. */
function isBlind(snapshot: Snapshot, { index, row }: Unit): boolean {
  return snapshot.blind.has(index) || (row.kind === 'gangFrom' && snapshot.blind.has(row.op.surgeIndex));
}

function demandOf(snapshot: Snapshot, status: DecodedStatus, unit: Unit): Demand {
  const { row } = unit;
  switch (row.kind) {
    case 'creating':
      return demandOfCreate(snapshot, unit, row);
    case 'updating':
      if (isSurging(row)) return demandOfSurge(snapshot, unit, row);
      if (isRecreating(row)) return demandOfRecreate(snapshot, unit, row);
      return isInPlace(row) ? demandOfInPlace(snapshot, unit, row) : nothing;
    case 'gangFrom':
      return demandOfGangSurge(snapshot, status.rows, unit, row);
    case 'deleting':
      return demandOfDelete(snapshot, unit, row);
    case 'failed':
      return row.kept === undefined ? demandOfResting(snapshot, unit, row) : demandOfFailedKeeping(snapshot, unit, row);
    case 'ready':
    case 'pending':
      return demandOfResting(snapshot, unit, row);
    case 'parked':
      return demandOfFailedKeeping(snapshot, unit, row);
    // Asked for by its source.
    case 'gangTo':
    case 'restarting':
    case 'migrateFrom':
    case 'migrateTo':
    case 'foreign':
      return nothing;
  }
}

function inLaneOrder(chains: readonly Chain[]): readonly Chain[] {
  return lanes.flatMap((lane) => chains.filter((chain) => chain.lane === lane));
}
