// Stopping work in the middle, when somebody asks this process to end.
import { Failure } from './failure.mjs';

let controller = new AbortController();

/** @returns {AbortSignal} aborts, with a Failure as its reason, when this process is asked to end */
export function interruption() {
  return controller.signal;
}

/** Turns the signals that ask a process to end into an interruption. Call it once. */
export function listenForInterruption() {
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(name, () => controller.abort(new Failure(`Interrupted by ${name}.`)));
  }
}

/** Forgets an interruption, so that what was half done can be cleaned up. */
export function resetInterruption() {
  controller = new AbortController();
}
