// Waiting for something outside this process, in real time.
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from './failure.mjs';
import { interruption } from './interruption.mjs';

/**
 * Asks `isSo` until it answers something true, and returns that.
 *
 * @template T
 * @param {string} what a sentence for the message, such as "the API server is ready"
 * @param {number} timeoutMs how long to go on asking
 * @param {() => T | Promise<T>} isSo
 * @returns {Promise<T>}
 * @throws {Failure} when the time is over or the work is interrupted
 */
export async function until(what, timeoutMs, isSo) {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    interruption().throwIfAborted();
    const answer = await isSo();
    if (answer) return answer;
    if (performance.now() > deadline) throw new Failure(`Waited ${timeoutMs / 1000} s in vain until ${what}.`);
    await sleep(100);
  }
}
