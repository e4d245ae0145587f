/** Live reads that a plan asked for: what the pods of some Instances are, and thereby which are not. */
import { type Index, label, selectorLabels } from '@omenative/api';
import type { PlanSpec } from '@omenative/engine';
import { type Client, labelQuery } from '@omenative/kube';
import type { Caches } from '../caches.js';
import { index as cacheIndex } from '../caches.js';
import { podType } from '../shared/resources.js';
import type { ReplicaRecord } from './replica-record.js';

/** From here on one read of the whole component is cheaper than one for each Instance. */
const maxSingleReads = 8;

/**
 * Brings the cache up to what the server says now about the pods of `indices`: what is found is taken in, what is not found
 * is taken out, with proof.
 *
 * @throws ApiError or TransportError when a read fails: then nothing is proved.
 */
export async function readPods(
  client: Client,
  caches: Caches,
  replica: ReplicaRecord,
  spec: Pick<PlanSpec, 'owner' | 'component'>,
  indices: readonly Index[],
): Promise<void> {
  const { namespace, uid } = replica.meta;
  const labels = selectorLabels(spec.owner, spec.component);
  const queries =
    indices.length > maxSingleReads
      ? [labelQuery(labels)]
      : indices.map((index) => labelQuery({ ...labels, [label.instanceIndex]: String(index) }));
  const found = new Set<string>();
  for (const labelSelector of queries) {
    for (const raw of await listAll(client, namespace, labelSelector)) {
      caches.pods.takeIn(raw);
      found.add(raw.metadata?.uid ?? '');
    }
  }
  const read = new Set(indices);
  for (const pod of caches.pods.store.byIndex(cacheIndex.controller, uid)) {
    if (!read.has(pod.view.index) || found.has(pod.view.uid)) continue;
    caches.pods.takeInDeletion(`${namespace}/${pod.view.name}`, pod.view.uid);
  }
}

async function listAll(client: Client, namespace: string, labelSelector: string) {
  const items = [];
  let continueToken: string | undefined;
  do {
    const page = await client.list(podType, {
      namespace,
      labelSelector,
      limit: 500,
      ...(continueToken === undefined ? {} : { continueToken }),
    });
    items.push(...page.items);
    continueToken = page.continueToken;
  } while (continueToken !== undefined);
  return items;
}
