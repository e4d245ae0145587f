/** Where a controller tells people what happened to an object. `EventRecorder` is one. */
import type { EventRecord } from '@omenative/kube';

export interface EventSink {
  /** Never waits and never fails; the same object, reason and episode is told once. */
  record(record: EventRecord): void;
}
