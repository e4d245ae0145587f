/**
 * The InferenceReplica controller: turns events into passes, one at a time for each InferenceService, and comes back when a
 * hold says so.
 */
import { label } from '@omenative/api';
import { type Plan, plan, type Snapshot } from '@omenative/engine';
import {
  type Change,
  type Client,
  type Informer,
  newest,
  type Runtime,
  type Unsubscribe,
  WorkQueue,
  type WorkQueueGauges,
  type WorkQueueMetrics,
} from '@omenative/kube';
import { type Caches, index } from '../caches.js';
import type { ConfigSource } from '../config/operator-config.js';
import type { EventSink } from '../shared/events.js';
import { sameJson } from '../shared/json.js';
import { Limiter } from '../shared/limiter.js';
import type { Log } from '../shared/log.js';
import type { ObjectMeta } from '../shared/meta.js';
import type { Slice } from './act.js';
import { Inbox } from './inbox.js';
import { noMetrics, type ReplicaMetrics } from './metrics.js';
import { OwnWrites } from './own-writes.js';
import { type PassDeps, type PassEnd, runPass } from './pass.js';
import type { PodRecord } from './pod-view.js';
import type { ReplicaRecord } from './replica-record.js';
import { whenCaughtUp } from './takeover.js';
import { Teller } from './tell.js';
import { TemplateChecks } from './template-check.js';

export interface InferenceReplicaControllerOptions {
  readonly runtime: Runtime;
  /** Its writes are refused, unsent, once the lease is not held. */
  readonly client: Client;
  /** Shared with other controllers, who start and stop them. */
  readonly caches: Caches;
  readonly config: ConfigSource;
  readonly events: EventSink;
  readonly log: Log;
  /** Where the caches look; absent: all namespaces. */
  readonly namespace?: string;
  /** InferenceServices worked on at once. Default 4. */
  readonly concurrency?: number;
  /** Pod writes in flight, of all passes together. Default 32. */
  readonly maxInFlight?: number;
  /** Default: one second, or 500 effects. */
  readonly slice?: Slice;
  /** Milliseconds after which a replica is looked at although nothing happened. Absent: never. */
  readonly safetyPollMs?: number;
  readonly metrics?: ReplicaMetrics;
  readonly queueMetrics?: WorkQueueMetrics;
  /** Default: the engine's. */
  readonly planner?: (snapshot: Snapshot) => Plan;
}

/** Milliseconds that a key rests at least: a pod emits about six events on its way up. */
const minRestMs = 50;
/** How much longer a key rests than its plans took. */
const restFactor = 4;
/** Milliseconds between two looks for writes that a stream does not show. */
const floorCheckMs = 10_000;

export class InferenceReplicaController {
  readonly #options: InferenceReplicaControllerOptions;
  readonly #queue: WorkQueue;
  readonly #deps: PassDeps;
  readonly #subscriptions: Unsubscribe[] = [];
  /** Wakes for writes that the pod stream has yet to show, by replica UID. */
  readonly #horizons: Map<string, Unsubscribe> = new Map();
  /** UIDs of replicas seen, by key: what memory holds of them is dropped when they go. */
  readonly #seen: Map<string, string> = new Map();
  /** Milliseconds that the last plans of a key took. */
  readonly #planningMs: Map<string, number> = new Map();
  #isStopped = false;
  #floorsCheckedAtMs = 0;

