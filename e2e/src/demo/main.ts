#!/usr/bin/env node
/** The program behind scripts/demo: reads the command line, runs the demo, ends with its exit code. */
import { systemRuntime } from '@omenative/kube';
import { runDemo } from './demo.js';
import { type Flags, parseFlags, usage } from './flags.js';
import { Screen } from './screen.js';
import { story } from './story.js';

function readFlags(): Flags {
  try {
    return parseFlags(process.argv.slice(2));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    process.exit(2);
  }
}

/** The first signal asks to end in good order, the second does not ask. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(130);
      controller.abort(new Error(`interrupted by ${name}`));
    });
  }
  // Whoever read the page has gone: `scripts/demo | head`.
  process.stdout.on('error', () => controller.abort(new Error('nobody reads the page any more')));
  return controller.signal;
}

const { after, help } = readFlags();
if (help === 'asked') {
  process.stdout.write(usage);
} else {
  const screen = new Screen(process.stdout);
  process.exitCode = await runDemo({ runtime: systemRuntime(), screen, story, after, signal: interruption() });
}
