#!/usr/bin/env node
/** The program `kubectl-ome`, which kubectl runs as `kubectl ome`. */
import { readFileSync } from 'node:fs';
import { systemRuntime } from '@omenative/kube';
import { run } from './cli/program.js';

process.exitCode = await run(process.argv.slice(2), {
  runtime: systemRuntime(),
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  read: (path) => readFileSync(path === '-' ? 0 : path, 'utf8'),
});
