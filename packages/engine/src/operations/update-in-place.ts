/**
 * InPlace: the images of a running pod are patched, and it keeps its name, node and volumes. It leaves rotation first, unless
 * the user wants it to stay. That the new image runs is believed only when the kubelet says so: its name for the image, or a
 * restart counted after the patch. A pod that is lost on the way is recreated by the same operation.
 */
import {
  type InPlaceOp,
  type InstanceRow,
  mainContainerName,
  type Rev,
  revisionHashOf,
  type Strategy,
} from '@omenative/api';
import { deadlineFrom } from '../clock.js';
import { needsProof, onPods, podsOrAt, type Step } from '../draft.js';
import type { Hold, HoldReason } from '../hold.js';
import { type InPlaceDiff, inPlaceDiff } from '../in-place-diff.js';
import { isContainersReady, promotionOf } from '../readiness.js';
import { sayInstance, unreadableGates } from '../say.js';
import type { ContainerView, PodView, RevisionPayload, Snapshot } from '../snapshot.js';
import { areProvedAbsent, isLive, isTerminating, lifeSetOf, type PodSet, slotsOf, type Unit } from '../units.js';
import { rest } from './row.js';
import { changeOf, completed, newUpdate, updated } from './update.js';
import type { RecreatingRow } from './update-recreate.js';
import { staysReady } from './waits.js';

export type InPlaceRow = InstanceRow & { readonly kind: 'updating' } & { readonly op: InPlaceOp };

export function isInPlace(row: InstanceRow): row is InPlaceRow {
  return row.kind === 'updating' && row.op.step === 'InPlace';
}

/** The one pod of the Instance, whatever revision its label says: it changes in the middle of the update. */
export function inPlacePodOf(snapshot: Snapshot, unit: Unit, row: InstanceRow): PodView | undefined {
  const occupant = inPlaceSetOf(snapshot, unit, row).slots[0]?.occupant;
  return occupant === undefined || occupant.is === 'missing' ? undefined : occupant.pod;
}

/** The set that holds that one pod, live or not. */
export function inPlaceSetOf(snapshot: Snapshot, unit: Unit, row: InstanceRow): PodSet {
  return lifeSetOf(unit, slotsOf(snapshot, row.index, row.activeOrdinal, row.running), row.incarnation);
}

/** The payload that the pod was made or patched from, by its label; that of the row's revision when it says none. */
function payloadOfPod(snapshot: Snapshot, pod: PodView, running: Rev | ''): RevisionPayload | undefined {
  for (const stored of snapshot.revisions.values()) {
    if (stored !== 'gone' && stored.hash === pod.revisionHash) return stored.payload;
  }
  if (pod.revisionHash !== '') return undefined;
  const stored = snapshot.revisions.get(running);
  return stored === undefined || stored === 'gone' ? undefined : stored.payload;
}

export function payloadOfRevision(snapshot: Snapshot, rev: Rev): RevisionPayload | undefined {
  if (rev === snapshot.specRevision) return snapshot.spec.payload;
  const stored = snapshot.revisions.get(rev);
  return stored === undefined || stored === 'gone' ? undefined : stored.payload;
}

/** What has to change in the pod for it to be of `target`; undefined when it can't be changed into that. */
export function diffOf(snapshot: Snapshot, unit: Unit, row: InstanceRow, target: Rev): InPlaceDiff | undefined {
  const pod = inPlacePodOf(snapshot, unit, row);
  const to = payloadOfRevision(snapshot, target);
  if (pod === undefined || !isLive(pod) || to === undefined) return undefined;
  const from = payloadOfPod(snapshot, pod, row.running);
  return from === undefined ? undefined : inPlaceDiff(from, to);
}

/** How far the pod has come. */
export type InPlaceProgress =
  | {
      readonly is: 'patch';
      readonly pod: PodView;
      readonly diff: InPlaceDiff;
      readonly images: Readonly<Record<string, string>>;
    }
  /** Patched; the kubelet has not reported these containers yet. */
  | { readonly is: 'unconfirmed'; readonly pod: PodView; readonly containers: readonly string[] }
  /** It runs the new images, and its labels still have to say so. */
  | { readonly is: 'label'; readonly pod: PodView; readonly diff: InPlaceDiff }
  | { readonly is: 'done'; readonly pod: PodView }
  | { readonly is: 'lost' }
  /** The target, or what the pod is of, can't be read any more. */
  | { readonly is: 'impossible' };

export function progressOf(
  snapshot: Snapshot,
  unit: Unit,
  row: InstanceRow & { readonly op: { readonly target: Rev | '' } },
): InPlaceProgress {
  const pod = inPlacePodOf(snapshot, unit, row);
  if (pod === undefined || !isLive(pod)) return { is: 'lost' };
  const { target } = row.op;
  const wanted = imagesOf(payloadOfRevision(snapshot, target));
  const isLabelled = pod.revisionHash === revisionHashOf(target);
  const diff = diffOf(snapshot, unit, row, target);
  if (wanted === undefined || (!isLabelled && diff === undefined)) return { is: 'impossible' };
  const images = missingImages(pod, wanted);
  if (Object.keys(images).length > 0) return { is: 'patch', pod, diff: diff ?? noDiff, images };
  const changed = changedImages(snapshot, row, pod, wanted);
  const unconfirmed = pod.containers
    .filter((container) => container.kind === 'regular' && !isConfirmed(pod, container, changed[container.name]))
    .map(({ name }) => name);
  if (unconfirmed.length > 0) return { is: 'unconfirmed', pod, containers: unconfirmed };
  return isLabelled ? { is: 'done', pod } : { is: 'label', pod, diff: diff ?? noDiff };
}

