/**
 * A cluster that another version of the controllers has run, hand-made from the published API: no object of it was written by
 * this code. Names end in hashes that this code would not have made, and texts are those of a typed client that fills in and
 * leaves out.
 */
import type { Cluster, KubeObject, SimRequest } from '@omenative/sim';
import { namespace } from '../user.js';

type Json = Readonly<Record<string, unknown>>;

/** A ControllerRevision of the world that is found. */
export interface FoundRevision {
  /** 8 hexadecimal digits. */
  readonly hash: string;
  readonly number: number;
  readonly image: string;
}

export interface Found {
  readonly owner: string;
  /** `projected`: an InferenceService of that name has made the replica. */
  readonly kind: 'standalone' | 'projected';
  readonly replicas: number;
  /** Workers of each gang; absent: single-pod Instances. */
  readonly workers?: number;
  readonly encoding: 'DenseV1' | 'ColumnarV2';
  readonly revisions: readonly FoundRevision[];
  /** What Instances run, by index, and what the status calls current. */
  readonly running: string;
  /** The image that the spec asks for. */
  readonly image: string;
  /** What got lost on the way here. */
  readonly lost?: 'revision labels' | 'status';
}

const since = '2026-05-31T23:00:00Z';
const replicas = `/apis/ome.io/v1beta1/namespaces/${namespace}/inferencereplicas`;

/** Puts the world there and lets its pods come up and serve. */
export async function leave(cluster: Cluster, found: Found, run: (ms: number) => Promise<void>): Promise<void> {
  const parent = found.kind === 'projected' ? post(cluster, inferenceServices, inferenceService(found)) : undefined;
  const replica = post(cluster, replicas, replicaOf(found, parent));
  for (const revision of found.revisions) post(cluster, revisions, revisionOf(found, revision, replica));
  for (const service of servicesOf(found, replica, parent)) post(cluster, core('services'), service);
  const pods = podsOf(found, replica);
  for (const pod of pods) post(cluster, core('pods'), pod);
  await run(20_000);
  const names = pods.map((pod) => String((pod['metadata'] as Json)['name']));
  letIn(cluster, names);
  await run(5000);
  if (found.lost !== 'status') patchStatus(cluster, nameOf(found), { ...statusOf(found), ...rowsOf(found) });
}

/** Opens the gates of pods. */
export function letIn(cluster: Cluster, pods: readonly string[]): void {
  const gate = { type: 'ome.io/serving', status: 'True', reason: 'Serving', message: '[]', lastTransitionTime: since };
  for (const name of pods) {
    const path = `${core('pods')}/${name}/status`;
    const contentType = 'application/strategic-merge-patch+json';
    must(cluster, { method: 'PATCH', path, body: { status: { conditions: [gate] } }, contentType, user: 'previous' });
  }
}

/** Writes into the status of a replica, as another version would. */
export function patchStatus(cluster: Cluster, name: string, status: Json): void {
  const path = `${replicas}/${name}/status`;
  const contentType = 'application/merge-patch+json';
  must(cluster, { method: 'PATCH', path, body: { status }, contentType, user: 'previous' });
}

/** Writes the templates of a replica as a typed client has them, after a server has filled them in. */
export function fillIn(cluster: Cluster, found: Found): void {
  const template = { spec: podSpec(containerStored(found.image)) };
  const body = { spec: { runners: [{ name: 'default', size: 1, template }] } };
  const path = `${replicas}/${nameOf(found)}`;
  must(cluster, { method: 'PATCH', path, body, contentType: 'application/merge-patch+json', user: 'previous' });
}

/** Lets the API server keep members that it does not know, as one whose definitions are newer than this code. */
export function openDefinitions(cluster: Cluster): void {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/inferencereplicas.ome.io';
  const definition = must(cluster, { method: 'GET', path, user: 'previous' });
  must(cluster, { method: 'PUT', path, body: opened(definition), user: 'previous' });
}

function opened(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(opened);
  if (typeof schema !== 'object' || schema === null) return schema;
  const members = Object.fromEntries(Object.entries(schema).map(([key, member]) => [key, opened(member)]));
  const isObject = members['type'] === 'object' && members['properties'] !== undefined;
  return isObject ? { ...members, 'x-kubernetes-preserve-unknown-fields': true } : members;
}

const inferenceServices = `/apis/ome.io/v1beta1/namespaces/${namespace}/inferenceservices`;
const revisions = `/apis/apps/v1/namespaces/${namespace}/controllerrevisions`;

function core(plural: string): string {
  return `/api/v1/namespaces/${namespace}/${plural}`;
}

/** The name of the replica. */
export function nameOf({ kind, owner }: Found): string {
  return kind === 'standalone' ? owner : `${owner}-engine`;
}

export function revisionName({ owner }: Pick<Found, 'owner'>, hash: string): string {
  return `${owner}-engine-${hash}`;
}

function selector({ owner }: Found): Json {
  return { component: 'engine', 'ome.io/inferenceservice': owner, 'ome.io/managed-by': 'OMENative' };
}

