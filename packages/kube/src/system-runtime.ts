/** The real clock, timers and chance. Nothing else in this repository may reach for them. */
import { performance } from 'node:perf_hooks';
import type { Runtime } from './runtime.js';

/** Node fires a timer whose delay does not fit into 31 bits at once. */
const longestDelayMs = 2 ** 31 - 1;

export function systemRuntime(): Runtime {
  return {
    nowMs: () => Date.now(),
    monotonicMs: () => performance.now(),
    setTimer: (delayMs, fire) => {
      if (delayMs > 0) return startTimer(performance.now() + delayMs, fire);
      // Not a timer: those come a millisecond late, and this is how batch work lets others run.
      const immediate = setImmediate(fire);
      return { cancel: () => clearImmediate(immediate) };
    },
    random: () => Math.random(),
  };
}

/** Waits in steps that Node can count, and once more when Node is early, as it is by up to a millisecond. */
function startTimer(dueMs: number, fire: () => void): { cancel(): void } {
  let timer: NodeJS.Timeout;
  const wait = (): void => {
    const delayMs = Math.min(longestDelayMs, Math.ceil(dueMs - performance.now()));
    timer = setTimeout(() => {
      if (performance.now() >= dueMs) fire();
      else wait();
    }, delayMs);
  };
  wait();
  return { cancel: () => clearTimeout(timer) };
}
