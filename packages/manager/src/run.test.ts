import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { testing } from '@omenative/kube';
import { parseFlags } from './flags.js';
import { runProcess } from './run.js';

describe('a process without a cluster', () => {
  let home: string;

  beforeEach(() => {
    home = mkdtempSync(path.join(tmpdir(), 'manager-run-'));
  });

  afterEach(() => rmSync(home, { recursive: true }));

  async function lastWords(env: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<string> {
    const logged: string[] = [];
    const exitCode = await runProcess({
      flags: parseFlags([...args, '--metrics-bind-address=0', '--health-probe-addr=0'], 'test'),
      runtime: new testing.VirtualRuntime(),
      log: (level, message) => logged.push(`${level}: ${message}`),
      version: 'test',
      env: { HOME: home, ...env },
      onStopRequested: () => {},
    });
    expect(exitCode).toBe(1);
    return logged.join('\n');
  }

  it('ends, and says where it looked and what to do', async () => {
    const advice = '; run scripts/cluster up, or set KUBECONFIG';
    expect(await lastWords({})).toBe(
      `error: the manager can't run: no cluster: KUBECONFIG is not set, and ${home}/.kube/config does not exist${advice}`,
    );
    expect(await lastWords({ KUBECONFIG: '/gone' })).toBe(
      `error: the manager can't run: no cluster: KUBECONFIG names /gone, which does not exist${advice}`,
    );
    expect(await lastWords({}, '--kubeconfig=/none')).toBe(
      `error: the manager can't run: no cluster: the kubeconfig /none does not exist${advice}`,
    );
  });
});