/** As a person writes it. */
function containerWritten(image: string): Json {
  return {
    name: 'ome-container',
    image,
    ports: [{ name: 'http', containerPort: 8080 }],
    readinessProbe: { httpGet: { path: '/', port: 'http' }, periodSeconds: 1 },
    resources: { requests: { cpu: '1000m', memory: '1024Mi' } },
    volumeMounts: [{ name: 'cache', mountPath: '/cache', readOnly: false }],
  };
}

/** As a typed client writes it, after a server has filled it in. */
function containerStored(image: string): Json {
  return {
    image,
    name: 'ome-container',
    ports: [{ containerPort: 8080, name: 'http', protocol: 'TCP' }],
    readinessProbe: { httpGet: { path: '/', port: 'http', scheme: 'HTTP' }, periodSeconds: 1, timeoutSeconds: 1 },
    resources: { requests: { cpu: '1', memory: '1Gi' } },
    volumeMounts: [{ mountPath: '/cache', name: 'cache' }],
  };
}

function inferenceService({ owner, replicas: count, image, workers }: Found): Json {
  const pod = { terminationGracePeriodSeconds: 10, volumes: [{ name: 'cache', emptyDir: {} }] };
  const runner = containerWritten(image);
  const shape =
    workers === undefined
      ? { ...pod, runner }
      : { leader: { ...pod, runner }, worker: { ...pod, size: workers, runner } };
  return {
    apiVersion: 'ome.io/v1beta1',
    kind: 'InferenceService',
    metadata: { name: owner, namespace },
    spec: {
      deploymentMode: 'OMENative',
      runtime: { kind: 'ServingRuntime', name: 'echo' },
      engine: { minReplicas: count, maxReplicas: count, autoscaler: { class: 'None' }, ...shape, lifecycle },
    },
  };
}

const lifecycle = {
  instanceReadyTimeout: '10m',
  updateStrategy: { type: 'SurgeThenDrain', rollingUpdate: { maxSurge: 1 } },
};

function replicaOf(found: Found, parent: KubeObject | undefined): Json {
  const metadata =
    parent === undefined
      ? { name: nameOf(found) }
      : {
          name: nameOf(found),
          labels: selector(found),
          annotations: {
            'ome.io/controller-write': 'true',
            'ome.io/parent-generation': '1',
            'ome.io/revision-excluded-annotation-keys': '',
          },
          ownerReferences: [ownerOf(parent, 'InferenceService')],
        };
  const template = (name: string): Json => ({
    metadata: { creationTimestamp: null, labels: { ...templateLabels(found), 'ome.io/runner': name } },
    spec: podSpec(found.kind === 'standalone' ? containerWritten(found.image) : containerStored(found.image)),
  });
  const runner = (name: string, size: number): Json => ({ name, size, template: template(name) });
  return {
    apiVersion: 'ome.io/v1beta1',
    kind: 'InferenceReplica',
    metadata: { ...metadata, namespace, finalizers: ['ome.io/ir-teardown'] },
    spec: {
      component: 'engine',
      ...(parent === undefined ? {} : { parentRef: { name: found.owner } }),
      replicas: found.replicas,
      lifecycle,
      runners:
        found.workers === undefined ? [runner('default', 1)] : [runner('leader', 1), runner('worker', found.workers)],
    },
  };
}

/** From the runtime, and one for people that this code would not add. */
function templateLabels({ kind }: Found): Json {
  return kind === 'standalone' ? {} : { 'app.example/part-of': 'lab', 'base-model-size': '7B' };
}

function podSpec(container: Json): Json {
  return {
    containers: [container],
    terminationGracePeriodSeconds: 10,
    volumes: [{ name: 'cache', emptyDir: {} }],
  };
}

function revisionOf(found: Found, { hash, number, image }: FoundRevision, replica: KubeObject): Json {
  const spec = podSpec(containerStored(image));
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name: revisionName(found, hash),
      namespace,
      labels: selector(found),
      ownerReferences: [ownerOf(replica, 'InferenceReplica')],
    },
    revision: number,
    data: {
      podSpec: spec,
      podMeta: { creationTimestamp: null, labels: templateLabels(found) },
      ...(found.workers === undefined ? {} : { workerPodSpec: spec }),
    },
  };
}

function servicesOf(found: Found, replica: KubeObject, parent: KubeObject | undefined): readonly Json[] {
  const { owner } = found;
  const labels = selector(found);
  const service = (name: string, controller: Json, spec: Json): Json => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace, labels, ownerReferences: [controller] },
    spec,
  });
  const headless = { clusterIP: 'None', publishNotReadyAddresses: true, selector: labels };
  const all = [service(`${owner}-engine-headless`, ownerOf(replica, 'InferenceReplica'), headless)];
  if (parent === undefined) return all;
  const ports = [{ name: 'http', port: 8080, targetPort: 'http', protocol: 'TCP' }];
  const routed = found.workers === undefined ? labels : { ...labels, 'ome.io/runner': 'leader' };
  const controller = ownerOf(parent, 'InferenceService');
  const ofRevision = { ...routed, 'ome.io/revision-hash': found.running };
  return [
    ...all,
    service(`${owner}-engine`, controller, { ports, selector: routed }),
    service(`${owner}-engine-rev-${found.running}`, controller, { ports, selector: ofRevision }),
    service(owner, controller, { ports, selector: routed }),
  ];
}

