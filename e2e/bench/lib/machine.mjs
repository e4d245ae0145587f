// What processes have used, and what machine this is: without these, no number of a benchmark means anything.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, totalmem } from 'node:os';

const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/**
 * @param {number} pid
 * @returns {number} seconds of processor time that the process has used, all threads together
 */
export function cpuSeconds(pid) {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name in brackets may hold spaces; utime and stime are the 12th and 13th fields after it.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
}

/** Mebibytes of memory that the process has at present, and had at most. */
export function residentMiB(pid) {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  const mebibytes = (name) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1]) / 1024;
  return { now: mebibytes('VmRSS'), peak: mebibytes('VmHWM') };
}

/** @returns {string} the machine, the time and how busy it is with other things, in a line */
export function machine() {
  const model = cpus()[0]?.model ?? 'an unknown processor';
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const time = new Date().toISOString().slice(0, 16).replace('T', ' ');
  return `${time} UTC, ${availableParallelism()} cores of ${model}, ${memory}, Node ${process.versions.node}, ${load()}`;
}

/** @returns {string} */
export function load() {
  return `load ${loadavg()[0]?.toFixed(1)}`;
}

/** The busy and all ticks of all cores since the machine started. */
function ticks() {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
  const fields = line.trim().split(/\s+/).slice(1, 9).map(Number);
  const all = fields.reduce((sum, field) => sum + field, 0);
  const idle = (fields[3] ?? 0) + (fields[4] ?? 0);
  return { busySeconds: (all - idle) / ticksPerSecond, seconds: all / ticksPerSecond };
}

/**
 * Starts to watch processes.
 *
 * @param {Record<string, number>} pids
 * @returns {() => { cpu: Record<string, number>, busyCores: number, totalCpu: number }} tells the processor seconds that each
 *   has used since, those that the whole machine has, and how many cores were busy with anything
 */
export function watchUsage(pids) {
  const used = () => Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, cpuSeconds(pid)]));
  const from = { cpu: used(), ticks: ticks(), atMs: performance.now() };
  return () => {
    const now = used();
    const cpu = Object.fromEntries(Object.keys(pids).map((name) => [name, now[name] - from.cpu[name]]));
    const totalCpu = ticks().busySeconds - from.ticks.busySeconds;
    const seconds = (performance.now() - from.atMs) / 1000;
    return { cpu, totalCpu, busyCores: totalCpu / seconds };
  };
}
