/** At most so many at once, first come first served: the requests in flight of all passes together. */
export class Limiter {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  /** @throws RangeError for a limit below 1: nothing would ever run. */
  constructor(limit: number) {
    if (limit < 1) throw new RangeError(`a limit of ${limit} requests in flight lets none through`);
    this.#free = limit;
  }

  /** Runs `task` when there is room; settles as the task does. */
  async run<T>(task: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await task();
    } finally {
      const next = this.#waiting.shift();
      // The place is handed over, so that nobody who comes now can take it first.
      if (next === undefined) this.#free++;
      else next();
    }
  }
}
