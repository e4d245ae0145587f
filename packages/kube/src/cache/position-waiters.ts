/** Callbacks that wait for a stream to reach a resourceVersion. */
import { compareResourceVersions, isNewer } from '../resource-version.js';

interface Waiter {
  readonly resourceVersion: string;
  readonly callback: () => void;
}

export class PositionWaiters {
  readonly #onError: (error: unknown) => void;
  /** Nearest version last. */
  #waiters: Waiter[] = [];

  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** Calls back at once when `position` is there already. Returns what takes the wait back. */
  add(resourceVersion: string, position: string, callback: () => void): () => void {
    const waiter = { resourceVersion, callback };
    if (position !== '' && !isNewer(resourceVersion, position)) {
      this.#call(waiter);
      return () => {};
    }
    const at = this.#waiters.findLastIndex((w) => compareResourceVersions(w.resourceVersion, resourceVersion) > 0);
    this.#waiters.splice(at + 1, 0, waiter);
    return () => {
      this.#waiters = this.#waiters.filter((w) => w !== waiter);
    };
  }

  reached(position: string): void {
    for (;;) {
      const next = this.#waiters.at(-1);
      if (next === undefined || isNewer(next.resourceVersion, position)) return;
      this.#waiters.pop();
      this.#call(next);
    }
  }

  clear(): void {
    this.#waiters = [];
  }

  #call(waiter: Waiter): void {
    try {
      waiter.callback();
    } catch (error) {
      this.#onError(error);
    }
  }
}
