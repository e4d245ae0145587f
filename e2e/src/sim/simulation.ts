/**
 * One run: a cluster, the managers of it, a person, traffic, and everything that must hold. Virtual time; one seed decides
 * order, delays and faults, so a run can be repeated to the letter.
 */
import { crds } from '@omenative/api';
import { type AppliedWrite, Cluster, type WorldOptions } from '@omenative/sim';
import { Invariants } from './invariants.js';
import { configNamespace, ManagerProcess, type ProcessOptions } from './process.js';
import { namespace, servingRuntime, User } from './user.js';

export interface SimulationOptions {
  readonly seed: number;
  readonly world?: Partial<WorldOptions>;
  readonly manager?: Partial<ProcessOptions>;
  /** Services that are sent a request each hundred milliseconds once they first answered: `namespace/name`. */
  readonly traffic?: readonly string[];
}

/** 2026-06-01T00:00:00Z. */
const startMs = 1_780_272_000_000;
const probeEveryMs = 100;

export interface Probes {
  sent: number;
  failed: number;
  readonly failures: string[];
}

export class Simulation {
  readonly cluster: Cluster;
  readonly user: User;
  readonly invariants: Invariants;
  readonly probes: Probes = { sent: 0, failed: 0, failures: [] };
  readonly #options: SimulationOptions;
  readonly #processes: ManagerProcess[] = [];
  #nextProbeMs = startMs;
  #isProbing = false;
  #processNumber = 0;
  /** Writes of managers so far, those to the lease aside. */
  writes: AppliedWrite[] = [];

  constructor(options: SimulationOptions) {
    this.#options = options;
    this.cluster = new Cluster({ seed: options.seed, startMs, crds: crds as never, options: options.world ?? {} });
    this.user = new User(this.cluster);
    this.#namespace(configNamespace);
    this.#namespace(namespace);
    this.user.create(servingRuntime);
    for (const name of ['node-1', 'node-2', 'node-3']) this.cluster.addNode({ name, cpu: 32 });
    this.invariants = new Invariants(this.cluster);
    this.cluster.onApplied((write) => {
      if (this.isManager(write.by) && !write.resource.startsWith('leases')) this.writes.push(write);
      this.invariants.check(write, this.isManager(write.by));
    });
  }

  isManager(by: string): boolean {
    return by.startsWith('manager');
  }

  get managers(): readonly ManagerProcess[] {
    return this.#processes.filter((process) => process.sim.alive);
  }

  /** Starts another manager process. */
  startManager(options: Partial<ProcessOptions> = {}): ManagerProcess {
    this.#processNumber += 1;
    const name = `manager-${this.#processNumber}`;
    const process = new ManagerProcess(this.cluster, {
      name,
      election: 'none',
      onRequest: (request) => this.invariants.checkRequest(request),
      onAnswer: (request, response) => this.invariants.checkAnswer(name, request, response),
      ...this.#options.manager,
      ...options,
    });
    this.#processes.push(process);
    return process;
  }

  /** From now on requests are sent, and each that fails is counted. */
  startTraffic(): void {
    this.#isProbing = true;
    this.#nextProbeMs = this.cluster.nowMs;
  }

  stopTraffic(): void {
    this.#isProbing = false;
  }

  /** Lets `ms` of virtual time pass, or less when `done` is so before. */
  async run(ms: number, done: () => boolean = () => false): Promise<void> {
    const untilMs = this.cluster.nowMs + ms;
    // What was called from outside the agenda, such as a new process, has its first say.
    await drained();
    while (this.cluster.nowMs < untilMs && !done()) await this.#once(untilMs);
  }

  /** Lets time pass until `done`, and throws when that takes more than `ms`. */
  async until(what: string, done: () => boolean, ms = 600_000): Promise<void> {
    const untilMs = this.cluster.nowMs + ms;
    await drained();
    while (!done()) {
      if (this.cluster.nowMs >= untilMs)
        throw new Error(`after ${ms / 1000} s of virtual time: not ${what}\n${this.tail()}`);
      await this.#once(untilMs);
    }
  }

  /**
   * Waits until no manager has written for `quietMs`: by default longer than the chart lets a pod be stuck, so that an
   * attempt that is bound to fail has failed.
   */
  async settle(quietMs = 75_000, ms = 3_600_000): Promise<void> {
    const untilMs = this.cluster.nowMs + ms;
    let seen = this.writes.length;
    let sinceMs = this.cluster.nowMs;
    await drained();
    while (this.cluster.nowMs - sinceMs < quietMs) {
      if (this.cluster.nowMs >= untilMs) throw new Error(`the managers never stop writing\n${this.tail()}`);
      await this.#once(sinceMs + quietMs);
      if (this.writes.length !== seen) {
        seen = this.writes.length;
        sinceMs = this.cluster.nowMs;
      }
    }
  }

  /** The end of the trace, for people. */
  tail(lines = 60): string {
    return this.cluster
      .trace(lines)
      .map((line) => `  +${((line.atMs - startMs) / 1000).toFixed(3)} ${line.text}`)
      .join('\n');
  }

  async #once(untilMs: number): Promise<void> {
    const nextMs = this.cluster.nextAtMs() ?? Number.POSITIVE_INFINITY;
    if (this.#isProbing && this.#nextProbeMs <= Math.min(nextMs, untilMs)) {
      this.cluster.advanceTo(this.#nextProbeMs);
      this.#nextProbeMs += probeEveryMs;
      this.#probe();
      return;
    }
    if (nextMs > untilMs) {
      this.cluster.advanceTo(untilMs);
      return;
    }
    this.cluster.step();
    if (this.cluster.touchedClient) await drained();
  }

  #probe(): void {
    for (const service of this.#options.traffic ?? []) {
      const result = this.cluster.probe(service);
      this.probes.sent += 1;
      if (result.ok) continue;
      this.probes.failed += 1;
      this.probes.failures.push(
        `+${(this.cluster.nowMs - startMs) / 1000} ${service}: ${result.why} ${result.pod ?? ''}`,
      );
    }
  }

  #namespace(name: string): void {
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    this.cluster.handle({ method: 'POST', path: '/api/v1/namespaces', body, user: 'cluster' });
  }
}

/** Lets every promise that can move do so. Nothing else is pending: time and answers come from the agenda. */
function drained(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
