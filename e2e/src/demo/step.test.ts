import { describe, expect, it } from '@jest/globals';
import { testing } from '@omenative/kube';
import { Screen } from './screen.js';
import { type Expectation, runStep, type Step, StepFailed } from './step.js';

const expectation = (expected: string, isMet: () => boolean): Expectation => ({
  expected,
  seen: () => 'something else',
  isMet,
});

const always = expectation('the sky is blue', () => true);

function play(step: Partial<Step>, signal: AbortSignal = new AbortController().signal) {
  const runtime = new testing.VirtualRuntime();
  const lines: string[] = [];
  const screen = new Screen({ write: (text) => lines.push(text) });
  const whole: Step = {
    title: 'Title',
    explanation: 'Sentence.',
    act: async () => {},
    reaches: [],
    holds: [],
    ...step,
  };
  const ended = runStep(whole, { runtime, screen, signal, flush: () => lines.push('flushed\n') });
  return { runtime, lines, ended };
}

describe('runStep', () => {
  it('says what it is about, waits, and lists what was met after the last news', async () => {
    let height = 0;
    const tall = { ...expectation('it is tall', () => height > 3), measured: () => `${height} m` };
    const { runtime, lines, ended } = play({ reaches: [tall], holds: [always] });
    await runtime.advance(1000);
    expect(lines).toEqual(['\nTitle\n', '   Sentence.\n']);
    height = 4;
    await runtime.advance(1000);
    await ended;
    expect(lines.slice(2)).toEqual(['flushed\n', '   ✓ it is tall (4 m)\n', '   ✓ the sky is blue\n']);
  });

  it('fails when what it waits for does not come in time', async () => {
    const { runtime, ended } = play({ reaches: [always, expectation('it rains', () => false)] });
    const failed = expect(ended).rejects.toMatchObject({ expected: 'it rains', seen: 'something else' });
    await runtime.advance(60_000);
    await failed;
  });

  it('waits until everything is met at the same time', async () => {
    let turn = 0;
    const odd = expectation('odd', () => turn % 2 === 1);
    const even = expectation('even', () => turn % 2 === 0);
    const { runtime, ended } = play({ reaches: [odd, even] });
    const failed = expect(ended).rejects.toBeInstanceOf(StepFailed);
    for (let look = 0; look < 2000; look++) {
      turn += 1;
      await runtime.advance(25);
    }
    await failed;
  });

  it('fails when something did not hold, though everything was reached', async () => {
    const { lines, ended } = play({ reaches: [always], holds: [expectation('no rain', () => false)] });
    await expect(ended).rejects.toThrow('expected: no rain; seen: something else');
    expect(lines.join('')).not.toContain('✓');
  });

  it('ends when it is interrupted', async () => {
    const controller = new AbortController();
    const { runtime, ended } = play({ reaches: [expectation('it rains', () => false)] }, controller.signal);
    const interrupted = expect(ended).rejects.toThrow('enough');
    await runtime.advance(100);
    controller.abort(new Error('enough'));
    await runtime.advance(100);
    await interrupted;
  });
});