interface Place {
  readonly index: number;
  readonly runner: string;
  readonly ordinal: number;
}

function placesOf({ replicas: count, workers }: Found): readonly Place[] {
  return Array.from({ length: count }, (_, index) => index).flatMap((index) =>
    workers === undefined
      ? [{ index, runner: 'default', ordinal: 0 }]
      : [
          { index, runner: 'leader', ordinal: 0 },
          ...Array.from({ length: workers }, (_, ordinal) => ({ index, runner: 'worker', ordinal })),
        ],
  );
}

function podsOf(found: Found, replica: KubeObject): readonly Json[] {
  const revision = found.revisions.find(({ hash }) => hash === found.running);
  const { owner, workers } = found;
  return placesOf(found).map(({ index, runner, ordinal }) => {
    const name = `${owner}-engine-${index}-${runner}-${ordinal}`;
    const gang = workers === undefined ? [] : [{ name: 'OME_INSTANCE_POD_COUNT', value: String(workers + 1) }];
    const env = [{ name: 'OME_INFERENCESERVICE_NAME', value: owner }, { name: 'OME_RUNNER', value: runner }, ...gang];
    return {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name,
        namespace,
        labels: {
          ...templateLabels(found),
          ...selector(found),
          'ome.io/instance-index': String(index),
          'ome.io/instance-incarnation': '1',
          'ome.io/runner': runner,
          'ome.io/pod-ordinal': String(ordinal),
          ...(found.lost === 'revision labels' ? {} : { 'ome.io/revision-hash': found.running }),
          ...(workers === undefined ? {} : { 'scheduling.x-k8s.io/pod-group': `${owner}-engine-${index}` }),
        },
        ownerReferences: [ownerOf(replica, 'InferenceReplica')],
      },
      spec: {
        ...podSpec({ ...containerStored(revision?.image ?? ''), env }),
        hostname: name,
        subdomain: `${owner}-engine-headless`,
        readinessGates: [{ conditionType: 'ome.io/serving' }],
      },
    };
  });
}

/** What the status says beside the rows. */
function statusOf(found: Found): Json {
  const count = found.replicas;
  const running = revisionName(found, found.running);
  const condition = { type: 'Ready', status: 'True', reason: 'AllInstancesReady', lastTransitionTime: since };
  return {
    observedGeneration: 1,
    replicas: count,
    readyReplicas: count,
    servingReplicas: count,
    availableReplicas: count,
    updatedReplicas: count,
    updatedReadyReplicas: count,
    currentRevision: running,
    updateRevision: running,
    labelSelector: `component=engine,ome.io/inferenceservice=${found.owner},ome.io/managed-by=OMENative`,
    conditions: [{ ...condition, message: `${count}/${count} Instances Ready`, observedGeneration: 1 }],
  };
}

function rowsOf(found: Found): Json {
  const revision = revisionName(found, found.running);
  const pods = (found.workers ?? 0) + 1;
  const indices = Array.from({ length: found.replicas }, (_, index) => index);
  if (found.encoding === 'DenseV1') {
    const row = { incarnation: 1, phase: 'Ready', runningRevision: revision, targetRevision: revision, admitted: true };
    const counts = { podCount: pods, servingPodCount: pods, availablePodCount: pods };
    return { instanceStatuses: indices.map((index) => ({ index, ...row, ...counts, readySince: since })) };
  }
  const members = found.replicas === 1 ? '0' : `0-${found.replicas - 1}`;
  const all = (value: string | number): readonly Json[] => [{ value, indexes: members }];
  return {
    instanceStatusEncoding: 'ColumnarV2',
    instanceStatusColumns: {
      members,
      phases: all('Ready'),
      runningRevisions: all(revision),
      targetRevisions: all(revision),
      incarnations: all(1),
      podCounts: all(pods),
      servingPodCounts: all(pods),
      availablePodCounts: all(pods),
      admitted: members,
      entries: indices.map((index) => ({ index, readySince: since })),
    },
  };
}

function ownerOf({ metadata }: KubeObject, kind: string): Json {
  const { name, uid } = metadata;
  return { apiVersion: 'ome.io/v1beta1', kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** Creates an object that is there before any manager is. @throws Error when the server refuses it. */
export function post(cluster: Cluster, path: string, body: Json): KubeObject {
  return must(cluster, { method: 'POST', path, body, user: 'previous' });
}

function must(cluster: Cluster, request: SimRequest): KubeObject {
  const response = cluster.handle(request);
  if (response.status >= 300) throw new Error(`${request.method} ${request.path}: ${JSON.stringify(response.body)}`);
  return response.body as KubeObject;
}
