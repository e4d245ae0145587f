/** The replica of the lab as its published status has it. */
import { type DecodedStatus, decodeStatus, emptyStatus, type InstanceRow } from '@omenative/api';
import type { Cluster, KubeObject } from '@omenative/sim';
import { indexOf, isGateOpen, ownerOf, servingIndices } from './pods.js';
import { namespace } from './user.js';

const replica = 'chat-engine';

/** @throws Error when the status can't be read. */
export function statusOf(cluster: Cluster): DecodedStatus {
  const object = cluster.object('inferencereplicas.ome.io', `${namespace}/${replica}`);
  if (object?.['status'] === undefined) return emptyStatus;
  const decoded = decodeStatus(object['status']);
  if (!decoded.ok) throw new Error(decoded.message);
  return decoded.status;
}

export function rowsOf(cluster: Cluster): readonly InstanceRow[] {
  return [...statusOf(cluster).rows.values()];
}

export function podsOf(cluster: Cluster): readonly KubeObject[] {
  return cluster.objects('pods', namespace).filter((pod) => ownerOf(pod) === replica);
}

/** How many Instances serve. */
export function servingCount(cluster: Cluster): number {
  return servingIndices(podsOf(cluster)).size;
}

export function imageOf(pod: KubeObject): string {
  const { containers = [] } = (pod['spec'] ?? {}) as { readonly containers?: readonly { readonly image?: string }[] };
  return containers[0]?.image ?? '';
}

/** A place in the course of an update that somebody may wait for. */
export type Moment = 'opened' | 'made' | 'draining' | 'half';

/** Whether it is that moment. */
export const moments: Readonly<Record<Moment, (cluster: Cluster) => boolean>> = {
  /** An operation is on record; whether anything was done yet is open. */
  opened: (cluster) => rowsOf(cluster).some(isUpdating),
  /** A pod of the new revision is there, or one is being changed into it. */
  made: (cluster) =>
    rowsOf(cluster).some((row) => isUpdating(row) && row.target !== '' && hasPodOf(cluster, row.target)),
  /** A pod has been taken out of rotation. */
  draining: (cluster) =>
    rowsOf(cluster).some(
      (row) => isUpdating(row) && podsOf(cluster).some((pod) => indexOf(pod) === row.index && isClosed(pod)),
    ),
  /** One Instance is through, and others are not. */
  half: (cluster) => {
    const { rows, update } = statusOf(cluster);
    const through = [...rows.values()].filter((row) => row.kind === 'ready' && row.running === update).length;
    return through > 0 && through < rows.size;
  },
};

function isUpdating(row: InstanceRow): boolean {
  return row.kind === 'updating' || row.kind === 'gangFrom';
}

function hasPodOf(cluster: Cluster, revision: string): boolean {
  return podsOf(cluster).some((pod) => revision.endsWith(pod.metadata.labels?.['ome.io/revision-hash'] ?? ' '));
}

/** Its gate was open once and is not now. */
function isClosed(pod: KubeObject): boolean {
  const { conditions = [] } = (pod['status'] ?? {}) as { readonly conditions?: readonly { readonly type: string }[] };
  return conditions.some(({ type }) => type === 'ome.io/serving') && !isGateOpen(pod);
}
