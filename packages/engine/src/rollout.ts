/**
 * Which Instances start to move to the target in this pass. What serves nothing goes first, then ascending index; the first
 * refusal is published as `status.rolloutHold`, so that a rollout is never stuck in silence.
 */
import type { Index, RolloutGate } from '@omenative/api';
import { apply, type Draft, type Step } from './draft.js';
import { FreeIndices } from './free-indices.js';
import type { Wake } from './hold.js';
import { type Mechanism, mechanismOf } from './mechanism.js';
import { openGangSurge } from './operations/update-gang-surge.js';
import { openInPlace } from './operations/update-in-place.js';
import { openRecreate } from './operations/update-recreate.js';
import { openSurge } from './operations/update-surge.js';
import { isInService } from './own-set.js';
import { partitionHeld, SurgeAdmission, slotFreedAt, UnavailableAdmission } from './pacing.js';
import { ladderOf, retryDelaySec, retryTimeOf } from './retry.js';
import { sayInstance } from './say.js';
import type { Snapshot } from './snapshot.js';
import { type Unit, unitsOf } from './units.js';

/** `free` are the units that no operation claimed in this pass. */
export function startUpdates(draft: Draft, free: readonly Unit[]): void {
  const { snapshot } = draft;
  const all = unitsOf(snapshot, draft.rows);
  draft.updatesMoved = all.some((unit) => unit.row.kind === 'updating' || isOpenPair(unit));
  const held = partitionHeld(snapshot, all);
  const claimed = claims(all);
  const waiting = free.filter((unit) => !held.has(unit.index) && !claimed.has(unit.index));
  if (snapshot.spec.pause !== 'running') {
    sayPaused(draft, waiting);
    return;
  }
  const candidates = waiting
    .filter((unit) => wantsUpdate(draft, unit))
    .map((unit) => ({ unit, serves: isInService(snapshot, unit) }))
    .toSorted((a, b) => Number(a.serves) - Number(b.serves) || a.unit.index - b.unit.index);
  if (candidates.length === 0 || !isTemplateSound(draft)) return;
  const rollout = new Rollout(draft, all);
  for (const { unit, serves } of candidates) rollout.start(unit, serves ? 'serving' : 'dark');
}

/** Who would move if the rollout were not paused. */
function sayPaused(draft: Draft, units: readonly Unit[]): void {
  const { target } = draft.snapshot;
  const count = units.filter(({ row }) => row.kind === 'ready' && row.running !== target).length;
  if (count === 0) return;
  const text = `${count} Instance(s) wait for the rollout to ${target} to be resumed`;
  draft.holds.push({ is: 'Paused', text, wake: [{ user: 'spec' }] });
}

/** Indices that a gang surge claims: what it has made Ready there moves on when the old gang is gone. */
function claims(units: readonly Unit[]): ReadonlySet<Index> {
  return new Set(units.flatMap(({ row }) => (row.kind === 'gangFrom' ? [row.op.surgeIndex] : [])));
}

function isOpenPair(unit: Unit): boolean {
  return unit.row.kind === 'gangFrom' && unit.row.phase === 'Updating';
}

/** The starts of one pass, charged one after the other. */
class Rollout {
  readonly #draft: Draft;
  readonly #all: readonly Unit[];
  readonly #surge: SurgeAdmission;
  readonly #unavailable: UnavailableAdmission;
  readonly #free: FreeIndices;
  /** When time alone frees a surge slot: the same for all that are refused. */
  #slotWakes: readonly Wake[] | undefined;

  constructor(draft: Draft, all: readonly Unit[]) {
    this.#draft = draft;
    this.#all = all;
    this.#free = new FreeIndices(draft.snapshot, draft.rows);
    this.#surge = new SurgeAdmission(draft.snapshot, all);
    this.#unavailable = new UnavailableAdmission(draft.snapshot, all);
  }

