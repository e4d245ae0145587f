// Running one command of a test run to its end, or to the end of its time.
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

const graceMs = 20_000;

/**
 * @typedef {object} Options
 * @property {NodeJS.ProcessEnv} env
 * @property {number} limitMs after which the group is asked to end; 20 s later it is killed
 * @property {AbortSignal} signal asks the group to end as well
 * @property {number} [behindFile] the group takes only the time that others leave, and its output goes to this open file
 */

/**
 * Runs a command in a process group of its own, and ends the whole group with it: what a suite started and forgot does
 * not outlive it.
 *
 * @param {readonly string[]} command the program and its arguments
 * @param {Options} options
 * @returns {Promise<{ code: number, isLate: boolean }>} `code` is 1 when a signal ended it
 */
export function execute([program = '', ...args], { env, limitMs, signal, behindFile }) {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve({ code: 1, isLate: false });
    const output = behindFile ?? 'inherit';
    const child = spawn(program, args, { env, detached: true, stdio: ['ignore', output, output] });
    if (behindFile !== undefined && child.pid !== undefined) yieldToOthers(child.pid);
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

/** As well as it can be done here: elsewhere the group competes as an equal. */
function yieldToOthers(pid) {
  const attempts = [
    () => setPriority(pid, constants.priority.PRIORITY_LOW),
    // Where Linux shares time out between sessions, a process's own priority counts only within its session.
    () => writeFileSync(`/proc/${pid}/autogroup`, String(constants.priority.PRIORITY_LOW)),
  ];
  for (const attempt of attempts) {
    try {
      attempt();
    } catch {}
  }
}

function signalGroup(pid, name) {
  try {
    process.kill(-pid, name);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}
