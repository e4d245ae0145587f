/** The pod status a kubelet reports, from what it knows of the containers. */

import { asText } from '../../base/json.js';
import { rfc3339 } from '../../base/time.js';
import { withCondition } from '../act.js';
import {
  type Condition,
  type ContainerStatus,
  conditionOf,
  type Pod,
  type PodStatus,
  type TerminatedState,
} from '../model.js';
import { isPassed } from './containers.js';
import type { ContainerRun, Ended, PodRun } from './run.js';

/** The status of a pod as its kubelet would write it now. `clockMs` is the node's own clock minus the server's. */
export function podStatus(pod: Pod, run: PodRun, nowMs: number, clockMs: number): PodStatus {
  const time = rfc3339(nowMs + clockMs);
  const shift = (ms: number): string => rfc3339(ms + clockMs);
  if (run.rejected !== undefined) return rejectedStatus(pod, run, time);
  const { generation } = run;
  const phase = phaseOf(pod, run);
  const main = run.containers.filter((one) => one.role === 'main');
  const init = run.containers.filter((one) => one.role !== 'main');
  const hostIP = `192.168.0.${(run.node.length % 250) + 1}`;
  const status: PodStatus = {
    ...pod.status,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    phase,
    conditions: conditions(pod, run, phase, time),
    hostIP,
    hostIPs: [{ ip: hostIP }],
    podIP: run.ip,
    podIPs: [{ ip: run.ip }],
    startTime: asText((pod.status as { readonly startTime?: string }).startTime) || time,
    ...(init.length === 0 ? {} : { initContainerStatuses: init.map((one) => containerStatus(one, shift)) }),
    containerStatuses: main.map((one) => containerStatus(one, shift)),
  } as PodStatus;
  return status;
}

function rejectedStatus(pod: Pod, run: PodRun, time: string): PodStatus {
  return {
    ...pod.status,
    phase: 'Failed',
    reason: run.rejected?.reason ?? '',
    message: run.rejected?.message ?? '',
    startTime: time,
  } as PodStatus;
}

function containerStatus(one: ContainerRun, shift: (ms: number) => string): ContainerStatus {
  const { state, lastEnd } = one;
  const shown = lastEnd !== undefined && !(state.is === 'ended' && state.end === lastEnd) ? lastEnd : undefined;
  const running = state.is === 'running';
  const id = running ? state.id : lastEnd?.id;
  return {
    name: one.name,
    state: stateText(one, shift),
    lastState: shown === undefined ? {} : { terminated: terminated(shown, shift) },
    ready: one.role === 'init' ? isPassed(one) : one.ready,
    started: running,
    restartCount: one.restarts,
    image: one.created === undefined ? one.image : fullImage(one.created.image),
    imageID: one.created?.imageID ?? '',
    ...(id === undefined ? {} : { containerID: id }),
  };
}

/** An image as a runtime names what it has created: with its registry and its tag, whether the spec says them or not. */
function fullImage(image: string): string {
  const [first = '', ...rest] = image.split('/');
  const hasRegistry = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost');
  const home = hasRegistry ? '' : rest.length > 0 ? 'docker.io/' : 'docker.io/library/';
  return `${home}${image}${/[:@][^/]*$/.test(image) ? '' : ':latest'}`;
}

function stateText(one: ContainerRun, shift: (ms: number) => string): ContainerStatus['state'] {
  const { state } = one;
  switch (state.is) {
    case 'waiting':
      return {
        waiting:
          state.message === undefined ? { reason: state.reason } : { reason: state.reason, message: state.message },
      };
    case 'running':
      return { running: { startedAt: shift(state.startedMs) } };
    case 'ended':
      return { terminated: terminated(state.end, shift) };
  }
}

function terminated(end: Ended, shift: (ms: number) => string): TerminatedState {
  return {
    exitCode: end.exitCode,
    reason: end.reason,
    startedAt: shift(end.startedMs),
    finishedAt: shift(end.finishedMs),
    containerID: end.id,
  };
}

