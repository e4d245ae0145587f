/** What a change would wait for: on its way, and in the end. */
import type { Index } from '@omenative/api';
import type { Hold, PlanSpec, Snapshot } from '@omenative/engine';
import { type WakeReport, wakesOf } from '../explain/wakes.js';
import type { Rehearsal } from '../rehearsal/rehearse.js';

export interface WaitReport {
  readonly reason: Hold['is'];
  readonly instances: readonly Index[];
  readonly text: string;
  /** `byItself`: the change goes on after it. `never`: this is where it stops. */
  readonly ends: 'byItself' | 'never';
  readonly wakes: readonly WakeReport[];
}

/** What every step has, and what makes the waves. */
const ordinary: ReadonlySet<Hold['is']> = new Set<Hold['is']>([
  'Starting',
  'Draining',
  'PodsTerminating',
  'Unproved',
  'Blind',
  'Budget',
]);

export function waitsOf(rehearsal: Rehearsal): readonly WaitReport[] {
  const { pauses, waits, endedAt } = rehearsal;
  const last = new Map<Hold['is'], Hold[]>();
  for (const hold of waits) last.set(hold.is, [...(last.get(hold.is) ?? []), hold]);
  const passing = pauses
    .filter(({ hold }) => !ordinary.has(hold.is) && !last.has(hold.is))
    .map(({ hold, instances, since }): WaitReport => {
      return { reason: hold.is, instances, text: hold.text, ends: 'byItself', wakes: wakesOf(hold.wake, since) };
    });
  const standing = [...last.values()].flatMap((holds): WaitReport[] => {
    const [first] = holds;
    if (first === undefined) return [];
    const instances = holds.flatMap(({ index }) => (index === undefined ? [] : [index]));
    return [{ reason: first.is, instances, text: first.text, ends: 'never', wakes: wakesOf(first.wake, endedAt) }];
  });
  return [...passing, ...standing];
}

/** Instances that the change leaves on another revision than the target. */
export interface StayReport {
  readonly instances: readonly Index[];
  readonly revision: string;
  readonly because: string;
}

export function staysOf(rehearsal: Rehearsal, { target, spec }: Snapshot): readonly StayReport[] {
  const behind = new Map<string, Index[]>();
  for (const row of rehearsal.status.rows.values()) {
    if (row.kind === 'deleting' || row.running === '' || row.running === target) continue;
    behind.set(row.running, [...(behind.get(row.running) ?? []), row.index]);
  }
  return [...behind].map(([revision, indices]) => {
    const instances = indices.toSorted((a, b) => a - b);
    return { instances, revision, because: reasonOf(rehearsal.waits, instances, spec) };
  });
}

/** What keeps these Instances where they are: a wait of theirs or of the whole, else what the spec says. */
function reasonOf(waits: readonly Hold[], instances: readonly Index[], { pause, update }: PlanSpec): string {
  const hold = waits.find(({ index }) => index === undefined || instances.includes(index));
  if (hold !== undefined) return `${hold.is}: ${hold.text}`;
  if (pause !== 'running') return `the rollout is paused (${pause}): they move when it is resumed`;
  const { partition } = update;
  return `partition ${partition} keeps the ${partition === 1 ? 'lowest' : `${partition} lowest`} where they are`;
}
