export * from './default-config-map.js';
export type { ConfigMapData, Rejection } from './load.js';
export { ConfigError, type ConfigSource, describeRejection, OperatorConfig } from './operator-config.js';
export type * from './settings.js';
