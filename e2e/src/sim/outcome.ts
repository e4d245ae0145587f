/** Where a run ended, in terms that two runs of one scenario must share however they got there. */
import { decodeStatus, label, phaseOf } from '@omenative/api';
import type { Cluster, KubeObject } from '@omenative/sim';
import { isLive, isReady } from './pods.js';
import { namespace } from './user.js';

const replicas = 'inferencereplicas.ome.io';

/** Text that is equal for equal ends: Instances with revision and phase, pods by Instance, counters, conditions, Services. */
export function outcomeOf(cluster: Cluster): string {
  const lines: string[] = [];
  for (const replica of cluster.objects(replicas, namespace)) {
    const { name } = replica.metadata;
    const decoded = decodeStatus(replica['status'] ?? {});
    if (!decoded.ok) {
      lines.push(`${name}: ${decoded.message}`);
      continue;
    }
    const { status } = decoded;
    const { counters } = status;
    const isUpdated = status.current === status.update ? 'current' : 'rolling';
    lines.push(`${name}: ${JSON.stringify(counters)} ${isUpdated}`);
    for (const row of [...status.rows.values()].toSorted((a, b) => a.index - b.index)) {
      lines.push(`${name}/${row.index}: ${phaseOf(row)} inc=${row.incarnation} ${row.running === status.update}`);
    }
    for (const item of status.conditions.toSorted((a, b) => (a.type < b.type ? -1 : 1))) {
      lines.push(`${name} ${item.type}=${item.status}/${item.reason}`);
    }
    lines.push(...podsOf(cluster, name));
  }
  for (const service of cluster.objects('services', namespace)) lines.push(`service ${service.metadata.name}`);
  for (const isvc of cluster.objects('inferenceservices.ome.io', namespace)) {
    const status = (isvc['status'] ?? {}) as { readonly conditions?: readonly Condition[] };
    for (const item of (status.conditions ?? []).toSorted((a, b) => (a.type < b.type ? -1 : 1))) {
      lines.push(`${isvc.metadata.name} ${item.type}=${item.status}`);
    }
  }
  return lines.join('\n');
}

interface Condition {
  readonly type: string;
  readonly status: string;
}

/** Pods by Instance and runner. Which of its two names a single pod has depends on how often it was replaced. */
function podsOf(cluster: Cluster, replica: string): readonly string[] {
  return cluster
    .objects('pods', namespace)
    .filter((pod) => pod.metadata.ownerReferences?.some((owner) => owner.name === replica) === true)
    .map((pod) => {
      const { labels = {} } = pod.metadata;
      const ordinal = labels[label.runner] === 'default' ? '*' : labels[label.podOrdinal];
      return `pod ${replica} ${labels[label.instanceIndex]} ${labels[label.runner]} ${ordinal} ${
        labels[label.revisionHash]
      } ${isLive(pod) ? 'live' : 'going'} ${isReady(pod) ? 'ready' : 'not ready'}`;
    })
    .toSorted();
}

/** Everything of the lab that a deletion should have taken with it. */
export function leftovers(cluster: Cluster): readonly string[] {
  const resources = [
    'inferenceservices.ome.io',
    replicas,
    'pods',
    'services',
    'controllerrevisions.apps',
    'endpointslices.discovery.k8s.io',
  ];
  return resources.flatMap((resource) =>
    cluster.objects(resource, namespace).map((object: KubeObject) => `${resource}/${object.metadata.name}`),
  );
}
