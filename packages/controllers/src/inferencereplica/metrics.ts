/** What can be measured about this controller, for whoever publishes it. */
import type { Effect, Outcome } from '@omenative/engine';

export interface ReplicaMetrics {
  /** One pass over one replica. */
  passFinished(result: 'success' | 'requeue' | 'error', durationMs: number): void;
  /** One attempt to write a status. */
  statusWritten(result: StatusWriteResult): void;
  effectFinished(effect: Effect['do'], outcome: Outcome['as']): void;
  /** A stream had to be started again because it did not show a write of ours in time. */
  floorUnreached(): void;
}

export type StatusWriteResult = 'written' | 'conflict' | 'unanswered' | 'refused' | 'gone';

/** Measures nothing. */
export const noMetrics: ReplicaMetrics = {
  passFinished() {},
  statusWritten() {},
  effectFinished() {},
  floorUnreached() {},
};
