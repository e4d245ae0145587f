/** Where a run ended, in terms that two runs of one scenario must share however they got there. */
import { decodeStatus, label, phaseOf } from '@omenative/api';
import type { Cluster, KubeObject } from '@omenative/sim';
import { indexOf, isGangMember, isLive, isReady, ownerOf } from './pods.js';
import { namespace } from './user.js';

const replicas = 'inferencereplicas.ome.io';

/**
 * Text that is equal for equal ends: Instances with their revision, phase and pods, counters, conditions, Services. Which
 * indices there are depends on the order of updates, so Instances go without. `in some life`: whatever number of times each
 * was made.
 */
export function outcomeOf(cluster: Cluster, lives?: 'by timing' | 'in some life'): string {
  const lines: string[] = [];
  for (const replica of cluster.objects(replicas, namespace)) {
    const { name } = replica.metadata;
    const decoded = decodeStatus(replica['status'] ?? {});
    if (!decoded.ok) {
      lines.push(`${name}: ${decoded.message}`);
      continue;
    }
    const { status } = decoded;
    const isUpdated = status.current === status.update ? 'current' : 'rolling';
    lines.push(`${name}: ${JSON.stringify(status.counters)} ${isUpdated}`);
    const pods = cluster.objects('pods', namespace).filter((pod) => ownerOf(pod) === name);
    const instances = [...status.rows.values()].map((row) => {
      const own = pods.filter((pod) => indexOf(pod) === row.index).map(wordsOf);
      const life = lives === undefined ? `inc=${row.incarnation} ` : '';
      return `${name}: ${phaseOf(row)} ${life}${row.running === status.update}, ${own.toSorted().join(', ')}`;
    });
    lines.push(...instances.toSorted());
    lines.push(...pods.filter((pod) => !status.rows.has(indexOf(pod))).map((pod) => `stray ${wordsOf(pod)}`));
    for (const item of status.conditions.toSorted((a, b) => (a.type < b.type ? -1 : 1))) {
      lines.push(`${name} ${item.type}=${item.status}/${item.reason}`);
    }
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

/** Which of its two names a single pod has depends on how often it was replaced. */
function wordsOf(pod: KubeObject): string {
  const { labels = {} } = pod.metadata;
  const ordinal = isGangMember(pod) ? labels[label.podOrdinal] : '*';
  return `${labels[label.runner]} ${ordinal} ${labels[label.revisionHash]} ${isLive(pod) ? 'live' : 'going'} ${
    isReady(pod) ? 'ready' : 'not ready'
  }`;
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
