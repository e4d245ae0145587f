/** Pods as evidence: what each is, and what about it keeps things from going on. */
import { formatTime, type Sec } from '@omenative/api';
import { isTerminal, type PodView } from '@omenative/engine';
import { ago, span } from '../report/time-words.js';

export interface PodReport {
  readonly pod: string;
  readonly phase: string;
  readonly ready: boolean;
  /** The serving gate: `True`, `False`, `Absent`, or `Malformed` when nobody can read it. */
  readonly gate: 'True' | 'False' | 'Absent' | 'Malformed';
  /** Who holds the gate shut, as `writer/key`. */
  readonly gateHolds: readonly string[];
  /** Whether Services send it requests; unknown when their slices can't tell. */
  readonly rotation: 'in' | 'out' | 'unknown';
  readonly revision: string;
  /** '' while it has none. */
  readonly node: string;
  readonly restarts: number;
  /** Sentences, the gravest first; empty when nothing about it is in the way. */
  readonly findings: readonly string[];
}

export function podReport(pod: PodView, rotation: 'in' | 'out' | undefined, now: Sec): PodReport {
  return {
    pod: pod.name,
    phase: pod.deletionAt === undefined ? pod.phase : 'Terminating',
    ready: pod.ready,
    gate: gateWord(pod),
    gateHolds: pod.gate.state === 'false' ? pod.gate.holds.map(({ writer, key }) => `${writer}/${key}`) : [],
    rotation: rotation ?? 'unknown',
    revision: pod.revisionHash,
    node: pod.node,
    restarts: pod.containers.reduce((sum, container) => sum + container.restartCount, 0),
    findings: findingsOf(pod, now),
  };
}

function gateWord(pod: PodView): PodReport['gate'] {
  switch (pod.gate.state) {
    case 'true':
      return 'True';
    case 'false':
      return 'False';
    case 'absent':
      return 'Absent';
    case 'malformed':
      return 'Malformed';
  }
}

function findingsOf(pod: PodView, now: Sec): readonly string[] {
  const findings: string[] = [];
  if (pod.deletionAt !== undefined) {
    const finalizers = pod.finalizers.length === 0 ? '' : `; finalizers: ${pod.finalizers.join(', ')}`;
    findings.push(
      pod.deletionAt < now
        ? `Terminating, and its grace ended ${ago(pod.deletionAt, now)}${finalizers}`
        : `Terminating, its grace ends in ${span(pod.deletionAt - now)}${finalizers}`,
    );
  }
  if (isTerminal(pod)) findings.push(sentence(`ended: ${pod.phase}`, pod.statusReason, pod.statusMessage));
  if (pod.gated) findings.push('a scheduling gate keeps it from being scheduled');
  if (pod.unschedulable !== undefined) {
    const { since, message } = pod.unschedulable;
    findings.push(sentence(`unschedulable${since === undefined ? '' : ` since ${formatTime(since)}`}`, '', message));
  }
  for (const container of pod.containers) {
    const { name, waiting, terminated, lastTerminated } = container;
    if (waiting !== undefined && waiting.reason !== '' && waiting.reason !== 'PodInitializing') {
      findings.push(sentence(`container ${name}`, waiting.reason, waiting.message));
    }
    if (container.kind === 'regular' && terminated !== undefined && !isTerminal(pod)) {
      findings.push(`container ${name} ended: ${terminated.reason} (exit code ${terminated.exitCode})`);
    }
    if (waiting !== undefined && lastTerminated !== undefined) {
      findings.push(`container ${name} last ended: ${lastTerminated.reason} (exit code ${lastTerminated.exitCode})`);
    }
  }
  if (findings.length > 0 || pod.deletionAt !== undefined) return findings;
  const notReady = pod.containers.filter((container) => container.kind === 'regular' && !container.ready);
  if (pod.phase === 'Running' && !pod.containersReady && notReady.length > 0) {
    findings.push(`runs, and is not ready yet: ${notReady.map((container) => container.name).join(', ')}`);
  }
  if (pod.gate.state === 'malformed') findings.push(`its serving gate can't be read: ${pod.gate.message}`);
  if (pod.containersReady && !pod.ready && pod.gate.state === 'true') {
    findings.push('all containers are ready, and another readiness gate of the pod is not True');
  }
  return findings;
}

function sentence(what: string, reason: string, message: string): string {
  return [what, reason, message].filter((part) => part !== '').join(': ');
}
