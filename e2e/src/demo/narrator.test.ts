import { beforeEach, describe, expect, it } from '@jest/globals';
import { testing } from '@omenative/kube';
import { Narrator } from './narrator.js';
import { Screen } from './screen.js';

describe('Narrator', () => {
  let runtime: testing.VirtualRuntime;
  let lines: string[];
  let narrator: Narrator;

  beforeEach(() => {
    runtime = new testing.VirtualRuntime();
    lines = [];
    narrator = new Narrator(new Screen({ write: (text) => lines.push(text) }), runtime);
  });

  it('tells alike news that come together in one line, in the order of the first', async () => {
    await runtime.advance(1234);
    narrator.tell({ topic: 'pod', name: 'a', what: 'created' });
    narrator.tell({ topic: 'endpoints', name: 'chat', what: 'sends requests to a' });
    await runtime.advance(50);
    narrator.tell({ topic: 'pod', name: 'b', what: 'created' });
    expect(lines).toEqual([]);
    await runtime.advance(100);
    expect(lines).toEqual([
      '     1.2s  pod        created: a, b\n',
      '     1.2s  endpoints  chat sends requests to a\n',
    ]);
  });

  it('tells later news of the same kind apart', async () => {
    narrator.tell({ topic: 'instance', name: 'chat-engine/0', what: 'Creating → Ready' });
    await runtime.advance(1000);
    narrator.tell({ topic: 'instance', name: 'chat-engine/1', what: 'Creating → Ready' });
    await runtime.advance(1000);
    expect(lines).toEqual([
      '     0.0s  instance   Creating → Ready: chat-engine/0\n',
      '     1.0s  instance   Creating → Ready: chat-engine/1\n',
    ]);
  });

  it('tells at once what it has gathered when it is asked to, and once only', async () => {
    narrator.tell({ topic: 'isvc', name: 'chat', what: 'Ready' });
    narrator.flush();
    expect(lines).toEqual(['     0.0s  isvc       chat Ready\n']);
    await runtime.advance(1000);
    expect(lines).toHaveLength(1);
    expect(runtime.pendingTimers).toBe(0);
  });

  it('breaks long lines within a hundred columns, under the first', () => {
    const names = Array.from({ length: 5 }, (_, index) => `llama-engine-${index}-worker-0`);
    for (const name of names) narrator.tell({ topic: 'pod', name, what: 'created' });
    narrator.flush();
    const text = lines.join('').trimEnd().split('\n');
    expect(text).toHaveLength(2);
    for (const line of text) expect(line.length).toBeLessThanOrEqual(100);
    expect(text[1]).toMatch(/^ {22}llama-engine-2-worker-0/);
  });
});
