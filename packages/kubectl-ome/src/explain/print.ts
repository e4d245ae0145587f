/** An explanation for people: what waits first, then the evidence. */
import { parseTime, type Sec } from '@omenative/api';
import { shortRevision } from '../report/names.js';
import { paragraph, table } from '../report/table.js';
import { ago, span } from '../report/time-words.js';
import type { ConditionReport } from './conditions.js';
import type { ExplainReport, Explanation } from './explain.js';
import type { InstanceReport } from './instances.js';
import { isWaiting, type ReplicaExplanation } from './replica.js';

/** `wide` shows the pods of Instances that nothing holds, too. */
export function explanationLines(report: ExplainReport, width: 'table' | 'wide'): readonly string[] {
  const { content } = report;
  const now = parseTime(report.collectedAt) ?? 0;
  const blocks = [
    ...(content.waiting ? [] : [[`${content.target}: nothing is waiting`]]),
    ...(content.target.startsWith('isvc/') ? [serviceLines(content, now)] : []),
    ...content.replicas.map((replica) => replicaLines(replica, now, width)),
    eventLines(content, now),
    report.warnings.map(({ code, message }) => `warning: ${code}: ${message}`),
  ];
  return blocks.filter((block) => block.length > 0).flatMap((block, at) => (at === 0 ? block : ['', ...block]));
}

function serviceLines(content: Explanation, now: Sec): readonly string[] {
  const held = content.components.filter(({ state }) => state !== 'projected');
  return [
    ...(content.components.length === 0 ? [`${content.target}: declares no component`] : []),
    ...content.components.flatMap(({ component, due }) =>
      due === undefined ? [] : [`${component}: ${dueWords[due]}`],
    ),
    ...held.flatMap(({ component, state, reason = '', message = '' }) => [
      `${component}: ${state === 'held' ? `held, ${reason}` : `not managed here, ${reason}`}`,
      ...paragraph(message, 2),
    ]),
    ...conditionLines(content.conditions, now),
  ];
}

const dueWords = {
  create: 'its InferenceReplica is yet to be made: if that stays so, look whether a manager runs and leads',
  update: 'the change has yet to reach its InferenceReplica: if that stays so, look whether a manager runs and leads',
} as const;

function replicaLines(replica: ReplicaExplanation, now: Sec, width: 'table' | 'wide'): readonly string[] {
  return [
    headLine(replica),
    ...(isWaiting(replica) ? [] : ['nothing is waiting']),
    ...stateLines(replica, now),
    ...holdLines(replica, now),
    ...instanceLines(replica, now, width),
    ...podLines(replica, width),
    ...dueLines(replica),
    ...conditionLines(replica.conditions, now),
  ];
}

function headLine(replica: ReplicaExplanation): string {
  const { counts, revisions } = replica;
  const counted =
    counts === undefined ? '' : `, ${counts.ready} ready, ${counts.serving} serving, ${counts.updated} updated`;
  const moving = revisions !== undefined && revisions.current !== revisions.target;
  const from = revisions === undefined ? '' : shortRevision(revisions.current);
  const to = revisions === undefined ? '' : shortRevision(revisions.target);
  return `irep/${replica.replica}: ${replica.wanted} wanted${counted}; ${moving ? `revision ${from} -> ${to}` : `revision ${to}`}`;
}

function stateLines(replica: ReplicaExplanation, now: Sec): readonly string[] {
  const { deletingSince, pause, blocked, rolloutHold, retryBlocks } = replica;
  return [
    ...(deletingSince === undefined ? [] : [`it is being deleted since ${deletingSince}`]),
    ...(pause === undefined ? [] : [`paused (${pause}): no update and no new Instance is started until it is resumed`]),
    ...(blocked === undefined ? [] : [`blocked, ${blocked.reason}`, ...paragraph(blocked.message, 2)]),
    // A hold of the same name says it all again, and when it ends.
    ...(rolloutHold === undefined || replica.holds.some(({ reason }) => reason === rolloutHold.gate)
      ? []
      : [
          `rollout held by ${rolloutHold.gate} for ${sinceSpan(rolloutHold.since, now)}`,
          ...paragraph(rolloutHold.reason, 2),
        ]),
    ...table(
      ['REVISION', 'STATE', 'ATTEMPTS', 'NEXT RETRY', 'REASON'],
      retryBlocks.map((block) => [
        shortRevision(block.revision),
        block.state,
        String(block.attempts),
        block.nextRetryAt ?? '',
        block.reason,
      ]),
    ),
  ];
}