/** Whether the pod has the images of `target` in its spec already: then the update never takes it out of rotation. */
export function hasImagesOf(snapshot: Snapshot, unit: Unit, target: Rev): boolean {
  const pod = inPlacePodOf(snapshot, unit, unit.row);
  const wanted = imagesOf(payloadOfRevision(snapshot, target));
  return pod !== undefined && wanted !== undefined && Object.keys(missingImages(pod, wanted)).length === 0;
}

/** Those of the wanted images that the pod's spec does not have, whoever changed it. Containers of others are theirs. */
function missingImages(pod: PodView, wanted: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(wanted).filter(([name, image]) =>
      pod.containers.some((one) => one.name === name && one.kind === 'regular' && one.image !== image),
    ),
  );
}

const noDiff: InPlaceDiff = { images: {}, annotations: {}, pairingProtocol: '' };

function imagesOf(payload: RevisionPayload | undefined): Readonly<Record<string, string>> | undefined {
  const template = payload?.runners[0]?.template as
    | { readonly spec?: { readonly containers?: readonly { readonly name?: string; readonly image?: string }[] } }
    | undefined;
  if (template === undefined) return undefined;
  return Object.fromEntries(
    (template.spec?.containers ?? []).flatMap(({ name, image }) =>
      image === undefined ? [] : [[name || mainContainerName, image]],
    ),
  );
}

/**
 * The images that the update has put into the pod: by its marker and, should somebody have taken that off, by the difference
 * between the revisions.
 */
function changedImages(
  snapshot: Snapshot,
  row: InstanceRow & { readonly op: { readonly target: Rev | '' } },
  pod: PodView,
  wanted: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const from = row.running === '' ? undefined : payloadOfRevision(snapshot, row.running);
  const to = payloadOfRevision(snapshot, row.op.target);
  const stored = from === undefined || to === undefined ? undefined : inPlaceDiff(from, to);
  const marked = Object.entries(pod.inPlace?.targetImages ?? {}).filter(([name, image]) => wanted[name] === image);
  return { ...stored?.images, ...Object.fromEntries(marked) };
}

/**
 * What the update did not touch is what it was; all else needs the kubelet's word about the spec as it is now: until it has
 * seen that, it reports the container before the one before, when two changes follow each other.
 */
function isConfirmed(pod: PodView, container: ContainerView, image: string | undefined): boolean {
  if (image === undefined) return true;
  if (pod.isUnobserved === true) return false;
  if (isSameImage(container.runningImage, image)) return true;
  const digest = digestOf(image);
  if (digest !== undefined && container.imageID.endsWith(digest)) return true;
  const baseline = pod.inPlace?.restartCounts[container.name];
  return baseline !== undefined && container.restartCount > baseline;
}

/** Whether the container runs what the spec says, so that nothing is on its way to it any more. */
export function isSettled(pod: PodView, container: ContainerView): boolean {
  return container.ready && pod.isUnobserved !== true && isSameImage(container.runningImage, container.image);
}

/** Runtimes write an image of the default registry in full. */
function isSameImage(reported: string, wanted: string): boolean {
  return reported !== '' && shortImage(reported) === shortImage(wanted);
}

