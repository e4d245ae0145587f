/**
 * Pods of ours without a row: an earlier leader's write that arrived late, or a status that was lost. They get a row before
 * anything is done about them. Where an Instance is wanted and a revision of the pods is still stored, they are taken in as
 * an attempt to create it; otherwise as one to be deleted.
 */
import { type InstanceRow, newRowBase, type Rev } from '@omenative/api';
import { apply, type Draft } from '../draft.js';
import type { PodView, Snapshot } from '../snapshot.js';
import { isLive, isOf, isServing, podsWithoutRow } from '../units.js';
import { openCreate } from './create.js';
import { openDelete } from './delete.js';

/**
 * `wanted` is how many Instances the component still lacks. A pause changes nothing: what is taken in exists already, and the
 * alternative would be to delete pods that serve.
 */
export function adoptPods(draft: Draft, wanted: number): void {
  const { snapshot } = draft;
  let places = snapshot.replica.deletingSince === undefined ? wanted : 0;
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

/** The life to go on with; undefined when no live pod, or no agreement in a gang, shows one of a stored revision. */
function lifeOf(snapshot: Snapshot, pods: readonly PodView[]): Life | undefined {
  const lives = pods.filter(isLive).flatMap((pod) => {
    const life = lifeOfPod(snapshot, pod);
    return life === undefined ? [] : [{ pod, life }];
  });
  const isSingle = lives.every(({ pod }) => pod.runner === 'default');
  if (isSingle) return lives.toSorted((a, b) => worth(snapshot, b.pod) - worth(snapshot, a.pod))[0]?.life;
  const first = lives[0]?.life;
  const agree = lives.every(({ life }) => life.rev === first?.rev && life.incarnation === first.incarnation);
  return agree && lives.length === pods.length ? first : undefined;
}

function lifeOfPod(snapshot: Snapshot, pod: PodView): Life | undefined {
  const rev = revisionOfPod(snapshot, pod);
  if (rev === undefined || pod.incarnation === undefined) return undefined;
  const activeOrdinal = pod.runner === 'default' && pod.name.endsWith('-1') ? 1 : 0;
  return { rev, incarnation: pod.incarnation, activeOrdinal };
}

/** The revision of the spec counts as stored: where it is not, this very pass stores it before it writes the row. */
function revisionOfPod(snapshot: Snapshot, pod: PodView): Rev | undefined {
  if (pod.revisionHash === '') return undefined;
  const stored = [...snapshot.revisions].filter(([, revision]) => revision !== 'gone').map(([name]) => name);
  return [snapshot.specRevision, ...stored].find((rev) => isOf(pod, rev));
}

/** Two pods of a single-pod Instance are an update whose record is lost: the one that serves is kept, else the newer one. */
function worth(snapshot: Snapshot, pod: PodView): number {
  return (isServing(pod) ? 2 : 0) + (isOf(pod, snapshot.target) ? 1 : 0);
}
