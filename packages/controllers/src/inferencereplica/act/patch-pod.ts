/**
 * Changes a running pod into one of another revision: images, labels, annotations and the record of it all in one patch, for
 * the very version that was planned on. What the API server says to it is the outcome.
 */
import { annotation } from '@omenative/api';
import type { Effect, PodRef } from '@omenative/engine';
import { classify, mayHaveBeenApplied, type Patch } from '@omenative/kube';
import { podType } from '../../shared/resources.js';
import { inPlaceAnnotation } from '../in-place-marker.js';
import { readLive } from '../own-writes.js';
import type { ActContext } from './context.js';
import { instanceOf, podNameOf } from './instance.js';
import { done, type Result, resultOf } from './outcome.js';

type Of<K extends Effect['do']> = Extract<Effect, { readonly do: K }>;

export async function patchInPlace(context: ActContext, effect: Of<'patchInPlace'>): Promise<Result> {
  const { uid, resourceVersion } = effect.pod;
  const marker =
    effect.marker === undefined ? {} : { [annotation.inPlaceTransition]: inPlaceAnnotation(effect.marker) };
  const containers = Object.entries(effect.images).map(([name, image]) => ({ name, image }));
  return patchPod(context, effect, {
    kind: 'strategic',
    body: {
      metadata: {
        uid,
        resourceVersion,
        labels: effect.labels,
        annotations: { ...effect.annotations, ...marker },
      },
      ...(containers.length === 0 ? {} : { spec: { containers } }),
    },
  });
}

/** Takes the record of an update in place off a pod, of that UID and whatever version: nothing else depends on it. */
export async function dropMarker(context: ActContext, effect: Of<'dropMarker'>): Promise<Result> {
  const metadata = { uid: effect.pod.uid, annotations: { [annotation.inPlaceTransition]: null } };
  return patchPod(context, effect, { kind: 'merge', body: { metadata } });
}

async function patchPod(context: ActContext, effect: Effect & { readonly pod: PodRef }, patch: Patch): Promise<Result> {
  const { client, caches, ownWrites } = context;
  const name = podNameOf(context, effect.pod);
  const instance = instanceOf(context, effect);
  try {
    const reply = await client.patch(podType, name, patch);
    caches.pods.takeIn(reply);
    ownWrites.answered(instance, reply.metadata?.resourceVersion ?? '');
    return done;
  } catch (error) {
    const as = classify(error);
    if (as === 'notFound') {
      caches.pods.takeInDeletion(`${name.namespace}/${name.name}`, effect.pod.uid);
      return { ...resultOf(error), as: 'conflict' };
    }
    // It has changed since it was looked at, or its name is another pod's: the next plan must see which.
    if (as === 'conflict' && !(await readLive(client, caches.pods, name)))
      return { ...resultOf(error), as: 'transient' };
    if (mayHaveBeenApplied(error)) ownWrites.lost(instance, name);
    return resultOf(error);
  }
}
