/** InferenceServices that carry their whole workload, over a runtime that only names itself: the images tell the versions. */
import type { Manifest } from './api.js';

export type Strategy = 'SurgeThenDrain' | 'RecreatePod' | 'InPlaceIfPossible' | 'InPlaceOnly';

export interface Workload {
  readonly name: string;
  readonly replicas: number;
  readonly strategy: Strategy;
  /** `busybox:v1`, `busybox:v2`, `busybox:v3`: each answers with its own name. */
  readonly image: string;
  /** Workers of a gang; absent: single-pod Instances. */
  readonly workers?: number;
  /** Seconds one attempt may take. */
  readonly instanceReadyTimeout?: string;
}

export const bareRuntime: Manifest = {
  apiVersion: 'ome.io/v1beta1',
  kind: 'ServingRuntime',
  metadata: { name: 'bare' },
  spec: { engineConfig: { labels: { 'app.example/part-of': 'e2e' } } },
};

function runner(image: string): object {
  return {
    name: 'ome-container',
    image,
    imagePullPolicy: 'IfNotPresent',
    ports: [{ name: 'http', containerPort: 8080 }],
    readinessProbe: { httpGet: { path: '/', port: 'http' }, periodSeconds: 1 },
    lifecycle: { preStop: { exec: { command: ['sleep', '2'] } } },
    resources: { requests: { cpu: '10m', memory: '8Mi' } },
  };
}

/** `spec.engine` of a workload at its image, as far as the image decides it: what a merge patch changes to roll it. */
export function shapeOf(workload: Pick<Workload, 'workers'>, image: string): object {
  const pod = { terminationGracePeriodSeconds: 10 };
  if (workload.workers === undefined) return { ...pod, runner: runner(image) };
  return {
    leader: { ...pod, runner: runner(image) },
    worker: { ...pod, size: workload.workers, runner: runner(image) },
  };
}

export function serviceOf(workload: Workload): Manifest {
  const { name, replicas, strategy, image, instanceReadyTimeout = '2m' } = workload;
  const rollingUpdate = strategy === 'SurgeThenDrain' ? { maxSurge: 1 } : { maxUnavailable: 1 };
  return {
    apiVersion: 'ome.io/v1beta1',
    kind: 'InferenceService',
    metadata: { name },
    spec: {
      deploymentMode: 'OMENative',
      runtime: { apiGroup: 'ome.io', kind: 'ServingRuntime', name: 'bare' },
      engine: {
        minReplicas: replicas,
        maxReplicas: replicas,
        autoscaler: { class: 'None' },
        ...shapeOf(workload, image),
        lifecycle: { minReadySeconds: 1, instanceReadyTimeout, updateStrategy: { type: strategy, rollingUpdate } },
      },
    },
  };
}
