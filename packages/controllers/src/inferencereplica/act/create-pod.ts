/** Creates a pod. Its name is derived, so that a repeat after a lost answer can only find the first one. */
import { label, managedByValue } from '@omenative/api';
import type { CreatePod, StoredRevision } from '@omenative/engine';
import { classify, mayHaveBeenApplied } from '@omenative/kube';
import { podType } from '../../shared/resources.js';
import { podRecordOf } from '../pod-view.js';
import { renderPod } from '../render.js';
import type { ActContext } from './context.js';
import { done, type Result, resultOf } from './outcome.js';

export async function createPod(context: ActContext, effect: CreatePod): Promise<Result> {
  const { client, caches, ownWrites, replica } = context;
  const revision = revisionOf(context, effect);
  if (revision === undefined) return { as: 'invalid', detail: `ControllerRevision ${effect.rev} is gone` };
  const { snapshot, live } = context.observation;
  const pod = renderPod({ replica: snapshot.replica, spec: snapshot.spec, live, revision, pod: effect });
  const instance = { replicaUid: replica.meta.uid, index: effect.index };
  const name = { namespace: replica.meta.namespace, name: effect.name };
  try {
    const reply = await client.create(podType, pod);
    caches.pods.takeIn(reply);
    ownWrites.answered(instance, reply.metadata?.resourceVersion ?? '');
    return done;
  } catch (error) {
    if (classify(error) === 'alreadyExists') return holderOf(context, effect);
    if (mayHaveBeenApplied(error)) ownWrites.lost(instance, name);
    return resultOf(error);
  }
}

/** The revision of the day may be so new that only its spec is known: a pod rendered from either is the same. */
function revisionOf(context: ActContext, effect: CreatePod): StoredRevision | undefined {
  const { snapshot } = context.observation;
  const stored = snapshot.revisions.get(effect.rev);
  if (stored !== undefined && stored !== 'gone') return stored;
  return context.caches.revisions.store.get(`${snapshot.replica.namespace}/${effect.rev}`)?.revision;
}

/** Who has the name: a pod of ours that the cache does not show, or somebody else's, which is neither adopted nor deleted. */
async function holderOf(context: ActContext, effect: CreatePod): Promise<Result> {
  const { client, caches, replica } = context;
  const name = { namespace: replica.meta.namespace, name: effect.name };
  try {
    const raw = await client.get(podType, name);
    const holder = podRecordOf(raw);
    if (holder.meta.controller.uid === replica.meta.uid) {
      if (caches.pods.takeIn(raw) !== 'outOfScope') return { as: 'exists', detail: '' };
      const detail = `pod ${effect.name} of this replica has lost its label ${label.managedBy}=${managedByValue} and is left alone: put the label back, or delete the pod`;
      return { as: 'nameTaken', detail };
    }
    const { kind, name: ownerName } = holder.meta.controller;
    const whose = kind === '' ? 'without a controller' : `of ${kind} ${ownerName}`;
    return {
      as: 'nameTaken',
      detail: `pod ${effect.name} exists and is one ${whose}; it is left alone: delete or rename it to free the name`,
    };
  } catch (error) {
    // It went away between the two requests: the name is free again.
    return classify(error) === 'notFound'
      ? { as: 'conflict', detail: 'the name has just become free' }
      : resultOf(error);
  }
}
