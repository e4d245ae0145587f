/** How one Instance moves to the target: what the strategy asks for, and what its pods allow. */
import type { Rev } from '@omenative/api';
import { stuckContainers } from './failure.js';
import { restingSet } from './operations/resting.js';
import { diffOf, hasImagesOf } from './operations/update-in-place.js';
import { servesNow } from './readiness.js';
import type { Snapshot } from './snapshot.js';
import { isLive, runnersOf, type Unit } from './units.js';

export type Mechanism =
  | { readonly by: 'surge' | 'gangSurge' | 'recreate' }
  /** `stays`: the pod has the images already, so it does not leave rotation for what is left: metadata. */
  | { readonly by: 'inPlace'; readonly stays: boolean }
  | { readonly by: 'none'; readonly refusal: string };

export function mechanismOf(snapshot: Snapshot, unit: Unit, target: Rev): Mechanism {
  const { type } = snapshot.spec.update;
  const isGang = hasLeader(snapshot, unit.row.running) || hasLeader(snapshot, target);
  switch (type) {
    case 'SurgeThenDrain':
      // A second pod beside one that is broken for good would only take room that its replacement needs.
      if (isBroken(snapshot, unit)) return { by: 'recreate' };
      return { by: isGang ? 'gangSurge' : 'surge' };
    case 'RecreatePod':
      return { by: 'recreate' };
    case 'InPlaceIfPossible':
    case 'InPlaceOnly': {
      if (isGang) return { by: 'recreate' };
      if (diffOf(snapshot, unit, unit.row, target) !== undefined) {
        return { by: 'inPlace', stays: hasImagesOf(snapshot, unit, target) };
      }
      // Where no pod lives there is nothing that could be changed in place, so nothing to refuse.
      if (type === 'InPlaceIfPossible' || !unit.pods.some(isLive)) return { by: 'recreate' };
      return { by: 'none', refusal: 'InPlaceOnly strategy but diff exceeds container images' };
    }
  }
}

function hasLeader(snapshot: Snapshot, rev: Rev | ''): boolean {
  return runnersOf(snapshot, rev).some((runner) => runner.name === 'leader');
}

/** It serves nothing and a container of it has been stuck past the grace. A short darkness is not that: it may pass. */
function isBroken(snapshot: Snapshot, unit: Unit): boolean {
  const grace = snapshot.config.stuckPodGraceSec;
  const set = restingSet(snapshot, unit, unit.row);
  if (grace === undefined || grace <= 0 || servesNow(set)) return false;
  return stuckContainers(set.live, 0).some(({ since }) => since + grace <= snapshot.now);
}
