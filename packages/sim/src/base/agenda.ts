/**
 * What will happen, as data. Entries run in order of time; among those of one instant the seed decides, through the
 * random `tie` each entry draws when it is scheduled. No entry holds a closure, so a fork is a copy of the list.
 */

export interface Entry {
  /** Virtual time, milliseconds since the epoch. */
  readonly atMs: number;
  readonly tie: number;
  /** Unique, ascending in the order of scheduling. */
  readonly seq: number;
  /** Names the handler. */
  readonly kind: string;
  /** Frozen JSON for the handler. */
  readonly args: unknown;
}

export class Agenda {
  readonly #heap: Entry[];

  constructor(entries: readonly Entry[] = []) {
    this.#heap = [...entries];
    for (let i = (this.#heap.length >> 1) - 1; i >= 0; i -= 1) this.#sink(i);
  }

  /** The entries in no particular order. */
  entries(): readonly Entry[] {
    return this.#heap;
  }

  /** The entry that runs next. */
  peek(): Entry | undefined {
    return this.#heap[0];
  }

  push(entry: Entry): void {
    const heap = this.#heap;
    let i = heap.length;
    heap.push(entry);
    while (i > 0) {
      const parent = (i - 1) >> 1;
      const above = heap[parent];
      if (above === undefined || !before(entry, above)) break;
      heap[i] = above;
      i = parent;
    }
    heap[i] = entry;
  }

  pop(): Entry | undefined {
    const heap = this.#heap;
    const top = heap[0];
    const last = heap.pop();
    if (top === undefined || last === undefined) return undefined;
    if (heap.length > 0) {
      heap[0] = last;
      this.#sink(0);
    }
    return top;
  }

  #sink(from: number): void {
    const heap = this.#heap;
    const entry = heap[from];
    if (entry === undefined) return;
    let i = from;
    for (;;) {
      let child = 2 * i + 1;
      let best = heap[child];
      const right = heap[child + 1];
      if (best === undefined) break;
      if (right !== undefined && before(right, best)) {
        best = right;
        child += 1;
      }
      if (!before(best, entry)) break;
      heap[i] = best;
      i = child;
    }
    heap[i] = entry;
  }
}

function before(a: Entry, b: Entry): boolean {
  if (a.atMs !== b.atMs) return a.atMs < b.atMs;
  if (a.tie !== b.tie) return a.tie < b.tie;
  return a.seq < b.seq;
}
