/** One step of the story: something is done, certain things are waited for, others must have held all the while. */
import { type Runtime, sleep } from '@omenative/kube';
import type { Screen } from './screen.js';

export interface Expectation {
  /** What should be, as a person would say it. */
  readonly expected: string;
  /** What is, in words that can stand beside it. */
  readonly seen: () => string;
  /** What there is to say when it is met. */
  readonly measured?: () => string;
  readonly isMet: () => boolean;
}

export interface Step {
  readonly title: string;
  /** One sentence on what is about to happen. */
  readonly explanation: string;
  act(): Promise<void>;
  /** Waited for, until all are met at once. */
  readonly reaches: readonly Expectation[];
  /** Judged when those are met. */
  readonly holds: readonly Expectation[];
}

/** An expectation was not met. `seen` is what was there when that was found. */
export class StepFailed extends Error {
  override readonly name = 'StepFailed';
  readonly expected: string;
  readonly seen: string;

  constructor(expectation: Expectation) {
    const { expected } = expectation;
    const seen = expectation.seen();
    super(`expected: ${expected}; seen: ${seen}`);
    this.expected = expected;
    this.seen = seen;
  }
}

/** Milliseconds between two looks; for the last news of a step to come in; that a step may take at most. */
const lookMs = 25;
const settleMs = 200;
const limitMs = 40_000;

export interface StepTools {
  readonly runtime: Runtime;
  readonly screen: Screen;
  /** Writes out what was seen so far. */
  readonly flush: () => void;
  readonly signal: AbortSignal;
}

/**
 * Resolves when the step came out as it should.
 *
 * @throws StepFailed when it did not; whatever `act` rejects with; the signal's reason when it was aborted.
 */
export async function runStep(step: Step, { runtime, screen, flush, signal }: StepTools): Promise<void> {
  screen.heading(step.title, step.explanation);
  const expectations = [...step.reaches, ...step.holds];
  try {
    await step.act();
    const deadlineMs = runtime.monotonicMs() + limitMs;
    for (;;) {
      signal.throwIfAborted();
      const unmet = step.reaches.find(({ isMet }) => !isMet());
      if (unmet === undefined) break;
      if (runtime.monotonicMs() >= deadlineMs) throw new StepFailed(unmet);
      await sleep(runtime, lookMs);
    }
    const broken = step.holds.find(({ isMet }) => !isMet());
    if (broken !== undefined) throw new StepFailed(broken);
    await sleep(runtime, settleMs);
  } finally {
    flush();
  }
  for (const { expected, measured } of expectations) {
    screen.met(measured === undefined ? expected : `${expected} (${measured()})`);
  }
}
