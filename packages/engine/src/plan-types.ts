/** The output of a plan. */
import type { DecodedStatus, Index, Sec } from '@omenative/api';
import type { Chain, Effect, EventIntent } from './effects.js';
import type { Hold } from './hold.js';

/** A live read that a decision on absence needs (R6); its answer comes back in `Snapshot.proofs`, once a pass. */
export interface Read {
  readonly read: 'podsOfIndex';
  readonly index: Index;
}

export interface Plan {
  /** Not empty: read, observe again and plan again before anything else of this plan is used. */
  readonly reads: readonly Read[];
  /** What the status names must exist before the status says so. */
  readonly prepare: readonly Effect[];
  /** Absent: nothing changed, nothing is written. */
  readonly status?: DecodedStatus;
  /** `coalesce`: only counters and conditions moved; such writes are at least a second apart. */
  readonly urgency: 'now' | 'coalesce';
  readonly chains: readonly Chain[];
  readonly events: readonly EventIntent[];
  readonly holds: readonly Hold[];
  /** The earliest time of all wakes. */
  readonly wakeAt?: Sec;
}