function shortImage(image: string): string {
  const name = image.replace(/^docker\.io\//, '').replace(/^library\//, '');
  return /[:@][^/]*$/.test(name) ? name : `${name}:latest`;
}

function digestOf(image: string): string | undefined {
  return /@(sha256:[0-9a-f]+)$/.exec(image)?.[1];
}

/** The row that starts an in-place update; the caller has charged the budget and knows that it is possible. */
export function openInPlace(snapshot: Snapshot, row: InstanceRow, target: Rev, strategy: Strategy): Step {
  const op: InPlaceOp = { ...newUpdate(snapshot, row, target, strategy), step: 'InPlace' };
  return {
    to: 'row',
    row: { ...rest(row), kind: 'updating', target, op },
    tries: target,
    events: [
      sayInstance(
        snapshot,
        'Normal',
        'InPlaceUpdateStarted',
        row.index,
        op.id,
        `its pod is changed in place to revision ${target}`,
      ),
    ],
  };
}

export function advanceInPlace(snapshot: Snapshot, unit: Unit, row: InPlaceRow): Step {
  const { spec, target } = snapshot;
  if (row.op.target !== target && spec.pause === 'running') return retarget(snapshot, unit, row);
  const progress = progressOf(snapshot, unit, row);
  switch (progress.is) {
    case 'lost':
      return lost(snapshot, unit, row);
    case 'impossible':
      return toRecreate(snapshot, row, row.op.target, `its pod can't be changed into revision ${row.op.target}`);
    case 'patch':
      return { to: 'wait', hold: patching(snapshot, row, progress.pod) };
    case 'unconfirmed':
      return waiting(
        row,
        `pod ${progress.pod.name} has been patched; its kubelet does not report the new image of ${progress.containers.join(', ')} yet`,
      );
    case 'label':
      return waiting(row, `pod ${progress.pod.name} runs the new images and is labelled as of ${row.op.target}`);
    case 'done':
      return promote(snapshot, unit, row);
  }
}

function waiting(row: InPlaceRow, text: string): Step {
  return { to: 'wait', hold: holdOf(row, 'Starting', text) };
}

function holdOf(row: InPlaceRow, is: HoldReason, text: string): Hold {
  return {
    is,
    index: row.index,
    text: `Instance ${row.index}: ${text}`,
    wake: [{ on: 'slice', key: String(row.index) }, ...podsOrAt(row.index, row.op.deadline)],
  };
}

function patching(snapshot: Snapshot, row: InPlaceRow, pod: PodView): Hold {
  const wish = `pod ${pod.name} gets the images of ${row.op.target}`;
  if (snapshot.spec.update.inPlace === 'keepReady') return holdOf(row, 'Starting', wish);
  const unreadable = unreadableGates([pod]);
  return holdOf(
    row,
    unreadable === '' ? 'Draining' : 'GateUnreadable',
    `${wish} once it is out of rotation${unreadable}`,
  );
}

function promote(snapshot: Snapshot, unit: Unit, row: InPlaceRow): Step {
  const { spec, now } = snapshot;
  const set = inPlaceSetOf(snapshot, unit, row);
  if (!isContainersReady(set))
    return waiting(row, `containers not ready in ${set.live.map((pod) => pod.name).join(', ')}`);
  const promotion = promotionOf(set, spec.minReadySeconds, now);
  switch (promotion.is) {
    case 'never':
      return waiting(row, `pod ${set.live[0]?.name ?? ''} enters rotation`);
    case 'later':
      return staysReady(
        snapshot,
        row.index,
        `Instance ${row.index} runs the new images and must stay Ready`,
        promotion.at,
      );
    case 'now':
      return completed(snapshot, row, updated(row, row.op.target, promotion.readySince), 'InPlaceUpdateCompleted');
  }
}

/** A new target is a new attempt with a clock of its own; when the pod can follow, it stays in place. */
function retarget(snapshot: Snapshot, unit: Unit, row: InPlaceRow): Step {
  const { target, now, spec } = snapshot;
  const pod = inPlacePodOf(snapshot, unit, row);
  if (pod === undefined || !isLive(pod)) return lost(snapshot, unit, row);
  if (diffOf(snapshot, unit, row, target) === undefined && pod.revisionHash !== revisionHashOf(target)) {
    return toRecreate(snapshot, row, target, `its pod can't be changed into revision ${target}`);
  }
  const op: InPlaceOp = {
    ...row.op,
    target,
    lastProgressAt: now,
    reason: changeOf(row, target),
    ...deadlineFrom(now, spec.instanceReadyTimeoutSec),
  };
  return { to: 'row', row: { ...row, target, op }, tries: target };
}

function lost(snapshot: Snapshot, unit: Unit, row: InPlaceRow): Step {
  const slots = slotsOf(snapshot, row.index, row.activeOrdinal, row.running);
  const pod = inPlacePodOf(snapshot, unit, row);
  if (pod === undefined && !areProvedAbsent(snapshot, row.index, slots)) {
    return needsProof(row.index, `the pod of Instance ${row.index} seems to be gone`);
  }
  if (pod !== undefined && isTerminating(pod)) {
    return {
      to: 'wait',
      hold: {
        is: 'PodsTerminating',
        index: row.index,
        text: `pod ${pod.name} of Instance ${row.index} is being deleted; the Instance is created again when it is gone`,
        wake: [onPods(row.index)],
      },
    };
  }
  const target = snapshot.spec.pause === 'running' ? snapshot.target : row.op.target;
  return toRecreate(snapshot, row, target, 'its pod is gone');
}

/** The same operation goes on as a recreate: identity and clock stay. */
export function toRecreate(snapshot: Snapshot, row: InPlaceRow, target: Rev, why: string): Step {
  const op = { ...row.op, step: 'Drain', strategy: 'RecreatePod', target, lastProgressAt: snapshot.now } as const;
  const next: RecreatingRow = {
    ...rest(row),
    kind: 'updating',
    incarnation: Math.max(1, row.incarnation) + 1,
    target,
    op,
  };
  return {
    to: 'row',
    row: next,
    events: [
      sayInstance(
        snapshot,
        'Warning',
        'InPlaceUpdateNotPossible',
        row.index,
        row.op.id,
        `the update goes on by creating the pod again at revision ${target}: ${why}`,
      ),
    ],
  };
}
