/** The kubelet and the scheduler of a toy cluster: what becomes of a pod in one step, given its fate. */
import type { PodView } from '../snapshot.js';

/** What becomes of the pods of an image. */
export type Fate =
  /** Its containers become ready in the next step of the kubelet. */
  | 'good'
  /** Its container crashes again and again. */
  | 'crashLoop'
  /** Its image can't be pulled. */
  | 'noImage'
  /** Its containers run and never become ready. */
  | 'neverReady'
  /** The kubelet ends the pod at once. */
  | 'rejected'
  /** No node has room for it. */
  | 'noRoom'
  /** It has not started yet. */
  | 'slow';

/** The pod a step later. An ended one stays what it is. */
export function afterKubelet(seen: PodView, fate: Fate, now: number): PodView {
  if (seen.phase === 'Failed') return seen;
  if (fate === 'noRoom') {
    const unschedulable = { since: seen.createdAt, message: '0/1 nodes are available' };
    return { ...seen, node: '', unschedulable };
  }
  const { unschedulable: _, ...placed } = seen;
  // A patched container is stopped and started with its new image in one step.
  const one = { ...placed, node: 'node-1', containers: seen.containers.map(restarted) };
  switch (fate) {
    case 'good':
      return withReadiness({ ...one, phase: 'Running', containersReady: true }, now);
    case 'neverReady':
      return withReadiness({ ...one, phase: 'Running', containersReady: false }, now);
    case 'slow':
      return one;
    case 'rejected':
      return { ...one, phase: 'Failed', statusReason: 'UnexpectedAdmissionError', ready: false };
    case 'crashLoop':
      return stuck({ ...one, phase: 'Running' }, 'CrashLoopBackOff', 'back-off restarting failed container', now);
    case 'noImage':
      return stuck(one, 'ImagePullBackOff', 'back-off pulling image', now);
  }
}

function stuck(one: PodView, reason: string, message: string, now: number): PodView {
  const containers = one.containers.map((container) => ({
    ...container,
    ready: false,
    waiting: { reason, message },
  }));
  return withReadiness({ ...one, containersReady: false, containers }, now);
}

/** `Ready` is what the containers and the gate say together. */
function withReadiness(one: PodView, now: number): PodView {
  const ready = one.containersReady && one.gate.state === 'true';
  return ready === one.ready ? one : { ...one, ready, readyChangedAt: now };
}

function restarted(seen: PodView['containers'][number]): PodView['containers'][number] {
  const { waiting: _, ...container } = seen;
  const { image, runningImage, restartCount } = container;
  if (image === runningImage) return container;
  return { ...container, imageID: image, runningImage: image, restartCount: restartCount + 1 };
}
