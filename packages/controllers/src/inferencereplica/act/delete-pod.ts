/** Deletes a pod, that very one, and with a guard only while it is live out of rotation. */
import type { DeletePod } from '@omenative/engine';
import { classify, mayHaveBeenApplied } from '@omenative/kube';
import { podType } from '../../shared/resources.js';
import { readLive } from '../own-writes.js';
import type { ActContext } from './context.js';
import { instanceOf, podNameOf } from './instance.js';
import { done, type Result, resultOf } from './outcome.js';

export async function deletePod(context: ActContext, effect: DeletePod): Promise<Result> {
  const { client, caches, ownWrites } = context;
  const objection = await objectionTo(context, effect);
  if (objection !== undefined) return objection;
  const name = podNameOf(context, effect.pod);
  const instance = instanceOf(context, effect);
  const key = `${name.namespace}/${name.name}`;
  try {
    const reply = await client.delete(podType, name, {
      // That very pod, and in the state it was seen in: a deletion that arrives late must not hit a pod that was let into
      // rotation meanwhile.
      preconditions: { uid: effect.pod.uid, resourceVersion: effect.pod.resourceVersion },
      ...(effect.graceSeconds === undefined ? {} : { gracePeriodSeconds: effect.graceSeconds }),
    });
    const { resourceVersion = '', deletionTimestamp } =
      reply.how === 'terminating' ? (reply.object.metadata ?? {}) : {};
    if (reply.how === 'deleted') caches.pods.takeInDeletion(key, effect.pod.uid);
    // A pod that ended at once is answered with its last state: its end comes by the stream alone.
    if (reply.how === 'terminating' && deletionTimestamp !== undefined) caches.pods.takeIn(reply.object);
    if (resourceVersion !== '') ownWrites.answered(instance, resourceVersion);
    return done;
  } catch (error) {
    const as = classify(error);
    if (as === 'conflict') {
      // Its name belongs to another pod, or it has changed since it was looked at: the cache must see which.
      if (!(await readLive(client, caches.pods, name))) return resultOf(error);
      return caches.pods.store.get(key)?.meta.uid === effect.pod.uid ? resultOf(error) : { as: 'gone', detail: '' };
    }
    if (as === 'notFound') {
      caches.pods.takeInDeletion(key, effect.pod.uid);
      return { as: 'gone', detail: '' };
    }
    if (mayHaveBeenApplied(error)) ownWrites.lost(instance, name);
    return resultOf(error);
  }
}

async function objectionTo(context: ActContext, effect: DeletePod): Promise<Result | undefined> {
  if (effect.guard === 'none') return undefined;
  const name = podNameOf(context, effect.pod);
  const pod = context.caches.pods.store.get(`${name.namespace}/${name.name}`);
  if (pod === undefined || pod.meta.uid !== effect.pod.uid) return { as: 'gone', detail: '' };
  try {
    const detail = await context.guard.objection(pod);
    return detail === undefined ? undefined : { as: 'guardFailed', detail };
  } catch (error) {
    // What is not known keeps the pod: a failed read is no answer to the write.
    return { ...resultOf(error), as: 'transient' };
  }
}
