/**
 * Pods of ours without a row: an earlier leader's write that arrived late, or a status that was lost. They get a row before
 * anything is done about them. Where an Instance is wanted and the pods agree on a revision that is still stored, they are
 * taken in as an attempt to create it; otherwise as one to be deleted.
 */
import { type InstanceRow, newRowBase, type Rev } from '@omenative/api';
import { apply, type Draft } from '../draft.js';
import type { PodView, Snapshot } from '../snapshot.js';
import { isLive, podsWithoutRow } from '../units.js';
import { openCreate } from './create.js';
import { openDelete } from './delete.js';

/** `wanted` is how many Instances the component still lacks. */
export function adoptPods(draft: Draft, wanted: number): void {
  const { snapshot } = draft;
  let places = snapshot.replica.deletingSince === undefined && snapshot.spec.pause === 'running' ? wanted : 0;
  for (const { index, pods } of podsWithoutRow(snapshot, draft.rows)) {
    if (snapshot.blind.has(index)) continue;
    const life = places > 0 ? lifeOf(snapshot, pods) : undefined;
    if (life === undefined) {
      const base: InstanceRow = { ...newRowBase(index), kind: 'pending' };
      apply(draft, index, { to: 'row', row: openDelete(snapshot, base, 'pods without a row') });
      continue;
    }
    places -= 1;
    const base = { ...newRowBase(index), incarnation: life.incarnation, activeOrdinal: life.activeOrdinal };
    apply(draft, index, { to: 'row', row: openCreate(snapshot, base, life.rev, 'pods without a row are taken in') });
  }
}

interface Life {
  readonly rev: Rev;
  readonly incarnation: number;
  readonly activeOrdinal: 0 | 1;
}

/** The one life that all live pods belong to; undefined when they disagree or their revision is not stored. */
function lifeOf(snapshot: Snapshot, pods: readonly PodView[]): Life | undefined {
  const live = pods.filter(isLive);
  const first = live[0];
  const incarnation = first?.incarnation;
  if (first === undefined || incarnation === undefined || live.length !== pods.length) return undefined;
  const agree = live.every((pod) => pod.revisionHash === first.revisionHash && pod.incarnation === incarnation);
  const rev = [...snapshot.revisions].find(
    ([, stored]) => stored !== 'gone' && stored.hash === first.revisionHash,
  )?.[0];
  if (!agree || rev === undefined) return undefined;
  if (first.runner !== 'default') return { rev, incarnation, activeOrdinal: 0 };
  // Two live pods of a single-pod Instance are half of an update whose record is lost: start over.
  return live.length === 1 ? { rev, incarnation, activeOrdinal: first.name.endsWith('-1') ? 1 : 0 } : undefined;
}
