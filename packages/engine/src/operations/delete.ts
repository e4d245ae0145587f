/**
 * Delete: an Instance leaves because the component scales down or goes away. All its pods leave rotation before the first
 * is deleted, and its row stays until the last of them is proved gone.
 */
import type { DeleteOp, InstanceRow } from '@omenative/api';
import { isOverdue } from '../clock.js';
import { needsProof, type Step } from '../draft.js';
import { announce, sayInstance, unreadableGates } from '../say.js';
import type { Snapshot } from '../snapshot.js';
import { areProvedAbsent, isTerminating, slotsOf, type Unit } from '../units.js';
import { newOperation } from './operation.js';
import { rest } from './row.js';
import { leaving } from './waits.js';

export type DeletingRow = InstanceRow & { readonly kind: 'deleting' };

/** The row that starts the drain; nothing outside happens before it is persisted. */
export function openDelete(snapshot: Snapshot, row: InstanceRow, reason: string): DeletingRow {
  const identity = { verb: 'delete', index: row.index, target: '' } as const;
  const op: DeleteOp = { ...newOperation(snapshot, identity, reason), type: 'Delete', step: 'Drain' };
  return { ...rest(row), kind: 'deleting', op };
}

const overdue = 'DrainOverdue';

/** Its deadline has passed with pods left: said once, and from then on the drain no longer waits for rotation. */
export function isDrainOverdue(snapshot: Snapshot, row: DeletingRow): boolean {
  return isOverdue(row.op, snapshot.now) && row.announced.includes(`${overdue}@${row.op.id}`);
}

export function advanceDelete(snapshot: Snapshot, unit: Unit, row: DeletingRow): Step {
  const { now } = snapshot;
  if (unit.pods.length === 0) {
    const slots = slotsOf(snapshot, row.index, row.activeOrdinal, row.running || row.target);
    return areProvedAbsent(snapshot, row.index, slots)
      ? { to: 'removed' }
      : needsProof(row.index, `the pods of Instance ${row.index} seem to be gone`);
  }
  const names = unit.pods.map((pod) => pod.name).join(', ');
  if (isOverdue(row.op, now) && !row.announced.includes(`${overdue}@${row.op.id}`)) {
    const deadline = row.op.deadline ?? now;
    const dying = unit.pods.filter(isTerminating).length;
    const message = `drain overdue by ${now - deadline} s; ${unit.pods.length} pod(s) left, ${dying} of them Terminating (${names})`;
    return {
      to: 'row',
      row: {
        ...row,
        announced: announce(row, `${overdue}@${row.op.id}`),
        lastFailure: {
          podName: unit.pods[0]?.name ?? '',
          containerName: '',
          reason: overdue,
          message: message.slice(0, 256),
          time: deadline,
        },
      },
      events: [sayInstance(snapshot, 'Warning', overdue, row.index, row.op.id, `${message}. ${adviceOn(unit)}`)],
    };
  }
  const hold = leaving(
    row.index,
    unit.pods,
    {
      drains: `Instance ${row.index} leaves rotation before its pods are deleted`,
      goes: `Instance ${row.index} goes when its pods have ended`,
    },
    isOverdue(row.op, now) ? undefined : row.op.deadline,
  );
  return { to: 'wait', hold };
}

/** What to look at when a drain is late. */
function adviceOn(unit: Unit): string {
  const unreadable = unreadableGates(unit.pods);
  if (unreadable !== '') return `The pods that are left are deleted now${unreadable}`;
  const dying = unit.pods.find(isTerminating);
  return dying === undefined
    ? 'The pods that are left are deleted now, though requests may still reach them'
    : `A pod that stays Terminating is held by its node or by a finalizer: see \`kubectl get pod ${dying.name} -o yaml\``;
}
