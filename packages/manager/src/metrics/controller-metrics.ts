/** One controller's passes and queue, under the names that dashboards for controller-runtime know. */
import {
  type InferenceReplicaController,
  InferenceServiceController,
  type ServiceMetrics,
} from '@omenative/controllers';
import type { WorkQueueGauges, WorkQueueMetrics } from '@omenative/kube';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

const reconcileBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const queueBuckets = [1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 100, 1000];

/** The metrics that all controllers share; a label tells them apart. */
export interface ControllerFamily {
  readonly reconciles: Counter;
  readonly errors: Counter;
  readonly reconcileTime: Histogram;
  readonly activeWorkers: Gauge;
  readonly maxConcurrent: Gauge;
  readonly depth: Gauge;
  readonly adds: Counter;
  readonly retries: Counter;
  readonly queueDuration: Histogram;
  readonly workDuration: Histogram;
  /** Read at scrape time, by the controller's name. */
  readonly readers: Map<string, () => WorkQueueGauges>;
}

export type ControllerName = 'inferenceservice' | 'inferencereplica';

export class ControllerMetrics implements ServiceMetrics {
  readonly queue: WorkQueueMetrics;
  readonly #family: ControllerFamily;
  readonly #name: ControllerName;

  constructor(family: ControllerFamily, name: ControllerName) {
    this.#family = family;
    this.#name = name;
    const labels = { name, controller: name };
    // Shown from the first scrape on, so that a rate has a beginning.
    for (const result of ['success', 'error', 'requeue']) family.reconciles.inc({ controller: name, result }, 0);
    family.errors.inc({ controller: name }, 0);
    this.queue = {
      added: (depth) => {
        family.adds.inc(labels);
        family.depth.set(labels, depth);
      },
      started: (waitedMs, depth) => {
        family.queueDuration.observe(labels, waitedMs / 1000);
        family.depth.set(labels, depth);
      },
      finished: (workMs) => family.workDuration.observe(labels, workMs / 1000),
      retried: () => family.retries.inc(labels),
    };
  }

  static family(registry: Registry): ControllerFamily {
    const registers = [registry];
    const byController = { labelNames: ['controller'], registers };
    const byQueue = { labelNames: ['name', 'controller'], registers };
    const readers = new Map<string, () => WorkQueueGauges>();
    const scraped = (name: string, help: string, read: (gauges: WorkQueueGauges) => number): Gauge =>
      new Gauge({
        name,
        help,
        ...byQueue,
        collect() {
          for (const [controller, gauges] of readers) this.set({ name: controller, controller }, read(gauges()));
        },
      });
    scraped(
      'workqueue_unfinished_work_seconds',
      'Seconds of work in progress.',
      (gauges) => gauges.unfinishedMs / 1000,
    );
    scraped(
      'workqueue_longest_running_processor_seconds',
      'Seconds for which the longest running pass has run.',
      (gauges) => gauges.longestRunningMs / 1000,
    );
    return {
      readers,
      reconciles: new Counter({
        name: 'controller_runtime_reconcile_total',
        help: 'Passes, by how they ended.',
        labelNames: ['controller', 'result'],
        registers,
      }),
      errors: new Counter({
        name: 'controller_runtime_reconcile_errors_total',
        help: 'Passes that failed.',
        ...byController,
      }),
      reconcileTime: new Histogram({
        name: 'controller_runtime_reconcile_time_seconds',
        help: 'Seconds that a pass took.',
        buckets: reconcileBuckets,
        ...byController,
      }),
      activeWorkers: new Gauge({
        name: 'controller_runtime_active_workers',
        help: 'Passes under way.',
        ...byController,
        collect() {
          for (const [controller, gauges] of readers) this.set({ controller }, gauges().running);
        },
      }),
      maxConcurrent: new Gauge({
        name: 'controller_runtime_max_concurrent_reconciles',
        help: 'Passes that may be under way at once.',
        ...byController,
      }),
      depth: new Gauge({ name: 'workqueue_depth', help: 'Keys that wait for a worker.', ...byQueue }),
      adds: new Counter({ name: 'workqueue_adds_total', help: 'Keys added.', ...byQueue }),
      retries: new Counter({ name: 'workqueue_retries_total', help: 'Keys added with backoff.', ...byQueue }),
      queueDuration: new Histogram({
        name: 'workqueue_queue_duration_seconds',
        help: 'Seconds that a key waited for a worker.',
        buckets: queueBuckets,
        ...byQueue,
      }),
      workDuration: new Histogram({
        name: 'workqueue_work_duration_seconds',
        help: 'Seconds that a worker took for a key.',
        buckets: queueBuckets,
        ...byQueue,
      }),
    };
  }

  passFinished(result: 'success' | 'requeue' | 'error', durationMs: number): void {
    const controller = this.#name;
    this.#family.reconciles.inc({ controller, result });
    if (result === 'error') this.#family.errors.inc({ controller });
    this.#family.reconcileTime.observe({ controller }, durationMs / 1000);
  }

  setConcurrency(workers: number): void {
    this.#family.maxConcurrent.set({ controller: this.#name }, workers);
  }

  readFrom(gauges: () => WorkQueueGauges): void {
    this.#family.readers.set(this.#name, gauges);
  }

  /** Whether these are the metrics of that controller. */
  isOf(controller: InferenceServiceController | InferenceReplicaController): boolean {
    const name = controller instanceof InferenceServiceController ? 'inferenceservice' : 'inferencereplica';
    return name === this.#name;
  }
}
