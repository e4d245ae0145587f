/**
 * Which Instances are created in this pass: those that lost all their pods, those that failed and may be tried again, and
 * those that are missing. Whole Instances only, in index order, within the batch and the ladder of their revision.
 */
import { type Index, newRowBase, type Rev } from '@omenative/api';
import { missingPods } from './batches.js';
import { selectPrefix } from './budgets.js';
import { apply, type Draft, needsProof } from './draft.js';
import type { Wake } from './hold.js';
import { openCreate } from './operations/create.js';
import { isEmpty, restingSet } from './operations/resting.js';
import { partitionHeld, rebuildRevision } from './pacing.js';
import { servesNow } from './readiness.js';
import { type LadderVerdict, ladderOf, retryTimeOf } from './retry.js';
import { sayInstance } from './say.js';
import type { Snapshot } from './snapshot.js';
import { allUnits, freeUnits } from './stages.js';
import { areProvedAbsent, slotsOf, type Unit, unitsOf } from './units.js';

export function createInstances(draft: Draft, units: readonly Unit[], missing: readonly Index[]): void {
  const { snapshot } = draft;
  if (snapshot.spec.pause !== 'running') return;
  const held = partitionHeld(snapshot, allUnits(draft));
  const rebuilds = freeUnits(draft, units).filter((unit) => isRebuilt(draft, unit));
  const fresh = missing.map((index): Unit => ({ index, row: { ...newRowBase(index), kind: 'pending' }, pods: [] }));
  const candidates = [...rebuilds, ...fresh].toSorted((a, b) => a.index - b.index);
  const size = snapshot.spec.runners.reduce((sum, runner) => sum + runner.size, 0);
  const used = missingPods(snapshot, unitsOf(snapshot, draft.rows));
  const selected = selectPrefix(candidates, () => size, { limit: snapshot.config.scaleUpPodBatch, used });
  for (const unit of selected) open(draft, unit, held);
  const waiting = candidates.length - selected.length;
  if (waiting > 0) {
    draft.holds.push({
      is: 'Batch',
      text: `${waiting} Instance(s) wait for the pods of this batch to be created (lifecycle.scaleUpPodBatchSize ${snapshot.config.scaleUpPodBatch})`,
      wake: [
        { on: 'pod', key: '*' },
        { on: 'floor', key: '*' },
      ],
    });
  }
}

function open(draft: Draft, unit: Unit, held: ReadonlySet<Index>): void {
  const { snapshot } = draft;
  const ladder = ladderFor(draft, snapshot.target);
  const rev = rebuildRevision(snapshot, unit, held, ladder);
  if (rev === snapshot.target && ladder.is !== 'open') {
    refuse(draft, ladder);
    return;
  }
  const reason = reasonOf(unit);
  const row = openCreate(snapshot, unit.row, rev, reason);
  if (!draft.room.admits([row])) return;
  const text = `its pods are created at revision ${rev} (${reason})`;
  const created = sayInstance(snapshot, 'Normal', 'InstanceCreated', row.index, row.op.id, text);
  apply(draft, unit.index, { to: 'row', row, tries: rev, events: [created] });
}

function reasonOf({ row }: Unit): string {
  if (row.kind === 'failed') return 'it is tried again';
  return row.running === '' ? 'scale up' : 'the Instance lost its pods';
}

function ladderFor(draft: Draft, rev: Rev): LadderVerdict {
  return ladderOf(draft.blocks, draft.rows.values(), rev, draft.snapshot.now);
}

/** One hold says it for all. */
function refuse(draft: Draft, ladder: Exclude<LadderVerdict, { readonly is: 'open' }>): void {
  if (draft.holds.some((hold) => hold.is === ladder.is)) return;
  const timed: readonly Wake[] = ladder.is === 'RetryBlock' && ladder.at !== undefined ? [{ at: ladder.at }] : [];
  draft.holds.push({
    is: ladder.is,
    target: draft.snapshot.target,
    text: `no Instance is created at it: ${ladder.text}`,
    wake: [{ user: 'spec' }, { user: 'annotation' }, { on: 'pod', key: '*' }, ...timed],
  });
}

/**
 * The revision that an attempt to create should aim at now. One that aims elsewhere is superseded, unless the target may not
 * be tried at this moment.
 */
export function wantedRevision(draft: Draft, unit: Unit, held: ReadonlySet<Index>): Rev {
  const { snapshot } = draft;
  const wanted = rebuildRevision(snapshot, unit, held, { is: 'open' });
  const own = unit.row.kind === 'creating' ? unit.row.op.target : wanted;
  return wanted !== own && wanted === snapshot.target && ladderFor(draft, wanted).is !== 'open' ? own : wanted;
}

/** Without pods, or failed before it ever ran: nothing serves that a new attempt could harm. */
function isRebuilt(draft: Draft, unit: Unit): boolean {
  const { snapshot } = draft;
  const { row } = unit;
  if (row.kind === 'pending') return true;
  if (row.kind !== 'failed' || row.kept !== undefined) return false;
  // One that serves by now is about to heal, and is then updated like others.
  if (servesNow(restingSet(snapshot, unit, row))) return false;
  if (row.running !== '') return isEmpty(snapshot, unit, row) && isProvedEmpty(draft, unit) && isDue(draft, unit);
  return isDue(draft, unit);
}

function isProvedEmpty(draft: Draft, unit: Unit): boolean {
  const { snapshot } = draft;
  const { row, index } = unit;
  if (areProvedAbsent(snapshot, index, slotsOf(snapshot, index, row.activeOrdinal, row.running))) return true;
  apply(draft, index, needsProof(index, `the pods of Instance ${index} seem to be gone`));
  return false;
}

/** A failure that no block paces is tried again after a pause, or not at all. */
function isDue(draft: Draft, unit: Unit): boolean {
  const { snapshot, blocks } = draft;
  const time = retryTimeOf(unit.row, blocks, snapshot.target, snapshot.config.updateRetry);
  switch (time.is) {
    case 'asLadderSays':
      return true;
    case 'never':
      return false;
    case 'at':
      if (time.at <= snapshot.now) return true;
      draft.holds.push(pausing(snapshot, unit, time.at));
      return false;
  }
}

function pausing(snapshot: Snapshot, unit: Unit, at: number) {
  return {
    is: 'Failed',
    index: unit.index,
    text: `Instance ${unit.index} failed at revision ${snapshot.target} and is tried again after a pause`,
    wake: [{ at }, { user: 'spec' }],
  } as const;
}
