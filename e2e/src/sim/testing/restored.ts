/** A cluster as the version that wrote the golden files left it: their objects, and pods that serve. */
import { label } from '@omenative/api';
import type { Cluster, KubeObject } from '@omenative/sim';
import { parse } from 'yaml';
import { namespace } from '../user.js';
import { letIn, patchStatus, post } from './adopted.js';
import { inputOf, postInput, storedObjects } from './golden.js';

type Json = Readonly<Record<string, unknown>>;

interface Stored extends Json {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
}

const core = `/api/v1/namespaces/${namespace}`;
const folders: Readonly<Record<string, string>> = {
  InferenceReplica: `/apis/ome.io/v1beta1/namespaces/${namespace}/inferencereplicas`,
  ControllerRevision: `/apis/apps/v1/namespaces/${namespace}/controllerrevisions`,
  Pod: `${core}/pods`,
};

/** Whatever the golden pods ask of a node. */
const nodeLabels = {
  'gpu.example/product': 'H100',
  'models.ome.io/clusterbasemodel.llama-8b': 'Ready',
  'topology.example/rack': 'r1',
  'topology.kubernetes.io/zone': 'z1',
};

/** Puts the objects of a golden case there and lets its pods serve. Resolves with the names of its replicas. */
export async function restore(
  cluster: Cluster,
  name: string,
  run: (ms: number) => Promise<void>,
): Promise<readonly string[]> {
  for (const { metadata } of cluster.objects('nodes')) {
    const path = `/api/v1/nodes/${metadata.name}`;
    const contentType = 'application/merge-patch+json';
    cluster.handle({ method: 'PATCH', path, body: { metadata: { labels: nodeLabels } }, contentType, user: 'user' });
  }
  const uids = new Map<string, string>();
  const put = (object: KubeObject): void => {
    uids.set(`of ${object['kind']} ${object.metadata.name}`, object.metadata.uid);
  };
  const stored = [...storedObjects(name).values()].map((text) => parse(text) as Stored);
  for (const manifest of inputOf(name)) put(postInput(cluster, manifest));
  // Owners before what they own: each is asked for its UID.
  for (const [kind, folder] of Object.entries(folders)) {
    for (const object of stored.filter((one) => one.kind === kind)) {
      put(post(cluster, folder, withUids(object, uids) as Json));
    }
  }
  await run(20_000);
  const pods = stored.filter(({ kind }) => kind === 'Pod');
  letIn(
    cluster,
    pods.map(({ metadata }) => metadata.name),
  );
  await run(5000);
  const replicas = cluster.objects('inferencereplicas.ome.io', namespace).map(({ metadata }) => metadata.name);
  for (const replica of replicas) patchStatus(cluster, replica, statusOf(pods.filter((pod) => isOf(pod, replica))));
  return replicas;
}

function withUids(value: unknown, uids: ReadonlyMap<string, string>): unknown {
  if (Array.isArray(value)) return value.map((item) => withUids(item, uids));
  if (typeof value === 'string') return uids.get(value) ?? value;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withUids(member, uids)]));
}

function isOf({ metadata }: Stored, replica: string): boolean {
  const owner = `${metadata.labels?.[label.inferenceService]}-${metadata.labels?.[label.component]}`;
  return owner === replica || metadata.labels?.[label.inferenceService] === replica;
}

/** Every Instance of these pods is Ready. */
function statusOf(pods: readonly Stored[]): Json {
  const rows = new Map<number, Json>();
  for (const { metadata } of pods) {
    const labels = metadata.labels ?? {};
    const index = Number(labels[label.instanceIndex]);
    const count = pods.filter((pod) => pod.metadata.labels?.[label.instanceIndex] === String(index)).length;
    const revision = `${labels[label.inferenceService]}-${labels[label.component]}-${labels[label.revisionHash]}`;
    rows.set(index, {
      index,
      incarnation: Number(labels[label.incarnation]),
      phase: 'Ready',
      runningRevision: revision,
      targetRevision: revision,
      podCount: count,
      servingPodCount: count,
      availablePodCount: count,
      admitted: true,
    });
  }
  const [revision] = [...rows.values()].map((row) => row['runningRevision']);
  return { instanceStatuses: [...rows.values()], currentRevision: revision, updateRevision: revision };
}
