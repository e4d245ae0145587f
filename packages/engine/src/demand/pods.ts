/** The effects that make pods and unmake them, with the conditions under which they may be asked for. */
import type { Index, InstanceRow, Rev } from '@omenative/api';
import { onPods } from '../draft.js';
import type { Cover, DeletePod, Effect, Outcome } from '../effects.js';
import type { Hold } from '../hold.js';
import { keyOfCreate, keyOfDelete } from '../keys.js';
import type { GateHold, PodView, Snapshot } from '../snapshot.js';
import { isOf, isTerminal, isTerminating, type PodSet } from '../units.js';
import { hasHold, refOf, unroute } from './writers.js';

export function coverOf(row: InstanceRow): Cover {
  if ('op' in row && row.kind !== 'foreign') return { by: 'operation', index: row.index, id: row.op.id };
  return { by: 'rule', rule: 'refill' };
}

function nameOfCover(covers: Cover): string {
  return covers.by === 'operation' ? covers.id : covers.rule;
}

export interface Wish {
  readonly effects: readonly Effect[];
  readonly holds: readonly Hold[];
}

/** Creates for the empty slots of `set`. A refusal that time may cure is tried again later, and says so. */
export function createMissing(
  snapshot: Snapshot,
  row: Pick<InstanceRow, 'index' | 'incarnation'>,
  set: PodSet,
  rev: Rev | '',
  covers: Cover,
): Wish {
  const missing = set.slots.filter(({ occupant }) => occupant.is === 'missing').map(({ slot }) => slot);
  if (missing.length === 0) return { effects: [], holds: [] };
  const isStored = rev === snapshot.target || rev === snapshot.specRevision || snapshot.revisions.get(rev) !== 'gone';
  if (rev === '' || !isStored) {
    const what = rev === '' ? 'its operation names no revision' : `ControllerRevision ${rev} is gone`;
    return {
      effects: [],
      holds: [
        {
          is: 'RevisionGone',
          index: row.index,
          text: `the pods of Instance ${row.index} can't be made: ${what}; publish a new revision, or resume the rollout`,
          wake: [{ on: 'revision', key: rev }, { user: 'spec' }],
        },
      ],
    };
  }
  const leaving = strangersIn(set, rev);
  if (leaving.length > 0) return { effects: [], holds: [notMixed(row.index, leaving)] };
  const effects: Effect[] = [];
  const holds: Hold[] = [];
  for (const slot of missing) {
    const key = keyOfCreate(slot.name, nameOfCover(covers));
    const refused = refusal(snapshot, row.index, slot.name, snapshot.inbox.get(key));
    if (refused === undefined) {
      effects.push({
        do: 'createPod',
        key,
        covers,
        name: slot.name,
        index: row.index,
        incarnation: row.incarnation,
        runner: slot.runner,
        ordinal: slot.ordinal,
        rev,
        avoidNodes: [],
      });
    } else {
      holds.push(refused);
      // The rest of a gang is of no use without this one: what can't be completed is not begun.
      break;
    }
  }
  return { effects, holds };
}

/** Pods of other revisions in the slots: members that a gang must not grow together with. */
function strangersIn(set: PodSet, rev: Rev): readonly PodView[] {
  return set.slots.flatMap(({ occupant }) =>
    occupant.is === 'missing' || isOf(occupant.pod, rev) ? [] : [occupant.pod],
  );
}

function notMixed(index: Index, leaving: readonly PodView[]): Hold {
  const names = leaving.map((pod) => pod.name).join(', ');
  return {
    is: 'PodsTerminating',
    index,
    text: `no member of Instance ${index} is created beside pods of another revision, which go first: ${names}`,
    wake: [onPods(index)],
  };
}

/** Seconds before a refused write is tried again: doubling from 5 to 60. */
function refusalPauseSec(snapshot: Snapshot, repeats: number): number {
  const first = snapshot.config.requeue?.operationSec ?? 5;
  return Math.min(60, first * 2 ** Math.min(10, repeats - 1));
}

