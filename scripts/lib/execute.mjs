// Running one command of a test run to its end, or to the end of its time.
import { spawn } from 'node:child_process';

const graceMs = 20_000;

/**
 * Runs a command in a process group of its own, and ends the whole group with it: what a suite started and forgot does
 * not outlive it.
 *
 * @param {readonly string[]} command the program and its arguments
 * @param {{ env: NodeJS.ProcessEnv, limitMs: number, signal: AbortSignal }} options `limitMs` and `signal` each ask the
 *   group to end; 20 s later it is killed
 * @returns {Promise<{ code: number, isLate: boolean }>} `code` is 1 when a signal ended it
 */
export function execute([program = '', ...args], { env, limitMs, signal }) {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve({ code: 1, isLate: false });
    const child = spawn(program, args, { env, detached: true, stdio: ['ignore', 'inherit', 'inherit'] });
    const timers = [];
    let isLate = false;
    const stop = () => {
      signalGroup(child.pid, 'SIGTERM');
      timers.push(setTimeout(() => signalGroup(child.pid, 'SIGKILL'), graceMs));
    };
    timers.push(
      setTimeout(() => {
        isLate = true;
        stop();
      }, limitMs),
    );
    signal.addEventListener('abort', stop, { once: true });
    child.once('error', (error) => {
      console.error(`Cannot run ${program}: ${error.message}`);
      resolve({ code: 127, isLate: false });
    });
    child.once('exit', (code) => {
      for (const timer of timers) clearTimeout(timer);
      signal.removeEventListener('abort', stop);
      signalGroup(child.pid, 'SIGKILL');
      resolve({ code: code ?? 1, isLate });
    });
  });
}

function signalGroup(pid, name) {
  try {
    process.kill(-pid, name);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}
