/** What a namespace looks like, for the person who reads why a suite failed. */
import { label } from '@omenative/api';
import type { Api } from './api.js';
import {
  countsOf,
  type Event,
  endpointSlices,
  events,
  hasReadyContainers,
  inferenceReplicas,
  inferenceServices,
  isServing,
  type Pod,
  pods,
} from './objects.js';

const maxEvents = 40;

/** Services, replicas with their rows, pods, endpoints and the newest Events, each on a line. */
export async function pictureOf(api: Api): Promise<string> {
  const [ownServices, replicas, ownPods, slices, ownEvents] = await Promise.all([
    api.list(inferenceServices).catch(() => []),
    api.list(inferenceReplicas).catch(() => []),
    api.list(pods),
    api.list(endpointSlices),
    api.list(events),
  ]);
  const lines = [`namespace ${api.namespace}:`];
  for (const { metadata, status } of ownServices) {
    lines.push(`  InferenceService ${metadata.name} ${conditionsText(status?.conditions)}`);
  }
  for (const replica of replicas) {
    const { metadata, status } = replica;
    const generation = `generation ${metadata.generation}, observed ${status?.observedGeneration}`;
    lines.push(`  InferenceReplica ${metadata.name} (${countsOf(replica).join(' ')}; ${generation})`);
    lines.push(`    ${status?.currentRevision} -> ${status?.updateRevision}`);
    lines.push(`    ${conditionsText(status?.conditions)}`);
    for (const row of status?.instanceStatuses ?? []) lines.push(`    ${JSON.stringify(row)}`);
    if (status?.instanceStatusColumns) lines.push(`    ${JSON.stringify(status.instanceStatusColumns)}`);
  }
  for (const pod of ownPods) lines.push(`  Pod ${podText(pod)}`);
  for (const { metadata, endpoints } of slices) {
    const ready = (endpoints ?? []).map(
      ({ targetRef, conditions }) => `${targetRef?.name}${conditions?.ready === true ? '' : ' (not ready)'}`,
    );
    lines.push(`  endpoints of ${metadata.labels?.[label.serviceName]}: ${ready.join(', ')}`);
  }
  for (const event of newestFirst(ownEvents).slice(0, maxEvents)) {
    const { kind, name } = event.involvedObject;
    lines.push(`  ${event.type} ${event.reason} on ${kind} ${name}: ${event.message ?? event.note}`);
  }
  return lines.join('\n');
}

function newestFirst(list: readonly Event[]): readonly Event[] {
  return list.toSorted((a, b) => Number(b.metadata.resourceVersion) - Number(a.metadata.resourceVersion));
}

/** A pod on a line: name, revision, phase, node, and whether it is ready, in rotation, terminating. */
export function podText(pod: Pod): string {
  const { metadata, spec, status } = pod;
  const notes = [
    status.phase,
    spec.nodeName ?? 'nowhere',
    hasReadyContainers(pod) ? 'containers ready' : 'containers not ready',
    isServing(pod) ? 'serving' : 'not serving',
    ...(metadata.deletionTimestamp === undefined ? [] : ['terminating']),
  ];
  return `${metadata.name} ${metadata.labels?.[label.revisionHash] ?? ''} ${notes.join(', ')}`;
}

function conditionsText(
  conditions: readonly { readonly type: string; readonly status: string; readonly message?: string }[] = [],
): string {
  return conditions.map(({ type, status, message }) => `${type}=${status} "${message ?? ''}"`).join('; ');
}
