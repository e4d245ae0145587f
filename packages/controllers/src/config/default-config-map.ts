/** The ConfigMap that an installation without one is given: every number in effect, where people can read and edit it. */

/** Name of the ConfigMap in the manager's namespace. */
export const configMapName = 'inferenceservice-config';

export interface ConfigMapObject {
  readonly apiVersion: 'v1';
  readonly kind: 'ConfigMap';
  readonly metadata: { readonly name: string; readonly namespace: string };
  readonly data: Readonly<Record<string, string>>;
}

const strategy = { type: 'SurgeThenDrain', maxSurge: '25%', maxUnavailable: '25%' };

const documents = {
  deploy: {
    defaultDeploymentMode: 'RawDeployment',
    replicas: { defaultMinReplicas: 1, defaultMaxReplicas: { engine: 3, decoder: 3, router: 2 } },
    terminationGracePeriodSeconds: 600,
    updateStrategy: { engine: strategy, decoder: strategy, router: strategy },
  },
  eventRecorder: { burstSize: 400, refillInterval: '5s' },
  ingress: { disableIngressCreation: true },
  lifecycle: {
    instanceReadyTimeout: '30m',
    stuckPodGracePeriod: '60s',
    unschedulableGracePeriod: '15m',
    abandonedReplacementGracePeriod: '30s',
    scaleUpPodBatchSize: 100,
    scaleDownPodBatchSize: 100,
    scaleDownRequeueInterval: '5s',
    repairBatchSize: 10,
    revisionHistoryLimit: 10,
    retryBlockHistoryLimit: 3,
    updateRetry: { maxAttempts: 3, initialDelay: '1m', maxDelay: '30m', multiplier: 2 },
    gangScheduleTimeout: { min: '60s', max: '600s' },
    audit: { maxInFlightMigrations: 3, maxMigrationsPerWindow: 10, window: '1h' },
    requeue: { operation: '5s', gate: '3s' },
    autoMigrate: { maxAttempts: 3 },
    teardown: { deadline: '30m' },
  },
  omenativeStatus: { instanceStatusEncoding: 'ColumnarV2', maxDecodedInstances: 20_000 },
  podDisruptionBudget: { omeNative: { maxUnavailable: 1 } },
};

/** The values that the chart sets, as `{namespace}/inferenceservice-config`. */
export function defaultConfigMap(namespace: string): ConfigMapObject {
  const data: Record<string, string> = {};
  for (const [key, document] of Object.entries(documents)) data[key] = `${JSON.stringify(document, null, 2)}\n`;
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: configMapName, namespace }, data };
}
