/**
 * Which Instances start to move to the target in this pass. What serves nothing goes first, then ascending index; the first
 * refusal is published as `status.rolloutHold`, so that a rollout is never stuck in silence.
 */
import type { RolloutGate } from '@omenative/api';
import { apply, type Draft } from './draft.js';
import { restingSet } from './operations/resting.js';
import { isSurging, openSurge } from './operations/update-surge.js';
import { partitionHeld, SurgeAdmission, slotFreedAt } from './pacing.js';
import { servesNow } from './readiness.js';
import { isGang, type Unit, unitsOf } from './units.js';

/** `free` are the units that no operation claimed in this pass. */
export function startUpdates(draft: Draft, free: readonly Unit[]): void {
  const { snapshot } = draft;
  const all = unitsOf(snapshot, draft.rows);
  draft.updatesMoved = all.some((unit) => isSurging(unit.row));
  if (snapshot.spec.pause !== 'running') return;
  const held = partitionHeld(snapshot, all);
  const candidates = free
    .filter((unit) => wantsUpdate(draft, unit) && !held.has(unit.index))
    .map((unit) => ({ unit, serves: servesNow(restingSet(snapshot, unit, unit.row)) }))
    .toSorted((a, b) => Number(a.serves) - Number(b.serves) || a.unit.index - b.unit.index);
  if (candidates.length === 0) return;
  const refusal = unsupported(draft);
  if (refusal !== undefined) {
    refuse(draft, 'Plan', refusal);
    return;
  }
  const admission = new SurgeAdmission(snapshot, all);
  let firstRefusal: string | undefined;
  for (const { unit } of candidates) {
    const refused = admission.admit(unit.index);
    firstRefusal ??= refused;
    if (refused !== undefined) continue;
    apply(draft, unit.index, openSurge(snapshot, unit.row, snapshot.target));
    draft.updatesMoved = true;
  }
  if (firstRefusal !== undefined) refuse(draft, 'Budget', firstRefusal, slotFreedAt(snapshot, all));
}

/** Off the target, at rest, and not refused for this very target before. */
function wantsUpdate(draft: Draft, unit: Unit): boolean {
  const { row } = unit;
  const { target } = draft.snapshot;
  if (row.kind === 'ready') return row.running !== target;
  if (row.kind !== 'failed') return false;
  return row.running !== '' && row.running !== target && row.target !== target;
}

/** What this version can't do yet waits under a name instead of doing something else. */
function unsupported(draft: Draft): string | undefined {
  const { spec, target } = draft.snapshot;
  if (isGang(draft.snapshot)) {
    return `update of multi-pod Instances to ${target} is not available in this version; the Instances stay on their revision; delete the pods of one to have it built anew on ${target}, or undo the change`;
  }
  if (spec.update.type !== 'SurgeThenDrain') {
    return `update strategy ${spec.update.type} is not available in this version; set lifecycle.updateStrategy.type to SurgeThenDrain`;
  }
  return undefined;
}

function refuse(draft: Draft, gate: RolloutGate, reason: string, at?: number): void {
  const { target } = draft.snapshot;
  draft.rolloutHold ??= { gate, reason, target };
  draft.holds.push({
    is: gate,
    target,
    text: reason,
    wake: [{ on: 'pod', key: '*' }, { user: 'spec' }, ...(at === undefined ? [] : [{ at }])],
  });
}
