/** Waits that several operations have in common, in one wording and with one wake each. */
import type { Index, OperationBase, Rev, Sec } from '@omenative/api';
import { onPods, podsOrAt, type Step } from '../draft.js';
import type { Hold } from '../hold.js';
import { unreadableGates } from '../say.js';
import type { PodView, Snapshot } from '../snapshot.js';
import { isTerminating } from '../units.js';

/** Only time is missing: `what` is said of pods that serve. `podsOf` is where those pods are. */
export function staysReady(snapshot: Snapshot, index: Index, what: string, at: Sec, podsOf: Index = index): Step {
  const text = `${what} for ${snapshot.spec.minReadySeconds} s`;
  return { to: 'wait', hold: { is: 'MinReady', index, text, wake: podsOrAt(podsOf, at) } };
}

/** Pods on their way out: `drains` while they leave rotation, `goes` once all are dying. Their names follow either. */
export function leaving(
  index: Index,
  pods: readonly PodView[],
  { drains, goes }: { readonly drains: string; readonly goes: string },
  at?: Sec,
): Hold {
  const names = pods.map((pod) => pod.name).join(', ');
  const isDying = pods.every(isTerminating);
  const unreadable = unreadableGates(pods);
  return {
    is: isDying ? 'PodsTerminating' : unreadable === '' ? 'Draining' : 'GateUnreadable',
    index,
    text: isDying ? `${goes}: ${names}` : `${drains}: ${names}${unreadable}`,
    wake: [{ on: 'slice', key: String(index) }, ...podsOrAt(index, at)],
  };
}

/** The rollout is paused before a step that takes something away. */
export function untilResumed(index: Index, text: string): Step {
  return { to: 'wait', hold: { is: 'Paused', index, text, wake: [{ user: 'spec' }] } };
}

/** The same operation type is never opened twice on one index in one second: its identity would be the same. */
export function mayReopen(op: OperationBase, now: Sec): boolean {
  return op.startedAt !== now;
}

export function reopensNextSecond(snapshot: Snapshot, index: Index, target: Rev): Step {
  return {
    to: 'wait',
    hold: {
      is: 'Starting',
      index,
      text: `Instance ${index} starts over at ${target} in the next second`,
      wake: [{ at: snapshot.now + 1 }, onPods(index)],
    },
  };
}
