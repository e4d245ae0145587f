/** Entries by key, with indexes that are kept in step. */
import type { ObjectKey } from '../resources.js';
import type { Entry } from './decode.js';

interface Bucket<T> {
  readonly values: Map<ObjectKey, T>;
  /** `values` as a list in the order of keys, made when first asked for after a change. */
  list: readonly T[] | undefined;
}

type Index<T> = Map<string, Bucket<T>>;

const none: readonly never[] = [];

export class ObjectTable<T> {
  readonly #entries: Map<ObjectKey, Entry<T>> = new Map();
  readonly #indexNames: readonly string[];
  readonly #indexes: readonly Index<T>[];

  /** `indexNames` in the order of each entry's terms. */
  constructor(indexNames: readonly string[]) {
    this.#indexNames = indexNames;
    this.#indexes = indexNames.map(() => new Map());
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: ObjectKey): Entry<T> | undefined {
    return this.#entries.get(key);
  }

  entries(): IterableIterator<Entry<T>> {
    return this.#entries.values();
  }

  set(entry: Entry<T>): void {
    const { key } = entry.meta;
    this.delete(key);
    this.#entries.set(key, entry);
    if (entry.as === 'isolated') return;
    for (const [i, index] of this.#indexes.entries()) {
      for (const term of entry.terms[i] ?? none) addTo(index, term, key, entry.value);
    }
  }

  delete(key: ObjectKey): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    if (entry.as === 'isolated') return;
    for (const [i, index] of this.#indexes.entries()) {
      for (const term of entry.terms[i] ?? none) removeFrom(index, term, key);
    }
  }

  /**
   * The objects that an index finds under a term, in the order of their keys.
   *
   * @throws RangeError when there is no such index.
   */
  byIndex(name: string, term: string): readonly T[] {
    const index = this.#indexes[this.#indexNames.indexOf(name)];
    if (index === undefined) throw new RangeError(`the cache has no index "${name}"`);
    const bucket = index.get(term);
    if (bucket === undefined) return none;
    if (bucket.list === undefined) {
      const byKey = [...bucket.values].toSorted(([a], [b]) => (a < b ? -1 : 1));
      bucket.list = byKey.map(([, value]) => value);
    }
    return bucket.list;
  }
}

function addTo<T>(index: Index<T>, term: string, key: ObjectKey, value: T): void {
  let bucket = index.get(term);
  if (bucket === undefined) {
    bucket = { values: new Map(), list: undefined };
    index.set(term, bucket);
  }
  bucket.values.set(key, value);
  bucket.list = undefined;
}

function removeFrom<T>(index: Index<T>, term: string, key: ObjectKey): void {
  const bucket = index.get(term);
  if (bucket === undefined) return;
  bucket.values.delete(key);
  bucket.list = undefined;
  if (bucket.values.size === 0) index.delete(term);
}
