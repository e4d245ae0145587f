/**
 * Create: the pods of a new, Pending or failed Instance, until all of them may serve. The row is persisted before the first
 * pod exists, names are deterministic, and what is missing is derived anew each pass, so a crash leaves nothing behind.
 */
import type { CreateOp, InstanceRow, Rev, RowBase, Sec } from '@omenative/api';
import { revisionHashOf } from '@omenative/api';
import { podsOrAt, type Step } from '../draft.js';
import type { EventIntent } from '../effects.js';
import { isContainersReady, promotionOf } from '../readiness.js';
import { sayInstance } from '../say.js';
import type { Snapshot } from '../snapshot.js';
import { type PodSet, podSetOf, slotsOf, type Unit } from '../units.js';
import { newOperation } from './operation.js';
import { recycleStep } from './recycle.js';
import { rest } from './row.js';
import { mayReopen, reopensNextSecond, staysReady } from './waits.js';

export type CreatingRow = InstanceRow & { readonly kind: 'creating' };

/** The row that starts an attempt at `rev`. */
export function openCreate(snapshot: Snapshot, base: RowBase, rev: Rev, reason: string): CreatingRow {
  const identity = { verb: 'create', index: base.index, target: rev } as const;
  const op: CreateOp = { ...newOperation(snapshot, identity, reason), type: 'Create', step: 'CreatePods' };
  return { ...base, kind: 'creating', target: rev, op };
}

/** The set that the attempt builds. */
export function createSet(snapshot: Snapshot, unit: Unit, row: CreatingRow): PodSet {
  const slots = slotsOf(snapshot, row.index, row.activeOrdinal, row.op.target);
  return podSetOf(unit, slots, row.op.target, row.incarnation);
}

/** One pass over an attempt. `wanted` is the revision that an Instance at this index should be built at now. */
export function advanceCreate(snapshot: Snapshot, unit: Unit, row: CreatingRow, wanted: Rev): Step {
  const { now, spec } = snapshot;
  const set = createSet(snapshot, unit, row);
  if (row.op.target !== wanted && spec.pause === 'running' && !isContainersReady(set)) {
    return supersede(snapshot, row, wanted);
  }
  const recycle = recycleStep(snapshot, unit, row, set);
  if (recycle !== undefined) return recycle;
  if (!isContainersReady(set)) {
    return { to: 'wait', hold: starting(row, set) };
  }
  const promotion = promotionOf(set, spec.minReadySeconds, now);
  switch (promotion.is) {
    case 'now':
      return {
        to: 'row',
        row: promoted(row, set, promotion.readySince),
        proved: row.op.target,
        events: [ready(snapshot, row)],
      };
    case 'later':
      return staysReady(snapshot, row.index, `Instance ${row.index} is ready and must stay so`, promotion.at);
    case 'never':
      return {
        to: 'wait',
        hold: {
          is: 'Starting',
          index: row.index,
          text: `Instance ${row.index} enters rotation: ${promotion.lacking.map((pod) => pod.name).join(', ')} not Ready yet`,
          wake: podsOrAt(row.index, row.op.deadline),
        },
      };
  }
}

/** A never-finished attempt at another revision is replaced by a new one, without a failure and without a wait. */
function supersede(snapshot: Snapshot, row: CreatingRow, wanted: Rev): Step {
  if (!mayReopen(row.op, snapshot.now)) return reopensNextSecond(snapshot, row.index, wanted);
  const next = openCreate(snapshot, rest(row), wanted, `superseded ${row.op.target}`);
  return {
    to: 'row',
    row: next,
    tries: wanted,
    events: [
      sayInstance(
        snapshot,
        'Normal',
        'CreateAttemptSuperseded',
        row.index,
        next.op.id,
        `the attempt at revision ${row.op.target} is replaced by one at ${wanted}`,
      ),
    ],
  };
}

/** The running revision is stamped only when every pod says it is of it. */
function promoted(row: CreatingRow, set: PodSet, readySince: Sec): InstanceRow {
  const { op } = row;
  const hash = revisionHashOf(op.target);
  const proved = set.live.every((pod) => pod.revisionHash === hash);
  return { ...rest(row), kind: 'ready', running: proved ? op.target : '', target: '', readySince };
}

function ready(snapshot: Snapshot, row: CreatingRow): EventIntent {
  return sayInstance(snapshot, 'Normal', 'InstanceReady', row.index, row.op.id, `ready at revision ${row.op.target}`);
}

function starting(row: CreatingRow, set: PodSet) {
  const missing = set.slots.filter(({ occupant }) => occupant.is !== 'live').map(({ slot }) => slot.name);
  const unready = set.live.filter((pod) => !pod.containersReady).map((pod) => pod.name);
  const text =
    missing.length > 0
      ? `Instance ${row.index} is being created: no live pod yet for ${missing.join(', ')}`
      : `Instance ${row.index} is starting: containers not ready in ${unready.join(', ')}`;
  return { is: 'Starting', index: row.index, text, wake: podsOrAt(row.index, row.op.deadline) } as const;
}
