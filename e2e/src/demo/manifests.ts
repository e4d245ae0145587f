/** What the demo applies: two ServingRuntimes, and an InferenceService over each. */
import type { KubeObject } from '@omenative/kube';

export const namespace = 'demo';

type Manifest = KubeObject & { readonly [field: string]: unknown };

/** An image of the simulated registry: the tag alone makes a difference. */
export function image(tag: 'v1' | 'v2'): string {
  return `simulated/echo:${tag}`;
}

/** Seconds for which a pod that is told to end goes on answering what reaches it. */
export const preStopSeconds = 2;

const runner = {
  name: 'ome-container',
  image: image('v1'),
  ports: [{ name: 'http', containerPort: 8080 }],
  readinessProbe: { httpGet: { path: '/', port: 'http' }, periodSeconds: 1 },
  lifecycle: { preStop: { exec: { command: ['sleep', String(preStopSeconds)] } } },
};

function servingRuntime(name: string, engineConfig: object): Manifest {
  return {
    apiVersion: 'ome.io/v1beta1',
    kind: 'ServingRuntime',
    metadata: { name, namespace },
    spec: { engineConfig },
  };
}

function inferenceService(name: string, runtime: string, autoscaler: 'None' | 'External'): Manifest {
  return {
    apiVersion: 'ome.io/v1beta1',
    kind: 'InferenceService',
    metadata: { name, namespace },
    spec: {
      deploymentMode: 'OMENative',
      runtime: { kind: 'ServingRuntime', name: runtime },
      engine: {
        minReplicas: 2,
        maxReplicas: 2,
        autoscaler: { class: autoscaler },
        lifecycle: {
          minReadySeconds: 1,
          instanceReadyTimeout: '1m',
          updateStrategy: { type: 'SurgeThenDrain', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
        },
      },
    },
  };
}

export const demoNamespace: Manifest = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } };

const grace = { terminationGracePeriodSeconds: 10 };

/** Instances of one pod. */
export const chat: readonly Manifest[] = [
  servingRuntime('echo', { runner, ...grace }),
  inferenceService('chat', 'echo', 'None'),
];

/** Instances of a leader and two workers. The replica count is left to `kubectl scale`, as it would be to an HPA. */
export const llama: readonly Manifest[] = [
  servingRuntime('echo-gang', { leader: { runner, ...grace }, worker: { size: 2, runner, ...grace } }),
  inferenceService('llama', 'echo-gang', 'External'),
];
