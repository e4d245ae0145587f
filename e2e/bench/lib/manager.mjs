// The manager as a process of its own, as it is shipped, with what it says about itself.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const root = path.resolve(import.meta.dirname, '../../..');
/** Where logs and profiles are kept. */
export const outputs = path.join(root, '.cache/bench');
const bundle = path.join(root, 'dist/manager.mjs');
/** The same program with names that a profile can show. */
const modules = path.join(root, 'packages/manager/dist/main.js');

/** The manager of a benchmark: alone, without a Lease and without a limit on its requests. */
export class Manager {
  #child;
  #log;

  /**
   * @param {{ name: string, kubeconfig: string, namespace: string, profile: boolean, installs: boolean }} options
   *   `namespace` has its ConfigMap; `installs`: it brings its definitions first
   */
  constructor({ name, kubeconfig, namespace, profile, installs }) {
    mkdirSync(outputs, { recursive: true });
    this.#log = path.join(outputs, `${name}.log`);
    const flags = [
      `--kubeconfig=${kubeconfig}`,
      `--leader-election-namespace=${namespace}`,
      `--apply-crds=${installs}`,
      '--metrics-bind-address=127.0.0.1:0',
      '--health-probe-addr=127.0.0.1:0',
    ];
    const profiler = ['--cpu-prof', `--cpu-prof-dir=${outputs}`, `--cpu-prof-name=${name}.cpuprofile`];
    const program = profile ? [...profiler, modules] : [bundle];
    const log = openSync(this.#log, 'w');
    this.#child = spawn(process.execPath, [...program, ...flags], {
      env: { ...process.env, NODE_OPTIONS: '', NODE_ENV: 'production' },
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    this.startedAtMs = performance.now();
  }

  get pid() {
    return this.#child.pid;
  }

  /** Resolves once `/readyz` answers 200. */
  async whenReady() {
    for (;;) {
      this.#requireRunning();
      const address = this.#addressOf('probes');
      if (address !== undefined && (await fetch(`http://${address}/readyz`)).ok) return;
      await sleep(20);
    }
  }

  /** Its counters now. Each scrape starts the longest pause of its event loop anew. */
  async metrics() {
    this.#requireRunning();
    const answer = await fetch(`http://${this.#addressOf('metrics')}/metrics`);
    return new Metrics(await answer.text());
  }

  kill() {
    this.#child.kill('SIGKILL');
  }

  /** Asks it to end, and resolves when it has. */
  async stop() {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await ended;
  }

  #requireRunning() {
    if (this.#child.exitCode !== null) throw new Error(`the manager ended: see ${this.#log}`);
  }

  #addressOf(what) {
    const line = readFileSync(this.#log, 'utf8')
      .split('\n')
      .find((candidate) => candidate.includes(`"${what} are served at`));
    return line === undefined ? undefined : JSON.parse(line).address;
  }
}

/** One scrape, in the text format of Prometheus. */
class Metrics {
  #samples;

  constructor(text) {
    this.#samples = text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => {
        const end = line.lastIndexOf(' ');
        const [name = ''] = line.split(/[{ ]/, 1);
        const labels = Object.fromEntries(
          [...line.slice(0, end).matchAll(/(\w+)="([^"]*)"/g)].map(([, k, v]) => [k, v]),
        );
        return { name, labels, value: Number(line.slice(end + 1)) };
      });
  }

  /** The sum of a metric by the values of one label. */
  by(metric, label) {
    const sums = {};
    for (const { name, labels, value } of this.#samples) {
      if (name === metric) sums[labels[label]] = (sums[labels[label]] ?? 0) + value;
    }
    return sums;
  }

  get requests() {
    return this.by('rest_client_requests_total', 'method');
  }

  get statusWrites() {
    return this.by('ome_omenative_ir_status_writes_total', 'result')['attempt'] ?? 0;
  }

  get events() {
    return this.by('ome_omenative_events_total', 'result')['written'] ?? 0;
  }

  get passes() {
    return this.by('controller_runtime_reconcile_total', 'controller')['inferencereplica'] ?? 0;
  }

  /** Effects by what they do, and by what came of them when that was not what was wished. */
  get effects() {
    const counts = {};
    for (const { name, labels, value } of this.#samples) {
      if (name !== 'ome_omenative_effects_total') continue;
      counts[labels['outcome'] === 'ok' ? labels['effect'] : `${labels['effect']} (${labels['outcome']})`] = value;
    }
    return counts;
  }

  /** Requests that changed something, or were to, Events aside. */
  get writes() {
    const { POST = 0, PUT = 0, PATCH = 0, DELETE = 0 } = this.requests;
    return POST + PUT + PATCH + DELETE - this.events;
  }

  /** Milliseconds that the event loop was away at most, since the scrape before. */
  get longestPauseMs() {
    return 1000 * (this.by('nodejs_eventloop_lag_max_seconds', 'x')[undefined] ?? 0);
  }
}