/** Why a write to `podName` that was refused is not repeated yet; undefined when it may be sent. */
export function refusal(
  snapshot: Snapshot,
  index: Index,
  podName: string,
  outcome: Outcome | undefined,
): Hold | undefined {
  switch (outcome?.as) {
    case undefined:
    case 'ok':
    case 'exists':
    case 'gone':
    case 'conflict':
    case 'guardFailed':
    case 'skipped':
    case 'unknown':
      return undefined;
    case 'quota':
    case 'invalid':
    case 'namespaceTerminating':
    case 'admissionUnavailable':
    case 'nameTaken':
    case 'throttled':
    case 'transient': {
      const at = outcome.at + refusalPauseSec(snapshot, outcome.repeats ?? 1);
      if (snapshot.now >= at) return undefined;
      return {
        is: outcome.as === 'nameTaken' ? 'NameTaken' : 'ApiRefused',
        index,
        text: `pod ${podName} was refused (${outcome.as}): ${outcome.detail}`,
        wake: [{ at }, onPods(index)],
      };
    }
  }
}

/**
 * Frees the slots of ended pods that no operation counts. Nothing remembers the tries, so the age of the pod paces them: a
 * node that rejects what it is given is fed once in the first delay of the retry policy, when there is one.
 */
export function deleteEnded(snapshot: Snapshot, row: InstanceRow, set: PodSet, covers: Cover): Wish {
  const ended = set.slots.flatMap(({ occupant }) => (occupant.is === 'terminal' ? [occupant.pod] : []));
  const dueAt = (pod: PodView): number => pod.createdAt + (snapshot.config.updateRetry?.initialDelaySec ?? 0);
  const due = ended.filter((pod) => dueAt(pod) <= snapshot.now);
  const early = ended.filter((pod) => dueAt(pod) > snapshot.now);
  return {
    effects: due.flatMap((pod) => deleteNow(pod, covers)),
    holds: early.map((pod) => ({
      is: 'RecyclePacing',
      index: row.index,
      text: `pod ${pod.name} ended (${pod.statusReason || pod.phase}) and is replaced after a pause`,
      wake: [{ at: dueAt(pod) }, onPods(row.index)],
    })),
  };
}

/** Deletes a pod that can't be in rotation: it has ended, or was never let in. */
export function deleteNow(pod: PodView, covers: Cover, graceSeconds?: number): readonly DeletePod[] {
  if (isTerminating(pod)) return [];
  return [deletion(pod, covers, 'none', graceSeconds)];
}

/**
 * The two halves of a removal: `out` takes the pod out of rotation, `gone` deletes it once that has been seen. The deletion
 * is checked once more, live, when it is carried out.
 */
export interface Removal {
  readonly out: readonly Effect[];
  readonly gone: readonly DeletePod[];
  readonly isOut: boolean;
}

export function remove(
  snapshot: Snapshot,
  pod: PodView,
  hold: GateHold,
  covers: Cover,
  graceSeconds?: number,
): Removal {
  if (isTerminating(pod)) return { out: [], gone: [], isOut: true };
  if (isTerminal(pod) || pod.gate.state === 'absent') {
    return { out: [], gone: [deletion(pod, covers, 'none', graceSeconds)], isOut: true };
  }
  const isOut = isDrained(snapshot, pod, hold);
  return {
    out: unroute(pod, hold, covers),
    gone: isOut ? [deletion(pod, covers, 'unroutedLive', graceSeconds)] : [],
    isOut,
  };
}

/** Our hold is on it, the kubelet has taken `Ready` back, and no routing Service lists it as ready. Unknown is not out. */
export function isDrained(snapshot: Snapshot, pod: PodView, hold: GateHold): boolean {
  return hasHold(pod, hold) && !pod.ready && snapshot.rotation.get(pod.uid) === 'out';
}

export function deletion(
  pod: PodView,
  covers: Cover,
  guard: DeletePod['guard'],
  graceSeconds: number | undefined,
): DeletePod {
  return {
    do: 'deletePod',
    key: keyOfDelete(pod.name, pod.uid, nameOfCover(covers)),
    covers,
    pod: refOf(pod),
    guard,
    ...(graceSeconds === undefined ? {} : { graceSeconds }),
  };
}
