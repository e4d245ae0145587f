#!/usr/bin/env node
/** The program: reads the command line, runs the manager, ends with its exit code. */
import { systemRuntime } from '@omenative/kube';
import { FlagError, type Flags, parseFlags } from './flags.js';
import { createLog } from './logger.js';
import { runProcess } from './run.js';
import { version } from './version.js';

function readFlags(): Flags {
  try {
    return parseFlags(process.argv.slice(2), version);
  } catch (error) {
    if (!(error instanceof FlagError)) throw error;
    (error.exitCode === 0 ? process.stdout : process.stderr).write(`${error.message}\n`);
    process.exit(error.exitCode);
  }
}

/** The first signal asks to end in good order, the second does not ask. */
function onStopRequested(stop: () => void): void {
  let isAsked = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (isAsked) process.exit(1);
      isAsked = true;
      stop();
    });
  }
}

const flags = readFlags();
const runtime = systemRuntime();
const log = createLog(flags.logLevel, runtime);
process.exit(await runProcess({ flags, runtime, log, version, env: process.env, onStopRequested }));
