/** POST: from a client's draft to a stored object. */

import { asObject, asText, freeze, type JsonObject, without } from '../base/json.js';
import { type KubeObject, keyOf } from '../base/object.js';
import { admitNamespace, admitWrite } from './admission.js';
import { type Call, isDryRun } from './call.js';
import { checkSize, checkType, complete, faults, unknownFields } from './draft.js';
import { ApiError, alreadyExists, badRequest, invalid } from './errors.js';
import { kindRules } from './kinds.js';
import { recordFields } from './managed-fields.js';
import { createMetadata } from './metadata.js';
import { metadataFaults, nameFaults } from './names.js';
import type { Resource } from './resource.js';

/** Writes down in an object who owns which of its fields. */
export type Recorder = (object: KubeObject) => KubeObject;

/** Creates an object. Throws 400, 403, 404 for its namespace, 409 AlreadyExists, 422. */
export function create(
  call: Call,
  draft: JsonObject,
  record: Recorder = (object) => recordFields(call, object, undefined),
): KubeObject {
  const { world, resource } = call;
  checkType(resource, draft);
  const sent = asObject(draft['metadata']);
  if (sent['resourceVersion'] !== undefined && sent['resourceVersion'] !== '') {
    throw new ApiError(500, '', 'resourceVersion should not be set on objects to be created');
  }
  checkNamespace(call, sent);
  const metadata = createMetadata(call, sent);
  admitNamespace(call, asText(metadata['name']));
  const completed = complete(resource, withoutStatus(resource, draft), unknownFields(call));
  const named = { ...completed, metadata };
  const admitted = kindRules(resource.id).admitCreate?.(world, named) ?? named;
  const object = withEmptyStatus(resource, admitted) as unknown as KubeObject;
  const errors = [
    ...nameFaults(resource, object.metadata.name),
    ...metadataFaults(asObject(object.metadata)),
    ...faults(resource, object, undefined),
  ];
  if (errors.length > 0) throw invalid(resource.group, resource.kind, object.metadata.name, errors);
  admitWrite(call, object, undefined);
  if (world.store.get(resource.id, keyOf(object)) !== undefined) throw alreadyExists(resource, object.metadata.name);
  const owned = record(object);
  checkSize(call, owned);
  if (isDryRun(call)) return freeze(owned);
  return world.commit(resource.id, owned, undefined, call.user);
}

function checkNamespace(call: Call, sent: JsonObject): void {
  const { resource, namespace } = call;
  if (!resource.namespaced) return;
  if (namespace === undefined) throw badRequest('an empty namespace may not be set during creation');
  const own = sent['namespace'];
  if (own !== undefined && own !== '' && own !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
}

// A built-in object always has the status its kind has; a custom one has none until somebody writes it.
function withEmptyStatus(resource: Resource, draft: JsonObject): JsonObject {
  return resource.custom === undefined && resource.status ? { status: {}, ...draft } : draft;
}

function withoutStatus(resource: Resource, draft: JsonObject): JsonObject {
  const kept = !resource.status || kindRules(resource.id).statusAtCreate === 'kept';
  return kept ? draft : without(draft, 'status');
}
