/** The two halves of a gang surge, for tests: opened a minute before noon, with half an hour to go. */
import {
  type GangFromOp,
  type GangToOp,
  type Index,
  type InstanceRow,
  newRowBase,
  type RowBase,
  revisionHashOf,
} from '@omenative/api';
import type { GangMarkerRow, GangSourceRow } from '../operations/update-gang-surge.js';
import type { RunnerSpec } from '../snapshot.js';
import { dueAt, openedAt, type RowOptions } from './rows.js';
import { gang, noon, revisionOf } from './world.js';

/** A leader and one worker, unless a test says otherwise. */
export const pairRunners: readonly RunnerSpec[] = gang(1);

export interface SourceOptions extends RowOptions<GangFromOp> {
  readonly from?: string;
  readonly to?: string;
  readonly phase?: GangSourceRow['phase'];
}

/** A gang at `index` that is replaced by one at `surgeIndex`: from v1 to v2, at step Surge. */
export function sourceRow(index: Index, surgeIndex: Index, options: SourceOptions = {}): GangSourceRow {
  const { from = 'v1', to = 'v2', phase = 'Updating', runners = pairRunners } = options;
  const target = revisionOf(to, runners);
  return {
    ...newRowBase(index),
    running: revisionOf(from, runners),
    target,
    readySince: noon - 600,
    ...options.row,
    kind: 'gangFrom',
    phase,
    op: {
      type: 'Update',
      step: 'Surge',
      id: `update-${index}`,
      startedAt: openedAt,
      lastProgressAt: openedAt,
      deadline: dueAt,
      retryCount: 0,
      target,
      reason: 'test',
      waiting: '',
      strategy: 'SurgeThenDrain',
      carry: {},
      surgeIndex,
      ...options.op,
    },
  };
}

/** What the source's replacement is recorded as. */
export function markerRow(
  source: GangSourceRow,
  step: GangToOp['step'] = 'GangSurgeTarget',
  over: Partial<RowBase> = {},
): GangMarkerRow {
  const { surgeIndex, ...op } = source.op;
  const id = `update-${surgeIndex}-${openedAt}-${revisionHashOf(op.target)}`;
  const base = { ...newRowBase(surgeIndex), target: op.target, ...over };
  return { ...base, kind: 'gangTo', phase: 'Creating', op: { ...op, step, id } };
}

/** Both halves, as one write leaves them. */
export function pair(index: Index, surgeIndex: Index, options: SourceOptions = {}): readonly InstanceRow[] {
  const source = sourceRow(index, surgeIndex, options);
  return [source, markerRow(source)];
}
