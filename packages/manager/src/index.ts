export type { Verdict } from './health.js';
export { install } from './install.js';
export { Manager, type ManagerInit } from './manager.js';
export { ManagerMetrics } from './metrics/manager-metrics.js';
export { defaultOptions, type LeaderElectionTiming, type ManagerOptions } from './options.js';
