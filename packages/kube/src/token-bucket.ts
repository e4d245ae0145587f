/** A rate limit: tokens that come back one by one, and callers that wait in line for them. */
import type { Runtime } from './runtime.js';

export interface TokenBucketOptions {
  /** Tokens in a full bucket. At least 1. */
  readonly burst: number;
  /** Milliseconds in which one token comes back. */
  readonly refillMs: number;
}

export class TokenBucket {
  readonly #runtime: Runtime;
  readonly #options: TokenBucketOptions;
  #tokens: number;
  #countedAtMs: number;
  #line: (() => void)[] = [];

  constructor(runtime: Runtime, options: TokenBucketOptions) {
    this.#runtime = runtime;
    this.#options = options;
    this.#tokens = options.burst;
    this.#countedAtMs = runtime.monotonicMs();
  }

  /** Takes a token if there is one and nobody waits. */
  tryTake(): boolean {
    if (this.#line.length > 0) return false;
    return this.#takeNow();
  }

  /** Resolves once a token was taken, in the order of the calls. */
  take(): Promise<void> {
    if (this.tryTake()) return Promise.resolve();
    return new Promise((resolve) => {
      this.#line.push(resolve);
      if (this.#line.length === 1) this.#wait();
    });
  }

  #wait(): void {
    const missing = 1 - this.#tokens;
    this.#runtime.setTimer(Math.max(0, missing * this.#options.refillMs), () => {
      while (this.#line.length > 0 && this.#takeNow()) this.#line.shift()?.();
      if (this.#line.length > 0) this.#wait();
    });
  }

  #takeNow(): boolean {
    const { burst, refillMs } = this.#options;
    const nowMs = this.#runtime.monotonicMs();
    this.#tokens = Math.min(burst, this.#tokens + (nowMs - this.#countedAtMs) / refillMs);
    this.#countedAtMs = nowMs;
    // Fractions of time add up with an error far below this.
    if (this.#tokens < 1 - 1e-6) return false;
    this.#tokens -= 1;
    return true;
  }
}
