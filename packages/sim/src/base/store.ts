/**
 * Every object of the cluster and the log of how it came to be: one resourceVersion counter, one ordered log for each
 * resource. A fork copies two maps of pointers; a resource's own map is copied at its first write after the fork.
 */

import { type KubeObject, keyOf } from './object.js';

/** One applied write. */
export interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  /** `pods`, `inferenceservices.ome.io`. */
  readonly resource: string;
  /** The object after the write; of a deletion, the last state with the version of the deletion. */
  readonly object: KubeObject;
  readonly previous?: KubeObject;
  readonly rv: number;
}

interface Log {
  readonly changes: Change[];
  /** The version of the last change that was forgotten; 0 when all are there. */
  readonly forgottenRv: number;
}

/** Log entries kept for each resource before the older half is forgotten. */
const LOG_LIMIT = 20_000;

export class Store {
  #rv: number;
  #compactedRv: number;
  readonly #objects: Map<string, Map<string, KubeObject>>;
  readonly #logs: Map<string, Log>;
  #ownObjects = new Set<string>();
  #ownLogs = new Set<string>();

  constructor(from?: Store) {
    this.#rv = from === undefined ? 100 : from.#rv;
    this.#compactedRv = from === undefined ? this.#rv : from.#compactedRv;
    this.#objects = new Map(from === undefined ? [] : from.#objects);
    this.#logs = new Map(from === undefined ? [] : from.#logs);
    if (from !== undefined) {
      from.#ownObjects = new Set();
      from.#ownLogs = new Set();
    }
  }

  /** The version of the last write. */
  get rv(): number {
    return this.#rv;
  }

  /** Lists at, and continue tokens of, versions below this one are gone. */
  get compactedRv(): number {
    return this.#compactedRv;
  }

  get(resource: string, key: string): KubeObject | undefined {
    return this.#objects.get(resource)?.get(key);
  }

  /** The objects of a resource in no particular order. */
  list(resource: string): Iterable<KubeObject> {
    return this.#objects.get(resource)?.values() ?? [];
  }

  /** The names of resources that have, or had, objects. */
  resources(): Iterable<string> {
    return this.#objects.keys();
  }

  /** Writes or removes one object. `next` must be frozen but for its resourceVersion, which is set here. */
  commit(resource: string, next: KubeObject | undefined, previous: KubeObject | undefined): Change {
    this.#rv += 1;
    const rv = this.#rv;
    const base = next ?? previous;
    if (base === undefined) throw new Error(`sim: a write to ${resource} that neither had nor has an object`);
    const metadata = Object.freeze({ ...base.metadata, resourceVersion: String(rv) });
    const object: KubeObject = Object.freeze({ ...base, metadata });
    const objects = this.#writable(resource);
    const change = changeOf(resource, next !== undefined, object, previous, rv);
    if (change.type === 'DELETED') objects.delete(keyOf(object));
    else objects.set(keyOf(object), object);
    this.#append(change);
    return change;
  }

  /** The changes of a resource above a version, in order, or undefined when some of them are forgotten. */
  changesSince(resource: string, rv: number): readonly Change[] | undefined {
    const log = this.#logs.get(resource);
    if (rv < Math.max(log?.forgottenRv ?? 0, this.#compactedRv)) return undefined;
    if (log === undefined) return [];
    return log.changes.slice(firstAbove(log.changes, rv));
  }

  /** True when a change of the resource above a version has been forgotten: a stream at that version has lost it. */
  hasForgotten(resource: string, rv: number): boolean {
    return rv < (this.#logs.get(resource)?.forgottenRv ?? 0);
  }

  /** The first change of a resource above a version. */
  nextChange(resource: string, rv: number): Change | undefined {
    const changes = this.#logs.get(resource)?.changes ?? [];
    return changes[firstAbove(changes, rv)];
  }

  /** The objects of a resource as they were at a version, or undefined when that is forgotten. */
  listAt(resource: string, rv: number): ReadonlyMap<string, KubeObject> | undefined {
    const now = this.#objects.get(resource) ?? new Map<string, KubeObject>();
    if (rv >= this.#rv) return now;
    const changes = this.changesSince(resource, rv);
    if (changes === undefined) return undefined;
    const then = new Map(now);
    for (const change of changes.toReversed()) {
      const key = keyOf(change.object);
      if (change.previous === undefined) then.delete(key);
      else then.set(key, change.previous);
    }
    return then;
  }

  /** Forgets every change so far: watches and lists of older versions get 410. */
  compact(): void {
    this.#compactedRv = this.#rv;
    for (const [resource, log] of this.#logs) {
      this.#logs.set(resource, { changes: [], forgottenRv: log.changes.at(-1)?.rv ?? log.forgottenRv });
      this.#ownLogs.add(resource);
    }
  }

  #writable(resource: string): Map<string, KubeObject> {
    const objects = this.#objects.get(resource);
    if (objects !== undefined && this.#ownObjects.has(resource)) return objects;
    const copy = new Map(objects);
    this.#objects.set(resource, copy);
    this.#ownObjects.add(resource);
    return copy;
  }

  #append(change: Change): void {
    const { resource } = change;
    let log = this.#logs.get(resource) ?? { changes: [], forgottenRv: 0 };
    if (!this.#ownLogs.has(resource)) {
      log = { changes: [...log.changes], forgottenRv: log.forgottenRv };
      this.#ownLogs.add(resource);
      this.#logs.set(resource, log);
    }
    log.changes.push(change);
    if (log.changes.length > LOG_LIMIT) {
      const dropped = log.changes.splice(0, LOG_LIMIT / 2);
      this.#logs.set(resource, { changes: log.changes, forgottenRv: dropped.at(-1)?.rv ?? log.forgottenRv });
    }
  }
}

function changeOf(
  resource: string,
  exists: boolean,
  object: KubeObject,
  previous: KubeObject | undefined,
  rv: number,
): Change {
  if (previous === undefined) return Object.freeze({ type: 'ADDED', resource, object, rv });
  return Object.freeze({ type: exists ? 'MODIFIED' : 'DELETED', resource, object, previous, rv });
}

function firstAbove(changes: readonly Change[], rv: number): number {
  let low = 0;
  let high = changes.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((changes[middle]?.rv ?? 0) > rv) high = middle;
    else low = middle + 1;
  }
  return low;
}
