/** What all updates have in common: how one is opened, and how it ends well. */
import type { InstanceRow, OperationBase, Rev, Sec, Strategy } from '@omenative/api';
import type { Step } from '../draft.js';
import { sayInstance } from '../say.js';
import type { Snapshot } from '../snapshot.js';
import { newOperation } from './operation.js';
import { rest } from './row.js';

/** The fields of a fresh update. */
export function newUpdate(
  snapshot: Snapshot,
  row: Pick<InstanceRow, 'index' | 'running'>,
  target: Rev,
  strategy: Strategy,
): OperationBase & { readonly type: 'Update' } {
  const identity = { verb: 'update', index: row.index, target } as const;
  return { ...newOperation(snapshot, identity, changeOf(row, target)), type: 'Update', strategy };
}

/** Why an update exists. */
export function changeOf({ running }: Pick<InstanceRow, 'running'>, target: Rev): string {
  return `revision ${running || 'unknown'} -> ${target}`;
}

/** The row of an Instance that runs what its update aimed at. */
export function updated(row: InstanceRow, target: Rev, readySince: Sec): InstanceRow {
  return { ...rest(row), kind: 'ready', running: target, target: '', readySince };
}

/** The end of an update that changed no other row: `next` is the Instance as it runs the target. */
export function completed(
  snapshot: Snapshot,
  { op }: { readonly op: OperationBase },
  next: InstanceRow,
  reason: 'RecreateUpdateCompleted' | 'InPlaceUpdateCompleted',
): Step {
  const said = sayInstance(snapshot, 'Normal', reason, next.index, op.id, `runs revision ${op.target}`);
  return { to: 'row', row: next, proved: op.target, events: [said] };
}
