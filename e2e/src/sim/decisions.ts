/**
 * What must hold of each status that a manager writes: which operations it opens and how many, by the spec that it has seen.
 * What it opened with which allowance is remembered, for the judgement of what follows from it.
 */
import { type DecodedStatus, decodeStatus, emptyStatus, type InstanceRow, type Rev } from '@omenative/api';
import type { AppliedWrite, Cluster, KubeObject } from '@omenative/sim';
import { indexOf, isLive, nodeOf, ownerOf } from './pods.js';
import { type Allowance, allowanceOf } from './replica-spec.js';

export type Complain = (what: string) => void;

/** An operation that tries a revision. */
interface Attempt {
  readonly row: InstanceRow;
  readonly id: string;
  readonly target: Rev | '';
}

export class Decisions {
  readonly #cluster: Cluster;
  /** By replica and generation. */
  readonly #allowances = new Map<string, Allowance>();
  /** By replica, index and operation: the fewest Instances that had to serve when it was opened. */
  readonly #floors = new Map<string, number>();
  /** By replica, index and operation: the pod that is changed in place, and its node. */
  readonly #inPlace = new Map<string, string>();

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** A replica was written by whoever; a manager's decisions are judged. */
  check(write: AppliedWrite, isManager: boolean, complain: Complain): void {
    const { object, previous } = write;
    this.#allowances.set(`${object.metadata.uid}/${object.metadata.generation ?? 0}`, allowanceOf(object));
    if (!isManager || previous === undefined || write.type !== 'MODIFIED') return;
    const [before, after] = [statusOf(previous), statusOf(object)];
    if (before === undefined || after === undefined) return;
    const seen = this.#allowances.get(`${object.metadata.uid}/${after.observedGeneration}`) ?? allowanceOf(object);
    const opened = attemptsOf(after).filter((attempt) => idAt(before, attempt.row.index) !== attempt.id);
    const fromRest = opened.filter(({ row }) => row.kind !== 'creating' && isAtRest(before.rows.get(row.index)));
    for (const attempt of opened) this.#remember(object, attempt, seen);
    checkCount(before, after, seen, complain);
    checkSurge(after, fromRest, seen, complain);
    const moved = fromRest.filter(({ row }) => !hasLeft(before.rows.get(row.index)));
    checkPartition(after, moved, seen, complain);
    if (seen.isPaused && fromRest.length > 0) complain(`it starts an update of ${namesOf(fromRest)} while paused`);
    this.#checkLadder(before, after, opened, complain);
    this.#checkInPlace(object, before, after, complain);
  }

  /** How many Instances must go on serving while this row's update takes it out of service. */
  floorOf(replica: KubeObject, row: InstanceRow): number {
    const { replicas, unavailable } = allowanceOf(replica);
    const now = replicas - unavailable;
    return Math.min(now, this.#floors.get(keyOf(replica, row.index, opIdOf(row))) ?? now);
  }

  #remember(replica: KubeObject, { row, id }: Attempt, seen: Allowance): void {
    const key = keyOf(replica, row.index, id);
    this.#floors.set(key, seen.replicas - seen.unavailable);
    if (row.kind !== 'updating' || row.op.step !== 'InPlace') return;
    const pod = this.#podsAt(replica, row.index)[0];
    if (pod !== undefined) this.#inPlace.set(key, placeOf(pod));
  }

  /** A revision that is held back, or that must wait, is not tried. */
  #checkLadder(before: DecodedStatus, after: DecodedStatus, opened: readonly Attempt[], complain: Complain): void {
    for (const { row, target } of opened) {
      const [old, now] = [before, after].map(({ blocks }) => blocks.find((block) => block.target === target));
      if (old === undefined || now === undefined) continue;
      const waits = old.state === 'Backoff' && (old.nextRetryAt ?? 0) * 1000 > this.#cluster.nowMs;
      if (old.state === 'Held' || waits) complain(`it tries ${target} on Instance ${row.index}, which is ${old.state}`);
    }
  }

  /** An update that stayed in place to its end has kept its pod, on its node. */
  #checkInPlace(replica: KubeObject, before: DecodedStatus, after: DecodedStatus, complain: Complain): void {
    for (const row of before.rows.values()) {
      if (row.kind !== 'updating' || row.op.step !== 'InPlace') continue;
      const now = after.rows.get(row.index);
      if (now?.kind !== 'ready' || now.running !== row.op.target) continue;
      const was = this.#inPlace.get(keyOf(replica, row.index, row.op.id));
      const is = this.#podsAt(replica, row.index).map(placeOf);
      if (was === undefined || is.includes(was)) continue;
      complain(`Instance ${row.index} is updated in place, and its pod was ${was} and is ${is.join(', ')}`);
    }
  }

  #podsAt(replica: KubeObject, index: number): readonly KubeObject[] {
    return this.#cluster
      .objects('pods', replica.metadata.namespace)
      .filter((pod) => ownerOf(pod) === replica.metadata.name && indexOf(pod) === index && isLive(pod));
  }
}

