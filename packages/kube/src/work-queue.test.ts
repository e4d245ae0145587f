import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { sleep } from './runtime.js';
import { VirtualRuntime } from './testing/virtual-runtime.js';
import { WorkQueue, type WorkQueueOptions } from './work-queue.js';

describe('WorkQueue', () => {
  let runtime: VirtualRuntime;
  let queue: WorkQueue;
  /** What ran, and when. */
  let runs: string[];
  let errors: string[];

  function create(options: Partial<WorkQueueOptions> = {}): WorkQueue {
    queue = new WorkQueue({ runtime, onError: (key, error) => errors.push(`${key}: ${String(error)}`), ...options });
    return queue;
  }

  /** Runs each key for so long. */
  function work(concurrency: number, workMs = 0): Promise<void> {
    return queue.run(concurrency, async (key) => {
      runs.push(`${key}@${runtime.monotonicMs()}`);
      if (workMs > 0) await sleep(runtime, workMs);
    });
  }

  beforeEach(() => {
    runtime = new VirtualRuntime();
    runs = [];
    errors = [];
    create();
  });

  it('runs a key once, however often it was added', async () => {
    for (const key of ['a', 'b', 'a', 'a']) queue.add(key);
    void work(1);
    await runtime.advance(0);
    expect(runs).toEqual(['a@0', 'b@0']);
  });

  it('does not run a worker inside the call that adds', async () => {
    void work(1);
    await runtime.advance(0);
    queue.add('a');
    expect(runs).toEqual([]);
    await runtime.advance(0);
    expect(runs).toEqual(['a@0']);
  });

  it('runs a key again that was added while it ran, and never twice at once', async () => {
    void work(4, 10);
    queue.add('a');
    await runtime.advance(5);
    queue.add('a');
    queue.add('a');
    await runtime.advance(100);
    expect(runs).toEqual(['a@0', 'a@10']);
  });

  it('runs as many keys at once as it may', async () => {
    void work(2, 10);
    for (const key of ['a', 'b', 'c']) queue.add(key);
    await runtime.advance(50);
    expect(runs).toEqual(['a@0', 'b@0', 'c@10']);
  });

  it('waits for the earliest of several delays', async () => {
    void work(1);
    queue.addAfter('a', 50);
    queue.addAfter('a', 20);
    queue.addAfter('a', 70);
    await runtime.advance(200);
    expect(runs).toEqual(['a@20']);
  });

  it('keeps a delay when the key runs meanwhile', async () => {
    void work(1);
    queue.addAfter('a', 50);
    queue.add('a');
    queue.addAfter('b', 0);
    await runtime.advance(200);
    expect(runs).toEqual(['a@0', 'b@0', 'a@50']);
  });

  it('holds one timer for any number of delayed keys', async () => {
    void work(1);
    for (let i = 0; i < 100; i++) queue.addAfter(`k${i}`, 1000 - i);
    expect(runtime.pendingTimers).toBe(1);
    await runtime.advance(1000);
    expect(runs).toHaveLength(100);
    expect(runs[0]).toBe('k99@901');
  });

  describe('after a failure', () => {
    it('tries again, later and later, up to a longest wait', async () => {
      create({ firstBackoffMs: 5, maxBackoffMs: 100 });
      const at: number[] = [];
      void queue.run(1, async () => {
        at.push(runtime.monotonicMs());
        throw new Error('no');
      });
      queue.add('a');
      await runtime.advance(400);
      expect(at).toEqual([0, 5, 15, 35, 75, 155, 255, 355]);
      expect(queue.failures('a')).toBe(8);
      expect(errors[0]).toBe('a: Error: no');
    });

    it('starts afresh once a run went well', async () => {
      let failing = true;
      void queue.run(1, async () => {
        if (failing) throw new Error('no');
      });
      queue.add('a');
      await runtime.advance(20);
      expect(queue.failures('a')).toBe(3);
      failing = false;
      await runtime.advance(100);
      expect(queue.failures('a')).toBe(0);
    });

    it('does not forget when the run itself asked for a retry', async () => {
      void queue.run(1, async (key) => queue.addRateLimited(key));
      queue.add('a');
      await runtime.advance(12);
      expect(queue.failures('a')).toBe(2);
      queue.forget('a');
      expect(queue.failures('a')).toBe(0);
    });

    it('leaves other keys alone', async () => {
      void queue.run(1, async (key) => {
        runs.push(key);
        if (key === 'bad') throw new Error('no');
      });
      queue.add('bad');
      queue.add('good');
      await runtime.advance(0);
      expect(runs).toEqual(['bad', 'good']);
    });

    it('survives a worker that throws before its first await', async () => {
      void queue.run(1, () => {
        throw new Error('at once');
      });
      queue.add('a');
      await runtime.advance(0);
      expect(errors).toEqual(['a: Error: at once']);
    });
  });

  describe('with a rest between runs', () => {
    beforeEach(() => {
      create({ restMs: (_, lastRunMs) => Math.max(50, 4 * lastRunMs) });
    });

    it('lets a key rest, and answers all that came meanwhile with one run', async () => {
      void work(2);
      queue.add('a');
      await runtime.advance(10);
      for (let i = 0; i < 5; i++) queue.add('a');
      queue.add('b');
      await runtime.advance(200);
      expect(runs).toEqual(['a@0', 'b@10', 'a@50']);
    });

    it('lets it rest longer after a long run', async () => {
      void work(1, 100);
      queue.add('a');
      await runtime.advance(5);
      queue.add('a');
      await runtime.advance(1000);
      expect(runs).toEqual(['a@0', 'a@500']);
    });

    it('does not run a delayed key before it has rested', async () => {
      void work(1);
      queue.add('a');
      await runtime.advance(0);
      queue.addAfter('a', 10);
      await runtime.advance(100);
      expect(runs).toEqual(['a@0', 'a@50']);
    });

    it('runs a key at once that has rested', async () => {
      void work(1);
      queue.add('a');
      await runtime.advance(60);
      queue.add('a');
      await runtime.advance(0);
      expect(runs).toEqual(['a@0', 'a@60']);
      await runtime.advance(1000);
      expect(runtime.pendingTimers).toBe(0);
    });
  });

  it('waits for its workers when it is shut down, and takes nothing more', async () => {
    const done = work(1, 10);
    queue.add('a');
    queue.add('b');
    queue.addAfter('c', 1);
    await runtime.advance(5);
    let isDown = false;
    const down = (async () => {
      await queue.shutDown();
      isDown = true;
    })();
    queue.add('d');
    await runtime.advance(4);
    expect(isDown).toBe(false);
    await runtime.advance(1);
    await Promise.all([down, done]);
    await runtime.advance(100);
    expect(runs).toEqual(['a@0']);
    expect(runtime.pendingTimers).toBe(0);
  });

  it('is down at once when nothing runs', async () => {
    await expect(queue.shutDown()).resolves.toBeUndefined();
  });

  it('runs for one set of workers only', () => {
    void work(1);
    expect(() => work(1)).toThrow('this queue is running already');
  });

  it('observes itself', async () => {
    const seen: string[] = [];
    create({
      metrics: {
        added: (depth) => seen.push(`added ${depth}`),
        started: (waitedMs, depth) => seen.push(`started ${waitedMs} ${depth}`),
        finished: (workMs) => seen.push(`finished ${workMs}`),
        retried: () => seen.push('retried'),
      },
    });
    queue.add('a');
    queue.add('a');
    queue.add('b');
    await runtime.advance(3);
    void queue.run(1, async (key) => {
      await sleep(runtime, 10);
      if (key === 'b') queue.addRateLimited('b');
    });
    await runtime.advance(5);
    expect(queue.gauges()).toEqual({ depth: 1, running: 1, unfinishedMs: 5, longestRunningMs: 5 });
    await runtime.advance(15);
    expect(seen).toEqual([
      'added 1',
      'added 2',
      'started 3 1',
      'finished 10',
      'started 13 0',
      'retried',
      'finished 10',
    ]);
  });

  it('loses no wish and never runs a key twice at once, whatever happens in whatever order', async () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('add' as const), key: fc.constantFrom('a', 'b', 'c') }),
      fc.record({ do: fc.constant('after' as const), key: fc.constantFrom('a', 'b', 'c'), ms: fc.nat(80) }),
      fc.record({ do: fc.constant('wait' as const), ms: fc.nat(60) }),
    );
    const scenario = fc.record({
      steps: fc.array(step, { maxLength: 30 }),
      concurrency: fc.integer({ min: 1, max: 3 }),
      workMs: fc.nat(30),
      restMs: fc.nat(40),
      failEvery: fc.integer({ min: 2, max: 5 }),
    });
    await fc.assert(
      fc.asyncProperty(scenario, async ({ steps, concurrency, workMs, restMs, failEvery }) => {
        runtime = new VirtualRuntime();
        create({ restMs: () => restMs });
        const startedAt = new Map<string, number>();
        const endedAt = new Map<string, number>();
        /** When the key was last asked for, and for when. */
        const wishes = new Map<string, number>();
        const live = new Set<string>();
        let count = 0;
        void queue.run(concurrency, async (key) => {
          expect(live.has(key)).toBe(false);
          expect(live.size).toBeLessThan(concurrency);
          const lastEndMs = endedAt.get(key);
          if (lastEndMs !== undefined) expect(runtime.monotonicMs() - lastEndMs).toBeGreaterThanOrEqual(restMs);
          live.add(key);
          startedAt.set(key, runtime.monotonicMs());
          await sleep(runtime, workMs);
          live.delete(key);
          endedAt.set(key, runtime.monotonicMs());
          if (++count % failEvery === 0) throw new Error('no');
        });
        for (const one of steps) {
          const nowMs = runtime.monotonicMs();
          if (one.do === 'wait') await runtime.advance(one.ms);
          else if (one.do === 'add') queue.add(one.key);
          else queue.addAfter(one.key, one.ms);
          if (one.do !== 'wait') wishes.set(one.key, Math.max(wishes.get(one.key) ?? 0, nowMs));
        }
        await runtime.advance(60_000);
        for (const [key, atMs] of wishes) expect(startedAt.get(key)).toBeGreaterThanOrEqual(atMs);
        expect(queue.gauges()).toMatchObject({ depth: 0, running: 0 });
        expect(runtime.pendingTimers).toBe(0);
      }),
      { numRuns: 60 },
    );
  });
});
