/** A binary heap of keys by the time at which they fall due; of equal times, first come, first served. */

interface Due {
  readonly atMs: number;
  readonly order: number;
  readonly key: string;
}

export class DueHeap {
  readonly #heap: Due[] = [];
  #pushed = 0;

  get size(): number {
    return this.#heap.length;
  }

  push(atMs: number, key: string): void {
    const due = { atMs, order: this.#pushed++, key };
    this.#heap.push(due);
    this.#rise(this.#heap.length - 1, due);
  }

  /** When the first key falls due; undefined when there is none. */
  nextAtMs(): number | undefined {
    return this.#heap[0]?.atMs;
  }

  /** Removes and returns the first key that is due at `nowMs`. */
  popDue(nowMs: number): string | undefined {
    const first = this.#heap[0];
    if (first === undefined || first.atMs > nowMs) return undefined;
    const last = this.#heap.pop();
    if (last !== undefined && this.#heap.length > 0) this.#sink(last);
    return first.key;
  }

  #rise(from: number, due: Due): void {
    let at = from;
    while (at > 0) {
      const parentAt = (at - 1) >> 1;
      const parent = this.#heap[parentAt];
      if (parent === undefined || isBefore(parent, due)) break;
      this.#heap[at] = parent;
      at = parentAt;
    }
    this.#heap[at] = due;
  }

  /** Puts `due` where the root was, and lets it sink to its place. */
  #sink(due: Due): void {
    let at = 0;
    for (;;) {
      const left = this.#heap[2 * at + 1];
      const right = this.#heap[2 * at + 2];
      if (left === undefined) break;
      const rightIsFirst = right !== undefined && isBefore(right, left);
      const child = rightIsFirst ? right : left;
      if (isBefore(due, child)) break;
      this.#heap[at] = child;
      at = 2 * at + (rightIsFirst ? 2 : 1);
    }
    this.#heap[at] = due;
  }
}

function isBefore(a: Due, b: Due): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}
