/** The garbage collector: dependants of owners that are gone, and deletions that wait for dependants. */

import { allResources, resourceById } from '../api/resources.js';
import { asText } from '../base/json.js';
import { type KubeObject, keyOf, type OwnerReference } from '../base/object.js';
import type { Change } from '../base/store.js';
import type { Part, World } from '../base/world.js';
import { deleteObject } from './act.js';

const ME = 'generic-garbage-collector';
const FOREGROUND = 'foregroundDeletion';
const ORPHAN = 'orphan';

interface Target {
  readonly resource: string;
  readonly key: string;
  readonly uid: string;
}

export const collector: Part = {
  handlers: {
    'collector.owner': (world: World, args: { readonly uid: string }) => {
      for (const target of dependantsOf(world, args.uid)) world.after([0, 20], 'collector.dependant', target);
    },
    'collector.dependant': (world: World, target: Target) => {
      const object = find(world, target);
      if (object !== undefined) examine(world, target.resource, object);
    },
    'collector.finalize': (world: World, target: Target) => {
      const object = find(world, target);
      if (object !== undefined) finalize(world, target, object);
    },
  },

  onChange(world: World, change: Change): void {
    const { object, resource } = change;
    const target: Target = { resource, key: keyOf(object), uid: object.metadata.uid };
    const lag = world.options.collectorLagMs;
    if (change.type === 'DELETED') {
      world.after(lag, 'collector.owner', { uid: object.metadata.uid });
      // An owner that waits in the foreground looks again each time one of its dependants goes.
      for (const owner of object.metadata.ownerReferences ?? []) {
        const found = locateOwner(world, object, owner);
        if (found !== undefined && isWaiting(found.object)) world.after(lag, 'collector.finalize', found.target);
      }
      return;
    }
    // A dependant whose owner was never there, or went before it came.
    if (change.type === 'ADDED' && object.metadata.ownerReferences !== undefined) {
      world.after(lag, 'collector.dependant', target);
    }
    if (isWaiting(object) && (change.previous === undefined || !isWaiting(change.previous))) {
      world.after(lag, 'collector.finalize', target);
    }
  },
};

function isWaiting(object: KubeObject): boolean {
  const { deletionTimestamp, finalizers = [] } = object.metadata;
  return deletionTimestamp !== undefined && (finalizers.includes(FOREGROUND) || finalizers.includes(ORPHAN));
}

function find(world: World, target: Target): KubeObject | undefined {
  const object = world.store.get(target.resource, target.key);
  return object?.metadata.uid === target.uid ? object : undefined;
}

function dependantsOf(world: World, uid: string): readonly Target[] {
  const found: Target[] = [];
  for (const resource of world.store.resources()) {
    for (const object of world.store.list(resource)) {
      if (!(object.metadata.ownerReferences ?? []).some((owner) => owner.uid === uid)) continue;
      found.push({ resource, key: keyOf(object), uid: object.metadata.uid });
    }
  }
  return found;
}

function locateOwner(
  world: World,
  dependant: KubeObject,
  owner: OwnerReference,
): { readonly target: Target; readonly object: KubeObject } | undefined {
  const [group = ''] = owner.apiVersion.includes('/') ? owner.apiVersion.split('/') : [''];
  const resource = allResources(world).find((one) => one.group === group && one.kind === owner.kind);
  if (resource === undefined) return undefined;
  const key = resource.namespaced ? `${dependant.metadata.namespace ?? ''}/${owner.name}` : owner.name;
  const object = world.store.get(resource.id, key);
  if (object?.metadata.uid !== owner.uid) return undefined;
  return { target: { resource: resource.id, key, uid: owner.uid }, object };
}

/** Deletes a dependant none of whose owners is left; one of several owners that went is struck from its list. */
function examine(world: World, resource: string, object: KubeObject): void {
  const owners = object.metadata.ownerReferences ?? [];
  if (owners.length === 0 || resourceById(world, resource) === undefined) return;
  const found = owners.map((owner) => ({ owner, place: locateOwner(world, object, owner) }));
  const solid = found.filter(({ place }) => place !== undefined && !waitsForeground(place.object));
  const waiting = found.filter(({ place }) => place !== undefined && waitsForeground(place.object));
  if (solid.length > 0) {
    if (solid.length === owners.length) return;
    const ownerReferences = solid.map(({ owner }) => owner);
    const next = { ...object, metadata: { ...object.metadata, ownerReferences } };
    world.commit(resource, next, object, ME);
    return;
  }
  if (object.metadata.deletionTimestamp !== undefined) return;
  const propagation = waiting.length > 0 ? 'Foreground' : 'Background';
  deleteObject(world, resource, object, { uid: object.metadata.uid, propagation, dryRun: 'none' }, ME);
}

function waitsForeground(object: KubeObject): boolean {
  return isWaiting(object) && (object.metadata.finalizers ?? []).includes(FOREGROUND);
}

function finalize(world: World, target: Target, object: KubeObject): void {
  const { finalizers = [], deletionTimestamp, uid } = object.metadata;
  if (deletionTimestamp === undefined) return;
  const dependants = dependantsOf(world, uid);
  if (finalizers.includes(ORPHAN)) {
    for (const one of dependants) disown(world, one, uid);
    dropFinalizer(world, target, ORPHAN);
    return;
  }
  if (!finalizers.includes(FOREGROUND)) return;
  const blocking = dependants.filter((one) => blocks(find(world, one), uid));
  for (const one of dependants) {
    const dependant = find(world, one);
    if (dependant !== undefined) examine(world, one.resource, dependant);
  }
  if (blocking.length === 0) dropFinalizer(world, target, FOREGROUND);
}

function blocks(dependant: KubeObject | undefined, uid: string): boolean {
  return (dependant?.metadata.ownerReferences ?? []).some(
    (owner) => owner.uid === uid && owner.blockOwnerDeletion === true,
  );
}

function disown(world: World, target: Target, uid: string): void {
  const object = find(world, target);
  if (object === undefined) return;
  const ownerReferences = (object.metadata.ownerReferences ?? []).filter((owner) => owner.uid !== uid);
  const { ownerReferences: _gone, ...metadata } = object.metadata;
  const next = ownerReferences.length === 0 ? metadata : { ...metadata, ownerReferences };
  world.commit(target.resource, { ...object, metadata: next }, object, ME);
}

function dropFinalizer(world: World, target: Target, name: string): void {
  const object = find(world, target);
  if (object === undefined) return;
  const rest = (object.metadata.finalizers ?? []).filter((finalizer) => finalizer !== name);
  if (rest.length === 0 && asText(object.metadata.deletionTimestamp) !== '') {
    const grace = object.metadata.deletionGracePeriodSeconds ?? 0;
    if (grace === 0) {
      world.commit(target.resource, undefined, object, ME);
      return;
    }
  }
  const { finalizers: _gone, ...metadata } = object.metadata;
  const next = rest.length === 0 ? metadata : { ...metadata, finalizers: rest };
  world.commit(target.resource, { ...object, metadata: next }, object, ME);
}
