/** The scale subresource: replicas seen and set without the rest of the object. */

import { asObject, asText, at, type JsonObject, withAt } from '../base/json.js';
import type { KubeObject } from '../base/object.js';
import type { Call } from './call.js';
import { ApiError, modifiedConflict, noSuchPath } from './errors.js';
import { replace } from './replace.js';
import type { Resource, ScalePaths } from './resource.js';

/** The Scale of an object. Throws 404 for a resource without the subresource. */
export function readScale(resource: Resource, object: KubeObject): JsonObject {
  const paths = pathsOf(resource);
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const replicas = at(object, ...keys(paths.specReplicasPath));
  if (replicas === undefined) {
    const message = `Internal error occurred: the spec replicas field "${paths.specReplicasPath}" does not exist`;
    throw new ApiError(500, 'InternalError', message);
  }
  const selector = selectorText(resource, object, paths);
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp },
    spec: { replicas },
    status: { replicas: at(object, ...keys(paths.statusReplicasPath)) ?? 0, ...(selector === '' ? {} : { selector }) },
  };
}

/** Writes a Scale back into its object and returns the new Scale. Throws 409 when its version is old. */
export function writeScale(call: Call, old: KubeObject, scale: JsonObject): JsonObject {
  const paths = pathsOf(call.resource);
  const version = asText(asObject(scale['metadata'])['resourceVersion']);
  if (version !== '' && version !== old.metadata.resourceVersion) {
    throw modifiedConflict(call.resource, old.metadata.name);
  }
  const replicas = asObject(scale['spec'])['replicas'] ?? 0;
  const draft = withAt(old, keys(paths.specReplicasPath), replicas);
  const written = replace({ ...call, subresource: undefined }, old, draft, 'patch');
  return readScale(call.resource, written);
}

function pathsOf(resource: Resource): ScalePaths {
  if (resource.scale === undefined) throw noSuchPath();
  return resource.scale;
}

function keys(path: string): readonly string[] {
  return path.split('.').filter((part) => part !== '');
}

function selectorText(resource: Resource, object: KubeObject, paths: ScalePaths): string {
  if (paths.labelSelectorPath !== undefined) return asText(at(object, ...keys(paths.labelSelectorPath)));
  if (resource.custom !== undefined) return '';
  const labels = asObject(at(object, 'spec', 'selector', 'matchLabels'));
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${String(value)}`)
    .join(',');
}
