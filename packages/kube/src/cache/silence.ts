/** Notices when nothing has been heard for too long, at the price of one timer for any number of sounds. */
import type { Runtime, Timer } from '../runtime.js';

export class Silence {
  readonly #runtime: Runtime;
  readonly #limitMs: number;
  readonly #onSilence: () => void;
  #heardAtMs: number;
  #timer: Timer | undefined;

  constructor(runtime: Runtime, limitMs: number, onSilence: () => void) {
    this.#runtime = runtime;
    this.#limitMs = limitMs;
    this.#onSilence = onSilence;
    this.#heardAtMs = runtime.monotonicMs();
  }

  /** Milliseconds since something was last heard, armed or not. */
  get ageMs(): number {
    return this.#runtime.monotonicMs() - this.#heardAtMs;
  }

  heard(): void {
    this.#heardAtMs = this.#runtime.monotonicMs();
  }

  /** Calls `onSilence`, once, when nothing is heard for the limit from now on. */
  arm(): void {
    this.disarm();
    this.#waitFrom(this.#runtime.monotonicMs());
  }

  disarm(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #waitFrom(quietSinceMs: number): void {
    // Rounded up: a rest of a fraction of a millisecond would be waited for again and again.
    const delayMs = quietSinceMs + this.#limitMs - this.#runtime.monotonicMs();
    this.#timer = this.#runtime.setTimer(Math.max(0, Math.ceil(delayMs)), () => {
      const lastMs = Math.max(quietSinceMs, this.#heardAtMs);
      if (this.#runtime.monotonicMs() - lastMs >= this.#limitMs) {
        this.#timer = undefined;
        this.#onSilence();
      } else {
        this.#waitFrom(lastMs);
      }
    });
  }
}
