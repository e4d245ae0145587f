/** A person with kubectl: requests that the server must accept, and manifests for the scenarios. */
import { mainContainerName } from '@omenative/api';
import type { Cluster, KubeObject, SimResponse } from '@omenative/sim';

export const namespace = 'lab';

type Json = Readonly<Record<string, unknown>>;

export interface ServiceManifest {
  readonly name?: string;
  readonly replicas: number;
  readonly image: string;
  readonly maxSurge?: number | string;
  /** Absent: SurgeThenDrain. */
  readonly strategy?: 'SurgeThenDrain' | 'RecreatePod' | 'InPlaceIfPossible' | 'InPlaceOnly';
  readonly maxUnavailable?: number | string;
  /** `false`: a pod that is updated in place stays in rotation. */
  readonly markNotReady?: boolean;
  readonly minReadySeconds?: number;
  readonly instanceReadyTimeout?: string;
  /** Workers of a gang; absent: single-pod Instances. */
  readonly workers?: number;
  readonly args?: readonly string[];
  readonly partition?: number;
  /** Cores that each pod asks for; default 1. */
  readonly cpu?: number;
}

/** Seconds a pod may take to end; its preStop sleeps for two. */
const graceSeconds = 10;

function runner(image: string, { cpu = 1, args }: Partial<ServiceManifest> = {}): Json {
  return {
    name: mainContainerName,
    image,
    ...given('args', args),
    ports: [{ name: 'http', containerPort: 8080 }],
    readinessProbe: { httpGet: { path: '/', port: 'http' }, periodSeconds: 1 },
    lifecycle: { preStop: { exec: { command: ['sleep', '2'] } } },
    resources: { requests: { cpu: String(cpu) } },
  };
}

/** An InferenceService that carries its whole workload, over a runtime that only names itself. */
export function service(manifest: ServiceManifest): Json {
  const { replicas, image, workers } = manifest;
  const pod = { terminationGracePeriodSeconds: graceSeconds };
  const shape =
    workers === undefined
      ? { runner: runner(image, manifest), ...pod }
      : {
          leader: { ...pod, runner: runner(image, manifest) },
          worker: { ...pod, size: workers, runner: runner(image, manifest) },
        };
  return {
    apiVersion: 'ome.io/v1beta1',
    kind: 'InferenceService',
    metadata: { name: manifest.name ?? 'chat', namespace },
    spec: {
      deploymentMode: 'OMENative',
      runtime: { kind: 'ServingRuntime', name: 'echo' },
      engine: {
        minReplicas: replicas,
        maxReplicas: replicas,
        autoscaler: { class: 'None' },
        ...shape,
        lifecycle: {
          minReadySeconds: manifest.minReadySeconds ?? 0,
          ...(manifest.instanceReadyTimeout === undefined
            ? {}
            : { instanceReadyTimeout: manifest.instanceReadyTimeout }),
          updateStrategy: strategyOf(manifest),
        },
      },
    },
  };
}

function strategyOf(manifest: ServiceManifest): Json {
  const { strategy: type = 'SurgeThenDrain', maxSurge, maxUnavailable, partition, markNotReady } = manifest;
  const isSurge = type === 'SurgeThenDrain';
  return {
    type,
    rollingUpdate: {
      ...given('maxSurge', maxSurge ?? (isSurge ? 1 : undefined)),
      ...given('maxUnavailable', maxUnavailable ?? (isSurge ? undefined : 1)),
      ...given('partition', partition),
    },
    ...(markNotReady === undefined ? {} : { inPlaceUpdateStrategy: { markNotReadyDuringLifecycle: markNotReady } }),
  };
}

function given(key: string, value: unknown): Json {
  return value === undefined ? {} : { [key]: value };
}

export const servingRuntime: Json = {
  apiVersion: 'ome.io/v1beta1',
  kind: 'ServingRuntime',
  metadata: { name: 'echo', namespace },
  spec: { engineConfig: { labels: { 'app.example/part-of': 'lab' } } },
};

