/** The replica's own objects: its finalizer, its revisions and its headless Service. */
import { headlessServiceName, teardownFinalizer } from '@omenative/api';
import type { Effect } from '@omenative/engine';
import { addFinalizer, classify, type Patch, removeFinalizer } from '@omenative/kube';
import { controllerRevisionType, inferenceReplicaType, serviceType } from '../../shared/resources.js';
import { headlessRepair, headlessService } from '../headless.js';
import { revisionObject, revisionRecordOf, samePayload } from '../revision-object.js';
import { serviceRecordOf } from '../routing.js';
import type { ActContext } from './context.js';
import { done, type Result, resultOf } from './outcome.js';

type Of<K extends Effect['do']> = Extract<Effect, { readonly do: K }>;

/** Adds or removes our finalizer, and no other. */
export async function finalizer(context: ActContext, effect: Of<'finalizer'>): Promise<Result> {
  const { client, caches, replica } = context;
  const { namespace, name, uid } = replica.meta;
  const object = replica.base as { readonly kind: string };
  const patch =
    effect.change === 'add' ? addFinalizer(object, teardownFinalizer) : removeFinalizer(object, teardownFinalizer);
  if (patch === undefined) return done;
  try {
    const reply = await client.patch(inferenceReplicaType, { namespace, name }, patch);
    caches.replicas.takeIn(reply);
    return done;
  } catch (error) {
    const as = classify(error);
    // The cache is behind: whoever tries again must do so on what is there.
    if (as === 'conflict') await lookAt(context);
    if (as !== 'notFound') return resultOf(error);
    // With its last finalizer the object itself goes.
    caches.replicas.takeInDeletion(`${namespace}/${name}`, uid);
    return { as: 'gone', detail: '' };
  }
}

async function lookAt(context: ActContext): Promise<void> {
  const { client, caches, replica } = context;
  const { namespace, name, uid } = replica.meta;
  try {
    caches.replicas.takeIn(await client.get(inferenceReplicaType, { namespace, name }));
  } catch (error) {
    if (classify(error) === 'notFound') caches.replicas.takeInDeletion(`${namespace}/${name}`, uid);
  }
}

/** Stores the spec's revision. A name that holds another content, or another owner's, is a collision of hashes. */
export async function createRevision(context: ActContext, effect: Of<'createRevision'>): Promise<Result> {
  const { client, caches, observation } = context;
  const { replica, spec } = observation.snapshot;
  const object = revisionObject({
    replica,
    owner: spec.owner,
    component: spec.component,
    name: effect.rev,
    number: observation.nextRevisionNumber,
    payload: spec.payload,
  });
  try {
    caches.revisions.takeIn(await client.create(controllerRevisionType, object));
    return done;
  } catch (error) {
    return classify(error) === 'alreadyExists' ? revisionHolder(context, effect) : resultOf(error);
  }
}

async function revisionHolder(context: ActContext, effect: Of<'createRevision'>): Promise<Result> {
  const { client, caches, observation } = context;
  const { replica, spec } = observation.snapshot;
  try {
    const raw = await client.get(controllerRevisionType, { namespace: replica.namespace, name: effect.rev });
    const { meta, revision } = revisionRecordOf(raw);
    const isSame = revision !== undefined && samePayload(revision.payload, spec.payload);
    const isOurs = meta.controller.uid === replica.uid;
    if (isOurs && isSame && caches.revisions.takeIn(raw) !== 'outOfScope') return { as: 'exists', detail: '' };
    const why = isOurs ? 'another template' : `an object of ${meta.controller.name || 'nobody'}`;
    return { as: 'nameTaken', collision: true, detail: `ControllerRevision ${effect.rev} holds ${why}` };
  } catch (error) {
    return classify(error) === 'notFound'
      ? { as: 'conflict', detail: 'the name has just become free' }
      : resultOf(error);
  }
}

export async function deleteRevision(context: ActContext, effect: Of<'deleteRevision'>): Promise<Result> {
  const { client, caches, replica } = context;
  const name = { namespace: replica.meta.namespace, name: effect.rev };
  try {
    await client.delete(controllerRevisionType, name, { preconditions: { uid: effect.uid } });
    caches.revisions.takeInDeletion(`${name.namespace}/${name.name}`, effect.uid);
    return done;
  } catch (error) {
    return resultOf(error);
  }
}

/** Creates the headless Service, or puts right what has drifted in the one that is there. */
export async function ensureHeadless(context: ActContext): Promise<Result> {
  const { client, caches, replica, observation } = context;
  const { snapshot } = observation;
  const name = {
    namespace: replica.meta.namespace,
    name: headlessServiceName(snapshot.spec.owner, snapshot.spec.component),
  };
  const cached = caches.services.store.get(`${name.namespace}/${name.name}`);
  try {
    if (cached === undefined) {
      caches.services.takeIn(await client.create(serviceType, headlessService(snapshot.replica, snapshot.spec)));
      return done;
    }
    const repair: Patch = { kind: 'merge', body: headlessRepair(cached, snapshot.spec) };
    caches.services.takeIn(await client.patch(serviceType, name, repair));
    return done;
  } catch (error) {
    return classify(error) === 'alreadyExists' ? headlessHolder(context, name) : resultOf(error);
  }
}

async function headlessHolder(
  context: ActContext,
  name: { readonly namespace: string; readonly name: string },
): Promise<Result> {
  const { client, caches, replica } = context;
  try {
    const raw = await client.get(serviceType, name);
    const holder = serviceRecordOf(raw);
    if (holder.meta.controller.uid === replica.meta.uid && caches.services.takeIn(raw) !== 'outOfScope') {
      return { as: 'exists', detail: '' };
    }
    return {
      as: 'nameTaken',
      detail: `Service ${name.name} exists and is not this replica's; it is left alone: delete or rename it, since pods get their names from it`,
    };
  } catch (error) {
    return classify(error) === 'notFound'
      ? { as: 'conflict', detail: 'the name has just become free' }
      : resultOf(error);
  }
}

export async function deleteHeadless(context: ActContext): Promise<Result> {
  const { client, caches, replica, observation } = context;
  const { spec } = observation.snapshot;
  const name = { namespace: replica.meta.namespace, name: headlessServiceName(spec.owner, spec.component) };
  const cached = caches.services.store.get(`${name.namespace}/${name.name}`);
  if (cached === undefined) return { as: 'gone', detail: '' };
  try {
    const reply = await client.delete(serviceType, name, { preconditions: { uid: cached.meta.uid } });
    if (reply.how === 'deleted') caches.services.takeInDeletion(`${name.namespace}/${name.name}`, cached.meta.uid);
    return done;
  } catch (error) {
    return resultOf(error);
  }
}
