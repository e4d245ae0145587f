/** Pauses that grow and scatter, so that many clients of one ailing server do not return to it together. */
import type { Runtime } from './runtime.js';

export interface BackoffOptions {
  /** Shortest pause, in milliseconds. */
  readonly minMs: number;
  /** Longest pause, in milliseconds. */
  readonly maxMs: number;
}

/** Decorrelated jitter: each pause is drawn between the shortest and three times the one before. */
export class Backoff {
  readonly #runtime: Runtime;
  readonly #options: BackoffOptions;
  #lastMs: number;

  constructor(runtime: Runtime, options: BackoffOptions) {
    this.#runtime = runtime;
    this.#options = options;
    this.#lastMs = options.minMs;
  }

  /** The next pause, in milliseconds. */
  nextMs(): number {
    const { minMs, maxMs } = this.#options;
    const highest = Math.min(maxMs, this.#lastMs * 3);
    this.#lastMs = minMs + this.#runtime.random() * (highest - minMs);
    return this.#lastMs;
  }

  reset(): void {
    this.#lastMs = this.#options.minMs;
  }
}