  constructor(options: InferenceReplicaControllerOptions) {
    const { runtime, client, caches, config, log, metrics = noMetrics, slice, maxInFlight = 32 } = options;
    this.#options = options;
    this.#queue = new WorkQueue({
      runtime,
      // In proportion to what it cost this process. Waiting for the API server costs nothing.
      restMs: (key) => Math.max(minRestMs, restFactor * (this.#planningMs.get(key) ?? 0)),
      onError: (key, error) => {
        const what = error instanceof Error ? error.message : String(error);
        log('error', `a pass failed and is repeated: ${what}`, { controller: 'inferencereplica', key });
      },
      ...(options.queueMetrics === undefined ? {} : { metrics: options.queueMetrics }),
    });
    const limiter = new Limiter(maxInFlight);
    this.#deps = {
      client,
      runtime,
      caches,
      settings: () => config.current(),
      planner: (snapshot) => this.#timed(snapshot, options.planner ?? plan),
      ownWrites: new OwnWrites(runtime, caches.pods),
      inbox: new Inbox(),
      limiter,
      slice: slice ?? { maxMs: 1000, maxEffects: 500 },
      teller: new Teller(options.events, log, caches.inferenceServices),
      templateChecks: new TemplateChecks({ client, runtime, limiter }),
      metrics,
      statusEncoding: config.current().omenativeStatus,
      writtenAtMs: new Map(),
    };
  }

  /**
   * Starts to work, once the caches are as new as this moment. Call it when the lease is held and the caches are started.
   */
  start(): void {
    const { caches, config, client, runtime, log, namespace } = this.#options;
    this.#subscriptions.push(
      caches.replicas.subscribe((change) => this.#onReplica(change)),
      caches.pods.subscribe((change) => this.#onPod(change)),
      caches.services.subscribe((change) => this.#onManaged(change)),
      caches.slices.subscribe((change) => this.#onManaged(change)),
      caches.revisions.subscribe((change) => this.#onManaged(change)),
      config.subscribe(() => this.#addAll()),
    );
    const informers = [caches.replicas, caches.pods, caches.services, caches.slices, caches.revisions];
    void whenCaughtUp({
      client,
      runtime,
      log,
      informers: informers as readonly Informer<unknown>[],
      isStopped: () => this.#isStopped,
      ...(namespace === undefined ? {} : { namespace }),
    }).then(() => this.#run());
  }

  /** Begins no pass any more; resolves when those under way have ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const unsubscribe of [...this.#subscriptions.splice(0), ...this.#horizons.values()]) unsubscribe();
    this.#horizons.clear();
    await this.#queue.shutDown();
  }

  /** For metrics. */
  gauges(): WorkQueueGauges {
    return this.#queue.gauges();
  }

  /** Milliseconds for which the longest blind Instance has been so; undefined when none is. For metrics and health. */
  oldestFloorMs(): number | undefined {
    return this.#deps.ownWrites.oldestMs();
  }

  #run(): void {
    if (this.#isStopped) return;
    this.#addAll();
    void this.#queue.run(this.#options.concurrency ?? 4, (key) => this.#work(key));
  }

  /** All replicas of one InferenceService, one after the other: what one may do can hang on another. */
  async #work(key: string): Promise<void> {
    this.#checkFloors();
    const replicas = this.#options.caches.replicas.store.byIndex(index.owner, key);
    const failures: unknown[] = [];
    this.#planningMs.delete(key);
    for (const replica of replicas) {
      if (this.#isStopped) return;
      try {
        await this.#workOn(key, replica);
      } catch (error) {
        failures.push(error);
      }
    }
    const { safetyPollMs } = this.#options;
    if (safetyPollMs !== undefined && replicas.length > 0) this.#queue.addAfter(key, safetyPollMs);
    if (failures.length === 1) throw failures[0];
    if (failures.length > 1) throw new AggregateError(failures, failures.map(String).join('; '));
  }

  async #workOn(key: string, replica: ReplicaRecord): Promise<void> {
    const { runtime } = this.#options;
    const { metrics } = this.#deps;
    const startedAtMs = runtime.monotonicMs();
    const elapsedMs = (): number => runtime.monotonicMs() - startedAtMs;
    const { namespace, name, uid } = replica.meta;
    this.#seen.set(`${namespace}/${name}`, uid);
    let end: PassEnd;
    try {
      end = await runPass(this.#deps, `${namespace}/${name}`);
    } catch (error) {
      metrics.passFinished('error', elapsedMs());
      throw error;
    } finally {
      this.#wakeAtHorizon(key, uid);
    }
    metrics.passFinished(end.again === 'backoff' ? 'requeue' : 'success', elapsedMs());
    this.#comeAgain(key, end);
  }

  #timed(snapshot: Snapshot, planner: (snapshot: Snapshot) => Plan): Plan {
    const { runtime } = this.#options;
    const { namespace, name, parent } = snapshot.replica;
    const key = `${namespace}/${parent?.name ?? name}`;
    const startedAtMs = runtime.monotonicMs();
    const planned = planner(snapshot);
    this.#planningMs.set(key, (this.#planningMs.get(key) ?? 0) + runtime.monotonicMs() - startedAtMs);
    return planned;
  }

  #comeAgain(key: string, end: PassEnd): void {
    const waitMs = end.wakeAtMs === undefined ? undefined : end.wakeAtMs - this.#options.runtime.nowMs();
    // A wake that is due already and was not used must not spin.
    if (end.again === 'backoff' || (waitMs !== undefined && waitMs <= 0)) this.#queue.addRateLimited(key);
    if (end.again === 'now') this.#queue.add(key);
    if (waitMs !== undefined && waitMs > 0) this.#queue.addAfter(key, waitMs);
  }

  /** Comes again once the pod stream shows all that this replica's passes have written. */
  #wakeAtHorizon(key: string, uid: string): void {
    this.#horizons.get(uid)?.();
    this.#horizons.delete(uid);
    const horizon = this.#deps.ownWrites.horizon(uid);
    if (horizon === '' || this.#isStopped) return;
    const unsubscribe = this.#options.caches.pods.whenAt(horizon, () => this.#queue.add(key));
    this.#horizons.set(uid, unsubscribe);
    this.#queue.addAfter(key, floorCheckMs);
  }

  /** A stream that does not show our writes is started again; all floors are looked at, at most once in ten seconds. */
  #checkFloors(): void {
    const { runtime, caches } = this.#options;
    if (runtime.monotonicMs() - this.#floorsCheckedAtMs < floorCheckMs) return;
    this.#floorsCheckedAtMs = runtime.monotonicMs();
    const unreached = this.#deps.ownWrites.unreached().reduce(newest, '');
    if (unreached === '') return;
    this.#deps.metrics.floorUnreached();
    caches.pods.relistNotOlderThan(unreached);
  }

  #addAll(): void {
    for (const replica of this.#options.caches.replicas.store.values()) this.#queue.add(keyOf(replica));
  }

  #onReplica(change: Change<ReplicaRecord>): void {
    const replica = change.now ?? change.old;
    if (replica === undefined) return;
    this.#queue.add(keyOf(replica));
    const uid = this.#seen.get(change.key);
    if (change.now !== undefined && change.now.meta.uid === uid) return;
    if (uid !== undefined) this.#forget(change.key, uid);
  }

  #forget(key: string, uid: string): void {
    const { ownWrites, inbox, writtenAtMs, teller, templateChecks } = this.#deps;
    this.#seen.delete(key);
    this.#horizons.get(uid)?.();
    this.#horizons.delete(uid);
    ownWrites.forget(uid);
    inbox.forget(uid);
    teller.forget(uid);
    templateChecks.forget(uid);
    writtenAtMs.delete(uid);
  }

  /** Most pod events change nothing that a plan looks at. */
  #onPod(change: Change<PodRecord>): void {
    const { old, now } = change;
    if (old !== undefined && now !== undefined && isSamePod(old, now)) return;
    const pod = now ?? old;
    if (pod !== undefined)
      this.#onManaged({ ...(now === undefined ? {} : { now }), ...(old === undefined ? {} : { old }) });
  }

  /** Anything that carries the owner's label; also under the owner that it carried before. */
  #onManaged(change: {
    readonly now?: { readonly meta: ObjectMeta };
    readonly old?: { readonly meta: ObjectMeta };
  }): void {
    for (const meta of [change.now?.meta, change.old?.meta]) {
      const owner = meta?.labels[label.inferenceService];
      if (meta !== undefined && owner !== undefined) this.#queue.add(`${meta.namespace}/${owner}`);
    }
  }
}

function keyOf(replica: ReplicaRecord): string {
  return `${replica.meta.namespace}/${replica.owner}`;
}

function isSamePod(a: PodRecord, b: PodRecord): boolean {
  const { resourceVersion: _a, ...before } = a.view;
  const { resourceVersion: _b, ...after } = b.view;
  return (
    sameJson(before, after) && sameJson(a.meta.labels, b.meta.labels) && a.meta.controller.uid === b.meta.controller.uid
  );
}