function phaseOf(pod: Pod, run: PodRun): string {
  const main = run.containers.filter((one) => one.role === 'main');
  const init = run.containers.filter((one) => one.role !== 'main');
  const running = main.filter((one) => one.state.is === 'running').length;
  const over = main.filter((one) => one.state.is !== 'running' && one.lastEnd !== undefined);
  const never = main.filter((one) => one.state.is === 'waiting' && one.lastEnd === undefined).length;
  if (run.killAtMs !== undefined && run.containers.every((one) => one.state.is !== 'running')) {
    const failed = over.some((one) => one.lastEnd?.exitCode !== 0) || never > 0;
    return failed ? 'Failed' : 'Succeeded';
  }
  const initFailed = init.some(
    (one) => one.role === 'init' && one.state.is === 'ended' && one.state.end.exitCode !== 0,
  );
  if (initFailed && pod.spec.restartPolicy === 'Never') return 'Failed';
  if (init.some((one) => !isPassed(one)) || never > 0) return 'Pending';
  if (running > 0) return 'Running';
  const policy = pod.spec.restartPolicy ?? 'Always';
  if (policy === 'Always') return 'Running';
  if (over.every((one) => one.lastEnd?.exitCode === 0)) return 'Succeeded';
  return policy === 'Never' ? 'Failed' : 'Running';
}

interface Verdict {
  readonly status: 'True' | 'False';
  readonly reason?: string;
  readonly message?: string;
}

const TRUE: Verdict = { status: 'True' };

function conditions(pod: Pod, run: PodRun, phase: string, time: string): readonly Condition[] {
  const ready = containersReady(run, phase);
  const verdicts: readonly (readonly [string, Verdict])[] = [
    ['PodReadyToStartContainers', phase === 'Succeeded' || phase === 'Failed' ? { status: 'False' } : TRUE],
    ['Initialized', initialized(run, phase)],
    ['Ready', podReady(pod, ready)],
    ['ContainersReady', ready],
    ['PodScheduled', TRUE],
  ];
  const observed = run.generation === undefined ? {} : { observedGeneration: run.generation };
  let result = pod.status.conditions;
  for (const [type, verdict] of verdicts) result = withCondition(result, { type, ...observed, ...verdict }, time);
  return result ?? [];
}

function initialized(run: PodRun, phase: string): Verdict {
  if (phase === 'Succeeded') return { status: 'True', reason: 'PodCompleted' };
  const waiting = run.containers.filter((one) => one.role !== 'main' && !isPassed(one)).map((one) => one.name);
  if (waiting.length === 0) return TRUE;
  const message = `containers with incomplete status: [${waiting.join(' ')}]`;
  return { status: 'False', reason: 'ContainersNotInitialized', message };
}

function containersReady(run: PodRun, phase: string): Verdict {
  if (phase === 'Succeeded') return { status: 'False', reason: 'PodCompleted' };
  if (phase === 'Failed') return { status: 'False', reason: 'PodFailed' };
  const waiting = run.containers.filter((one) => one.role !== 'init' && !one.ready).map((one) => one.name);
  if (waiting.length === 0) return TRUE;
  const message = `containers with unready status: [${waiting.join(' ')}]`;
  return { status: 'False', reason: 'ContainersNotReady', message };
}

function podReady(pod: Pod, containers: Verdict): Verdict {
  if (containers.status !== 'True') return containers;
  const texts: string[] = [];
  for (const { conditionType } of pod.spec.readinessGates ?? []) {
    const gate = conditionOf(pod.status.conditions, conditionType);
    if (gate === undefined) {
      texts.push(`corresponding condition of pod readiness gate "${conditionType}" does not exist.`);
    } else if (gate.status !== 'True') {
      texts.push(`the status of pod readiness gate "${conditionType}" is not "True", but ${gate.status}`);
    }
  }
  return texts.length === 0 ? TRUE : { status: 'False', reason: 'ReadinessGatesNotReady', message: texts.join(', ') };
}
