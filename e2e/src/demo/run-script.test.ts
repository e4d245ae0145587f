import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

const script = path.resolve(import.meta.dirname, '../../../scripts/run');

describe('scripts/run', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'run-script-'));
    // The build does nothing here, and what would be run is written down, with the kubeconfig it would find.
    for (const program of ['npm', 'node']) {
      const file = path.join(folder, program);
      writeFileSync(file, program === 'npm' ? '#!/bin/sh\n' : '#!/bin/sh\necho "KUBECONFIG=$KUBECONFIG" "$@"\n');
      chmodSync(file, 0o755);
    }
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  /** What it would run, when called with these arguments. */
  function commandLine(...args: readonly string[]): string {
    const env = { PATH: `${folder}:${process.env['PATH'] ?? ''}`, KUBECONFIG: '/mine' };
    return spawnSync(script, args, { env, encoding: 'utf8' }).stdout;
  }

  it('serves nothing on port 8080 of this machine, which a kubectl without a kubeconfig takes for a cluster', () => {
    const served = [...commandLine().matchAll(/127\.0\.0\.1:(\d+)/g)].map(([, port]) => port);
    expect(served).toHaveLength(2);
    expect(new Set(served).size).toBe(2);
    expect(served).not.toContain('8080');
  });

  it('leaves the kubeconfig that is set, and lets arguments of the caller come last', () => {
    expect(commandLine('--leader-elect')).toMatch(/^KUBECONFIG=\/mine .*manager\/dist\/main\.js .* --leader-elect\n$/);
  });
});
