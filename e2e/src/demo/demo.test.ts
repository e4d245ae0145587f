import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { connectionFromKubeconfig, HttpTransport, systemRuntime } from '@omenative/kube';
import { runDemo } from './demo.js';
import { Screen } from './screen.js';
import type { Step } from './step.js';

const program = path.join(import.meta.dirname, 'main.js');

/** The demo takes most of a minute, and longer on a machine that is busy with other tests. */
jest.setTimeout(180_000);

/** The program as a person starts it, its page, and how it ended. */
class Run {
  readonly exitCode: Promise<number | null>;
  page = '';
  errors = '';
  readonly #child: ChildProcess;
  readonly #readers = new Set<() => void>();

  constructor(folder: string, ...args: readonly string[]) {
    this.#child = spawn(process.execPath, [program, ...args], {
      env: { PATH: process.env['PATH'], TMPDIR: folder },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child.stdout?.on('data', (text: Buffer) => {
      this.page += text.toString();
      for (const reader of this.#readers) reader();
    });
    this.#child.stderr?.on('data', (text: Buffer) => {
      this.errors += text.toString();
    });
    this.exitCode = new Promise((resolve) => {
      this.#child.once('close', resolve);
    });
  }

  /** Resolves once the page matches, or the program has ended. */
  async until(pattern: RegExp): Promise<void> {
    const found = new Promise<void>((resolve) => {
      const look = (): void => {
        if (pattern.test(this.page)) resolve();
      };
      this.#readers.add(look);
      look();
    });
    await Promise.race([found, this.exitCode]);
  }

  interrupt(): void {
    this.#child.kill('SIGINT');
  }

  end(): void {
    this.#child.kill('SIGKILL');
  }
}

describe('the demo', () => {
  let folder: string;
  let run: Run | undefined;

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'demo-test-'));
  });

  afterEach(() => {
    run?.end();
    run = undefined;
    rmSync(folder, { recursive: true });
  });

  it('shows every step come out as it should, stays when it is told to, and ends without a trace', async () => {
    run = new Run(folder, '--keep');
    await run.until(/What comes of them is told here/);
    const { page } = run;
    for (const number of [1, 2, 3, 4, 5, 6]) expect(page).toMatch(new RegExp(`^${number}\\. `, 'm'));
    expect(page).toMatch(/instance {3}Creating → Ready: chat-engine\/0/);
    expect(page).toMatch(/pod {8}gate opened: llama-engine-/);
    expect(page).toMatch(/✓ never more than 4 pods at once \(there were 4\)/);
    expect(page.match(/✓ no request failed/g)).toHaveLength(3);
    expect(page).toMatch(/^ +requests +\d+ sent, 0 failed/m);
    expect(page).toContain('simulated');
    expect(page).not.toContain('✗');
    expect(page).not.toContain('\u001b');
    // What is to be copied is as long as it is: the temporary folder of this test has a long name.
    const told = page.split('\n').filter((line) => line.startsWith(' '));
    for (const line of told) expect(line.length).toBeLessThanOrEqual(100);

    const kubeconfig = /^export KUBECONFIG=(.+)$/m.exec(page)?.[1] ?? '';
    expect(await versionOf(kubeconfig)).toMatchObject({ gitVersion: expect.stringContaining('simulated') });
    run.interrupt();
    expect(await run.exitCode).toBe(0);
    expect(run.errors).toBe('');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('ends in good order when it is interrupted', async () => {
    run = new Run(folder);
    await run.until(/instance {3}Creating/);
    run.interrupt();
    expect(await run.exitCode).toBe(130);
    expect(run.page).toContain('Interrupted');
    expect(run.page).not.toContain('✗');
    expect(run.errors).toBe('');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('explains itself, and refuses what it does not know', async () => {
    run = new Run(folder, '--help');
    expect(await run.exitCode).toBe(0);
    expect(run.page).toContain('--keep');
    run = new Run(folder, '--fast');
    expect(await run.exitCode).toBe(2);
    expect(run.errors).toContain("'--fast'");
  });

  it('ends with exit code 1 at the first step that does not come out as it should', async () => {
    const done: string[] = [];
    const step = (title: string, isMet: boolean): Step => ({
      title,
      explanation: 'It is tried.',
      act: async () => void done.push(title),
      reaches: [],
      holds: [{ expected: 'three pods', seen: () => 'two pods', isMet: () => isMet }],
    });
    const lines: string[] = [];
    const screen = new Screen({ write: (text) => lines.push(text) });
    const exitCode = await runDemo({
      runtime: systemRuntime(),
      screen,
      story: () => [step('good', true), step('bad', false), step('never', true)],
      after: 'end',
      signal: new AbortController().signal,
    });
    expect(exitCode).toBe(1);
    expect(done).toEqual(['good', 'bad']);
    const page = lines.join('');
    expect(page).toContain('   ✗ expected: three pods\n     seen:     two pods\n');
    const log = /What the manager said is in (\S+)/.exec(page)?.[1] ?? '';
    expect(existsSync(log)).toBe(true);
    rmSync(path.dirname(log), { recursive: true });
  });
});

async function versionOf(kubeconfig: string): Promise<unknown> {
  const runtime = systemRuntime();
  const connection = await connectionFromKubeconfig({ runtime, path: kubeconfig });
  const transport = new HttpTransport({ connection, runtime, userAgent: 'demo-test' });
  try {
    return (await transport.request({ method: 'GET', path: '/version' })).body;
  } finally {
    transport.close();
  }
}
