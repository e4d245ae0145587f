import { beforeEach, describe, expect, it } from '@jest/globals';
import { VirtualRuntime } from '../testing/virtual-runtime.js';
import { FanOut } from './fan-out.js';

describe('FanOut', () => {
  let runtime: VirtualRuntime;
  let fanOut: FanOut<number>;
  let told: number[];
  let errors: unknown[];

  beforeEach(() => {
    runtime = new VirtualRuntime();
    errors = [];
    fanOut = new FanOut(runtime, (error) => errors.push(error));
    told = [];
  });

  /** A listener that takes so long over each event. */
  function listen(eachMs: number): void {
    fanOut.subscribe((event) => {
      runtime.freeze(eachMs);
      told.push(event);
    });
  }

  it('tells a short batch at once', () => {
    listen(1);
    fanOut.publish([1, 2, 3]);
    expect(told).toEqual([1, 2, 3]);
  });

  it('lets others run in the middle of a long batch, and keeps the order with what comes meanwhile', async () => {
    listen(4);
    fanOut.publish([1, 2, 3, 4, 5]);
    expect(told).toEqual([1, 2, 3]);
    fanOut.publish([6]);
    expect(told).toEqual([1, 2, 3]);
    await runtime.advance(0);
    expect(told).toEqual([1, 2, 3, 4, 5, 6]);
    fanOut.publish([7]);
    expect(told.at(-1)).toBe(7);
  });

  it('tells what a listener publishes after what is being told', () => {
    fanOut.subscribe((event) => {
      told.push(event);
      if (event === 1) fanOut.publish([9]);
    });
    fanOut.publish([1, 2]);
    expect(told).toEqual([1, 2, 9]);
  });

  it('tells the others when one throws', () => {
    fanOut.subscribe(() => {
      throw new Error('no');
    });
    listen(0);
    fanOut.publish([1, 2]);
    expect(told).toEqual([1, 2]);
    expect(errors).toHaveLength(2);
  });

  it('tells nothing after it was cleared, not even the rest of a batch', async () => {
    fanOut.subscribe((event) => {
      told.push(event);
      if (event === 2) fanOut.clear();
    });
    fanOut.publish([1, 2, 3]);
    await runtime.advance(0);
    expect(told).toEqual([1, 2]);
    expect(runtime.pendingTimers).toBe(0);
  });

  it('drops what waits for its slice when it is cleared', async () => {
    listen(20);
    fanOut.publish([1, 2]);
    fanOut.clear();
    await runtime.advance(0);
    expect(told).toEqual([1]);
  });
});
