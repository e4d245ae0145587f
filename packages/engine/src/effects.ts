/** Everything the controller may do to a cluster, as data: a closed union, so that nothing else can be done. */
import type { Index, Rev, Runner, Sec } from '@omenative/api';
import type { GateHold, InPlaceMarker, Uid } from './snapshot.js';

/** `{do}/{object}/{uid or name}/{operation id or rule}`: the same wish has the same key in every pass. */
export type EffectKey = string;

export interface PodRef {
  readonly name: string;
  readonly uid: Uid;
  readonly resourceVersion: string;
}

/**
 * What entitles an effect: an operation in the persisted status, or one of a closed list of rules that follow from
 * persisted state alone. The executor checks it against the status it wrote.
 */
export type Cover =
  | { readonly by: 'operation'; readonly index: Index; readonly id: string }
  | { readonly by: 'rule'; readonly rule: CoverRule };

export type CoverRule =
  /** A resting Instance lacks a pod, or a pod of it was never let into rotation. */
  | 'refill'
  /** A pod of a resting Instance belongs to a revision that the row neither runs nor aims at. */
  | 'alien'
  /** A user reset a Failed Instance: its pods are booked on its row. */
  | 'reset'
  /** The marker of an in-place update on a pod of a row that has none. */
  | 'marker'
  /** The replica itself: finalizer, revision, headless Service. */
  | 'object';

interface EffectBase {
  readonly key: EffectKey;
  readonly covers: Cover;
}

export type CreatePod = EffectBase & {
  readonly do: 'createPod';
  readonly name: string;
  readonly index: Index;
  readonly incarnation: number;
  readonly runner: Runner;
  readonly ordinal: number;
  readonly rev: Rev;
  readonly avoidNodes: readonly string[];
};
export type GatePod = EffectBase & {
  readonly do: 'gate';
  readonly pod: PodRef;
  readonly hold: GateHold;
  readonly change: 'add' | 'remove';
};
export type DeletePod = EffectBase & {
  readonly do: 'deletePod';
  readonly pod: PodRef;
  /** Seconds; absent: the pod's own grace. */
  readonly graceSeconds?: number;
  /** `unroutedLive`: one live read of each routing Service's slices must show the pod out of rotation first. */
  readonly guard: 'none' | 'unroutedLive';
};

/** Changes a running pod into one of another revision, in one patch with its UID and resourceVersion. */
export type PatchInPlace = EffectBase & {
  readonly do: 'patchInPlace';
  readonly pod: PodRef;
  /** By container; empty when only metadata changes. */
  readonly images: Readonly<Record<string, string>>;
  readonly marker?: InPlaceMarker;
  /** Null takes a key away. */
  readonly labels: Readonly<Record<string, string | null>>;
  readonly annotations: Readonly<Record<string, string | null>>;
};
/** Takes a user's request off the replica: that very value, and no later one. */
export type AckMail = EffectBase & { readonly do: 'ackMail'; readonly annotation: string; readonly value: string };

export type Effect =
  | (EffectBase & { readonly do: 'finalizer'; readonly change: 'add' | 'remove' })
  | (EffectBase & { readonly do: 'createRevision'; readonly rev: Rev })
  | (EffectBase & { readonly do: 'deleteRevision'; readonly rev: Rev; readonly uid: Uid })
  | (EffectBase & { readonly do: 'ensureHeadless' })
  | (EffectBase & { readonly do: 'deleteHeadless' })
  | CreatePod
  | GatePod
  | DeletePod
  | PatchInPlace
  | (EffectBase & { readonly do: 'dropMarker'; readonly pod: PodRef })
  | AckMail;

/** What came of an effect. Kept in memory between passes and may vanish at any moment without harm. */
export interface Outcome {
  readonly at: Sec;
  /** How many times in a row the same effect ended this way; absent means once. Paces the next try. */
  readonly repeats?: number;
  /** The API server's words, for people. */
  readonly detail: string;
  readonly as:
    | 'ok'
    /** The name is taken by a pod of ours that the cache does not show yet; it was taken in. */
    | 'exists'
    | 'gone'
    | 'conflict'
    /** The live guard said no: still routed. */
    | 'guardFailed'
    /** Not sent: lease lost, object changed, slice used up, or an earlier link of its chain failed. */
    | 'skipped'
    | 'quota'
    | 'invalid'
    | 'namespaceTerminating'
    | 'admissionUnavailable'
    /** The name is taken by an object that is not ours. */
    | 'nameTaken'
    | 'throttled'
    /** No answer came: the write may or may not have happened. */
    | 'unknown'
    | 'transient';
}

/** In this order: what takes a pod out of rotation comes before what deletes, what puts one in comes last. */
export const lanes = ['unroute', 'delete', 'misc', 'create', 'route'] as const;
export type Lane = (typeof lanes)[number];

/** Effects in order; a chain stops at its first effect that is neither `ok`, `exists` nor `gone`. */
export interface Chain {
  readonly lane: Lane;
  readonly effects: readonly Effect[];
  /** Outcomes that stop the whole lane for this pass. */
  readonly stopLaneOn: readonly Outcome['as'][];
}

/** An Event to be written once the status that it speaks of is persisted. */
export interface EventIntent {
  readonly reason: string;
  readonly type: 'Normal' | 'Warning';
  /** Distinguishes one occurrence from the next: the same (reason, episode) is the same Event. */
  readonly episode: string;
  readonly text: string;
}
