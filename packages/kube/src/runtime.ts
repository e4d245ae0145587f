/**
 * The one door to time and chance. Everything in this repository that needs a clock, a timer or a random number takes a
 * `Runtime`; only `system-runtime.ts` touches the real ones, so that a simulation can replay a run from a seed.
 */
export interface Runtime {
  /** Wall clock, milliseconds since the epoch. May step backwards. */
  nowMs(): number;
  /** Monotonic clock, milliseconds from an arbitrary origin. Never steps; use it for durations and the lease fence. */
  monotonicMs(): number;
  /** Calls `fire` once, not before `delayMs` milliseconds. */
  setTimer(delayMs: number, fire: () => void): Timer;
  /** A number in [0, 1). */
  random(): number;
}

export interface Timer {
  /** Idempotent; after it returns the timer will not fire. */
  cancel(): void;
}

/** Resolves after `delayMs` milliseconds of `runtime`. */
export function sleep(runtime: Runtime, delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    runtime.setTimer(delayMs, resolve);
  });
}
