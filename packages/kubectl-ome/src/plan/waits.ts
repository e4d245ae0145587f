/** What a change would wait for: on its way, and in the end. */
import type { Index } from '@omenative/api';
import type { Hold } from '@omenative/engine';
import { type WakeReport, wakesOf } from '../explain/wakes.js';
import type { Rehearsal } from '../rehearsal/rehearse.js';
import { ranges } from '../report/table.js';

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

export function staysOf(rehearsal: Rehearsal, target: string, partition: number): readonly StayReport[] {
  const behind = new Map<string, Index[]>();
  for (const row of rehearsal.status.rows.values()) {
    if (row.kind === 'deleting' || row.running === '' || row.running === target) continue;
    behind.set(row.running, [...(behind.get(row.running) ?? []), row.index]);
  }
  const { waits } = rehearsal;
  return [...behind].map(([revision, instances]) => {
    const sorted = instances.toSorted((a, b) => a - b);
    const hold = waits.find(({ index }) => index === undefined || sorted.includes(index));
    const kept = partition > 0 ? `partition ${partition} keeps the ${partition} lowest where they are` : '';
    const because = hold === undefined ? kept || `Instance ${ranges(sorted)} may not move` : `${hold.is}: ${hold.text}`;
    return { instances: sorted, revision, because };
  });
}