function holdLines(replica: ReplicaExplanation, now: Sec): readonly string[] {
  return replica.holds.flatMap(({ reason, instance, since, text, wakes, next }) => [
    '',
    `${instance === undefined ? 'replica' : `Instance ${instance}`}: ${reason}${
      since === undefined ? '' : `, for ${sinceSpan(since, now)}`
    }`,
    ...paragraph(text, 2),
    ...paragraph(`ends when: ${wakes.map((wake) => wake.text).join('; or ')}`, 2),
    ...paragraph(`next: ${next}`, 2),
  ]);
}

function instanceLines(replica: ReplicaExplanation, now: Sec, width: 'table' | 'wide'): readonly string[] {
  const rows = shown(replica, width).map((one) => [
    String(one.instance),
    one.phase,
    one.operation?.step ?? '',
    [one.running, one.target].flatMap((rev) => (rev === undefined ? [] : [shortRevision(rev)])).join(' > '),
    one.operation?.lastProgressAt === undefined ? '' : sinceSpan(one.operation.lastProgressAt, now),
    deadlineCell(one, now),
    one.lastFailure === undefined ? '' : one.lastFailure.reason,
  ]);
  const lines = table(['INSTANCE', 'PHASE', 'STEP', 'REVISION', 'FOR', 'DEADLINE', 'LAST FAILURE'], rows);
  return lines.length === 0 ? [] : ['', ...lines];
}

function deadlineCell({ operation }: InstanceReport, now: Sec): string {
  const deadline = operation?.deadline === undefined ? undefined : parseTime(operation.deadline);
  if (deadline === undefined) return operation?.waiting === undefined ? '' : `parked (${operation.waiting})`;
  return deadline < now ? 'passed' : `in ${span(deadline - now)}`;
}

function podLines(replica: ReplicaExplanation, width: 'table' | 'wide'): readonly string[] {
  const rows = shown(replica, width).flatMap((instance) =>
    instance.pods.map((pod) => [
      pod.pod,
      pod.phase,
      pod.ready ? 'True' : 'False',
      pod.gateHolds.length === 0 ? pod.gate : `${pod.gate} (${pod.gateHolds.join(', ')})`,
      pod.rotation,
      pod.revision,
      String(pod.restarts),
      ...(width === 'wide' ? [pod.node] : []),
      pod.findings.join('; '),
    ]),
  );
  const wide = width === 'wide' ? ['NODE'] : [];
  const lines = table(['POD', 'PHASE', 'READY', 'GATE', 'ROTATION', 'REVISION', 'RESTARTS', ...wide, 'FINDINGS'], rows);
  return lines.length === 0 ? [] : ['', ...lines];
}

/** Instances that something is to be said about; in a wide table, all. */
function shown(replica: ReplicaExplanation, width: 'table' | 'wide'): readonly InstanceReport[] {
  if (width === 'wide') return replica.instances;
  const held = new Set(replica.holds.map((hold) => hold.instance));
  return replica.instances.filter((one) => {
    return one.operation !== undefined || one.phase !== 'Ready' || held.has(one.instance) || hasFindings(one);
  });
}

function hasFindings(instance: InstanceReport): boolean {
  return instance.pods.some((pod) => pod.findings.length > 0);
}

function dueLines(replica: ReplicaExplanation): readonly string[] {
  if (replica.due.length === 0) return [];
  const shownDue = replica.due.slice(0, 10).map((what) => `  ${what}`);
  const more = replica.due.length - shownDue.length;
  return [
    '',
    'the manager will, in its next pass (if this stays here, look whether it runs and leads):',
    ...shownDue,
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
}

function conditionLines(conditions: readonly ConditionReport[], now: Sec): readonly string[] {
  const rows = conditions.map(({ type, status, reason, message, since }) => {
    return [type, status, sinceSpan(since, now), reason, message];
  });
  const lines = table(['CONDITION', 'STATUS', 'FOR', 'REASON', 'MESSAGE'], rows);
  return lines.length === 0 ? [] : ['', ...lines];
}

function eventLines(content: Explanation, now: Sec): readonly string[] {
  const rows = content.events.map(({ reason, message, count, at }) => {
    return [ago(parseTime(at) ?? now, now), reason, String(count), message];
  });
  return table(['WARNING', 'REASON', 'COUNT', 'MESSAGE'], rows);
}

function sinceSpan(since: string, now: Sec): string {
  const at = parseTime(since);
  return at === undefined ? '?' : span(now - at);
}
