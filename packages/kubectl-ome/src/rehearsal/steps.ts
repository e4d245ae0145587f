/**
 * What happens to Instances, read off one status after the other: each operation that opens is a step, and ends with the
 * status that no longer has it. The same reading serves a rehearsal and a real run.
 */
import type { DecodedStatus, Index, InstanceRow, Rev, Sec } from '@omenative/api';

export type OperationType = 'Create' | 'Update' | 'Restart' | 'Migrate' | 'Delete';

/** How an update replaces what runs. */
export type Method = 'surge' | 'gang surge' | 'in place' | 'recreate' | 'parked';

export interface Step {
  /** Order of opening, from 0. */
  readonly number: number;
  readonly instance: Index;
  readonly operation: OperationType;
  /** Of an update, as it began. */
  readonly method?: Method;
  /** The index that takes the Instance's place: a gang's replacement, a migration's destination. */
  readonly replacement?: Index;
  readonly from: Rev | '';
  readonly to: Rev | '';
  /** In the words of the operation. */
  readonly reason: string;
  /** `before`: the first status had it already. */
  readonly began: 'before' | 'here';
  /**
   * 0 for what had begun before; else one more than the latest wave of which a step had ended when this one began. Steps of
   * one wave wait for none of each other.
   */
  readonly wave: number;
  readonly openedAt: Sec;
  readonly closedAt?: Sec;
  /** `replaced` by another operation on the same Instance, `givenUp` without one. */
  readonly ended: 'done' | 'failed' | 'replaced' | 'givenUp' | 'open';
}

/** The operation that a row is under, when the row is the half of it that tells the story. */
interface Running {
  readonly id: string;
  readonly operation: OperationType;
  readonly method?: Method;
  readonly replacement?: Index;
  readonly to: Rev | '';
  readonly reason: string;
}

export class StepRecorder {
  readonly #steps: Step[] = [];
  /** Steps under way, by Instance. */
  readonly #open: Map<Index, { readonly step: number; readonly id: string }> = new Map();
  #hasBegun = false;
  /** The latest wave of which a step has ended. */
  #endedWave = 0;

  /** All steps so far, in the order of opening. */
  get steps(): readonly Step[] {
    return this.#steps;
  }

  /** Reads the next status, as it was at `at`. */
  read(status: DecodedStatus, at: Sec): void {
    const before = [...this.#open];
    for (const [index, { step, id }] of before) {
      const row = status.rows.get(index);
      const running = row === undefined ? undefined : runningOf(row);
      if (running?.id === id) continue;
      this.#close(index, step, { status, row, isReplaced: running !== undefined }, at);
    }
    const rows = [...status.rows.values()].toSorted((a, b) => a.index - b.index);
    for (const row of rows) {
      const running = runningOf(row);
      if (running !== undefined && !this.#open.has(row.index)) this.#begin(row, running, at);
    }
    this.#hasBegun = true;
  }

  #begin(row: InstanceRow, running: Running, at: Sec): void {
    const { id, ...what } = running;
    const number = this.#steps.length;
    this.#open.set(row.index, { step: number, id });
    this.#steps.push({
      number,
      instance: row.index,
      ...what,
      from: row.running,
      began: this.#hasBegun ? 'here' : 'before',
      wave: this.#hasBegun ? this.#endedWave + 1 : 0,
      openedAt: at,
      ended: 'open',
    });
  }

  #close(index: Index, number: number, rest: Rest, at: Sec): void {
    const step = this.#steps[number];
    if (step === undefined) return;
    this.#open.delete(index);
    this.#endedWave = Math.max(this.#endedWave, step.wave);
    this.#steps[number] = { ...step, closedAt: at, ended: endOf(step, rest) };
  }
}

/** What a step has left behind at its index. */
interface Rest {
  readonly status: DecodedStatus;
  /** Absent: the Instance is gone. It may also be another one, that has taken the index over. */
  readonly row: InstanceRow | undefined;
  /** It is under another operation at once. */
  readonly isReplaced: boolean;
}

function endOf(step: Step, { status, row, isReplaced }: Rest): Step['ended'] {
  // A hand-over has succeeded when the heir is there, whatever has become of the old index since.
  if (step.replacement !== undefined && status.rows.get(step.replacement)?.running === step.to) return 'done';
  if (isReplaced) return 'replaced';
  if (row === undefined) return step.replacement === undefined ? 'done' : 'givenUp';
  if (row.kind === 'failed' || ('phase' in row && row.phase === 'Failed')) return 'failed';
  return row.running === step.to || step.operation === 'Restart' ? 'done' : 'givenUp';
}

function runningOf(row: InstanceRow): Running | undefined {
  // An attempt that has failed is over, though its operation is kept for the next one.
  if ('phase' in row && row.phase === 'Failed') return undefined;
  switch (row.kind) {
    case 'creating':
    case 'restarting':
    case 'deleting':
      return { id: row.op.id, operation: row.op.type, to: row.op.target, reason: row.op.reason };
    case 'updating':
    case 'parked': {
      const { id, type, step, target, reason } = row.op;
      return { id, operation: type, method: methodOf(step), to: target, reason };
    }
    case 'gangFrom': {
      const { id, type, target, reason, surgeIndex } = row.op;
      return { id, operation: type, method: 'gang surge', to: target, reason, replacement: surgeIndex };
    }
    case 'migrateFrom': {
      const { id, type, target, reason, surgeIndex } = row.op;
      return { id, operation: type, to: target === '' ? row.running : target, reason, replacement: surgeIndex };
    }
    // The other half tells the story.
    case 'gangTo':
    case 'migrateTo':
      return undefined;
    case 'ready':
    case 'pending':
    case 'failed':
    case 'foreign':
      return undefined;
  }
}

function methodOf(step: 'Surge' | 'SurgeDrain' | 'SurgeDrainSettle' | 'InPlace' | 'Drain' | 'Parked'): Method {
  switch (step) {
    case 'Surge':
    case 'SurgeDrain':
    case 'SurgeDrainSettle':
      return 'surge';
    case 'InPlace':
      return 'in place';
    case 'Drain':
      return 'recreate';
    case 'Parked':
      return 'parked';
  }
}
