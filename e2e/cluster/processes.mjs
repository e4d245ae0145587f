/**
 * The processes of a cluster. Each carries a mark in its environment which its children inherit, so the process table
 * itself is the record of what runs: there are no pid files that could be missing, stale or about somebody else.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Failure } from './failure.mjs';
import { interruption } from './interruption.mjs';
import { dir, file } from './settings.mjs';
import { until } from './wait.mjs';

const mark = 'OME_CLUSTER_MEMBER';

/**
 * @typedef {object} Member a live process of some cluster
 * @property {number} pid as this machine counts
 * @property {string} dir the folder of its cluster
 * @property {string} name what it was started as, such as `etcd` or `node-1/kubelet`; children share it
 * @property {string} command the file name of its program
 * @property {boolean} isInit whether it is the first process of a PID namespace
 */

/** @returns {readonly Member[]} the live processes of every cluster that this user may see */
export function allMembers() {
  return readdirSync('/proc').flatMap((entry) => (/^\d+$/.test(entry) ? (readMember(Number(entry)) ?? []) : []));
}

/** @returns {readonly Member[]} the live processes of this cluster */
export function members() {
  return allMembers().filter((member) => member.dir === dir);
}

/** @returns {Member | undefined} the process that was started as `name`, or nothing when it does not run */
export function find(name) {
  const command = path.basename(name);
  return members().find((member) => member.name === name && member.command === command);
}

/** @returns {Member | undefined} the first process of the namespaces that were started as `name` */
export function findInit(name) {
  return members().find((member) => member.name === name && member.isInit && member.command === 'pause');
}

function readMember(pid) {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    const value = environment.find((entry) => entry.startsWith(`${mark}=`))?.slice(mark.length + 1);
    if (value === undefined) return undefined;
    const [name = '', ...rest] = value.split(':');
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0] ?? '';
    const namespaced = /^NSpid:\t(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]?.split('\t') ?? [];
    const isInit = namespaced.length > 1 && namespaced.at(-1) === '1';
    return { pid, name, dir: rest.join(':'), command: path.basename(command), isInit };
  } catch {
    return undefined; // It ended while we looked, or belongs to somebody else.
  }
}

/**
 * Starts a program that outlives this script. Its output goes to the cluster's `log` folder.
 *
 * @param {string} name what it is called; find it again by this
 * @param {readonly string[]} command the program and its arguments
 * @returns {Promise<void>}
 * @throws {Failure} when the program cannot be started or the work is interrupted
 */
export async function start(name, command) {
  interruption().throwIfAborted();
  const [program = '', ...args] = command;
  const log = openSync(logOf(name), 'a');
  // Proxies and other habits of the caller's environment are not for the cluster.
  const env = { PATH: searchPath, HOME: '/root', [mark]: `${name}:${dir}` };
  const child = spawn(program, args, { cwd: '/', detached: true, stdio: ['ignore', log, log], env });
  closeSync(log);
  try {
    await once(child, 'spawn');
  } catch (error) {
    throw new Failure(`Cannot start ${name}: ${error.message}.`);
  }
  child.unref();
}

/** Where programs are looked for, by the members and for them. */
export const searchPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** @returns {string} the log file of the process started as `name` */
export function logOf(name) {
  return file('log', `${name.replaceAll('/', '-')}.log`);
}

/** @returns {string} the last lines that `name` wrote, for a message */
export function tailOf(name) {
  try {
    return readFileSync(logOf(name), 'utf8').trimEnd().split('\n').slice(-5).join('\n');
  } catch {
    return '(no log)';
  }
}

/**
 * Waits until a process that was just started does its work.
 *
 * @param {string} name
 * @param {string} what
 * @param {() => Promise<boolean>} isReady
 * @returns {Promise<void>}
 * @throws {Failure} with the end of its log, when it ended or the time is over
 */
export async function started(name, what, isReady) {
  try {
    await until(what, 60_000, async () => {
      if (!members().some((member) => member.name === name)) throw new Failure(`${name} ended at once.`);
      return isReady();
    });
  } catch (error) {
    if (interruption().aborted || !(error instanceof Failure)) throw error;
    throw new Failure(`${error.message} The end of its log:\n${tailOf(name)}`);
  }
}

/**
 * Ends processes and returns when they are gone: asks them first when they get a grace, then kills.
 *
 * @param {(member: Member) => boolean} isMeant which of this cluster's processes
 * @param {number} graceMs how long they may take to end by themselves; 0 kills at once
 * @returns {Promise<void>}
 * @throws {Failure} when one is still there ten seconds after it was killed
 */
export async function end(isMeant, graceMs) {
  const meant = () => members().filter(isMeant);
  if (graceMs > 0) {
    signal(meant(), 'SIGTERM');
    try {
      await until('they ended', graceMs, () => meant().length === 0);
    } catch {
      // Then they are killed below.
    }
  }
  await until('the processes of the cluster are gone', 10_000, () => {
    const left = meant();
    signal(left, 'SIGKILL');
    return left.length === 0;
  });
}

function signal(targets, name) {
  for (const { pid } of targets) {
    try {
      process.kill(pid, name);
    } catch (error) {
      if (error.code !== 'ESRCH') throw error;
    }
  }
}
