import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { mutants } from './mutants.js';

const script = fileURLToPath(new URL('./mutant-run.js', import.meta.url));

describe('a fault sown into the product is caught', () => {
  it.each(mutants.map((mutant, at) => [mutant.name, at] as const))(
    '%s',
    (_name, at) => {
      const { PATH = '' } = process.env;
      const ended = spawnSync(process.execPath, [script, String(at)], { encoding: 'utf8', env: { PATH } });
      expect([ended.status, ended.stderr]).toEqual([0, '']);
    },
    300_000,
  );
});
