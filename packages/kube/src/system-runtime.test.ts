import { performance } from 'node:perf_hooks';
import { describe, expect, it } from '@jest/globals';
import { sleep } from './runtime.js';
import { systemRuntime } from './system-runtime.js';

describe('systemRuntime', () => {
  const runtime = systemRuntime();

  it('never fires a timer early by its own clock', async () => {
    for (const delayMs of [1, 2, 5, 10]) {
      const startedAtMs = runtime.monotonicMs();
      await sleep(runtime, delayMs);
      expect(runtime.monotonicMs() - startedAtMs).toBeGreaterThanOrEqual(delayMs);
    }
  });

  it('cancels timers, those of no delay and of more than 31 bits included', async () => {
    const fired: number[] = [];
    for (const delayMs of [0, 1, 2 ** 40]) runtime.setTimer(delayMs, () => fired.push(delayMs)).cancel();
    const far = runtime.setTimer(2 ** 40, () => fired.push(-1));
    await sleep(runtime, 5);
    far.cancel();
    expect(fired).toEqual([]);
  });

  it('reads the clocks of the machine', () => {
    expect(Math.abs(runtime.nowMs() - Date.now())).toBeLessThan(1000);
    expect(Math.abs(runtime.monotonicMs() - performance.now())).toBeLessThan(1000);
    const drawn = runtime.random();
    expect(drawn).toBeGreaterThanOrEqual(0);
    expect(drawn).toBeLessThan(1);
  });
});
