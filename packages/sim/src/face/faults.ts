/** What can happen to a request and to a stream, as data that a seed or a test chooses. */

import type { SimRequest } from '../api/call.js';
import type { Random, Range } from '../base/random.js';
import type { Admit } from '../base/review.js';
import type { ClientRequest } from './shapes.js';

/** What becomes of one request. */
export type Fate =
  /** Applied, and the answer arrives. */
  | { readonly is: 'answered' }
  /** Applied; the connection breaks before the answer. */
  | { readonly is: 'appliedAnswerLost' }
  /** The connection is refused; nothing reaches the server. */
  | { readonly is: 'notApplied' }
  /** The client loses the connection and gives up; the server applies the request that much later. */
  | { readonly is: 'appliedLate'; readonly afterMs: number }
  /** Answered without being applied: a 429 with Retry-After, a 503. */
  | { readonly is: 'refused'; readonly status: 429 | 500 | 503; readonly retryAfterSeconds: number }
  /** Neither applied nor settled: the client is as good as dead. */
  | { readonly is: 'never' };

export interface Faults {
  /** From the client's call to the server, and back again: each drawn on its own. */
  readonly latencyMs: Range;
  /** From a write to its event at the client; drawn for each stream and change, in order within a stream. */
  readonly watchLagMs: Range;
  /** Probabilities, for each request. */
  readonly answerLost: number;
  readonly notApplied: number;
  readonly appliedLate: number;
  readonly throttled: number;
  readonly lateMs: Range;
  /** How long a stream lives when its client names no timeout. */
  readonly streamLifeMs: Range;
  /** Between bookmarks on a stream that asked for them. */
  readonly bookmarkMs: number;
}

export const NO_FAULTS: Faults = {
  latencyMs: [1, 8],
  watchLagMs: [1, 40],
  answerLost: 0,
  notApplied: 0,
  appliedLate: 0,
  throttled: 0,
  lateMs: [100, 60_000],
  streamLifeMs: [1_800_000, 3_600_000],
  bookmarkMs: 60_000,
};

/** Draws the fate of a request. */
export function drawFate(faults: Faults, random: Random): Fate {
  const draw = random.fraction();
  let edge = faults.answerLost;
  if (draw < edge) return { is: 'appliedAnswerLost' };
  edge += faults.notApplied;
  if (draw < edge) return { is: 'notApplied' };
  edge += faults.appliedLate;
  if (draw < edge) return { is: 'appliedLate', afterMs: random.within(faults.lateMs) };
  edge += faults.throttled;
  if (draw < edge) return { is: 'refused', status: 429, retryAfterSeconds: 1 };
  return { is: 'answered' };
}

/** One write of one client, as hooks see it. */
export interface WriteAttempt {
  readonly client: string;
  /** The number of this write among those of the client, from 1. */
  readonly n: number;
  readonly request: SimRequest;
}

export interface Hooks {
  /** What policies and webhooks would say to a write; kept by forks of the cluster. */
  admit?: Admit;
  /** Chooses the fate of a request in place of the seed; `n` counts all requests of the client, from 1. */
  onRequest?: (request: ClientRequest, n: number, client: string) => Fate | undefined;
  /** Just before a write is applied: the world is as it was. `drop` keeps it from being applied or answered. */
  beforeWrite?: (write: WriteAttempt) => 'apply' | 'drop';
  /** Just after a write was applied; its answer is not sent yet. `drop` keeps the answer back for ever. */
  afterWrite?: (write: WriteAttempt, status: number) => 'answer' | 'drop';
}
