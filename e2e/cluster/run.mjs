// Running a program to its end.
import { spawn } from 'node:child_process';
import { Failure } from './failure.mjs';
import { interruption } from './interruption.mjs';
import { searchPath } from './processes.mjs';

/**
 * Runs a program and returns what it printed.
 *
 * @param {readonly string[]} command the program and its arguments
 * @param {{ input?: string, env?: NodeJS.ProcessEnv, cwd?: string }} [options]
 * @returns {Promise<string>} its standard output
 * @throws {Failure} with its last lines of output, when it does not end well; or when the work is interrupted
 */
export function run(command, options = {}) {
  const [program = '', ...args] = command;
  const env = options.env ?? { ...process.env, PATH: `${process.env['PATH'] ?? ''}:${searchPath}` };
  const signal = interruption();
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: options.cwd, env, signal, stdio: 'pipe' });
    const output = { stdout: '', all: '' };
    child.stdout.setEncoding('utf8').on('data', (text) => {
      output.stdout += text;
      output.all += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      output.all += text;
    });
    child.once('error', (error) => {
      reject(signal.aborted ? signal.reason : new Failure(`Cannot run ${program}: ${error.message}.`));
    });
    child.once('close', (code, killedBy) => {
      if (code === 0) return resolve(output.stdout);
      const lines = output.all.trimEnd().split('\n').slice(-8).join('\n  ');
      reject(new Failure(`'${command.join(' ')}' failed (${killedBy ?? `exit code ${code}`}):\n  ${lines}`));
    });
    child.stdin.on('error', () => {}); // A program that does not read its input is no fault.
    child.stdin.end(options.input ?? '');
  });
}

/** @returns {Promise<boolean>} whether the program ended with exit code 0 */
export function succeeds(command) {
  return run(command).then(
    () => true,
    () => false,
  );
}
