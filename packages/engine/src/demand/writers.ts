/** Who holds pods out of rotation in our name, and what takes a pod in or out. */
import type { Cover, Effect, PodRef } from '../effects.js';
import { keyOfGate, keyOfObject } from '../keys.js';
import type { GateHold, GateView, PodView } from '../snapshot.js';

/** Until all containers of the Instance were ready once; a pod without the condition holds it implicitly. */
export const lifecycleHold: GateHold = { writer: 'Lifecycle', key: 'instance-ready' };

export function surgeDrainHold(index: number, newOrdinal: number): GateHold {
  return { writer: 'UpdateSurgeDrain', key: `update-surge-drain-${index}-${newOrdinal}` };
}

export function deleteDrainHold(index: number): GateHold {
  return { writer: 'DeleteDrain', key: String(index) };
}

export function recreateDrainHold(index: number, incarnation: number): GateHold {
  return { writer: 'UpdateRecreateDrain', key: `${index}-${incarnation}` };
}

export function inPlaceHold(index: number, incarnation: number): GateHold {
  return { writer: 'UpdateInPlace', key: `${index}-${incarnation}` };
}

export function gangDrainHold(index: number): GateHold {
  return { writer: 'UpdateSurgeDrain', key: `gang-surge-source-${index}` };
}

/** Writers of this controller. A hold of anybody else keeps its pod out and is never removed by us. */
const ours: ReadonlySet<string> = new Set([
  'Lifecycle',
  'UpdateInPlace',
  'UpdateRecreateDrain',
  'UpdateSurgeDrain',
  'RestartDrain',
  'DeleteDrain',
  'MigrateSourceDrain',
]);

export function refOf(pod: PodView): PodRef {
  return { name: pod.name, uid: pod.uid, resourceVersion: pod.resourceVersion };
}

export function hasHold(pod: PodView, hold: GateHold): boolean {
  return (
    pod.gate.state === 'false' && pod.gate.holds.some((other) => other.writer === hold.writer && other.key === hold.key)
  );
}

/** Takes `pod` out of rotation. Nothing when it already is, by this hold. */
export function unroute(pod: PodView, hold: GateHold, covers: Cover): readonly Effect[] {
  if (pod.gate.state === 'malformed' || hasHold(pod, hold)) return [];
  return [gateEffect(pod, hold, 'add', covers)];
}

/** Takes back every hold of ours but `except`. A pod that was never in rotation loses its lifecycle hold. */
export function route(pod: PodView, covers: Cover, except?: GateHold): readonly Effect[] {
  switch (pod.gate.state) {
    case 'true':
    case 'malformed':
      return [];
    case 'absent':
      return [gateEffect(pod, lifecycleHold, 'remove', covers)];
    case 'false':
      return pod.gate.holds
        .filter((hold) => ours.has(hold.writer))
        .filter((hold) => hold.writer !== except?.writer || hold.key !== except.key)
        .map((hold) => gateEffect(pod, hold, 'remove', covers));
  }
}

/** The gate after one hold more, or one less. Every pod is born with the lifecycle hold, written down or not. */
export function changedGate(gate: GateView, hold: GateHold, change: 'add' | 'remove'): GateView {
  if (gate.state === 'malformed') return gate;
  const held = gate.state === 'false' ? gate.holds : gate.state === 'absent' ? [lifecycleHold] : [];
  const isMeant = (other: GateHold): boolean =>
    other.writer === hold.writer && (hold.writer === lifecycleHold.writer || other.key === hold.key);
  const others = held.filter((other) => !isMeant(other));
  const holds = change === 'add' ? [...others, hold] : others;
  return holds.length === 0 ? { state: 'true' } : { state: 'false', holds };
}

function gateEffect(pod: PodView, hold: GateHold, change: 'add' | 'remove', covers: Cover): Effect {
  return {
    do: 'gate',
    key: keyOfGate(pod.name, pod.uid, change, hold.writer),
    covers,
    pod: refOf(pod),
    hold,
    change,
  };
}

/** The record of an update in place that is over. */
export function dropMarker(pod: PodView): readonly Effect[] {
  if (pod.inPlace === undefined) return [];
  const covers = { by: 'rule', rule: 'marker' } as const;
  return [{ do: 'dropMarker', key: keyOfObject('dropMarker', pod.uid), covers, pod: refOf(pod) }];
}
