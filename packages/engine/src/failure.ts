/** Evidence → cause: why an attempt that did not get ready can't, in the words of the kubelet where there are any. */
import type { Sec, Termination } from '@omenative/api';
import type { ContainerView, PodView } from './snapshot.js';
import { isLive } from './units.js';

/** Whose fault it is. Only `workload` counts against a revision. */
export type Cause = 'workload' | 'environment' | 'unattributed';

/** Waiting reasons that don't clear by themselves. */
const stuckReasons: ReadonlySet<string> = new Set([
  'CrashLoopBackOff',
  'ImagePullBackOff',
  'ErrImagePull',
  'InvalidImageName',
  'CreateContainerError',
  'CreateContainerConfigError',
  'RunContainerError',
]);

/** Of these, the ones that the revision itself is to blame for. */
const workloadReasons: ReadonlySet<string> = new Set([
  'ImagePullBackOff',
  'ErrImagePull',
  'InvalidImageName',
  'CreateContainerConfigError',
  'InvalidPodSpec',
]);

export function causeOf(reason: string): Cause {
  if (workloadReasons.has(reason)) return 'workload';
  return reason === 'Unschedulable' || reason === 'NamespaceTerminating' ? 'environment' : 'unattributed';
}

export interface Stuck {
  readonly pod: PodView;
  readonly container: ContainerView;
  readonly reason: string;
  readonly since: Sec;
}

/**
 * Containers that wait for a reason that doesn't clear. Their time counts from the container's last end, not from the
 * pod's creation: a pod that crashed once after its first minute is not stuck. Each attempt gets the whole grace anew.
 */
export function stuckContainers(pods: readonly PodView[], attemptStartedAt: Sec): readonly Stuck[] {
  return pods.filter(isLive).flatMap((pod) =>
    pod.containers.flatMap((container) => {
      const reason = container.waiting?.reason ?? '';
      if (!stuckReasons.has(reason)) return [];
      const since = Math.max(container.lastTerminated?.finishedAt ?? pod.createdAt, attemptStartedAt);
      return [{ pod, container, reason, since }];
    }),
  );
}

/** The record of a stuck container. */
export function terminationOfStuck(stuck: Stuck, now: Sec): Termination {
  const exitCode = stuck.container.lastTerminated?.exitCode;
  return {
    podName: stuck.pod.name,
    containerName: stuck.container.name,
    reason: stuck.reason,
    ...(exitCode === undefined ? {} : { exitCode }),
    message: bounded(stuck.container.waiting?.message ?? ''),
    time: now,
  };
}

/** The record of a pod that has ended: the container that ended it, else what the kubelet said of the pod. */
export function terminationOfPod(pod: PodView, now: Sec): Termination {
  const ended = pod.containers
    .flatMap((container) => {
      const state = container.terminated ?? container.lastTerminated;
      return state === undefined ? [] : [{ container, state }];
    })
    .toSorted((a, b) => Number(b.state.exitCode !== 0) - Number(a.state.exitCode !== 0))[0];
  if (ended === undefined) {
    return {
      podName: pod.name,
      containerName: '',
      reason: pod.statusReason || 'PodFailed',
      message: bounded(pod.statusMessage),
      time: now,
    };
  }
  return {
    podName: pod.name,
    containerName: ended.container.name,
    reason: ended.state.reason || pod.statusReason || 'PodFailed',
    exitCode: ended.state.exitCode,
    message: bounded(ended.state.message || pod.statusMessage),
    time: now,
  };
}

/**
 * Why a deadline passed: what the workload itself does wrong first, then a pod that runs and is not ready, then a gate
 * that stays closed, then a pod that has no node, then nothing better than the deadline.
 */
export function terminationOfDeadline(
  pods: readonly PodView[],
  attempt: string,
  startedAt: Sec,
  now: Sec,
): Termination {
  const live = pods.filter(isLive);
  const stuck = stuckContainers(live, startedAt).toSorted(
    (a, b) => Number(workloadReasons.has(b.reason)) - Number(workloadReasons.has(a.reason)),
  )[0];
  if (stuck !== undefined) return terminationOfStuck(stuck, now);
  const because = (pod: PodView, reason: string, message: string): Termination => ({
    podName: pod.name,
    containerName: '',
    reason,
    message: bounded(message),
    time: now,
  });
  for (const pod of live) {
    const notReady = pod.containers.find((container) => container.kind === 'regular' && !container.ready);
    if (pod.phase === 'Running' && !pod.containersReady && notReady !== undefined) {
      return {
        ...because(pod, 'ContainersNotReady', `container ${notReady.name} runs but never passed its readiness check`),
        containerName: notReady.name,
      };
    }
  }
  const gated = live.find((pod) => pod.containersReady && !pod.ready);
  if (gated !== undefined) {
    return because(gated, 'ReadinessGateNotSatisfied', 'all containers are ready but a readiness gate stays False');
  }
  const homeless = live.find((pod) => pod.unschedulable !== undefined);
  if (homeless !== undefined) return because(homeless, 'Unschedulable', homeless.unschedulable?.message ?? '');
  return {
    podName: live[0]?.name ?? '',
    containerName: '',
    reason: 'DeadlineExceeded',
    message: `${attempt} exceeded its instanceReadyTimeout`,
    time: now,
  };
}

/** Messages come from outside and are stored per Instance: they get 256 characters. */
function bounded(message: string): string {
  return message.length <= 256 ? message : `${message.slice(0, 253)}...`;
}
