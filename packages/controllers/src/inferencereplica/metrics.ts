/** What can be measured about this controller, for whoever publishes it. */
import type { DecodeReason, StatusEncoding } from '@omenative/api';
import type { Effect, Outcome } from '@omenative/engine';

export interface ReplicaMetrics {
  /** One pass over one replica. */
  passFinished(result: 'success' | 'requeue' | 'error', durationMs: number): void;
  /** A write of a status: `attempt` when it is sent, then what came of it. */
  statusWritten(encoding: StatusEncoding, result: StatusWriteResult): void;
  /** A status is in the cluster. */
  statusStored(status: StoredStatus): void;
  /** A status could not be read, or not be written out. */
  codecFailed(reason: DecodeReason): void;
  effectFinished(effect: Effect['do'], outcome: Outcome['as']): void;
  /** A stream had to be started again because it did not show a write of ours in time. */
  floorUnreached(): void;
}

/**
 * `confirmed`: the answer was lost, and a look showed the status in place. `rejected`: too large to be stored. `error`: every
 * other refusal, and no answer.
 */
export type StatusWriteResult = 'attempt' | 'committed' | 'confirmed' | 'conflict' | 'rejected' | 'error';

/** One status as it was written last. */
export interface StoredStatus {
  readonly namespace: string;
  readonly name: string;
  readonly component: string;
  readonly encoding: StatusEncoding;
  /** Bytes of the status as JSON. */
  readonly bytes: number;
  /** How its rows were stored before; absent when that has not changed. */
  readonly convertedFrom?: StatusEncoding;
}

/** Measures nothing. */
export const noMetrics: ReplicaMetrics = {
  passFinished() {},
  statusWritten() {},
  statusStored() {},
  codecFailed() {},
  effectFinished() {},
  floorUnreached() {},
};
