/** A runtime whose time stands still until a test moves it. */
import type { Runtime, Timer } from '../runtime.js';

interface PendingTimer {
  readonly atMs: number;
  readonly order: number;
  readonly fire: () => void;
}

export interface VirtualRuntimeOptions {
  /** Wall clock at the start, in milliseconds since the epoch. Default 2026-01-01T00:00:00Z. */
  readonly startMs?: number;
  /** Seeds `random`: the same seed gives the same numbers. Default 1. */
  readonly seed?: number;
}

export class VirtualRuntime implements Runtime {
  #elapsedMs = 0;
  #wallOffsetMs: number;
  #order = 0;
  #seed: number;
  readonly #timers: Set<PendingTimer> = new Set();

  constructor(options: VirtualRuntimeOptions = {}) {
    this.#wallOffsetMs = options.startMs ?? 1_767_225_600_000;
    this.#seed = options.seed ?? 1;
  }

  nowMs(): number {
    return this.#wallOffsetMs + this.#elapsedMs;
  }

  monotonicMs(): number {
    return this.#elapsedMs;
  }

  setTimer(delayMs: number, fire: () => void): Timer {
    const timer: PendingTimer = { atMs: this.#elapsedMs + Math.max(0, delayMs), order: this.#order++, fire };
    this.#timers.add(timer);
    return {
      cancel: () => {
        this.#timers.delete(timer);
      },
    };
  }

  /** Mulberry32. */
  random(): number {
    this.#seed = (this.#seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#seed ^ (this.#seed >>> 15), 1 | this.#seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Timers that have not fired yet: what would keep a process alive. */
  get pendingTimers(): number {
    return this.#timers.size;
  }

  /** Steps the wall clock, as an administrator or NTP would; the monotonic clock does not notice. */
  stepWallClock(byMs: number): void {
    this.#wallOffsetMs += byMs;
  }

  /** Time passes while nothing runs, as in a long pause of the process; overdue timers fire at the next `advance`. */
  freeze(forMs: number): void {
    this.#elapsedMs += forMs;
  }

  /** Lets promises settle, and time pass, firing each timer that falls due in its order and after it what it sets off. */
  async advance(byMs: number): Promise<void> {
    const untilMs = this.#elapsedMs + byMs;
    await settle();
    for (let next = this.#nextDue(untilMs); next !== undefined; next = this.#nextDue(untilMs)) {
      this.#timers.delete(next);
      this.#elapsedMs = Math.max(this.#elapsedMs, next.atMs);
      next.fire();
      await settle();
    }
    this.#elapsedMs = Math.max(this.#elapsedMs, untilMs);
  }

  /**
   * Lets real I/O happen while virtual time stands still, until `condition` holds.
   *
   * @throws Error when it does not within a great many turns of the event loop.
   */
  async until(condition: () => boolean): Promise<void> {
    for (let turns = 0; !condition(); turns++) {
      if (turns > 200_000) throw new Error(`still not so after ${turns} turns of the event loop: ${String(condition)}`);
      await this.advance(0);
    }
  }

  #nextDue(untilMs: number): PendingTimer | undefined {
    let first: PendingTimer | undefined;
    for (const timer of this.#timers) {
      if (timer.atMs > untilMs) continue;
      const isFirst =
        first === undefined || timer.atMs < first.atMs || (timer.atMs === first.atMs && timer.order < first.order);
      if (isFirst) first = timer;
    }
    return first;
  }
}

/** Resolves once everything that promises alone can move has moved. */
export function settle(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
