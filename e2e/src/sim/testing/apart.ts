/**
 * Simulated runs in a thread beside Jest. In the contexts that Jest puts modules into, every global is looked up the slow
 * way: the same runs take a third longer there.
 */
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { afterAll } from '@jest/globals';
import type { Job, Report } from './thread.js';

const thread = fileURLToPath(new URL('./thread.js', import.meta.url));

/** Carries out a job. @throws what ended the thread, if anything did. */
export type Apart = (job: Job) => Promise<Report>;

/** A thread for the tests of one file, which take turns with it. */
export function apart(): Apart {
  let worker: Worker | undefined;
  afterAll(async () => {
    await worker?.terminate();
  });
  return async (job) => {
    worker ??= new Worker(thread);
    const answered = once(worker, 'message');
    worker.postMessage(job);
    try {
      const [report] = (await answered) as [Report];
      return report;
    } catch (error) {
      worker = undefined; // It has ended; the next job gets another one.
      throw error;
    }
  };
}
