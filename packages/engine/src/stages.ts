/** Units as the stages of a transition see them: with the rows as decided so far in this pass. */
import type { Draft } from './draft.js';
import { type Unit, unitsOf } from './units.js';

/** The unit with its row as decided so far. */
export function current(draft: Draft, unit: Unit): Unit {
  const row = draft.rows.get(unit.index);
  return row === undefined || row === unit.row ? unit : { ...unit, row };
}

/** Those of `units` that no stage has claimed yet. */
export function freeUnits(draft: Draft, units: readonly Unit[]): readonly Unit[] {
  return units
    .filter((unit) => !draft.claimed.has(unit.index) && draft.rows.has(unit.index))
    .map((unit) => current(draft, unit));
}

export function allUnits(draft: Draft): readonly Unit[] {
  return unitsOf(draft.snapshot, draft.rows);
}
