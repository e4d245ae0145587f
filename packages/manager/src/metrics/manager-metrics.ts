/** All metrics of a manager in one registry: controller-runtime's names for what it has in common with others, and OME's. */
import {
  type Caches,
  type InferenceReplicaController,
  type InferenceServiceController,
  informersOf,
  type OperatorConfig,
  type ReplicaMetrics,
  type ServiceMetrics,
} from '@omenative/controllers';
import { type EventMetrics, type HttpMetrics, resourceName, type WorkQueueMetrics } from '@omenative/kube';
import { Counter, Gauge, Registry } from 'prom-client';
import { leaseName } from '../options.js';
import { cacheMetrics } from './cache-metrics.js';
import { ControllerMetrics } from './controller-metrics.js';
import { StatusMetrics } from './status-metrics.js';

/** What is read when somebody scrapes. */
export interface Observed {
  readonly caches: Caches;
  readonly config: Pick<OperatorConfig, 'rejections'>;
  readonly isLeading: () => boolean;
  readonly controllers: readonly (InferenceServiceController | InferenceReplicaController)[];
}

export class ManagerMetrics {
  readonly registry: Registry = new Registry();
  readonly events: EventMetrics;
  readonly http: HttpMetrics;
  readonly #services: ControllerMetrics;
  readonly #replicas: ControllerMetrics;
  readonly #status: StatusMetrics;
  readonly #effects: Counter;
  readonly #floorsUnreached: Counter;

  constructor() {
    const registers = [this.registry];
    const shared = ControllerMetrics.family(this.registry);
    this.#services = new ControllerMetrics(shared, 'inferenceservice');
    this.#replicas = new ControllerMetrics(shared, 'inferencereplica');
    this.#status = new StatusMetrics(this.registry);
    this.#effects = new Counter({
      name: 'ome_omenative_effects_total',
      help: 'Effects carried out on the cluster for InferenceReplicas, by what they do and what came of them.',
      labelNames: ['effect', 'outcome'],
      registers,
    });
    this.#floorsUnreached = new Counter({
      name: 'ome_omenative_cache_floors_unreached_total',
      help: 'Streams started again because they did not show a write of this process in time.',
      registers,
    });
    this.events = eventMetrics(this.registry);
    this.http = httpMetrics(this.registry);
  }

  /** Binds what is read at scrape time. Called once. */
  observe(observed: Observed): void {
    for (const metrics of [this.#services, this.#replicas]) {
      const controller = observed.controllers.find((candidate) => metrics.isOf(candidate));
      if (controller !== undefined) metrics.readFrom(() => controller.gauges());
    }
    const { store } = observed.caches.replicas;
    this.#status.forgetUnless((key) => store.get(key) !== undefined);
    cacheMetrics(this.registry, () =>
      informersOf(observed.caches).map((informer) => ({
        resource: resourceName(informer.type),
        stats: informer.stats(),
      })),
    );
    const leading = new Gauge({
      name: 'leader_election_master_status',
      help: '1 while this process holds the Lease.',
      labelNames: ['name'],
      registers: [],
      collect() {
        this.set({ name: leaseName }, observed.isLeading() ? 1 : 0);
      },
    });
    const rejected = new Gauge({
      name: 'ome_omenative_config_rejected_keys',
      help: '1 for each key of the ConfigMap whose value can not be used, so that its last good value stays in effect.',
      labelNames: ['key'],
      registers: [],
      collect() {
        this.reset();
        for (const { key } of observed.config.rejections) this.set({ key }, 1);
      },
    });
    const replicas = observed.controllers.find((controller) => 'oldestFloorMs' in controller);
    const floors = new Gauge({
      name: 'ome_omenative_oldest_unseen_write_seconds',
      help: 'Seconds for which a write of this process has been missing from its own cache; 0 when none is.',
      registers: [],
      collect() {
        this.set((replicas?.oldestFloorMs() ?? 0) / 1000);
      },
    });
    this.registry.registerMetric(floors);
    this.registry.registerMetric(leading);
    this.registry.registerMetric(rejected);
  }

  /** The hooks of the InferenceService controller. */
  forServices(concurrency: number): { readonly metrics: ServiceMetrics; readonly queueMetrics: WorkQueueMetrics } {
    this.#services.setConcurrency(concurrency);
    return { metrics: this.#services, queueMetrics: this.#services.queue };
  }

  /** The hooks of the InferenceReplica controller. */
  forReplicas(concurrency: number): { readonly metrics: ReplicaMetrics; readonly queueMetrics: WorkQueueMetrics } {
    this.#replicas.setConcurrency(concurrency);
    const passes = this.#replicas;
    const { statusWritten, statusStored, codecFailed } = this.#status;
    const metrics: ReplicaMetrics = {
      passFinished: (result, durationMs) => passes.passFinished(result, durationMs),
      statusWritten,
      statusStored,
      codecFailed,
      effectFinished: (effect, outcome) => this.#effects.inc({ effect, outcome }),
      floorUnreached: () => this.#floorsUnreached.inc(),
    };
    return { metrics, queueMetrics: passes.queue };
  }
}

function eventMetrics(registry: Registry): EventMetrics {
  const events = new Counter({
    name: 'ome_omenative_events_total',
    help: 'Events for people, by what came of them: written, or why they were dropped.',
    labelNames: ['result'],
    registers: [registry],
  });
  return { written: () => events.inc({ result: 'written' }), dropped: (why) => events.inc({ result: why }) };
}

function httpMetrics(registry: Registry): HttpMetrics {
  const requests = new Counter({
    name: 'rest_client_requests_total',
    help: 'Requests to the API server, by status, or by how they failed without one.',
    labelNames: ['code', 'method'],
    registers: [registry],
  });
  const delayed = new Counter({
    name: 'ome_omenative_client_rate_limited_seconds_total',
    help: 'Seconds for which this process held its own requests back, with --kube-api-qps.',
    registers: [registry],
  });
  return {
    answered: ({ method }, code) => requests.inc({ code, method }),
    delayed: (_request, waitedMs) => delayed.inc(waitedMs / 1000),
  };
}
