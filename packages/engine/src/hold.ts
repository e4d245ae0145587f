/** Why something is not done now, and what will wake us: a wait without both does not compile. */
import type { Index, Rev, RolloutGate, Sec } from '@omenative/api';

export type Wake =
  | { readonly at: Sec }
  | { readonly user: 'spec' | 'annotation' }
  | { readonly on: 'pod' | 'slice' | 'service' | 'revision' | 'floor' | 'config'; readonly key: string };

/** At least one wake. */
export type Wakes = readonly [Wake, ...Wake[]];

export type HoldReason =
  /** Parks the operation's clock and is written to its `waiting`. */
  | 'Paused'
  /** A scheduling gate: parks the clock without a token. */
  | 'AdmissionGated'
  | 'Starting'
  | 'MinReady'
  | 'Draining'
  /** A serving gate that nobody can read keeps a pod from being drained. */
  | 'GateUnreadable'
  | 'PodsTerminating'
  | 'ReplacementDark'
  | 'Batch'
  | 'RecyclePacing'
  | 'ApiRefused'
  | 'ApiBudget'
  | 'NameTaken'
  | 'RevisionGone'
  | 'TemplateCheck'
  | 'StatusBytes'
  /** The clock is parked: a quota, a webhook, the scheduler. */
  | 'QuotaExceeded'
  | 'AdmissionUnavailable'
  | 'Unschedulable'
  | 'Blind'
  | 'Unproved'
  | 'Orphan'
  | 'Foreign'
  | 'Stray'
  | 'Failed'
  | 'DeleteQueue'
  | 'Teardown';

export type Hold = {
  readonly index?: Index;
  readonly wake: Wakes;
  /** A sentence for people: what waits, and for what. */
  readonly text: string;
} & (
  | { readonly is: HoldReason }
  /** Refuses the start of an update: published as `status.rolloutHold`. */
  | { readonly is: RolloutGate; readonly target: Rev }
);
