/** The row of a pod: what `kubectl get pods` makes of its status. */

import { parseRfc3339 } from '../../base/time.js';
import { type ContainerStatus, conditionOf, isTerminal, type Pod } from '../../parts/model.js';
import { age, humanDuration } from './age.js';

/** The cells of a pod, in the order of the pod columns. */
export function podCells(pod: Pod, nowMs: number): readonly unknown[] {
  const { containerStatuses = [] } = pod.status;
  const ready = containerStatuses.filter((one) => one.ready && one.state.running !== undefined).length;
  return [
    pod.metadata.name,
    `${ready}/${pod.spec.containers.length}`,
    shownStatus(pod, containerStatuses),
    restartText(containerStatuses, nowMs),
    age(pod.metadata.creationTimestamp, nowMs),
    pod.status.podIP ?? '<none>',
    pod.spec.nodeName ?? '<none>',
    '<none>',
    gateText(pod),
  ];
}

function shownStatus(pod: Pod, statuses: readonly ContainerStatus[]): string {
  const { deletionTimestamp } = pod.metadata;
  if (deletionTimestamp !== undefined && pod.status.reason === 'NodeLost') return 'Unknown';
  if (deletionTimestamp !== undefined && !isTerminal(pod)) return 'Terminating';
  let text = pod.status.reason ?? pod.status.phase;
  if (conditionOf(pod.status.conditions, 'PodScheduled')?.reason === 'SchedulingGated') text = 'SchedulingGated';
  const init = initText(pod);
  if (init !== undefined) return init;
  for (const { state } of statuses.toReversed()) {
    text = state.waiting?.reason ?? state.terminated?.reason ?? text;
  }
  const runs = statuses.some((one) => one.ready && one.state.running !== undefined);
  if (text !== 'Completed' || !runs) return text;
  return conditionOf(pod.status.conditions, 'Ready')?.status === 'True' ? 'Running' : 'NotReady';
}

function initText(pod: Pod): string | undefined {
  const statuses = pod.status.initContainerStatuses ?? [];
  const i = statuses.findIndex(({ state }) => state.terminated?.exitCode !== 0);
  const one = statuses[i];
  if (one === undefined) return undefined;
  const reason = one.state.terminated?.reason ?? one.state.waiting?.reason;
  if (reason !== undefined && reason !== 'PodInitializing') return `Init:${reason}`;
  return `Init:${i}/${statuses.length}`;
}

function restartText(statuses: readonly ContainerStatus[], nowMs: number): string {
  const restarts = statuses.reduce((sum, one) => sum + one.restartCount, 0);
  const ends = statuses.map((one) => parseRfc3339(one.lastState.terminated?.finishedAt) ?? 0);
  const lastMs = Math.max(0, ...ends);
  return restarts === 0 || lastMs === 0 ? String(restarts) : `${restarts} (${humanDuration(nowMs - lastMs)} ago)`;
}

function gateText(pod: Pod): string {
  const gates = pod.spec.readinessGates ?? [];
  if (gates.length === 0) return '<none>';
  const open = gates.filter(
    ({ conditionType }) => conditionOf(pod.status.conditions, conditionType)?.status === 'True',
  );
  return `${open.length}/${gates.length}`;
}
