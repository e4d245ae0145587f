/** Which Instance a write to a pod counts for. */
import type { Effect, PodRef } from '@omenative/engine';
import type { InstanceId } from '../own-writes.js';
import { strayIndex } from '../pod-view.js';
import type { ActContext } from './context.js';

export function podNameOf(context: ActContext, pod: PodRef): { readonly namespace: string; readonly name: string } {
  return { namespace: context.replica.meta.namespace, name: pod.name };
}

/** By the pod's own label, else by the operation that asks for the write. */
export function instanceOf(context: ActContext, effect: Effect & { readonly pod: PodRef }): InstanceId {
  const { namespace, name } = podNameOf(context, effect.pod);
  const labelled = context.caches.pods.store.get(`${namespace}/${name}`)?.view.index;
  const covered = effect.covers.by === 'operation' ? effect.covers.index : strayIndex;
  return { replicaUid: context.replica.meta.uid, index: labelled ?? covered };
}
