/**
 * The process in one object: settings, caches, election and controllers, in the order in which each needs the others.
 * Everything it touches is injected, so that a test, a simulation or a demo can run several in one process.
 */
import {
  type Caches,
  createCaches,
  InferenceReplicaController,
  InferenceServiceController,
  type Log,
  type OperatorConfig,
  startCaches,
  stopCaches,
} from '@omenative/controllers';
import {
  Client,
  checkTiming,
  EventRecorder,
  type FenceState,
  LeaderElection,
  type Runtime,
  sleep,
  type Transport,
} from '@omenative/kube';
import { ConfigWatch, readConfig } from './config-watch.js';
import { healthOf, readinessOf, type Verdict } from './health.js';
import { install } from './install.js';
import type { ManagerMetrics } from './metrics/manager-metrics.js';
import { leaseName, type ManagerOptions, managerName } from './options.js';

export interface ManagerInit {
  readonly runtime: Runtime;
  readonly transport: Transport;
  /** For the Lease alone, so that no rate limit holds a renewal up. Default: `transport`. */
  readonly electionTransport?: Transport;
  /** Unique to this process: who holds the Lease. */
  readonly identity: string;
  readonly options: ManagerOptions;
  readonly log: Log;
  /** Absent: nothing is measured. */
  readonly metrics?: ManagerMetrics;
  /**
   * The Lease is lost, and no write leaves this manager any more: the process should end with an error. Called at most
   * once, and not after `stop`.
   */
  readonly onLost: (why: string) => void;
}

export class Manager {
  readonly #init: ManagerInit;
  readonly #client: Client;
  /** Its writes are refused, unsent, while the Lease is not held. */
  readonly #fenced: Client;
  #caches: Caches | undefined;
  #configWatch: ConfigWatch | undefined;
  #election: LeaderElection | undefined;
  #events: EventRecorder | undefined;
  #controllers: readonly (InferenceServiceController | InferenceReplicaController)[] = [];
  #state: 'new' | 'started' | 'leading' | 'over' = 'new';

  constructor(init: ManagerInit) {
    this.#init = init;
    const { transport, runtime } = init;
    this.#client = new Client({ transport, runtime, fieldManager: managerName });
    this.#fenced = this.#client.fenced(() => this.#fence());
  }

