/** Moving a row from one state to another without losing what outlives the state. */
import type { InstanceRow, RowBase } from '@omenative/api';

/** The part of a row that every state has. */
export function rest(row: InstanceRow): RowBase {
  const { index, incarnation, activeOrdinal, running, target, readySince, lastFailure } = row;
  const { announced, conditions, published, carry } = row;
  return {
    index,
    incarnation,
    activeOrdinal,
    running,
    target,
    ...(readySince === undefined ? {} : { readySince }),
    ...(lastFailure === undefined ? {} : { lastFailure }),
    announced,
    conditions,
    published,
    carry,
  };
}

/** Its published phase is `Failed`, with or without an operation that is kept. */
export function isFailed(row: InstanceRow): boolean {
  return row.kind === 'failed' || ('phase' in row && row.phase === 'Failed');
}
