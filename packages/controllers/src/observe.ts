/**
 * What reads and renders, and nothing that writes: for tools that look at a cluster with the eyes of the controllers.
 */
export { type Caches, createCaches, index } from './caches.js';
export * from './config/index.js';
export { assemble, loadFields } from './config/load.js';
export { type Observation, observe, type ReplicaWorld } from './inferencereplica/observe.js';
export { type ReplicaRecord, replicaRecordOf } from './inferencereplica/replica-record.js';
export { type SpecView, specViewOf, teardownViewOf } from './inferencereplica/spec-view.js';
export { worldOf } from './inferencereplica/world.js';
export { observe as observeService } from './inferenceservice/observe.js';
export {
  type ComponentPlan,
  render as renderService,
  type ServicePlan,
  type ServiceWorld,
} from './inferenceservice/render.js';
export { type DesiredReplica, newReplica, replicaPatch } from './inferenceservice/replica.js';
export { inferenceServiceOf } from './inferenceservice/service-record.js';
export { parseDurationMs } from './shared/duration.js';
export * from './shared/json.js';
export type { ObjectMeta } from './shared/meta.js';
export { type ObjectRecord, objectRecordOf } from './shared/object-record.js';
export * from './shared/resources.js';
