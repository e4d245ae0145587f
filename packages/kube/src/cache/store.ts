/** What a controller may ask of a cache. */
import type { ObjectKey } from '../resources.js';
import type { ObjectMeta } from './decode.js';
import type { DeletionProof } from './tombstones.js';

/**
 * The objects of one type, as one watch stream has told them up to `position`, and our own writes that lie ahead of it.
 * Everything in it is shared: treat it as immutable.
 */
export interface Store<T> {
  /** Whether a first complete list is in. Before that the store may be empty, or hold what was taken in, and proves nothing. */
  readonly synced: boolean;
  /** The highest resourceVersion of the last list, event or bookmark of this stream; empty before the first list. */
  readonly position: string;
  /** Objects, isolated ones not counted. */
  readonly size: number;
  get(key: ObjectKey): T | undefined;
  /** Which object of that name is known, isolated or not. */
  meta(key: ObjectKey): ObjectMeta | undefined;
  values(): IterableIterator<T>;
  /**
   * The objects that an index finds under `value`, in the order of their keys.
   *
   * @throws RangeError when there is no such index.
   */
  byIndex(index: string, value: string): readonly T[];
  /** Objects that exist, and whose projection threw: neither `get` nor an index shows them. */
  isolated(): readonly IsolatedObject[];
  /**
   * The proof that the last object of this key is gone: its deletion was seen on the stream by this process, or a live
   * read found it gone. A relist that no longer shows an object, or an object that has left the selector, proves nothing.
   */
  deletedWithProof(key: ObjectKey): DeletionProof | undefined;
}

export interface IsolatedObject {
  readonly meta: ObjectMeta;
  readonly error: unknown;
}

/** One object's step from `old` to `now`. */
export interface Change<T> {
  readonly key: ObjectKey;
  /** Of `now`, or else of the last version that was known. */
  readonly meta: ObjectMeta;
  readonly old?: T;
  /** Absent when the object has left the store, or is isolated. */
  readonly now?: T;
  /** `takeIn`: the reply to a write of ours, or a live read. */
  readonly cause: 'event' | 'relist' | 'takeIn';
  /** Present when the object is proved gone, not only out of sight. */
  readonly proof?: DeletionProof;
}

/** What came of taking an object in: `covered` when the stream already speaks for it, `outOfScope` when it isn't ours to hold. */
export type TakenIn = 'taken' | 'covered' | 'outOfScope';
