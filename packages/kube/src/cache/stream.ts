/** The seam between the list/watch protocol and the cache that it feeds. */
import type { Json } from '../transport.js';

export type StreamEventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** Where a reflector puts what it hears. No method throws. */
export interface StreamSink {
  /** Empty before the first replacement. */
  readonly position: string;
  applyEvent(type: StreamEventType, raw: Json): void;
  /** The stream has passed this version without news for us. */
  bookmark(resourceVersion: string): void;
  /** Opens a set that takes the place of all that is held, whole, once it is complete. */
  beginReplacement(): Replacement;
}

export interface Replacement {
  apply(type: StreamEventType, raw: Json): void;
  /** `older`: this state lies before the position. Nothing was replaced, and nothing may be believed of it. */
  commit(resourceVersion: string): 'committed' | 'older';
}
