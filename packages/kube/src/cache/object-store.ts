/** The cache behind `Store`: folds list, events, bookmarks and our own replies into one table, and tells what changed. */
import { isNewer } from '../resource-version.js';
import type { KubeObject, ObjectKey } from '../resources.js';
import type { Runtime } from '../runtime.js';
import type { Json } from '../transport.js';
import { decode, type Entry, type IndexFunction, type ObjectMeta, type Projection, readMeta } from './decode.js';
import { FanOut, type Unsubscribe } from './fan-out.js';
import { PositionWaiters } from './position-waiters.js';
import type { Change, IsolatedObject, Store, TakenIn } from './store.js';
import type { Replacement, StreamEventType, StreamSink } from './stream.js';
import { ObjectTable } from './table.js';
import { type DeletionProof, Tombstones } from './tombstones.js';

/** What went wrong inside the cache without stopping it. `error` is what the caller's function threw, if one did. */
export interface StoreProblem {
  readonly kind: 'isolated' | 'malformed' | 'listener';
  /** For people. */
  readonly message: string;
  readonly error?: unknown;
}

export interface ObjectStoreOptions<T> {
  readonly runtime: Runtime;
  readonly kind: string;
  readonly project: Projection<T>;
  readonly indexes: Readonly<Record<string, IndexFunction<T>>>;
  /** Whether the last state of a deleted object shows that it was deleted, and did not just leave the selector. */
  readonly isProofOfDeletion: (raw: KubeObject) => boolean;
  /** Whether an object belongs to what the stream selects. */
  readonly inScope: (raw: KubeObject, meta: ObjectMeta) => boolean;
  readonly maxTombstones: number;
  readonly report: (problem: StoreProblem) => void;
}

export interface StoreCounters {
  /** Events that were no news: their resourceVersion was not above the position. */
  readonly repeated: number;
  readonly events: number;
}

export class ObjectStore<T> implements Store<T>, StreamSink {
  readonly #options: ObjectStoreOptions<T>;
  readonly #indexNames: readonly string[];
  readonly #indexes: readonly IndexFunction<T>[];
  #table: ObjectTable<T>;
  readonly #isolated: Map<ObjectKey, IsolatedObject> = new Map();
  readonly #tombstones: Tombstones;
  /** UIDs that a live read found gone, before the stream says so. A UID never returns. Bounded like the tombstones. */
  #goneAhead: Set<string> = new Set();
  readonly #fanOut: FanOut<Change<T>>;
  readonly #waiters: PositionWaiters;
  #position = '';
  #synced = false;
  #events = 0;
  #repeated = 0;

  constructor(options: ObjectStoreOptions<T>) {
    this.#options = options;
    this.#indexNames = Object.keys(options.indexes);
    this.#indexes = Object.values(options.indexes);
    this.#table = new ObjectTable(this.#indexNames);
    this.#tombstones = new Tombstones(options.maxTombstones);
    const onError = (error: unknown): void => {
      options.report({ kind: 'listener', message: `a listener of the ${options.kind} cache threw`, error });
    };
    this.#fanOut = new FanOut(options.runtime, onError);
    this.#waiters = new PositionWaiters(onError);
  }

  get synced(): boolean {
    return this.#synced;
  }

  get position(): string {
    return this.#position;
  }

  get size(): number {
    return this.#table.size - this.#isolated.size;
  }

  get isolatedCount(): number {
    return this.#isolated.size;
  }

