/** One Instance: where it stands, what its operation is about, and its pods. */
import { type DecodedStatus, formatTime, type Index, type InstanceRow, type Phase, phaseOf } from '@omenative/api';
import type { Snapshot } from '@omenative/engine';
import { type PodReport, podReport } from './evidence.js';
import { nextStepOf } from './next-step.js';

export interface OperationReport {
  /** `Update/Surge`. */
  readonly step: string;
  readonly strategy?: string;
  /** Revision. */
  readonly target?: string;
  readonly reason: string;
  /** RFC 3339, as all times. */
  readonly startedAt?: string;
  readonly lastProgressAt?: string;
  /** When the attempt fails if it has not succeeded; absent: its clock is parked, or it has no limit. */
  readonly deadline?: string;
  /** What holds it from outside. */
  readonly waiting?: string;
  readonly retries: number;
}

export interface FailureReport {
  readonly pod: string;
  readonly container?: string;
  readonly reason: string;
  readonly exitCode?: number;
  readonly message: string;
  readonly at?: string;
}

export interface InstanceReport {
  readonly instance: Index;
  readonly phase: Phase;
  /** Revision that it runs, and the one that it is going to where that is another. */
  readonly running?: string;
  readonly target?: string;
  readonly readySince?: string;
  readonly operation?: OperationReport;
  /** The last failure, also of an Instance that has recovered. */
  readonly lastFailure?: FailureReport;
  readonly next: string;
  readonly pods: readonly PodReport[];
}

/** All Instances, ascending; with `only`, that one. */
export function instanceReports(
  snapshot: Snapshot,
  status: DecodedStatus,
  only: Index | undefined,
): readonly InstanceReport[] {
  return [...status.rows.values()]
    .filter((row) => only === undefined || row.index === only)
    .toSorted((a, b) => a.index - b.index)
    .map((row) => instanceReport(snapshot, row));
}

function instanceReport(snapshot: Snapshot, row: InstanceRow): InstanceReport {
  const pods = snapshot.pods.get(row.index) ?? [];
  const operation = operationOf(row);
  return {
    instance: row.index,
    phase: phaseOf(row),
    ...textMember('running', row.running),
    ...(row.target === row.running ? {} : textMember('target', row.target)),
    ...timeMember('readySince', row.readySince),
    ...(operation === undefined ? {} : { operation }),
    ...failureMember(row),
    next: nextStepOf(row, snapshot.spec.minReadySeconds),
    pods: pods.map((pod) => podReport(pod, snapshot.rotation.get(pod.uid), snapshot.now)),
  };
}

function operationOf(row: InstanceRow): OperationReport | undefined {
  const op = row.kind === 'failed' ? row.kept : row.kind === 'foreign' || !('op' in row) ? undefined : row.op;
  if (op === undefined) return undefined;
  return {
    step: `${op.type}/${op.step}`,
    ...textMember('strategy', op.strategy ?? ''),
    ...textMember('target', op.target),
    reason: op.reason,
    ...timeMember('startedAt', op.startedAt),
    ...timeMember('lastProgressAt', op.lastProgressAt),
    ...timeMember('deadline', op.deadline),
    ...textMember('waiting', op.waiting),
    retries: op.retryCount,
  };
}

function failureMember(row: InstanceRow): Pick<InstanceReport, 'lastFailure'> {
  const { lastFailure } = row;
  if (lastFailure === undefined) return {};
  const { podName, containerName, reason, exitCode, message, time } = lastFailure;
  return {
    lastFailure: {
      pod: podName,
      ...textMember('container', containerName),
      reason,
      ...(exitCode === undefined ? {} : { exitCode }),
      message,
      ...timeMember('at', time === 0 ? undefined : time),
    },
  };
}

function textMember<K extends string>(key: K, text: string): { readonly [P in K]?: string } {
  return (text === '' ? {} : { [key]: text }) as { readonly [P in K]?: string };
}

function timeMember<K extends string>(key: K, at: number | undefined): { readonly [P in K]?: string } {
  return (at === undefined ? {} : { [key]: formatTime(at) }) as { readonly [P in K]?: string };
}