  /**
   * Installs when asked to, reads the settings, starts the caches and takes part in the election. Resolves when that is
   * under way, which is before the Lease is held.
   *
   * @throws ConfigError naming the keys that can't be used; RangeError for an election that can't be safe; ApiError or
   * TransportError when the API server refuses or does not answer.
   */
  async start(): Promise<void> {
    const { runtime, options, log, identity, metrics } = this.#init;
    const { namespace } = options;
    if (options.leaderElection !== 'off') checkTiming(options.leaderElection);
    if (options.installation === 'apply') await install({ client: this.#client, runtime, log }, namespace);
    const config = await readConfig(this.#client, namespace);
    if (this.#isOver()) return;
    const { eventRecorder } = config.current();
    this.#events = new EventRecorder({
      client: this.#fenced,
      runtime,
      component: managerName,
      instance: identity,
      ...(eventRecorder === undefined
        ? {}
        : { perObject: { burst: eventRecorder.burst, refillMs: eventRecorder.refillIntervalMs } }),
      ...(metrics === undefined ? {} : { metrics: metrics.events }),
    });
    this.#caches = createCaches({
      transport: this.#init.transport,
      runtime,
      configNamespace: namespace,
      maxDecodedInstances: config.current().omenativeStatus.maxDecodedInstances,
      report: (problem) => log('warn', problem.message, { kind: problem.kind }),
    });
    const { caches, events, client } = { caches: this.#caches, events: this.#events, client: this.#client };
    this.#configWatch = new ConfigWatch({ client, namespace, config, caches, events, log });
    this.#controllers = this.#createControllers(caches, config, events);
    metrics?.observe({ caches, config, isLeading: () => this.isLeading, controllers: this.#controllers });
    this.#configWatch.start();
    startCaches(caches);
    this.#state = 'started';
    this.#enterElection();
  }

  /**
   * Takes no more work, waits for the passes under way, at most `stopGraceMs`, and gives the Lease back. Safe to call at any
   * time; a manager that was stopped does not start again.
   */
  async stop(): Promise<void> {
    const wasLeading = this.#state === 'leading';
    this.#state = 'over';
    if (wasLeading) await this.#endWork();
    this.#configWatch?.stop();
    if (this.#caches !== undefined) stopCaches(this.#caches);
    await this.#election?.release();
    this.#init.log('info', 'stopped', {});
  }

  /** Whether this manager holds the Lease, or needs none, and works. */
  get isLeading(): boolean {
    return this.#state === 'leading' && this.#fence().open;
  }

  /** `loopP99Ms`: milliseconds by which the event loop was late, at the 99th percentile. */
  health(loopP99Ms: number): Verdict {
    return healthOf(this.#caches, loopP99Ms);
  }

  readiness(): Verdict {
    return readinessOf(this.#caches);
  }

  /** Resolves when the passes under way have ended and told what they did, or when their time is up. */
  async #endWork(): Promise<void> {
    const { runtime, options, log } = this.#init;
    const { stopGraceMs } = options;
    await new Promise<void>((resolve) => {
      const timer = runtime.setTimer(stopGraceMs, () => {
        log('warn', `work under way did not end within ${stopGraceMs} ms and is left behind`, {});
        resolve();
      });
      void this.#whenWorkEnded().finally(() => {
        timer.cancel();
        resolve();
      });
    });
  }

  async #whenWorkEnded(): Promise<void> {
    await Promise.all(this.#controllers.map((controller) => controller.stop()));
    await this.#events?.flush();
  }

  #createControllers(
    caches: Caches,
    config: OperatorConfig,
    events: EventRecorder,
  ): readonly (InferenceServiceController | InferenceReplicaController)[] {
    const { runtime, options, log, metrics } = this.#init;
    const { concurrency, maxInFlight, quotaResources, safetyPollMs } = options;
    const common = {
      runtime,
      client: this.#fenced,
      caches,
      config,
      events,
      ...(safetyPollMs === undefined ? {} : { safetyPollMs }),
    };
    const services = new InferenceServiceController({
      ...common,
      log: withController(log, 'inferenceservice'),
      concurrency: concurrency.inferenceServices,
      ...(quotaResources === undefined ? {} : { quotaResources }),
      ...(metrics === undefined ? {} : metrics.forServices(concurrency.inferenceServices)),
    });
    if (options.inferenceReplicaController === 'disabled') {
      log('info', 'InferenceReplica controller disabled via --enable-inferencereplica-controller=false', {});
      return [services];
    }
    log('info', 'Setting up InferenceReplica controller', {});
    const replicas = new InferenceReplicaController({
      ...common,
      log: withController(log, 'inferencereplica'),
      concurrency: concurrency.inferenceReplicas,
      ...(maxInFlight === undefined ? {} : { maxInFlight }),
      ...(metrics === undefined ? {} : metrics.forReplicas(concurrency.inferenceReplicas)),
    });
    return [services, replicas];
  }

  #enterElection(): void {
    const { runtime, transport, electionTransport, identity, options, log } = this.#init;
    const { leaderElection, namespace } = options;
    if (leaderElection === 'off') {
      void this.#lead();
      return;
    }
    this.#election = new LeaderElection({
      ...leaderElection,
      client: new Client({ transport: electionTransport ?? transport, runtime, fieldManager: managerName }),
      runtime,
      namespace,
      name: leaseName,
      identity,
      onAcquired: () => void this.#lead(),
      onLost: (why) => this.#lose(why),
      report: (message) => log('warn', `leader election: ${message}`, {}),
    });
    this.#election.start();
  }

  async #lead(): Promise<void> {
    const { log, options, runtime, identity } = this.#init;
    log('info', options.leaderElection === 'off' ? 'working without leader election' : 'the Lease is held', {
      identity,
    });
    // Until the settings are read anew, acting on the ones at hand could undo what the leader before us did.
    while (this.#state === 'started') {
      try {
        await this.#configWatch?.refresh();
        break;
      } catch (error) {
        log('warn', `the ConfigMap could not be read; trying again: ${messageOf(error)}`, {});
        await sleep(runtime, refreshRetryMs);
      }
    }
    if (this.#state !== 'started') return;
    this.#state = 'leading';
    for (const controller of this.#controllers) controller.start();
  }

  /** The fence is shut already: what is under way may end, but writes nothing. */
  #lose(why: string): void {
    if (this.#isOver()) return;
    this.#state = 'over';
    this.#init.log('error', `leader election lost: ${why}`, {});
    this.#configWatch?.stop();
    if (this.#caches !== undefined) stopCaches(this.#caches);
    for (const controller of this.#controllers) void controller.stop();
    this.#init.onLost(why);
  }

  #fence(): FenceState {
    if (this.#init.options.leaderElection === 'off') return { open: true };
    return this.#election?.fence() ?? { open: false, why: 'the election has not begun' };
  }

  /** Asked after each wait, in which `stop` may have been called. */
  #isOver(): boolean {
    return this.#state === 'over';
  }
}

/** Milliseconds between two tries to read the ConfigMap as a new leader. */
const refreshRetryMs = 1000;

function withController(log: Log, controller: string): Log {
  return (level, message, fields) => log(level, message, { controller, ...fields });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
