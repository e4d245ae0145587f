/** What the controller has decided and will do in its next pass, in words. */
import type { Effect, Plan } from '@omenative/engine';
import { shortRevision } from '../report/names.js';

/** One sentence an effect. While a manager works they are gone a moment later. */
export function dueOf(plan: Plan): readonly string[] {
  return [...plan.prepare, ...plan.chains.flatMap((chain) => chain.effects)].map(wordsOf);
}

function wordsOf(effect: Effect): string {
  switch (effect.do) {
    case 'finalizer':
      return effect.change === 'add' ? 'put our finalizer on the replica' : 'take our finalizer off the replica';
    case 'createRevision':
      return `store ControllerRevision ${effect.rev}`;
    case 'deleteRevision':
      return `delete ControllerRevision ${effect.rev}`;
    case 'ensureHeadless':
      return 'create or correct the headless Service';
    case 'deleteHeadless':
      return 'delete the headless Service';
    case 'createPod':
      return `create pod ${effect.name} at revision ${shortRevision(effect.rev)}`;
    case 'gate':
      return effect.change === 'add'
        ? `take pod ${effect.pod.name} out of rotation`
        : `let pod ${effect.pod.name} into rotation`;
    case 'patchInPlace': {
      const images = Object.entries(effect.images).map(([name, image]) => `${name}=${image}`);
      return `patch pod ${effect.pod.name} in place${images.length === 0 ? '' : `: ${images.join(', ')}`}`;
    }
    case 'dropMarker':
      return `take the marker of an in-place update off pod ${effect.pod.name}`;
    case 'ackMail':
      return `take annotation ${effect.annotation} off the replica: it has been obeyed`;
    case 'deletePod':
      return `delete pod ${effect.pod.name}`;
  }
}
