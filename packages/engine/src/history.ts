/** What is kept of the past: revisions that nobody needs any more, and the retry blocks of revisions nobody aims at. */
import type { DecodedStatus, InstanceRow, RetryBlock, Rev } from '@omenative/api';
import type { Effect } from './effects.js';
import { keyOfObject } from './keys.js';
import type { Snapshot, StoredRevision } from './snapshot.js';

/** Revisions that a row, its operation, or the rollout as a whole names: they are never pruned. */
export function liveRevisions(snapshot: Snapshot, status: DecodedStatus): ReadonlySet<Rev> {
  const named = [snapshot.specRevision, snapshot.target, status.current, status.update];
  for (const row of status.rows.values()) named.push(row.running, row.target, targetOf(row));
  return new Set(named.filter((rev) => rev !== ''));
}

function targetOf(row: InstanceRow): Rev | '' {
  if (row.kind === 'failed') return row.kept?.target ?? '';
  return row.kind === 'foreign' || !('op' in row) ? '' : row.op.target;
}

/**
 * Deletes the oldest of the revisions that are not live, beyond the limit. Without a limit all are kept; a state that this
 * version can't read may name any of them, so then none is deleted.
 */
export function prunedRevisions(snapshot: Snapshot, status: DecodedStatus): readonly Effect[] {
  const limit = snapshot.spec.revisionHistoryLimit ?? snapshot.config.revisionHistoryLimit;
  if (limit === undefined || [...status.rows.values()].some((row) => row.kind === 'foreign')) return [];
  const live = liveRevisions(snapshot, status);
  const hashes = new Set([...snapshot.pods.values()].flat().map((pod) => pod.revisionHash));
  return [...snapshot.revisions.values()]
    .filter((stored): stored is StoredRevision => stored !== 'gone')
    .filter((stored) => !live.has(stored.name) && !hashes.has(stored.hash))
    .toSorted((a, b) => b.number - a.number)
    .slice(limit)
    .map((stored) => ({
      do: 'deleteRevision',
      key: keyOfObject('deleteRevision', stored.name),
      covers: { by: 'rule', rule: 'object' },
      rev: stored.name,
      uid: stored.uid,
    }));
}

/**
 * Blocks of revisions that are current, wanted or being tried are kept; of the others, which only tell a story, the newest
 * few.
 */
export function keptBlocks(snapshot: Snapshot, status: DecodedStatus): readonly RetryBlock[] {
  const live = liveRevisions(snapshot, status);
  const superseded = status.blocks
    .filter((block) => !live.has(block.target))
    .toSorted((a, b) => (b.lastFailureAt ?? 0) - (a.lastFailureAt ?? 0))
    .slice(0, snapshot.config.retryBlockHistoryLimit ?? 0);
  const kept = status.blocks.filter((block) => live.has(block.target) || superseded.includes(block));
  return kept.length === status.blocks.length ? status.blocks : kept;
}