function placeOf(pod: KubeObject): string {
  return `${pod.metadata.name} ${pod.metadata.uid} on ${nodeOf(pod)}`;
}

function keyOf(replica: KubeObject, index: number, id: string): string {
  return `${replica.metadata.uid}/${index}/${id}`;
}

function statusOf(replica: KubeObject): DecodedStatus | undefined {
  if (replica['status'] === undefined) return emptyStatus;
  const decoded = decodeStatus(replica['status']);
  return decoded.ok ? decoded.status : undefined;
}

function opIdOf(row: InstanceRow | undefined): string {
  return row !== undefined && 'op' in row && row.kind !== 'foreign' ? row.op.id : '';
}

function idAt(status: DecodedStatus, index: number): string {
  return opIdOf(status.rows.get(index));
}

function attemptsOf(status: DecodedStatus): readonly Attempt[] {
  return [...status.rows.values()].flatMap((row) =>
    row.kind === 'creating' || row.kind === 'updating' || (row.kind === 'gangFrom' && row.phase === 'Updating')
      ? [{ row, id: row.op.id, target: row.op.target }]
      : [],
  );
}

function isAtRest(row: InstanceRow | undefined): boolean {
  return row?.kind === 'ready' || row?.kind === 'failed' || row?.kind === 'parked';
}

/** What never ran, and a failed update that keeps its operation, is on no revision that it could stay on. */
function hasLeft(row: InstanceRow | undefined): boolean {
  return row === undefined || row.running === '' || (row.kind === 'failed' && row.kept !== undefined);
}

function namesOf(attempts: readonly Attempt[]): string {
  return attempts.map(({ row }) => row.index).join(', ');
}

/** Instances beside those that leave and those that are to replace another. */
function countOf(status: DecodedStatus): number {
  return [...status.rows.values()].filter((row) => row.kind !== 'deleting' && row.kind !== 'gangTo').length;
}

/** Never more Instances than replicas; what replaces one comes on top, within the surge budget. */
function checkCount(before: DecodedStatus, after: DecodedStatus, seen: Allowance, complain: Complain): void {
  const count = countOf(after);
  if (count > countOf(before) && count > seen.replicas) complain(`${count} Instances for ${seen.replicas} replicas`);
}

function checkSurge(after: DecodedStatus, fromRest: readonly Attempt[], seen: Allowance, complain: Complain): void {
  if (!fromRest.some(({ row }) => isSurge(row))) return;
  const surges = [...after.rows.values()].filter(isSurge).length;
  if (surges > seen.surge) complain(`${surges} surges at a time, and ${seen.surge} are allowed`);
}

function isSurge(row: InstanceRow): boolean {
  return row.kind === 'gangFrom' || (row.kind === 'updating' && row.op.step.startsWith('Surge'));
}

/** Whoever starts leaves as many at rest and off the target as the partition keeps. */
function checkPartition(
  after: DecodedStatus,
  moved: readonly Attempt[],
  { partition }: Allowance,
  complain: Complain,
): void {
  const target = moved[0]?.target;
  if (partition === 0 || target === undefined) return;
  const kept = [...after.rows.values()].filter(
    (row) => row.kind !== 'deleting' && row.running !== '' && row.running !== target && opTargetOf(row) !== target,
  );
  if (kept.length < partition) {
    complain(`it starts an update of ${namesOf(moved)}, and ${kept.length} of ${partition} stay behind the partition`);
  }
}

function opTargetOf(row: InstanceRow): Rev | '' {
  return 'op' in row && row.kind !== 'foreign' && row.kind !== 'parked' ? row.op.target : '';
}
