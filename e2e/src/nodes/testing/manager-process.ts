/** The manager as a process of its own, which a suite starts, kills, and reads the log of. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type Runtime, sleep } from '@omenative/kube';

const root = path.resolve(import.meta.dirname, '../../../..');
const program = path.join(root, 'packages/manager/dist/main.js');
const logs = path.join(root, '.cache/e2e-nodes');
const stopWithinMs = 15_000;
const pollMs = 50;

export interface ManagerProcessOptions {
  /** Begins the name of the log file and the identity in the Lease. */
  readonly name: string;
  readonly kubeconfig: string;
  /** Where the Lease and the ConfigMap are. */
  readonly namespace: string;
  /** `off`: works at once, and writes nothing but what its objects ask for. */
  readonly leaderElection: 'on' | 'off';
  /** `apply`: brings the definitions and the settings, where they are missing. */
  readonly installation: 'apply' | 'leave';
  readonly runtime: Runtime;
}

interface LogLine {
  readonly msg?: string;
  readonly address?: string;
}

export class ManagerProcess {
  readonly name: string;
  readonly #child: ChildProcess;
  readonly #logFile: string;
  readonly #runtime: Runtime;

  private constructor(name: string, child: ChildProcess, logFile: string, runtime: Runtime) {
    this.name = name;
    this.#child = child;
    this.#logFile = logFile;
    this.#runtime = runtime;
  }

  /** Starts it. A Lease passes to another process within six seconds of a crash. */
  static start(options: ManagerProcessOptions): ManagerProcess {
    const { name, kubeconfig, namespace, leaderElection, installation, runtime } = options;
    mkdirSync(logs, { recursive: true });
    const logFile = path.join(logs, `${name}.log`);
    const log = openSync(logFile, 'w');
    const flags = {
      kubeconfig,
      'apply-crds': String(installation === 'apply'),
      'leader-election-namespace': namespace,
      'metrics-bind-address': '127.0.0.1:0',
      'health-probe-addr': '127.0.0.1:0',
      'leader-elect': String(leaderElection === 'on'),
      'leader-elect-lease-duration': '5s',
      'leader-elect-renew-deadline': '3s',
      'leader-elect-retry-period': '1s',
    };
    const args = Object.entries(flags).flatMap(([flag, value]) => [`--${flag}`, value]);
    const env = { ...process.env, POD_NAME: name, NODE_OPTIONS: '' };
    const child = spawn(process.execPath, [program, ...args], { env, stdio: ['ignore', log, log] });
    closeSync(log);
    return new ManagerProcess(name, child, logFile, runtime);
  }

  /** Resolves once `/readyz` answers 200. @throws Error with the end of its log when it does not within `withinMs`. */
  async whenReady(withinMs = 60_000): Promise<void> {
    const deadlineMs = this.#runtime.monotonicMs() + withinMs;
    for (;;) {
      const address = this.#addressOf('probes');
      const isReady = address !== undefined && (await fetch(`http://${address}/readyz`)).status === 200;
      if (isReady) return;
      if (!this.isRunning || this.#runtime.monotonicMs() > deadlineMs) {
        throw new Error(`the manager ${this.name} does not become ready\n${this.logTail()}`);
      }
      await sleep(this.#runtime, pollMs);
    }
  }

  get isRunning(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Ends it at once, in the middle of whatever it does. */
  kill(): Promise<void> {
    return this.#end('SIGKILL');
  }

  /** Asks it to end, and kills it when it does not within 15 s. Resolves with its exit code. */
  async stop(): Promise<number | null> {
    const timer = this.#runtime.setTimer(stopWithinMs, () => this.#child.kill('SIGKILL'));
    await this.#end('SIGTERM');
    timer.cancel();
    return this.#child.exitCode;
  }

  /** Its metrics, in the text format. */
  async metrics(): Promise<string> {
    const address = this.#addressOf('metrics');
    if (address === undefined) throw new Error(`the manager ${this.name} does not say where its metrics are`);
    return (await fetch(`http://${address}/metrics`)).text();
  }

  /** The last lines of its log. */
  logTail(lines = 40): string {
    const all = readFileSync(this.#logFile, 'utf8').trimEnd().split('\n');
    return [`the end of ${this.#logFile}:`, ...all.slice(-lines)].join('\n  ');
  }

  #end(signal: NodeJS.Signals): Promise<void> {
    if (!this.isRunning) return Promise.resolve();
    return new Promise((resolve) => {
      this.#child.once('exit', () => resolve());
      this.#child.kill(signal);
    });
  }

  /** Where it says that it serves probes or metrics. */
  #addressOf(what: 'probes' | 'metrics'): string | undefined {
    const lines = readFileSync(this.#logFile, 'utf8').split('\n');
    const said = lines.find((line) => line.includes(`"${what} are served at`));
    return said === undefined ? undefined : (JSON.parse(said) as LogLine).address;
  }
}
