/**
 * What users ask of a replica by annotation: to reset Failed Instances, to release a held revision. A request is acted on in
 * one status write and then taken off the replica; whether it has been acted on shows in the rows and blocks themselves, so
 * a controller killed in between only takes it off.
 */
import { annotation, type InstanceRow, phaseOf, type RetryBlock, type Rev, revisionHashOf } from '@omenative/api';
import { booked, isBooked } from './bookings.js';
import { apply, type Draft } from './draft.js';
import type { Effect, EventIntent } from './effects.js';
import { keyOfObject } from './keys.js';
import { isFailed, rest } from './operations/row.js';
import { isInService } from './own-set.js';
import { sayReplica } from './say.js';
import type { PodView, Snapshot } from './snapshot.js';
import { allUnits } from './stages.js';
import { isServing, isTerminating, type Unit, unitsOf } from './units.js';

/** Which Instances a reset names: all, some, or nothing that can be understood. */
export type ResetSelection =
  | { readonly of: 'all' }
  | { readonly of: 'some'; readonly indices: readonly number[] }
  | { readonly of: 'none'; readonly why: string };

/** Reads `all` or a list of indices such as `0,3`. Space around entries and repeated entries do no harm. */
export function parseReset(value: string): ResetSelection {
  const text = value.trim();
  if (text === 'all') return { of: 'all' };
  const entries = text.split(',').map((entry) => entry.trim());
  const odd = entries.find((entry) => !/^[0-9]{1,9}$/.test(entry));
  if (odd !== undefined) return { of: 'none', why: `"${odd}" is not a non-negative instance index` };
  return { of: 'some', indices: [...new Set(entries.map(Number))].toSorted((a, b) => a - b) };
}

/** Acts on what the replica's annotations ask for, after all that an earlier stage of this pass has decided. */
export function readMail(draft: Draft): void {
  resetInstances(draft);
  releaseRevision(draft);
}

/** The mail that has been acted on, given what the status says now. */
export function acks(
  snapshot: Snapshot,
  rows: ReadonlyMap<number, InstanceRow>,
  blocks: readonly RetryBlock[],
): readonly Effect[] {
  const { annotations } = snapshot.replica;
  const effects: Effect[] = [];
  const wanted = annotations[annotation.resetInstances];
  if (wanted !== undefined) {
    const selection = parseReset(wanted);
    const selected = unitsOf(snapshot, rows).filter((unit) => isSelected(selection, unit.index));
    const isPending = selected.some((unit) => isUnseen(snapshot, unit) || objection(snapshot, unit) === undefined);
    if (!isPending) effects.push(ack(annotation.resetInstances, wanted));
  }
  const release = annotations[annotation.releaseHeldRevision];
  if (release !== undefined && heldBlock(blocks, release) === undefined) {
    effects.push(ack(annotation.releaseHeldRevision, release));
  }
  return effects;
}

function ack(key: string, value: string): Effect {
  return {
    do: 'ackMail',
    key: keyOfObject('ackMail', key),
    covers: { by: 'rule', rule: 'object' },
    annotation: key,
    value,
  };
}

function isSelected(selection: ResetSelection, index: number): boolean {
  return selection.of === 'all' || (selection.of === 'some' && selection.indices.includes(index));
}

/** It is Failed, and the watch does not show yet whether that is all there is to say: the request waits. */
function isUnseen(snapshot: Snapshot, { index, row }: Unit): boolean {
  return isFailed(row) && snapshot.blind.has(index);
}

/**
 * Why a reset does nothing for an Instance; undefined when it does something: it is Failed, serves nothing, and has pods or a
 * kept operation that a reset takes away.
 */
function objection(snapshot: Snapshot, unit: Unit): string | undefined {
  const { row } = unit;
  const phase = phaseOf(row);
  if (isInService(snapshot, unit) || unit.pods.some(isEntry)) return 'still serving';
  if (phase !== 'Failed') return `Phase=${phase}`;
  if (row.kind !== 'failed') return 'owned by Update';
  if (row.kept !== undefined && row.kept.type !== 'Create' && row.kept.type !== 'Restart') {
    return `owned by ${row.kept.type}`;
  }
  const isClear = unit.pods.filter((pod) => !isTerminating(pod)).every((pod) => isBooked(row, pod, 'InstanceReset'));
  return row.kept === undefined && isClear ? 'nothing to reset' : undefined;
}

/** Requests reach it. */
function isEntry(pod: PodView): boolean {
  return isServing(pod) && pod.runner !== 'worker';
}