  get counters(): StoreCounters {
    return { events: this.#events, repeated: this.#repeated };
  }

  get(key: ObjectKey): T | undefined {
    return objectIn(this.#table.get(key));
  }

  meta(key: ObjectKey): ObjectMeta | undefined {
    return this.#table.get(key)?.meta;
  }

  *values(): IterableIterator<T> {
    for (const entry of this.#table.entries()) if (entry.as === 'object') yield entry.value;
  }

  byIndex(index: string, value: string): readonly T[] {
    return this.#table.byIndex(index, value);
  }

  isolated(): readonly IsolatedObject[] {
    return [...this.#isolated.values()];
  }

  deletedWithProof(key: ObjectKey): DeletionProof | undefined {
    return this.#tombstones.get(key);
  }

  /** Nobody will ask for the proof of this key's deletion any more. */
  forget(key: ObjectKey): void {
    this.#tombstones.delete(key);
  }

  subscribe(listener: (change: Change<T>) => void): Unsubscribe {
    return this.#fanOut.subscribe(listener);
  }

  /** Calls back once the position is at `resourceVersion` or past it; at once when it is already. */
  whenAt(resourceVersion: string, callback: () => void): Unsubscribe {
    return this.#waiters.add(resourceVersion, this.#synced ? this.#position : '', callback);
  }

  takeIn(raw: Json): TakenIn {
    const meta = readMeta(raw);
    if (meta === undefined || !this.#options.inScope(raw as KubeObject, meta)) return 'outOfScope';
    const held = this.#table.get(meta.key);
    const isNews = isNewer(meta.resourceVersion, this.#position) && !this.#goneAhead.has(meta.uid);
    if (!isNews || (held !== undefined && !isNewer(meta.resourceVersion, held.meta.resourceVersion))) return 'covered';
    this.#put(this.#decode(raw, meta), 'takeIn');
    return 'taken';
  }

  takeInDeletion(key: ObjectKey, uid: string): void {
    this.#rememberGone(uid);
    const held = this.#table.get(key);
    if (held !== undefined && held.meta.uid !== uid) return;
    const proof = { uid, resourceVersion: held?.meta.resourceVersion ?? this.#position };
    this.#tombstones.set(key, proof);
    if (held !== undefined) this.#remove(held, 'takeIn', proof);
  }

  applyEvent(type: StreamEventType, raw: Json): void {
    const meta = readMeta(raw);
    if (meta === undefined) {
      this.#reportMalformed(type);
      return;
    }
    this.#events++;
    if (!isNewer(meta.resourceVersion, this.#position)) {
      this.#repeated++;
      return;
    }
    this.#position = meta.resourceVersion;
    if (type === 'DELETED') this.#applyDeletion(raw as KubeObject, meta);
    else this.#applyVersion(raw, meta);
    this.#waiters.reached(this.#position);
  }

  bookmark(resourceVersion: string): void {
    if (!isNewer(resourceVersion, this.#position)) return;
    this.#position = resourceVersion;
    this.#waiters.reached(resourceVersion);
  }

  beginReplacement(): Replacement {
    const staged = new ObjectTable<T>(this.#indexNames);
    return {
      apply: (type, raw) => {
        const meta = readMeta(raw);
        if (meta === undefined) this.#reportMalformed(type);
        else if (type === 'DELETED') staged.delete(meta.key);
        else staged.set(this.#heldOrDecoded(raw, meta));
      },
      commit: (resourceVersion) => {
        if (isNewer(this.#position, resourceVersion)) return 'older';
        this.#replace(staged, resourceVersion);
        return 'committed';
      },
    };
  }

  /** Tells nobody anything any more. */
  silence(): void {
    this.#fanOut.clear();
    this.#waiters.clear();
  }

  #applyVersion(raw: Json, meta: ObjectMeta): void {
    if (this.#goneAhead.has(meta.uid)) return;
    const held = this.#table.get(meta.key);
    // What was taken in lies ahead of the stream.
    if (held !== undefined && !isNewer(meta.resourceVersion, held.meta.resourceVersion)) return;
    this.#put(this.#decode(raw, meta), 'event');
  }

  #applyDeletion(raw: KubeObject, meta: ObjectMeta): void {
    this.#goneAhead.delete(meta.uid);
    const held = this.#table.get(meta.key);
    const isOther = held !== undefined && held.meta.uid !== meta.uid;
    if (isOther) return;
    const proof = this.#provesDeletion(raw, meta)
      ? { uid: meta.uid, resourceVersion: meta.resourceVersion }
      : undefined;
    if (proof !== undefined) this.#tombstones.set(meta.key, proof);
    if (held !== undefined) this.#remove(held, 'event', proof);
  }

  /** Doubt is no proof. */
  #provesDeletion(raw: KubeObject, meta: ObjectMeta): boolean {
    try {
      return this.#options.isProofOfDeletion(raw);
    } catch (error) {
      const message = `${this.#options.kind} ${meta.key}: its last state cannot be read, and proves no deletion`;
      this.#options.report({ kind: 'isolated', message, error });
      return false;
    }
  }

  #put(entry: Entry<T>, cause: Change<T>['cause']): void {
    const held = this.#table.get(entry.meta.key);
    if (held !== undefined && held.meta.uid !== entry.meta.uid) {
      // One name, one object: the newer one proves that the older is gone.
      this.#remove(held, cause, { uid: held.meta.uid, resourceVersion: entry.meta.resourceVersion });
    }
    this.#table.set(entry);
    this.#note(entry);
    this.#fanOut.publish([changeOf(held?.meta.uid === entry.meta.uid ? held : undefined, entry, cause)]);
  }

  #remove(held: Entry<T>, cause: Change<T>['cause'], proof: DeletionProof | undefined): void {
    this.#table.delete(held.meta.key);
    this.#isolated.delete(held.meta.key);
    this.#fanOut.publish([departureOf(held, cause, proof)]);
  }

  #rememberGone(uid: string): void {
    this.#goneAhead.add(uid);
    if (this.#goneAhead.size <= this.#options.maxTombstones) return;
    const oldest = this.#goneAhead.values().next();
    if (oldest.done !== true) this.#goneAhead.delete(oldest.value);
  }

  /** Keeps what is said about a key beside its entry in step with it. */
  #note(entry: Entry<T>): void {
    const { meta } = entry;
    this.#tombstones.delete(meta.key);
    this.#isolated.delete(meta.key);
    if (entry.as === 'object') return;
    this.#isolated.set(meta.key, { meta, error: entry.error });
    const message = `${this.#options.kind} ${meta.key} (resourceVersion ${meta.resourceVersion}) cannot be read and is set aside`;
    this.#options.report({ kind: 'isolated', message, error: entry.error });
  }

  #replace(staged: ObjectTable<T>, resourceVersion: string): void {
    this.#carryOver(staged, resourceVersion);
    const changes: Change<T>[] = [];
    for (const held of this.#table.entries()) {
      const next = staged.get(held.meta.key);
      if (next?.meta.uid === held.meta.uid) continue;
      this.#isolated.delete(held.meta.key);
      const proof = next === undefined ? undefined : { uid: held.meta.uid, resourceVersion };
      changes.push(departureOf(held, 'relist', proof));
    }
    for (const entry of staged.entries()) {
      const held = this.#table.get(entry.meta.key);
      if (held === entry) continue;
      this.#note(entry);
      changes.push(changeOf(held?.meta.uid === entry.meta.uid ? held : undefined, entry, 'relist'));
    }
    this.#table = staged;
    this.#synced = true;
    this.#position = resourceVersion;
    this.#fanOut.publish(changes);
    this.#waiters.reached(resourceVersion);
  }

  /** What we know from our own writes, and a list of this version cannot know yet. */
  #carryOver(staged: ObjectTable<T>, resourceVersion: string): void {
    const stillShown = new Set<string>();
    for (const { meta } of staged.entries()) {
      if (!this.#goneAhead.has(meta.uid)) continue;
      stillShown.add(meta.uid);
      staged.delete(meta.key);
    }
    this.#goneAhead = stillShown;
    for (const held of this.#table.entries()) {
      if (isNewer(held.meta.resourceVersion, resourceVersion)) staged.set(held);
    }
  }

  #heldOrDecoded(raw: Json, meta: ObjectMeta): Entry<T> {
    const held = this.#table.get(meta.key);
    const isSame = held?.meta.uid === meta.uid && held.meta.resourceVersion === meta.resourceVersion;
    return isSame ? held : this.#decode(raw, meta);
  }

  #decode(raw: Json, meta: ObjectMeta): Entry<T> {
    return decode(raw, meta, this.#options.project, this.#indexes);
  }

  #reportMalformed(type: StreamEventType): void {
    const message = `${this.#options.kind}: ${type} without name, uid or resourceVersion was ignored`;
    this.#options.report({ kind: 'malformed', message });
  }
}

function objectIn<T>(entry: Entry<T> | undefined): T | undefined {
  return entry?.as === 'object' ? entry.value : undefined;
}

function changeOf<T>(held: Entry<T> | undefined, entry: Entry<T>, cause: Change<T>['cause']): Change<T> {
  return {
    key: entry.meta.key,
    meta: entry.meta,
    cause,
    ...(held?.as === 'object' ? { old: held.value } : {}),
    ...(entry.as === 'object' ? { now: entry.value } : {}),
  };
}

function departureOf<T>(held: Entry<T>, cause: Change<T>['cause'], proof: DeletionProof | undefined): Change<T> {
  return {
    key: held.meta.key,
    meta: held.meta,
    cause,
    ...(held.as === 'object' ? { old: held.value } : {}),
    ...(proof === undefined ? {} : { proof }),
  };
}
