/**
 * The serving gate of a pod: the condition `ome.io/serving`, whose message lists who holds the pod out of rotation. The list
 * is the truth: the condition is True exactly when it is empty.
 */
import { servingCondition } from '@omenative/api';
import { type GateHold, type GateView, lifecycleHold } from '@omenative/engine';
import type { PodConditionPatch } from '@omenative/kube';
import { asRecord, asText, isRecord, type JsonRecord } from '../shared/json.js';

/** Reads the gate off a pod's `status.conditions`. */
export function gateOf(conditions: readonly JsonRecord[]): GateView {
  const condition = conditions.find((item) => item['type'] === servingCondition);
  if (condition === undefined) return { state: 'absent' };
  const message = asText(condition['message']);
  const holds = parseHolds(message);
  if (holds === undefined) return { state: 'malformed', message };
  // True beside a hold is a half-made write: the kubelet obeys the status, so the pod counts as let in.
  return condition['status'] === 'True' ? { state: 'true' } : { state: 'false', holds };
}

/** Undefined when the text is no list of holds; an empty text is an empty list. */
function parseHolds(message: string): readonly GateHold[] | undefined {
  if (message === '') return [];
  let parsed: unknown;
  try {
    parsed = JSON.parse(message);
  } catch {
    return undefined;
  }
  if (!Array.isArray(parsed)) return undefined;
  const holds = parsed.map(parseHold);
  return holds.every((hold) => hold !== undefined) ? holds : undefined;
}

function parseHold(value: unknown): GateHold | undefined {
  if (!isRecord(value)) return undefined;
  const { userAgent, key } = asRecord(value);
  return typeof userAgent === 'string' && typeof key === 'string' ? { writer: userAgent, key } : undefined;
}

/** One hold more, or one less. */
export interface GateChange {
  readonly hold: GateHold;
  readonly change: 'add' | 'remove';
}

export type GateStep =
  | { readonly step: 'patch'; readonly condition: PodConditionPatch }
  /** The gate is already as wished. */
  | { readonly step: 'none' }
  /** The list can't be read, so it can't be edited without losing what another writer put there. */
  | { readonly step: 'refuse'; readonly message: string };

/** What to write so that the gate of a pod with these conditions carries the change. `now` is RFC 3339. */
export function gateStep(conditions: readonly JsonRecord[], wish: GateChange, now: string): GateStep {
  const condition = conditions.find((item) => item['type'] === servingCondition);
  const message = asText(condition?.['message']);
  // Every pod is born with the lifecycle hold, written down or not.
  const listed = condition === undefined ? [lifecycleHold] : parseHolds(message);
  if (listed === undefined) return { step: 'refuse', message };
  const holds = withChange(listed, wish);
  const status = holds.length === 0 ? 'True' : 'False';
  const text = printHolds(holds);
  const isWritten = condition !== undefined && condition['status'] === status && message === text;
  // A pod without the condition is held anyway: only a change of its implicit hold needs a write.
  const isImplied = condition === undefined && holds.length === 1 && sameHold(holds[0], lifecycleHold);
  if (isWritten || isImplied) return { step: 'none' };
  const since = asText(condition?.['lastTransitionTime']);
  return {
    step: 'patch',
    condition: {
      type: servingCondition,
      status,
      reason: status === 'True' ? 'Serving' : 'NotReady',
      message: text,
      lastTransitionTime: condition?.['status'] === status && since !== '' ? since : now,
    },
  };
}

function withChange(holds: readonly GateHold[], wish: GateChange): readonly GateHold[] {
  // There is one lifecycle hold whatever key its writer of the day gave it.
  const isMeant = (hold: GateHold): boolean =>
    wish.hold.writer === lifecycleHold.writer ? hold.writer === lifecycleHold.writer : sameHold(hold, wish.hold);
  const others = holds.filter((hold) => !isMeant(hold));
  return wish.change === 'add' ? [...others, wish.hold] : others;
}

function sameHold(a: GateHold | undefined, b: GateHold): boolean {
  return a?.writer === b.writer && a.key === b.key;
}

/** Sorted, so that the same holds are the same text whoever writes them. */
function printHolds(holds: readonly GateHold[]): string {
  const sorted = holds.toSorted((a, b) => order(a.writer, b.writer) || order(a.key, b.key));
  return JSON.stringify(sorted.map(({ writer, key }) => ({ userAgent: writer, key })));
}

function order(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
