/** How a part of the cluster writes: straight to the store, under its own name, with the server's rules on equality. */

import type { Call } from '../api/call.js';
import { type DeleteOptions, remove } from '../api/delete.js';
import { ApiError } from '../api/errors.js';
import { builtIn, resourceById } from '../api/resources.js';
import { equal } from '../base/json.js';
import type { KubeObject } from '../base/object.js';
import { rfc3339 } from '../base/time.js';
import type { World } from '../base/world.js';
import type { Condition, Pod } from './model.js';

/** Stores `next` in place of `old` when it differs. Returns what is stored. */
export function store(world: World, resource: string, next: KubeObject, old: KubeObject, by: string): KubeObject {
  return equal(next, old) ? old : world.commit(resource, next, old, by);
}

/** Creates an object of a built-in resource with the metadata a server gives it. */
export function createObject(world: World, resource: string, draft: KubeObject, by: string): KubeObject {
  const metadata = { ...draft.metadata, uid: world.newUid(), creationTimestamp: rfc3339(world.nowMs) };
  const generation = builtIn(resource).generation === 'kept' ? { generation: 1 } : {};
  return world.commit(resource, { ...draft, metadata: { ...metadata, ...generation } }, undefined, by);
}

/** Deletes an object as a client with these options would. An object that is gone, or another one, is left alone. */
export function deleteObject(
  world: World,
  resource: string,
  object: KubeObject,
  options: DeleteOptions,
  by: string,
): void {
  const found = resourceById(world, resource);
  if (found === undefined) return;
  const call: Call = {
    world,
    resource: found,
    namespace: object.metadata.namespace,
    name: object.metadata.name,
    subresource: undefined,
    query: {},
    body: undefined,
    contentType: 'application/json',
    accept: undefined,
    user: by,
    manager: by,
  };
  try {
    remove(call, options);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
}

/** The pod with this key and UID; undefined when it is gone or was replaced. */
export function podByUid(world: World, key: string, uid: string): Pod | undefined {
  const pod = world.store.get('pods', key) as Pod | undefined;
  return pod?.metadata.uid === uid ? pod : undefined;
}

/** The conditions with one set; its time moves only when its status flips. */
export function withCondition(
  conditions: readonly Condition[] | undefined,
  set: Omit<Condition, 'lastTransitionTime'>,
  time: string,
): readonly Condition[] {
  const before = conditions ?? [];
  const old = before.find((condition) => condition.type === set.type);
  const lastTransitionTime = old?.status === set.status ? (old.lastTransitionTime ?? time) : time;
  const next: Condition = { lastProbeTime: null, ...set, lastTransitionTime };
  return old === undefined ? [...before, next] : before.map((condition) => (condition === old ? next : condition));
}
