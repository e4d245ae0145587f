export {
  type Caches,
  type CachesOptions,
  createCaches,
  informersOf,
  startCaches,
  stopCaches,
  whenCachesSynced,
} from './caches.js';
export * from './config/index.js';
export {
  InferenceReplicaController,
  type InferenceReplicaControllerOptions,
} from './inferencereplica/controller.js';
export type { ReplicaMetrics, StatusWriteResult, StoredStatus } from './inferencereplica/metrics.js';
export {
  InferenceServiceController,
  type InferenceServiceControllerOptions,
} from './inferenceservice/controller.js';
export type { ServiceMetrics } from './inferenceservice/metrics.js';
export { parseDurationMs } from './shared/duration.js';
export type { EventSink } from './shared/events.js';
export type { Log, LogLevel } from './shared/log.js';
