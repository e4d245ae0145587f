/** Tells listeners of changes: in order, a long batch in slices, and no listener's fault reaches another or the stream. */
import type { Runtime, Timer } from '../runtime.js';
import { Slice } from '../slice.js';

export type Unsubscribe = () => void;

export class FanOut<E> {
  readonly #runtime: Runtime;
  readonly #onError: (error: unknown) => void;
  readonly #listeners: Set<(event: E) => void> = new Set();
  #pending: E[] = [];
  #draining = false;
  #timer: Timer | undefined;

  constructor(runtime: Runtime, onError: (error: unknown) => void) {
    this.#runtime = runtime;
    this.#onError = onError;
  }

  subscribe(listener: (event: E) => void): Unsubscribe {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /** Listeners hear of these events before it returns, unless the batch, or one before it, takes more than a slice. */
  publish(events: readonly E[]): void {
    for (const event of events) this.#pending.push(event);
    if (!this.#draining) this.#drain();
  }

  /** Drops what has not been told. */
  clear(): void {
    this.#pending = [];
    this.#timer?.cancel();
    this.#draining = false;
  }

  #drain(): void {
    this.#draining = true;
    const slice = new Slice(this.#runtime);
    const events = this.#pending;
    let told = 0;
    // A listener may publish, which lengthens the batch, or clear, which replaces it.
    for (const event of events) {
      if (events !== this.#pending || (told > 0 && slice.isUsedUp())) break;
      told++;
      this.#tell(event);
    }
    if (events === this.#pending) this.#pending = events.slice(told);
    this.#draining = this.#pending.length > 0;
    if (this.#draining) this.#timer = this.#runtime.setTimer(0, () => this.#drain());
  }

  #tell(event: E): void {
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        this.#onError(error);
      }
    }
  }
}
