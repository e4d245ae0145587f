import { describe, expect, it } from '@jest/globals';
import { VirtualRuntime } from './testing/virtual-runtime.js';
import { TokenBucket } from './token-bucket.js';

describe('TokenBucket', () => {
  it('gives its burst at once, and then one token after another', async () => {
    const runtime = new VirtualRuntime();
    const bucket = new TokenBucket(runtime, { burst: 2, refillMs: 100 });
    const at: string[] = [];
    for (const who of ['a', 'b', 'c', 'd']) void bucket.take().then(() => at.push(`${who}@${runtime.monotonicMs()}`));
    await runtime.advance(1000);
    expect(at).toEqual(['a@0', 'b@0', 'c@100', 'd@200']);
    expect(runtime.pendingTimers).toBe(0);
  });

  it('lets nobody jump the line', async () => {
    const runtime = new VirtualRuntime();
    const bucket = new TokenBucket(runtime, { burst: 1, refillMs: 100 });
    expect(bucket.tryTake()).toBe(true);
    void bucket.take();
    await runtime.advance(99);
    runtime.freeze(1);
    expect(bucket.tryTake()).toBe(false);
  });

  it('fills up to its burst and no further', async () => {
    const runtime = new VirtualRuntime();
    const bucket = new TokenBucket(runtime, { burst: 3, refillMs: 10 });
    await runtime.advance(1_000_000);
    expect([1, 2, 3, 4].map(() => bucket.tryTake())).toEqual([true, true, true, false]);
  });

  it('loses no time to rounding', async () => {
    const runtime = new VirtualRuntime();
    const bucket = new TokenBucket(runtime, { burst: 1, refillMs: 1000 / 3 });
    let taken = 0;
    for (let i = 0; i < 300; i++) void bucket.take().then(() => taken++);
    await runtime.advance(99_700);
    expect(taken).toBe(300);
  });
});
