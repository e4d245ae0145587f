/**
 * One pod of an ideal world: what is made becomes ready, what is told to go goes, and what is in trouble today stays in
 * trouble. Times are of no account: one stage a tick.
 */
import { label, podName, revisionHashOf, type Sec } from '@omenative/api';
import {
  type ContainerView,
  type CreatePod,
  isTerminal,
  type PatchInPlace,
  type PlanSpec,
  type PodView,
  type StoredRevision,
  stuckContainers,
} from '@omenative/engine';

/** Where pods of a rehearsal run. */
const stage = 'rehearsal';
/** Seconds that a pod takes to start: more than one, since what has not started may be replaced in the next second. */
export const startSec = 2;
/** Seconds past the end of its grace after which a dying pod is taken to be held by something. */
const overdueSec = 30;

/** The pod that a create makes, not yet started. `uid` must be new. */
export function bornPod(effect: CreatePod, spec: PlanSpec, revision: StoredRevision, uid: string, now: Sec): PodView {
  const { index, incarnation, runner, ordinal, rev } = effect;
  return {
    name: podName(spec.owner, spec.component, index, runner, ordinal),
    uid,
    resourceVersion: '1',
    createdAt: now,
    index,
    incarnation,
    runner,
    revisionHash: revisionHashOf(rev),
    node: stage,
    phase: 'Pending',
    statusReason: '',
    statusMessage: '',
    finalizers: [],
    gated: false,
    containersReady: false,
    ready: false,
    gate: { state: 'absent' },
    containers: containersOf(revision, effect),
  };
}

/**
 * The pod a tick later; undefined when it is gone. The same object when nothing changes. `since` is when the world began: how
 * long a pod had been starting by then tells nothing.
 */
export function nextStage(pod: PodView, now: Sec, since: Sec): PodView | undefined {
  if (pod.deletionAt !== undefined) return pod.deletionAt + overdueSec < now ? pod : undefined;
  if (isTerminal(pod)) return pod;
  const patched = pod.containers.filter((container) => isToRestart(pod, container));
  if (patched.length > 0) return restarted(pod, patched, now);
  const isStarting = !pod.containersReady && !isInTrouble(pod) && now >= Math.max(pod.createdAt, since) + startSec;
  const started = isStarting ? withContainersReady(pod) : pod;
  const ready = started.containersReady && started.gate.state === 'true';
  return ready === started.ready ? started : { ...started, ready, readyChangedAt: now };
}

/** Something speaks against its ever getting ready. */
export function isInTrouble(pod: PodView): boolean {
  return pod.gated || pod.unschedulable !== undefined || stuckContainers([pod], pod.createdAt).length > 0;
}

/** The pod after a patch in place. Its kubelet follows in the next tick. */
export function patchedPod(pod: PodView, effect: PatchInPlace): PodView {
  const { images, marker, labels } = effect;
  return {
    ...pod,
    ...(marker === undefined ? {} : { inPlace: marker }),
    revisionHash: labels[label.revisionHash] ?? pod.revisionHash,
    containers: pod.containers.map((container) => ({ ...container, image: images[container.name] ?? container.image })),
  };
}

/** A container that got another image and has not been started with it yet. */
function isToRestart({ inPlace }: PodView, container: ContainerView): boolean {
  const { name, image, restartCount, runningImage } = container;
  const baseline = inPlace?.restartCounts[name];
  const isPatched = inPlace?.targetImages[name] === image;
  return isPatched && baseline !== undefined && restartCount <= baseline && runningImage !== image;
}

/** Containers are stopped before they start anew, so that for a moment the pod is not ready. */
function restarted(pod: PodView, which: readonly ContainerView[], now: Sec): PodView {
  return {
    ...pod,
    containersReady: false,
    ...(pod.ready ? { ready: false, readyChangedAt: now } : {}),
    containers: pod.containers.map((container) => (which.includes(container) ? stopped(container) : container)),
  };
}

function stopped(container: ContainerView): ContainerView {
  const { waiting: _waiting, terminated: _terminated, ...rest } = container;
  return { ...rest, imageID: '', runningImage: '', ready: false, restartCount: container.restartCount + 1 };
}

/** The pod without the marker of a patch in place. */
export function unmarkedPod(pod: PodView): PodView {
  const { inPlace: _inPlace, ...rest } = pod;
  return rest;
}

function withContainersReady(pod: PodView): PodView {
  return {
    ...pod,
    node: pod.node === '' ? stage : pod.node,
    phase: 'Running',
    containersReady: true,
    containers: pod.containers.map(withoutTrouble),
  };
}

function withoutTrouble(container: ContainerView): ContainerView {
  const { waiting: _waiting, terminated: _terminated, ...running } = container;
  return {
    ...running,
    ready: container.kind === 'regular',
    imageID: container.imageID === '' ? container.image : container.imageID,
    runningImage: container.runningImage === '' ? container.image : container.runningImage,
  };
}

interface TemplateShape {
  readonly spec?: {
    readonly initContainers?: readonly ContainerShape[];
    readonly containers?: readonly ContainerShape[];
  };
}

interface ContainerShape {
  readonly name?: string;
  readonly image?: string;
}

function containersOf(revision: StoredRevision, { runner, rev }: CreatePod): readonly ContainerView[] {
  const template = revision.payload.runners.find((candidate) => candidate.name === runner)?.template;
  const { initContainers = [], containers = [] } = (template as TemplateShape | undefined)?.spec ?? {};
  const view = (kind: ContainerView['kind']) => (shape: ContainerShape) => ({
    name: shape.name ?? '',
    kind,
    ready: false,
    restartCount: 0,
    image: shape.image ?? rev,
    imageID: '',
    runningImage: '',
  });
  return [...initContainers.map(view('init')), ...containers.map(view('regular'))];
}
