/**
 * A Kubernetes cluster in memory: API server, scheduler, kubelets, controllers. `Cluster` is the world under virtual time
 * with clients inside the process; `SimServer` serves one over HTTP. See README.md.
 */
export type { SimRequest, SimResponse } from './api/call.js';
export { SimWatch, type SimWatchEvent } from './api/watch.js';
export type { KubeObject, ObjectMeta, OwnerReference } from './base/object.js';
export { DEFAULT_OPTIONS, DEFAULT_SCRIPT, type Script, type WorldOptions } from './base/options.js';
export type { Range } from './base/random.js';
export type { Admit, Refusal, Review } from './base/review.js';
export type { Change } from './base/store.js';
export type { TraceLine } from './base/trace.js';
export { type AppliedWrite, type ClientOptions, Cluster, type ClusterInit } from './cluster.js';
export type { Client } from './face/client.js';
export { type Fate, type Faults, type Hooks, NO_FAULTS, type WriteAttempt } from './face/faults.js';
export { type ServerOptions, type ServerRuntime, SimServer } from './face/server.js';
export { SimTransportError } from './face/shapes.js';
export { FEATURES } from './features.js';
export type { NodeShape } from './parts/node-shape.js';
export type { ProbeResult } from './parts/proxy.js';
