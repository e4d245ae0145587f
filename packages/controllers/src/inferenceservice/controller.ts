/** The loop over InferenceServices: what wakes a pass, and when the next one comes. */
import {
  type Client,
  type Informer,
  type Runtime,
  type Unsubscribe,
  WorkQueue,
  type WorkQueueGauges,
  type WorkQueueMetrics,
} from '@omenative/kube';
import type { Caches } from '../caches.js';
import type { ConfigSource } from '../config/operator-config.js';
import { whenCaughtUp } from '../inferencereplica/takeover.js';
import type { EventSink } from '../shared/events.js';
import type { Log } from '../shared/log.js';
import { noServiceMetrics, type ServiceMetrics } from './metrics.js';
import { NameHolds } from './name-holds.js';
import { type PassDeps, runPass } from './pass.js';
import { keysNaming, keysOfPod, keysOfReplica, keysOfService } from './wakes.js';
import { WritePacing } from './write-pacing.js';

export interface InferenceServiceControllerOptions {
  readonly runtime: Runtime;
  /** Its writes are refused, unsent, once the lease is not held. */
  readonly client: Client;
  /** Started by the caller, who stops them after this controller. */
  readonly caches: Caches;
  readonly config: ConfigSource;
  readonly events: EventSink;
  readonly log: Log;
  /** Where the caches look; absent: all namespaces. */
  readonly namespace?: string;
  /** InferenceServices worked on at once. Default 4. */
  readonly concurrency?: number;
  /** Resources that make a pod subject to Kueue's quota; absent: every pod is. */
  readonly quotaResources?: readonly string[];
  /** Milliseconds after which every InferenceService is looked at, whatever happened; absent: only when something did. */
  readonly safetyPollMs?: number;
  readonly metrics?: ServiceMetrics;
  readonly queueMetrics?: WorkQueueMetrics;
}

/** Milliseconds that a key rests at least after a pass; a pass that was long earns a longer rest. */
const minRestMs = 50;
const restFactor = 4;

export class InferenceServiceController {
  readonly #options: InferenceServiceControllerOptions;
  readonly #queue: WorkQueue;
  readonly #deps: PassDeps;
  readonly #unsubscribe: Unsubscribe[] = [];
  #isStopped = false;

  constructor(options: InferenceServiceControllerOptions) {
    this.#options = options;
    const { runtime, client, caches, config, events, log, quotaResources, queueMetrics } = options;
    this.#deps = {
      runtime,
      client,
      caches,
      events,
      log,
      settings: () => config.current(),
      quotaResources: quotaResources ?? 'all',
      nameHolds: new NameHolds(runtime),
      pacing: new WritePacing(runtime),
    };
    this.#queue = new WorkQueue({
      runtime,
      onError: (key, error) => this.#reportError(key, error),
      restMs: (_key, lastRunMs) => Math.max(minRestMs, restFactor * lastRunMs),
      ...(queueMetrics === undefined ? {} : { metrics: queueMetrics }),
    });
  }

  /**
   * Starts to work, once the caches have caught up with the moment of the call: the one before us may have written what
   * they do not show yet. Call it when the lease is held and the caches are started.
   */
  start(): void {
    this.#watch();
    void this.#run();
  }

  /** Takes no more work, and resolves when the passes under way are through. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const unsubscribe of this.#unsubscribe.splice(0)) unsubscribe();
    await this.#queue.shutDown();
  }

  /** A reading of the queue, for metrics. */
  gauges(): WorkQueueGauges {
    return this.#queue.gauges();
  }

  async #run(): Promise<void> {
    const { client, runtime, log, caches, namespace, concurrency = 4 } = this.#options;
    // Of the rest of the caches nothing is read here, and the ConfigMap has been read by whoever starts this controller.
    const scoped = [
      caches.inferenceServices,
      caches.replicas,
      caches.services,
      caches.pods,
      caches.servingRuntimes,
      caches.baseModels,
    ] as readonly Informer<unknown>[];
    const clusterWide = [caches.clusterServingRuntimes, caches.clusterBaseModels] as readonly Informer<unknown>[];
    const gate = { client, runtime, log, isStopped: () => this.#isStopped };
    await Promise.all([
      whenCaughtUp({ ...gate, informers: scoped, ...(namespace === undefined ? {} : { namespace }) }),
      whenCaughtUp({ ...gate, informers: clusterWide }),
    ]);
    if (this.#isStopped) return;
    this.#addAll();
    await this.#queue.run(concurrency, (key) => this.#work(key));
  }

  async #work(key: string): Promise<void> {
    const { runtime, metrics = noServiceMetrics, safetyPollMs } = this.#options;
    const startedMs = runtime.monotonicMs();
    try {
      const end = await runPass(this.#deps, key);
      metrics.passFinished(end.again === 'backoff' ? 'requeue' : 'success', runtime.monotonicMs() - startedMs);
      if (end.again === 'backoff') this.#queue.addRateLimited(key);
      else if (end.afterMs !== undefined) this.#queue.addAfter(key, end.afterMs);
      const isThere = this.#options.caches.inferenceServices.store.get(key) !== undefined;
      if (safetyPollMs !== undefined && isThere) this.#queue.addAfter(key, safetyPollMs);
    } catch (error) {
      metrics.passFinished('error', runtime.monotonicMs() - startedMs);
      throw error;
    }
  }

  #watch(): void {
    const { caches, config } = this.#options;
    this.#on(caches.inferenceServices, ({ key }) => [key]);
    this.#on(caches.replicas, ({ old, now }) =>
      [old, now].flatMap((replica) => (replica === undefined ? [] : keysOfReplica(replica))),
    );
    this.#on(caches.services, ({ old, now }) =>
      [old, now].flatMap((service) => (service === undefined ? [] : keysOfService(service))),
    );
    this.#on(caches.pods, keysOfPod);
    for (const runtimes of [caches.servingRuntimes, caches.clusterServingRuntimes]) {
      this.#on(runtimes, ({ old, now }) => namesOf(now ?? old, (named) => keysNaming(caches, 'runtime', named)));
    }
    for (const models of [caches.baseModels, caches.clusterBaseModels]) {
      this.#on(models, ({ old, now }) => namesOf(now ?? old, (named) => keysNaming(caches, 'model', named)));
    }
    this.#unsubscribe.push(config.subscribe(() => this.#addAll()));
  }

  #on<T>(
    informer: Informer<T>,
    keysOf: (change: { readonly key: string; readonly old?: T; readonly now?: T }) => readonly string[],
  ): void {
    this.#unsubscribe.push(
      informer.subscribe((change) => {
        for (const key of keysOf(change)) this.#queue.add(key);
      }),
    );
  }

  #addAll(): void {
    for (const { meta } of this.#options.caches.inferenceServices.store.values())
      this.#queue.add(`${meta.namespace}/${meta.name}`);
  }

  #reportError(key: string, error: unknown): void {
    const message = error instanceof Error ? error.message : String(error);
    this.#options.log(
      'error',
      `InferenceService ${key} could not be brought up to date, and is tried again: ${message}`,
      {
        controller: 'inferenceservice',
        key,
      },
    );
  }
}

function namesOf<T>(record: T | undefined, keysOf: (record: T) => readonly string[]): readonly string[] {
  return record === undefined ? [] : keysOf(record);
}
