/** Through which pods an Instance serves at this moment, whatever its row is in the middle of. */
import type { InstanceRow } from '@omenative/api';
import { createSet } from './operations/create.js';
import { parkedSetOf } from './operations/parked.js';
import { restingSet } from './operations/resting.js';
import { replacementOf, sourceSetOf } from './operations/update-gang-surge.js';
import { inPlaceSetOf, isInPlace } from './operations/update-in-place.js';
import { isRecreating, recreateSetsOf } from './operations/update-recreate.js';
import { isSurging, surgePairOf } from './operations/update-surge.js';
import { servesNow } from './readiness.js';
import type { Snapshot } from './snapshot.js';
import type { PodSet, Unit } from './units.js';

/** Whether requests reach the Instance: its own pods serve or, in a surge, those that are about to be its own. */
export function isInService(snapshot: Snapshot, unit: Unit): boolean {
  return ownSets(snapshot, unit, unit.row).some(servesNow);
}

function ownSets(snapshot: Snapshot, unit: Unit, row: InstanceRow): readonly PodSet[] {
  switch (row.kind) {
    case 'creating':
      return [createSet(snapshot, unit, row)];
    case 'updating':
      if (isSurging(row)) return [restingSet(snapshot, unit, row), surgePairOf(snapshot, unit, row).replacement];
      if (isRecreating(row)) return [recreateSetsOf(snapshot, unit, row).set];
      return isInPlace(row) ? [inPlaceSetOf(snapshot, unit, row)] : [];
    case 'parked':
      return [parkedSetOf(snapshot, unit, row)];
    case 'gangFrom':
      return [sourceSetOf(snapshot, unit, row), replacementOf(snapshot, row)];
    // It counts with its source.
    case 'gangTo':
      return [];
    case 'ready':
    case 'pending':
    case 'failed':
    case 'restarting':
    case 'migrateFrom':
    case 'migrateTo':
    case 'deleting':
    case 'foreign':
      return [restingSet(snapshot, unit, row)];
  }
}