/** A replica of its own, without an InferenceService. */
export function standalone(name: string, replicas: number, image: string): Json {
  return {
    apiVersion: 'ome.io/v1beta1',
    kind: 'InferenceReplica',
    metadata: { name, namespace },
    spec: {
      component: 'engine',
      replicas,
      lifecycle: { updateStrategy: { type: 'SurgeThenDrain', rollingUpdate: { maxSurge: 1 } } },
      runners: [
        {
          name: 'default',
          size: 1,
          template: { spec: { containers: [runner(image)], terminationGracePeriodSeconds: graceSeconds } },
        },
      ],
    },
  };
}

const collections: Readonly<Record<string, string>> = {
  InferenceService: `/apis/ome.io/v1beta1/namespaces/${namespace}/inferenceservices`,
  InferenceReplica: `/apis/ome.io/v1beta1/namespaces/${namespace}/inferencereplicas`,
  ServingRuntime: `/apis/ome.io/v1beta1/namespaces/${namespace}/servingruntimes`,
};

export class User {
  readonly #cluster: Cluster;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  create(object: Json): void {
    const kind = String(object['kind']);
    this.#must(this.#send('POST', collections[kind] ?? '', object), `create ${kind}`);
  }

  /** A merge patch of an InferenceService. */
  patchService(patch: Json, name = 'chat'): void {
    const path = `${collections['InferenceService']}/${name}`;
    this.#must(this.#send('PATCH', path, patch, 'application/merge-patch+json'), `patch ${name}`);
  }

  patchReplica(name: string, patch: Json): void {
    const path = `${collections['InferenceReplica']}/${name}`;
    this.#must(this.#send('PATCH', path, patch, 'application/merge-patch+json'), `patch ${name}`);
  }

  scale(replicas: number, name = 'chat'): void {
    this.patchService({ spec: { engine: { minReplicas: replicas, maxReplicas: replicas } } }, name);
  }

  /** The image and nothing else, so that a running pod can follow. */
  setImage(image: string, shape: 'pods' | 'gangs' = 'pods', name = 'chat'): void {
    const container = { runner: { name: mainContainerName, image } };
    this.patchService(
      { spec: { engine: shape === 'pods' ? container : { leader: container, worker: container } } },
      name,
    );
  }

  /** A change that no running pod can follow. */
  setArgs(args: readonly string[], name = 'chat'): void {
    this.patchService({ spec: { engine: { runner: { name: mainContainerName, args } } } }, name);
  }

  /** Members of `lifecycle.updateStrategy`. */
  setStrategy(patch: Json, name = 'chat'): void {
    this.patchService({ spec: { engine: { lifecycle: { updateStrategy: patch } } } }, name);
  }

  annotateReplica(annotations: Json, name = 'chat-engine'): void {
    this.patchReplica(name, { metadata: { annotations } });
  }

  /** All of a replica on a revision, whatever its spec says; null: on its spec's again. */
  rollBack(revision: string | null, name = 'chat-engine'): void {
    this.patchReplica(name, { spec: { pacing: { rollbackToRevision: revision } } });
  }

  pause(mode: 'true' | 'freeze' | null, name = 'chat'): void {
    this.patchService({ metadata: { annotations: { 'ome.io/rollout-paused': mode } } }, name);
  }

  deleteService(name = 'chat'): void {
    this.#must(this.#send('DELETE', `${collections['InferenceService']}/${name}`, undefined), `delete ${name}`);
  }

  deleteReplica(name: string): void {
    this.#must(this.#send('DELETE', `${collections['InferenceReplica']}/${name}`, undefined), `delete ${name}`);
  }

  deletePod(name: string): void {
    this.#must(this.#send('DELETE', `/api/v1/namespaces/${namespace}/pods/${name}`, undefined), `delete pod ${name}`);
  }

  /** The first pod, by name, that looks like what the user means; nothing when none does. */
  deleteSomePod(isMeant: (pod: KubeObject) => boolean): void {
    const pod = this.#cluster.objects('pods', namespace).find(isMeant);
    if (pod !== undefined) this.deletePod(pod.metadata.name);
  }

  #send(method: 'POST' | 'PATCH' | 'DELETE', path: string, body: unknown, contentType?: string): SimResponse {
    return this.#cluster.handle({
      method,
      path,
      body,
      user: 'user',
      ...(contentType === undefined ? {} : { contentType }),
    });
  }

  #must(response: SimResponse, what: string): void {
    if (response.status >= 300) throw new Error(`${what} was refused: ${JSON.stringify(response.body)}`);
  }
}