function resetInstances(draft: Draft): void {
  const { snapshot } = draft;
  const value = snapshot.replica.annotations[annotation.resetInstances];
  if (value === undefined) return;
  const selection = parseReset(value);
  const episode = `${value}/${snapshot.now}`;
  if (selection.of === 'none') {
    const text = `${annotation.resetInstances}="${value}" rejected: ${selection.why}; nothing reset`;
    draft.events.push(sayReplica(snapshot, 'Warning', 'InstancesResetRejected', episode, text));
    return;
  }
  const selected = allUnits(draft).filter((unit) => isSelected(selection, unit.index));
  const done = selected.filter((unit) => objection(snapshot, unit) === undefined);
  // What this pass has just decided about an Instance is persisted before it is undone.
  if (selected.some((unit) => isUnseen(snapshot, unit)) || done.some((unit) => draft.claimed.has(unit.index))) return;
  for (const unit of done) apply(draft, unit.index, { to: 'row', row: reset(unit) });
  draft.events.push(...resetEvents(snapshot, selection, selected, done, episode));
}

/**
 * Its pods are booked, and what it kept of an operation is forgotten; it stays Failed until it may be created again. It no
 * longer says what it failed at, so that nothing but the ladder of a revision paces its next try.
 */
function reset({ row, pods }: Unit): InstanceRow {
  const announced = booked(
    row,
    'InstanceReset',
    pods.filter((pod) => !isTerminating(pod)),
  );
  return { ...rest(row), kind: 'failed', target: '', announced };
}

function resetEvents(
  snapshot: Snapshot,
  selection: ResetSelection,
  selected: readonly Unit[],
  done: readonly Unit[],
  episode: string,
): readonly EventIntent[] {
  const events: EventIntent[] = [];
  if (done.length > 0) {
    const list = done.map((unit) => unit.index).join(',');
    const text = `reset instance(s) ${list} at operator request (${annotation.resetInstances} annotation): pods deleted and preserved operation cleared; the lifecycle passes rebuild them`;
    events.push(sayReplica(snapshot, 'Normal', 'InstancesReset', episode, text));
  }
  const skipped = new Map<string, number[]>();
  const skip = (why: string, index: number): void => {
    skipped.set(why, [...(skipped.get(why) ?? []), index]);
  };
  if (selection.of === 'all') {
    if (!selected.some(({ row }) => isFailed(row))) {
      const text = 'reset skipped: none is Failed; nothing to reset';
      return [sayReplica(snapshot, 'Normal', 'InstancesResetSkipped', episode, text)];
    }
    for (const unit of selected) {
      if (!isFailed(unit.row) || done.includes(unit)) continue;
      skip(objection(snapshot, unit) ?? 'nothing to reset', unit.index);
    }
  } else if (selection.of === 'some') {
    for (const index of selection.indices) {
      const unit = selected.find((other) => other.index === index);
      if (unit === undefined) skip('no such instance', index);
      else if (!done.includes(unit)) skip(objection(snapshot, unit) ?? 'nothing to reset', index);
    }
  }
  for (const [why, indices] of skipped) {
    const text = `reset skipped for instance(s) ${indices.join(',')} (${why})`;
    events.push(sayReplica(snapshot, 'Normal', 'InstancesResetSkipped', `${episode}/${why}`, text));
  }
  return events;
}

/** The Held block that a name, or the hash at its end, stands for. */
function heldBlock(blocks: readonly RetryBlock[], value: string): RetryBlock | undefined {
  const block = blockFor(blocks, value);
  return block?.state === 'Held' ? block : undefined;
}

function blockFor(blocks: readonly RetryBlock[], value: string): RetryBlock | undefined {
  const wanted = value.trim();
  return blocks.find((block) => isNamed(block.target, wanted));
}

function isNamed(rev: Rev, wanted: string): boolean {
  return rev === wanted || revisionHashOf(rev) === wanted;
}

function releaseRevision(draft: Draft): void {
  const { snapshot } = draft;
  const value = snapshot.replica.annotations[annotation.releaseHeldRevision];
  if (value === undefined) return;
  const episode = `${value}/${snapshot.now}`;
  const block = blockFor(draft.blocks, value);
  if (block?.state === 'Held') {
    draft.blocks = draft.blocks.filter((other) => other !== block);
    const text = `Held retryBlock for revision ${block.target} removed at operator request (${annotation.releaseHeldRevision} annotation)`;
    draft.events.push(sayReplica(snapshot, 'Normal', 'RetryBlockReleased', episode, text));
    return;
  }
  const text =
    block === undefined
      ? `release requested for revision "${value}" but no retryBlock exists for it; nothing to release`
      : `retryBlock for revision ${block.target} is ${block.state}, not Held; nothing to release`;
  draft.events.push(sayReplica(snapshot, 'Normal', 'RetryBlockReleaseSkipped', episode, text));
}