  start(unit: Unit, serves: 'serving' | 'dark'): void {
    const draft = this.#draft;
    const { snapshot } = draft;
    const { target, now } = snapshot;
    const ladder = ladderOf(draft.blocks, draft.rows.values(), target, now);
    if (ladder.is !== 'open') {
      const at = ladder.is === 'RetryBlock' ? ladder.at : undefined;
      refuse(draft, ladder.is, ladder.text, ladder.is === 'Held' ? [{ user: 'annotation' }] : wakesAt(at));
      return;
    }
    const mechanism = mechanismOf(snapshot, unit, target);
    if (mechanism.by === 'none') {
      refuseInPlace(draft, unit, mechanism.refusal);
      return;
    }
    const refusal =
      mechanism.by === 'surge' || mechanism.by === 'gangSurge'
        ? this.#surge.admit(unit.index)
        : this.#unavailable.admit(mechanism.by === 'inPlace' && mechanism.stays ? 'dark' : serves);
    if (refusal !== undefined) {
      this.#slotWakes ??= wakesAt(slotFreedAt(snapshot, this.#all));
      refuse(draft, 'Budget', refusal, this.#slotWakes);
      return;
    }
    const step = opened(draft, unit, mechanism, this.#free);
    if (!draft.room.admits(step.to === 'rows' ? step.rows : step.to === 'row' ? [step.row] : [])) return;
    apply(draft, unit.index, step);
    draft.updatesMoved = true;
  }
}

function opened(
  draft: Draft,
  unit: Unit,
  mechanism: Exclude<Mechanism, { readonly by: 'none' }>,
  free: FreeIndices,
): Step {
  const { snapshot } = draft;
  const { target, spec } = snapshot;
  switch (mechanism.by) {
    case 'surge':
      return openSurge(snapshot, unit, target);
    case 'gangSurge':
      return openGangSurge(snapshot, free.lowest(), unit.row, target);
    case 'inPlace':
      return openInPlace(snapshot, unit.row, target, spec.update.type);
    case 'recreate':
      return openRecreate(snapshot, unit.row, target, triesBefore(snapshot, unit));
  }
}

/** How many times a kept operation has tried this very target. */
function triesBefore(snapshot: Snapshot, { row }: Unit): number {
  if (row.kind !== 'failed' || row.kept?.target !== snapshot.target) return 0;
  return row.kept.retryCount + 1;
}

/** Off the target, at rest, and not waiting for its time to try this very target again. */
function wantsUpdate(draft: Draft, unit: Unit): boolean {
  const { row } = unit;
  const { target } = draft.snapshot;
  switch (row.kind) {
    case 'ready':
      // What failed last time it was tried is tried again when its time has come.
      return row.running !== target && isDue(draft, unit);
    case 'failed':
      if (row.kept?.type === 'Update') return isDue(draft, unit);
      return row.running !== '' && row.running !== target && isDue(draft, unit);
    case 'parked':
      return isDue(draft, unit);
    case 'pending':
    case 'creating':
    case 'updating':
    case 'gangFrom':
    case 'gangTo':
    case 'restarting':
    case 'migrateFrom':
    case 'migrateTo':
    case 'deleting':
    case 'foreign':
      return false;
  }
}

/** A retry of what failed without a block to pace it waits for its time, and says until when. */
function isDue(draft: Draft, unit: Unit): boolean {
  const { snapshot, blocks } = draft;
  const { row } = unit;
  const at = keptRetryAt(draft, unit) ?? retryAt(snapshot, unit, blocks);
  if (at === undefined || at <= snapshot.now) return true;
  draft.holds.push({
    is: 'Failed',
    index: unit.index,
    text:
      at === Number.POSITIVE_INFINITY
        ? `Instance ${unit.index} failed at revision ${row.target} and, without lifecycle.updateRetry, is not tried again`
        : `Instance ${unit.index} failed at revision ${row.target} (${row.lastFailure?.reason ?? 'unknown'}) and is tried again after a pause`,
    wake: [{ user: 'spec' }, ...(at === Number.POSITIVE_INFINITY ? [] : [{ at }])],
  });
  return false;
}

function retryAt(snapshot: Snapshot, unit: Unit, blocks: Draft['blocks']): number | undefined {
  const time = retryTimeOf(unit.row, blocks, snapshot.target, snapshot.config.updateRetry);
  switch (time.is) {
    case 'asLadderSays':
      return undefined;
    case 'at':
      return time.at;
    case 'never':
      return Number.POSITIVE_INFINITY;
  }
}

/**
 * A gang whose recreate failed serves nothing: its first retry is immediate, later ones follow the retry policy; without one
 * there are none.
 */
function keptRetryAt(draft: Draft, { row }: Unit): number | undefined {
  const { target, now, config } = draft.snapshot;
  if (row.kind !== 'failed' || row.kept === undefined || row.kept.target !== target) return undefined;
  const { retryCount, startedAt } = row.kept;
  const failedAt = row.lastFailure?.time ?? now;
  if (retryCount === 0) return startedAt === now ? now + 1 : now;
  if (config.updateRetry === undefined) return Number.POSITIVE_INFINITY;
  return failedAt + retryDelaySec(config.updateRetry, retryCount);
}

/** No Instance leaves its revision for one whose pods the API server would refuse. */
function isTemplateSound(draft: Draft): boolean {
  const check = draft.snapshot.templateCheck;
  if (check === undefined || check.of !== draft.snapshot.target) return true;
  switch (check.is) {
    case 'accepted':
      return true;
    case 'refused':
      refuse(draft, 'Plan', `the API server refuses the pods of ${check.of}: ${check.message}`, []);
      return false;
    case 'unknown':
      if (check.text === undefined) {
        draft.holds.push({
          is: 'TemplateCheck',
          text: `the pods of ${check.of} are tried with a dry run before anything moves`,
          wake: [{ at: check.retryAt }],
        });
      } else {
        refuse(draft, 'Plan', check.text, [{ at: check.retryAt }]);
      }
      return false;
  }
}

/** Said once for each Instance and target. */
function refuseInPlace(draft: Draft, unit: Unit, refusal: string): void {
  const { snapshot } = draft;
  const text = `rejected update: ${refusal}`;
  refuse(draft, 'Plan', `Instance ${unit.index} ${text}; choose InPlaceIfPossible, or undo the other changes`, []);
  const announcement = `InPlaceUpdateNotPossible@${snapshot.target}`;
  if (unit.row.announced.includes(announcement)) return;
  const others = unit.row.announced.filter((entry) => !entry.startsWith('InPlaceUpdateNotPossible@'));
  draft.rows.set(unit.index, { ...unit.row, announced: [...others, announcement] });
  const event = sayInstance(snapshot, 'Warning', 'InPlaceUpdateNotPossible', unit.index, snapshot.target, text);
  // The form that users of the API know has no colon after the Instance.
  draft.events.push({ ...event, text: event.text.replace(`instance=${unit.index}: `, `instance=${unit.index} `) });
}

function wakesAt(at: number | undefined): readonly Wake[] {
  return at === undefined ? [] : [{ at }];
}

function refuse(draft: Draft, gate: RolloutGate, reason: string, wakes: readonly Wake[]): void {
  const { target } = draft.snapshot;
  draft.rolloutHold ??= { gate, reason, target };
  // One hold a gate says it for all.
  if (draft.holds.some((hold) => hold.is === gate)) return;
  draft.holds.push({
    is: gate,
    target,
    text: reason,
    wake: [{ on: 'pod', key: '*' }, { user: 'spec' }, ...wakes],
  });
}
