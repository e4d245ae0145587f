import { describe, expect, it } from '@jest/globals';
import { Limiter } from './limiter.js';

async function turns(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
}

describe('Limiter', () => {
  it('runs so many at once, the others in the order they came', async () => {
    const limiter = new Limiter(2);
    const started: number[] = [];
    const finish: (() => void)[] = [];
    const tasks = [0, 1, 2, 3].map((task) =>
      limiter.run(async () => {
        started.push(task);
        await new Promise<void>((resolve) => finish.push(resolve));
        return task;
      }),
    );
    await turns();
    expect(started).toEqual([0, 1]);
    finish[1]?.();
    await turns();
    expect(started).toEqual([0, 1, 2]);
    for (let at = 0; at < 4; at++) {
      finish[at]?.();
      await turns();
    }
    expect(await Promise.all(tasks)).toEqual([0, 1, 2, 3]);
  });

  it('gives the place of a task that failed to the next', async () => {
    const limiter = new Limiter(1);
    const failing = limiter.run(() => Promise.reject(new Error('no')));
    const next = limiter.run(() => Promise.resolve('yes'));
    await expect(failing).rejects.toThrow('no');
    expect(await next).toBe('yes');
  });

  it('refuses a limit that lets nothing through', () => {
    expect(() => new Limiter(0)).toThrow(RangeError);
  });
});
