/**
 * Which Instances are created in this pass: those that lost all their pods, those that failed and may be tried again, and
 * those that are missing. Whole Instances only, in index order, within the batch and the ladder of their revision.
 */
import { type Index, newRowBase, type Rev, type Sec } from '@omenative/api';
import { missingPods } from './batches.js';
import { selectPrefix } from './budgets.js';
import { apply, type Draft, needsProof } from './draft.js';
import { causeOf } from './failure.js';
import type { Wake } from './hold.js';
import { openCreate } from './operations/create.js';
import { isEmpty, restingSet } from './operations/resting.js';
import { partitionHeld, rebuildRevision } from './pacing.js';
import { servesNow } from './readiness.js';
import { type LadderVerdict, ladderOf, retryTimeOf } from './retry.js';
import { sayInstance } from './say.js';
import { allUnits, freeUnits } from './stages.js';
import { areProvedAbsent, slotsOf, type Unit, unitsOf } from './units.js';

/** What keeps an attempt from starting now. */
type Start =
  | LadderVerdict
  /** A failure that no block paces: tried again at `at`, or never when there is no such time. */
  | { readonly is: 'Failed'; readonly at?: Sec };

/** An Instance to create, and at which revision. */
interface Candidate {
  readonly unit: Unit;
  readonly rev: Rev;
}

export function createInstances(draft: Draft, units: readonly Unit[], missing: readonly Index[]): void {
  const { snapshot } = draft;
  if (snapshot.spec.pause !== 'running') return;
  const held = partitionHeld(snapshot, allUnits(draft));
  const rebuilds = freeUnits(draft, units).filter((unit) => isRebuilt(draft, unit));
  const fresh = missing.map((index): Unit => ({ index, row: { ...newRowBase(index), kind: 'pending' }, pods: [] }));
  const candidates = [...rebuilds, ...fresh]
    .toSorted((a, b) => a.index - b.index)
    .flatMap((unit) => candidateOf(draft, unit, held));
  const size = snapshot.spec.runners.reduce((sum, runner) => sum + runner.size, 0);
  const used = missingPods(snapshot, unitsOf(snapshot, draft.rows));
  const selected = selectPrefix(candidates, () => size, { limit: snapshot.config.scaleUpPodBatch, used });
  for (const candidate of selected) open(draft, candidate);
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

/** The Instance with its revision; nothing when no revision may be tried on it now. */
function candidateOf(draft: Draft, unit: Unit, held: ReadonlySet<Index>): readonly Candidate[] {
  const { snapshot } = draft;
  const atTarget = startOf(draft, unit, snapshot.target);
  const rev = rebuildRevision(snapshot, unit, held, atTarget.is === 'open' ? 'open' : 'closed');
  const start = rev === snapshot.target ? atTarget : startOf(draft, unit, rev);
  if (start.is === 'open') return [{ unit, rev }];
  refuse(draft, unit, rev, start);
  const isKept = held.has(unit.index);
  if (atTarget.is !== 'open' && rev !== snapshot.target && !isKept) refuse(draft, unit, snapshot.target, atTarget);
  return [];
}

function open(draft: Draft, { unit, rev }: Candidate): void {
  const { snapshot } = draft;
  // An earlier one of this pass may have taken the token of the revision.
  const ladder = ladderFor(draft, rev);
  if (ladder.is !== 'open') {
    refuse(draft, unit, rev, ladder);
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

/** The ladder of the revision, and the pause of an Instance that failed without a block to pace it. */
function startOf(draft: Draft, { row }: Unit, rev: Rev): Start {
  const { snapshot, blocks } = draft;
  const ladder = ladderFor(draft, rev);
  if (ladder.is !== 'open' || row.kind !== 'failed') return ladder;
  const cause = causeOf(row.lastFailure?.reason ?? '');
  // A cluster that has no place for one revision has none for another.
  const judged = cause === 'environment' && row.target !== '' ? { ...row, target: rev } : row;
  const time = retryTimeOf(judged, blocks, rev, snapshot.config.updateRetry);
  switch (time.is) {
    case 'asLadderSays':
      return { is: 'open' };
    case 'never':
      // What it ran already is its own: lost pods of it are replaced.
      return row.running === rev && cause !== 'environment' ? { is: 'open' } : { is: 'Failed' };
    case 'at':
      return time.at <= snapshot.now ? { is: 'open' } : { is: 'Failed', at: time.at };
  }
}

/** One hold says it for all that wait for a revision. */
function refuse(draft: Draft, { index }: Unit, rev: Rev, start: Exclude<Start, { readonly is: 'open' }>): void {
  const timed: readonly Wake[] = 'at' in start && start.at !== undefined ? [{ at: start.at }] : [];
  if (start.is === 'Failed') {
    const when = timed.length > 0 ? 'is tried again after a pause' : 'without lifecycle.updateRetry is not tried again';
    const text = `Instance ${index} failed at revision ${rev} and ${when}`;
    draft.holds.push({ is: 'Failed', index, text, wake: [{ user: 'spec' }, ...timed] });
    return;
  }
  if (draft.holds.some((hold) => hold.is === start.is && 'target' in hold && hold.target === rev)) return;
  draft.holds.push({
    is: start.is,
    target: rev,
    text: `no Instance is created at it: ${start.text}`,
    wake: [{ user: 'spec' }, { user: 'annotation' }, { on: 'pod', key: '*' }, ...timed],
  });
}

/**
 * The revision that an attempt to create should aim at now. One that aims elsewhere is superseded, unless the target may not
 * be tried at this moment.
 */
export function wantedRevision(draft: Draft, unit: Unit, held: ReadonlySet<Index>): Rev {
  const { snapshot } = draft;
  const wanted = rebuildRevision(snapshot, unit, held, 'open');
  const own = unit.row.kind === 'creating' ? unit.row.op.target : wanted;
  if (wanted === own || wanted !== snapshot.target) return wanted;
  const ladder = ladderFor(draft, wanted);
  if (ladder.is === 'open') return wanted;
  refuse(draft, unit, wanted, ladder);
  return own;
}

/** Without pods, or failed before it ever ran: nothing serves that a new attempt could harm. */
function isRebuilt(draft: Draft, unit: Unit): boolean {
  const { snapshot } = draft;
  const { row } = unit;
  if (row.kind === 'pending') return true;
  if (row.kind !== 'failed' || row.kept !== undefined) return false;
  // One that serves by now is about to heal, and is then updated like others.
  if (servesNow(restingSet(snapshot, unit, row))) return false;
  return row.running === '' || (isEmpty(snapshot, unit, row) && isProvedEmpty(draft, unit));
}

function isProvedEmpty(draft: Draft, unit: Unit): boolean {
  const { snapshot } = draft;
  const { row, index } = unit;
  if (areProvedAbsent(snapshot, index, slotsOf(snapshot, index, row.activeOrdinal, row.running))) return true;
  apply(draft, index, needsProof(index, `the pods of Instance ${index} seem to be gone`));
  return false;
}
