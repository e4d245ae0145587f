/** A cache of one type, kept in step with the API server: what controllers hold instead of asking the server. */
import {
  collectionPath,
  hasLabels,
  type KubeObject,
  labelQuery,
  type ObjectKey,
  type ResourceType,
  resourceName,
} from '../resources.js';
import type { Runtime } from '../runtime.js';
import type { Json, Transport } from '../transport.js';
import type { IndexFunction, ObjectMeta, Projection } from './decode.js';
import type { Unsubscribe } from './fan-out.js';
import { ObjectStore, type StoreProblem } from './object-store.js';
import { Reflector, type StreamProblem } from './reflector.js';
import type { Change, Store, TakenIn } from './store.js';

export type InformerProblem = StoreProblem | StreamProblem;

export interface InformerOptions<T> {
  readonly transport: Transport;
  readonly runtime: Runtime;
  readonly type: ResourceType;
  /** Absent: all namespaces. */
  readonly namespace?: string;
  /** Labels that an object must carry to be held. */
  readonly labels?: Readonly<Record<string, string>>;
  /** As the server takes it. `takeIn` does not look at it. */
  readonly fieldSelector?: string;
  /**
   * What to keep of an object. The less, the better: the rest is garbage at once. An object for which it throws is set
   * aside and reported, and stops nothing.
   */
  readonly project: Projection<T>;
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>>;
  /**
   * Whether the last state of a deleted object shows that it was deleted, and did not just leave the selector. Default:
   * always without labels and fieldSelector, and with them when it carried a deletionTimestamp. An object without grace or
   * finalizers, as a ConfigMap, never carries one; a pod always does.
   */
  readonly isProofOfDeletion?: (raw: KubeObject) => boolean;
  /** Told of everything that went wrong; all of it is being taken care of. Must not throw. */
  readonly report: (problem: InformerProblem) => void;
  /** Default 90,000: more than the minute or so between a server's bookmarks. */
  readonly silenceMs?: number;
  /** How many proofs of deletion are kept. Default 20,000. */
  readonly maxTombstones?: number;
}

/** For metrics and health, counted since the start. */
export interface InformerStats {
  readonly synced: boolean;
  readonly objects: number;
  readonly isolatedObjects: number;
  /** Events heard, repeated ones included. */
  readonly events: number;
  /** Events that were no news. */
  readonly repeatedEvents: number;
  /** Complete lists, the first included. */
  readonly lists: number;
  /** Streams opened again where the last one ended. */
  readonly resumes: number;
  /** Lists refused because they lay before what is known. */
  readonly olderLists: number;
  /** Streams given up because nothing came. */
  readonly silences: number;
  /** Milliseconds since the stream last said anything. */
  readonly lastActivityAgeMs: number;
}

export class Informer<T> {
  readonly type: ResourceType;
  readonly store: Store<T>;
  readonly #store: ObjectStore<T>;
  readonly #reflector: Reflector;

  constructor(options: InformerOptions<T>) {
    const { transport, runtime, type, namespace, labels = {}, fieldSelector, report } = options;
    const kind = resourceName(type);
    const inScope = (raw: KubeObject, meta: ObjectMeta): boolean =>
      (namespace === undefined || meta.namespace === namespace) && hasLabels(raw, labels);
    const isSelective = Object.keys(labels).length > 0 || fieldSelector !== undefined;
    this.type = type;
    this.#store = new ObjectStore({
      runtime,
      kind,
      project: options.project,
      indexes: options.indexes ?? {},
      isProofOfDeletion: options.isProofOfDeletion ?? ((raw) => !isSelective || isTerminating(raw)),
      inScope,
      maxTombstones: options.maxTombstones ?? 20_000,
      report,
    });
    this.store = this.#store;
    const labelSelector = labelQuery(labels);
    this.#reflector = new Reflector({
      transport,
      runtime,
      kind,
      path: collectionPath(type, namespace),
      selectors: {
        ...(labelSelector === '' ? {} : { labelSelector }),
        ...(fieldSelector === undefined ? {} : { fieldSelector }),
      },
      sink: this.#store,
      silenceMs: options.silenceMs ?? 90_000,
      report,
    });
  }

  /** Starts to list and watch; idempotent. */
  start(): void {
    this.#reflector.start();
  }

  /** Ends the stream. Nobody hears of changes after this returns; the store keeps its last state. */
  stop(): void {
    this.#reflector.stop();
    this.#store.silence();
  }

  /** Resolves once a first complete list is in. */
  whenSynced(): Promise<void> {
    return new Promise((resolve) => {
      this.#store.whenAt('', resolve);
    });
  }

  /**
   * Tells every change from now on, after the store shows it. A listener that throws is reported and misses nothing. When
   * many objects change at once, the store may be ahead of what is told.
   */
  subscribe(listener: (change: Change<T>) => void): Unsubscribe {
    return this.#store.subscribe(listener);
  }

  /** Calls back once the store's position is at `resourceVersion` or past it; at once when it is already. */
  whenAt(resourceVersion: string, callback: () => void): Unsubscribe {
    return this.#store.whenAt(resourceVersion, callback);
  }

  /**
   * Folds in the reply to a write of ours, or a live read, unless the stream already speaks for it: else an object that
   * was deleted meanwhile would come back.
   */
  takeIn(raw: Json): TakenIn {
    return this.#store.takeIn(raw);
  }

  /** A live read, or the reply to a delete, has shown that this object is gone. */
  takeInDeletion(key: ObjectKey, uid: string): void {
    this.#store.takeInDeletion(key, uid);
  }

  /** Nobody will ask for the proof of this key's deletion any more. */
  forget(key: ObjectKey): void {
    this.#store.forget(key);
  }

  /** The stream does not reach a version that exists: starts it again, at a state that is at least that new. */
  relistNotOlderThan(resourceVersion: string): void {
    this.#reflector.relistNotOlderThan(resourceVersion);
  }

  stats(): InformerStats {
    const { events, repeated } = this.#store.counters;
    return {
      synced: this.#store.synced,
      objects: this.#store.size,
      isolatedObjects: this.#store.isolatedCount,
      events,
      repeatedEvents: repeated,
      ...this.#reflector.counters,
      lastActivityAgeMs: this.#reflector.lastActivityAgeMs,
    };
  }
}

function isTerminating(raw: KubeObject): boolean {
  return raw.metadata?.deletionTimestamp !== undefined;
}
