/** What may be said on the demo's command line. */
import { parseArgs } from 'node:util';

export interface Flags {
  readonly after: 'end' | 'keep';
  readonly help: 'asked' | 'not asked';
}

export const usage: string = `usage: scripts/demo [--keep]

Starts a small simulated cluster on loopback and the real manager against it, and shows, step by step,
what becomes of two InferenceServices. Takes well under a minute, needs nothing but Node and npm, and
ends with exit code 1 when a step does not come out as it should.

  --keep   leave the cluster and the manager running afterwards, and print how to look around with kubectl
  --help   print this
`;

/** @throws TypeError that names the argument nobody knows. */
export function parseFlags(args: readonly string[]): Flags {
  const { values } = parseArgs({
    args: [...args],
    options: { keep: { type: 'boolean', default: false }, help: { type: 'boolean', short: 'h', default: false } },
  });
  return { after: values.keep ? 'keep' : 'end', help: values.help ? 'asked' : 'not asked' };
}
