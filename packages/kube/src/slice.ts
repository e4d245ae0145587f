/** Measures how long the event loop has been held, so that batch work knows when to let others run. */
import type { Runtime } from './runtime.js';

/** Milliseconds of batch work between two turns of the event loop. */
const sliceMs = 10;

export class Slice {
  readonly #runtime: Runtime;
  #startedAtMs: number;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
    this.#startedAtMs = runtime.monotonicMs();
  }

  /** Whether it is time to let the event loop turn, by a timer of zero milliseconds, and then to `restart`. */
  isUsedUp(): boolean {
    return this.#runtime.monotonicMs() - this.#startedAtMs >= sliceMs;
  }

  restart(): void {
    this.#startedAtMs = this.#runtime.monotonicMs();
  }
}
