/**
 * The cluster as a value: objects, agenda, chance, clock, trace, and the private notes of its parts. It has no clients
 * and no closures of its own, so `fork` is a copy of pointers.
 */

import { Agenda, type Entry } from './agenda.js';
import { freeze } from './json.js';
import type { KubeObject } from './object.js';
import type { WorldOptions } from './options.js';
import { Random, type Range } from './random.js';
import type { Admit } from './review.js';
import { type Change, Store } from './store.js';
import { Trace } from './trace.js';

/** One controller or agent of the cluster: what it does at an agenda entry, and how it hears of a write. */
export interface Part {
  /** By the kind of the entry. Arguments are what was scheduled. */
  readonly handlers: Readonly<Record<string, (world: World, args: never) => void>>;
  /** Called in the same instant as the write; may only schedule. */
  onChange?(world: World, change: Change): void;
}

/** Told of every write, after the parts. */
export type ChangeListener = (change: Change, by: string) => void;

interface Origin {
  readonly seed: number;
  readonly startMs: number;
  readonly options: WorldOptions;
  readonly parts: readonly Part[];
}

export class World {
  readonly origin: Origin;
  readonly store: Store;
  readonly random: Random;
  readonly trace: Trace;
  /** Private state of parts, by key: frozen JSON. */
  readonly notes: Map<string, unknown>;
  /** Asked before each valid write of a client. */
  admit: Admit = () => undefined;
  /** Called with an entry that no part handles: those of clients. */
  onClientEntry: (entry: Entry) => void = () => {};
  readonly #agenda: Agenda;
  readonly #listeners = new Set<ChangeListener>();
  #nowMs: number;
  #seq: number;
  #uids: number;

  constructor(origin: Origin, from?: World, keep: (entry: Entry) => boolean = () => true) {
    this.origin = origin;
    this.store = new Store(from?.store);
    this.random = from?.random.clone() ?? Random.seeded(origin.seed, 'world');
    this.trace = new Trace(origin.options.traceLines, from?.trace);
    this.notes = new Map(from?.notes);
    this.#agenda = new Agenda(from === undefined ? [] : from.#agenda.entries().filter(keep));
    this.#nowMs = from === undefined ? origin.startMs : from.#nowMs;
    this.#seq = from === undefined ? 0 : from.#seq;
    this.#uids = from === undefined ? 0 : from.#uids;
  }

  get options(): WorldOptions {
    return this.origin.options;
  }

  /** Virtual time, milliseconds since the epoch. */
  get nowMs(): number {
    return this.#nowMs;
  }

  /** A copy that shares nothing that changes. Entries for which `keep` is false are left behind. */
  fork(keep: (entry: Entry) => boolean): World {
    return new World(this.origin, this, keep);
  }

  /** Puts an entry on the agenda, not before now. Arguments are frozen and must be JSON. */
  schedule(atMs: number, kind: string, args: unknown): Entry {
    this.#seq += 1;
    const entry: Entry = Object.freeze({
      atMs: Math.max(atMs, this.#nowMs),
      tie: this.random.next(),
      seq: this.#seq,
      kind,
      args: freeze(args),
    });
    this.#agenda.push(entry);
    return entry;
  }

  /** Puts an entry a random moment from now. */
  after(range: Range, kind: string, args: unknown): Entry {
    return this.schedule(this.#nowMs + this.random.within(range), kind, args);
  }

  /** The time of the next entry. */
  nextAtMs(): number | undefined {
    return this.#agenda.peek()?.atMs;
  }

  /** Moves the clock forward without running anything; the caller has run what was due. */
  advanceTo(atMs: number): void {
    this.#nowMs = Math.max(this.#nowMs, atMs);
  }

  /** Runs the next entry; undefined when the agenda is empty. */
  step(): Entry | undefined {
    const entry = this.#agenda.pop();
    if (entry === undefined) return undefined;
    this.#nowMs = Math.max(this.#nowMs, entry.atMs);
    const handler = handlersOf(this.origin.parts).get(entry.kind);
    if (handler === undefined) this.onClientEntry(entry);
    else handler(this, entry.args as never);
    return entry;
  }

  /** Applies one write. `next` undefined removes the object. Returns the object as stored. */
  commit(resource: string, next: KubeObject | undefined, previous: KubeObject | undefined, by: string): KubeObject {
    const change = this.store.commit(resource, next === undefined ? undefined : freeze(next), previous);
    const { namespace, name } = change.object.metadata;
    const where = namespace === undefined ? name : `${namespace}/${name}`;
    this.trace.add(this.#nowMs, `${change.type} ${resource} ${where} rv=${change.rv} by ${by}`);
    for (const part of this.origin.parts) part.onChange?.(this, change);
    for (const listener of this.#listeners) listener(change, by);
    return change.object;
  }

  /** Hears every write until the returned function is called. */
  listen(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** A UID that no object had before. */
  newUid(): string {
    this.#uids += 1;
    const tail = this.#uids.toString(16).padStart(12, '0');
    return `${(this.origin.seed >>> 0).toString(16).padStart(8, '0')}-0000-4000-8000-${tail}`;
  }
}

const handlerTables = new WeakMap<readonly Part[], Map<string, (world: World, args: never) => void>>();

function handlersOf(parts: readonly Part[]): Map<string, (world: World, args: never) => void> {
  let table = handlerTables.get(parts);
  if (table === undefined) {
    table = new Map(parts.flatMap((part) => Object.entries(part.handlers)));
    handlerTables.set(parts, table);
  }
  return table;
}
