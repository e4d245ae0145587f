import { describe, expect, it } from '@jest/globals';
import { testing } from '@omenative/kube';
import { version } from '../version.js';
import { run } from './program.js';

async function ran(...args: readonly string[]) {
  const said = { out: '', err: '' };
  const exitCode = await run(args, {
    runtime: new testing.VirtualRuntime(),
    out: (text) => {
      said.out += text;
    },
    err: (text) => {
      said.err += text;
    },
    read: () => 'kind: Nothing',
  });
  return { ...said, exitCode };
}

describe('kubectl ome', () => {
  it('tells its version and its commands', async () => {
    expect(await ran('version')).toEqual({ out: `Client: ${version}\n`, err: '', exitCode: 0 });
    const help = await ran('--help');
    expect(help.exitCode).toBe(0);
    expect(help.out).toMatch(/explain .*plan /s);
  });

  it.each([
    [['explain', 'pod/x'], '"pod" is no type that this command knows'],
    [['explain', 'irep/'], 'the name of the InferenceReplica is missing'],
    [['explain', 'irep/x', 'instance', 'two'], '"instance two" is not understood'],
    [['explain', 'isvc/x', 'instance', '2'], 'an Instance is one of a replica'],
    [['plan'], 'say what changes'],
    [['plan', '-f', 'x'], 'x holds no InferenceService'],
    [['explain', 'irep/x', '--kubeconfig', '/none'], '/none does not exist'],
    [['explain', 'irep/x', '-o', 'csv'], "argument 'csv' is invalid"],
    [['explain', 'irep/x', '--as-group', 'g', '--server', 'http://127.0.0.1:1'], '--as-group say more about --as'],
  ])('%j is refused with exit code 1 and a sentence', async (args, words) => {
    const { out, err, exitCode } = await ran(...args);
    expect({ out, exitCode }).toEqual({ out: '', exitCode: 1 });
    expect(err).toMatch(/^error: /);
    expect(err).toContain(words);
    expect(err).not.toContain('    at ');
  });
});
