/**
 * Writes Events that people read with `kubectl describe`. Best effort: recording never waits, never fails, and what
 * cannot be written in good time is dropped and counted.
 */
import { createHash } from 'node:crypto';
import type { Client } from './client.js';
import { classify, type ErrorClass, mayHaveBeenApplied } from './errors.js';
import type { KubeObject, ResourceType } from './resources.js';
import { type Runtime, sleep } from './runtime.js';
import { formatTime } from './timestamps.js';
import { TokenBucket, type TokenBucketOptions } from './token-bucket.js';

/** A core/v1 Event. */
export interface KubeEvent extends KubeObject {
  readonly involvedObject: ObjectReference;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  readonly source: { readonly component: string };
  readonly reportingComponent: string;
  readonly reportingInstance: string;
  readonly firstTimestamp: string;
  readonly lastTimestamp: string;
  readonly count: number;
}

export const events: ResourceType<KubeEvent> = {
  group: '',
  version: 'v1',
  plural: 'events',
  kind: 'Event',
  namespaced: true,
};

/** The object that an Event is about. */
export interface ObjectReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion?: string;
  /** Which part of it: `spec.containers{main}`. */
  readonly fieldPath?: string;
}

export interface EventRecord {
  readonly regarding: ObjectReference;
  readonly type: 'Normal' | 'Warning';
  /** UpperCamelCase. */
  readonly reason: string;
  /** For people; cut at 1,024 bytes. */
  readonly message: string;
  /**
   * Tells one occurrence from the next: the same object, reason and episode is the same Event, and is written once, also
   * by a process that starts again in the middle.
   */
  readonly episode: string;
}

export interface EventRecorderOptions {
  readonly client: Client;
  readonly runtime: Runtime;
  /** Who reports: the controller's name. */
  readonly component: string;
  /** Which copy of it. */
  readonly instance: string;
  /** How many Events one object may cause. Default 25, and one more every five minutes. */
  readonly perObject?: TokenBucketOptions;
  /** How many Events may wait. Default 1,000. */
  readonly queueLimit?: number;
  readonly metrics?: EventMetrics;
}

export interface EventMetrics {
  written(): void;
  /** `rate`: too many about one object; `full`: too many waiting; else what the server's refusal meant. */
  dropped(why: 'rate' | 'full' | ErrorClass): void;
}

const maxMessageBytes = 1024;
/** Name of an object that has no namespace: its Events live in `default`. */
const homeOfClusterScoped = 'default';
const maxAttempts = 4;
const firstPauseMs = 500;
/** Objects whose rate is remembered; beyond, the one that was quiet longest starts afresh. */
const maxBuckets = 4096;
/** Recently recorded names, so that a wait that is told on every pass costs one request. */
const maxRemembered = 4096;

export class EventRecorder {
  readonly #options: EventRecorderOptions;
  readonly #buckets: Map<string, TokenBucket> = new Map();
  readonly #remembered: Set<string> = new Set();
  #queue: KubeEvent[] = [];
  #sending: Promise<void> | undefined;

  constructor(options: EventRecorderOptions) {
    this.#options = options;
  }

  record(record: EventRecord): void {
    const event = this.#eventOf(record);
    const id = `${event.metadata?.namespace}/${event.metadata?.name}`;
    if (this.#remembered.has(id)) return;
    const { metrics, queueLimit = 1000 } = this.#options;
    if (!this.#bucketOf(record.regarding.uid).tryTake()) {
      metrics?.dropped('rate');
      return;
    }
    if (this.#queue.length >= queueLimit) {
      metrics?.dropped('full');
      return;
    }
    remember(this.#remembered, id);
    this.#queue.push(event);
    this.#sending ??= this.#sendAll();
  }

  /** Resolves once everything recorded so far is written or dropped. */
  async flush(): Promise<void> {
    while (this.#sending !== undefined) await this.#sending;
  }

  async #sendAll(): Promise<void> {
    // Leaves the stack of the pass that records.
    await Promise.resolve();
    for (let event = this.#queue.shift(); event !== undefined; event = this.#queue.shift()) await this.#send(event);
    this.#sending = undefined;
  }

  async #send(event: KubeEvent): Promise<void> {
    const { client, runtime, metrics } = this.#options;
    for (let attempt = 1; ; attempt++) {
      try {
        await client.create(events, event);
        metrics?.written();
        return;
      } catch (error) {
        const as = classify(error);
        // Written before, by us or by the process before us.
        if (as === 'alreadyExists') return;
        // A name that is derived makes the repetition of a write without answer harmless.
        const isWorthRepeating = as === 'unavailable' || as === 'throttled' || mayHaveBeenApplied(error);
        if (!isWorthRepeating || attempt >= maxAttempts) {
          metrics?.dropped(as);
          return;
        }
        await sleep(runtime, firstPauseMs * 2 ** (attempt - 1));
      }
    }
  }

  #eventOf({ regarding, type, reason, message, episode }: EventRecord): KubeEvent {
    const { component, instance, runtime } = this.#options;
    const now = formatTime(runtime.nowMs());
    const namespace = regarding.namespace ?? homeOfClusterScoped;
    return {
      metadata: { name: eventName(regarding, reason, episode), namespace },
      involvedObject: regarding,
      type,
      reason,
      message: truncateUtf8(message, maxMessageBytes),
      source: { component },
      reportingComponent: component,
      reportingInstance: instance,
      firstTimestamp: now,
      lastTimestamp: now,
      count: 1,
    };
  }

  #bucketOf(uid: string): TokenBucket {
    const { runtime, perObject = { burst: 25, refillMs: 300_000 } } = this.#options;
    const bucket = this.#buckets.get(uid) ?? new TokenBucket(runtime, perObject);
    // Moves it to the young end.
    this.#buckets.delete(uid);
    this.#buckets.set(uid, bucket);
    if (this.#buckets.size > maxBuckets) dropOldest(this.#buckets);
    return bucket;
  }
}

/** `{object}.{hash}`, which fits the 253 characters of a name. */
export function eventName(regarding: ObjectReference, reason: string, episode: string): string {
  const identity = [regarding.uid, regarding.fieldPath ?? '', reason, episode].join('\n');
  const hash = createHash('sha256').update(identity).digest('hex').slice(0, 16);
  return `${regarding.name.slice(0, 253 - 1 - hash.length).replace(/[-.]+$/, '')}.${hash}`;
}

/** At most `maxBytes` of UTF-8, cut between characters; what was cut ends in an ellipsis. */
export function truncateUtf8(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= maxBytes) return text;
  const ellipsis = '…';
  let end = maxBytes - Buffer.byteLength(ellipsis);
  // Bytes of the form 10xxxxxx continue a character.
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return `${bytes.toString('utf8', 0, end)}${ellipsis}`;
}

function remember(names: Set<string>, name: string): void {
  names.add(name);
  if (names.size > maxRemembered) dropOldest(names);
}

function dropOldest(collection: { keys(): Iterator<string>; delete(key: string): boolean }): void {
  const oldest = collection.keys().next();
  if (oldest.done !== true) collection.delete(oldest.value);
}
