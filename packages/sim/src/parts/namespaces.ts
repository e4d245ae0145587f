/** The namespace controller: a default service account at birth, and the end of all content at death. */

import { asObject } from '../base/json.js';
import { type KubeObject, objectKey } from '../base/object.js';
import type { Change } from '../base/store.js';
import { rfc3339 } from '../base/time.js';
import type { Part, World } from '../base/world.js';
import { createObject, deleteObject, store } from './act.js';

const ME = 'namespace-controller';

export const namespaces: Part = {
  handlers: {
    'namespaces.born': (world: World, args: { readonly name: string }) => {
      const namespace = args.name;
      if (world.store.get('namespaces', namespace)?.metadata.deletionTimestamp !== undefined) return;
      if (world.store.get('namespaces', namespace) === undefined) return;
      ensure(world, 'serviceaccounts', {
        apiVersion: 'v1',
        kind: 'ServiceAccount',
        metadata: { name: 'default', namespace },
      });
      const data = { 'ca.crt': 'simulated' };
      const metadata = { name: 'kube-root-ca.crt', namespace };
      ensure(world, 'configmaps', { apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
    },
    'namespaces.sweep': (world: World, args: { readonly name: string }) => sweep(world, args.name),
  },

  onChange(world: World, change: Change): void {
    if (change.resource !== 'namespaces') return;
    const { name, deletionTimestamp } = change.object.metadata;
    if (change.type === 'ADDED') world.after([0, 50], 'namespaces.born', { name });
    else if (change.type === 'MODIFIED' && deletionTimestamp !== change.previous?.metadata.deletionTimestamp) {
      world.after(world.options.namespaceLagMs, 'namespaces.sweep', { name });
    }
  },
};

function ensure(world: World, resource: string, draft: object): void {
  const object = draft as unknown as KubeObject;
  const { namespace, name } = object.metadata;
  if (world.store.get(resource, objectKey(namespace, name)) === undefined) createObject(world, resource, object, ME);
}

function sweep(world: World, name: string): void {
  const namespace = world.store.get('namespaces', name);
  if (namespace?.metadata.deletionTimestamp === undefined) return;
  for (const { resource, object } of contentOf(world, name)) {
    if (object.metadata.deletionTimestamp !== undefined) continue;
    deleteObject(world, resource, object, { propagation: 'Background', dryRun: 'none' }, ME);
  }
  const rest = contentOf(world, name);
  if (rest.length === 0) {
    world.commit('namespaces', undefined, namespace, ME);
    return;
  }
  describeRest(world, namespace, rest.length);
  world.after([1000, 5000], 'namespaces.sweep', { name });
}

function contentOf(world: World, name: string): readonly { readonly resource: string; readonly object: KubeObject }[] {
  const content: { resource: string; object: KubeObject }[] = [];
  for (const resource of world.store.resources()) {
    for (const object of world.store.list(resource)) {
      if (object.metadata.namespace === name) content.push({ resource, object });
    }
  }
  return content;
}

function describeRest(world: World, namespace: KubeObject, count: number): void {
  const condition = {
    type: 'NamespaceContentRemaining',
    status: 'True',
    reason: 'SomeResourcesRemain',
    message: `Some resources are remaining: ${count} objects`,
    lastTransitionTime: rfc3339(world.nowMs),
  };
  const status = { ...asObject(namespace['status']), conditions: [condition] };
  store(world, 'namespaces', { ...namespace, status }, namespace, ME);
}
