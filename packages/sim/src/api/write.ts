/** The one place through which an object changes: creation, replacement, and removal by the last finalizer. */

import { asObject, asText, equal, freeze, type JsonObject, type MutableJson, without } from '../base/json.js';
import { type KubeObject, keyOf, objectKey } from '../base/object.js';
import { rfc3339 } from '../base/time.js';
import { admitCreate } from './admission.js';
import { bodyObject, type Call, isDryRun } from './call.js';
import { checkType, complete, faults, type UnknownFields } from './draft.js';
import { alreadyExists, badRequest, conflict, invalid, modifiedConflict, notFound, storageTooLarge } from './errors.js';
import { kindRules } from './kinds.js';
import { recordFields } from './managed-fields.js';
import { metadataFaults, nameFaults } from './names.js';
import { apiVersionOf, type Resource } from './resource.js';

/** Fields of metadata that only the server sets. */
const SERVER_FIELDS = [
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'generation',
] as const;

/** The stored object a call names. Throws 404. */
export function existing(call: Call): KubeObject {
  const { resource, name = '' } = call;
  const object = call.world.store.get(resource.id, objectKey(call.namespace, name));
  if (object === undefined) throw notFound(resource, name);
  return object;
}

/** Creates an object from a draft of the client. Throws 400, 403, 404, 409 AlreadyExists, 422. */
export function create(call: Call, draft: JsonObject): KubeObject {
  const { world, resource } = call;
  checkType(resource, draft);
  const sent = asObject(draft['metadata']);
  if (sent['resourceVersion'] !== undefined && sent['resourceVersion'] !== '') {
    throw badRequest('resourceVersion should not be set on objects to be created');
  }
  checkNamespace(call, sent);
  const metadata = createMetadata(call, sent);
  const completed = complete(resource, withoutStatus(resource, draft), unknownFields(call));
  const named = { ...completed, metadata };
  const object = (kindRules(resource.id).admitCreate?.(world, named) ?? named) as unknown as KubeObject;
  admitCreate(call, object);
  const errors = [
    ...nameFaults(resource, object.metadata.name),
    ...metadataFaults(asObject(object.metadata)),
    ...faults(resource, object, undefined),
  ];
  if (errors.length > 0) throw invalid(resource.group, resource.kind, object.metadata.name, errors);
  const key = keyOf(object);
  if (world.store.get(resource.id, key) !== undefined) throw alreadyExists(resource, object.metadata.name);
  const owned = recordFields(call, object, undefined);
  checkSize(call, owned);
  if (isDryRun(call)) return freeze(owned);
  return world.commit(resource.id, owned, undefined, call.user);
}

function createMetadata(call: Call, sent: JsonObject): JsonObject {
  const { world, resource } = call;
  const metadata: MutableJson = { ...sent };
  for (const field of [...SERVER_FIELDS, 'selfLink', 'resourceVersion', 'managedFields']) delete metadata[field];
  const { generateName } = sent;
  if (typeof generateName === 'string' && generateName !== '' && !sent['name']) {
    metadata['name'] = generateName + randomSuffix(call);
  }
  if (!metadata['name']) {
    const detail = 'name or generateName is required';
    throw invalid(resource.group, resource.kind, '', [{ field: 'metadata.name', type: 'Required', detail }]);
  }
  if (resource.namespaced) metadata['namespace'] = call.namespace;
  metadata['uid'] = world.newUid();
  metadata['creationTimestamp'] = rfc3339(world.nowMs);
  if (resource.generation === 'kept') metadata['generation'] = 1;
  return metadata;
}

function randomSuffix(call: Call): string {
  const letters = 'bcdfghjklmnpqrstvwxz2456789';
  return Array.from({ length: 5 }, () => letters.charAt(call.world.random.next() % letters.length)).join('');
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

function withoutStatus(resource: Resource, draft: JsonObject): JsonObject {
  const kept = !resource.status || kindRules(resource.id).statusAtCreate === 'kept';
  return kept ? draft : without(draft, 'status');
}

function unknownFields(call: Call): UnknownFields {
  const mode = call.query['fieldValidation'];
  return mode === 'Strict' || mode === 'Ignore' ? mode : 'Warn';
}

/** How a write that replaces an object treats a draft without a version. */
export type Versioning = 'as the kind allows' | 'not needed';

/**
 * Replaces a stored object by a draft, honouring the subresource of the call. A draft equal to what is stored changes
 * nothing and emits nothing. Throws 400, 409 Conflict, 422.
 */
export function replace(call: Call, old: KubeObject, draft: JsonObject, versioning: Versioning): KubeObject {
  const { world, resource } = call;
  checkType(resource, draft);
  checkPreconditions(call, old, asObject(draft['metadata']), versioning);
  const prepared = prepare(call, old, draft);
  const next = withGeneration(resource, prepared, old);
  const errors = [
    ...finalizerFaults(next, old),
    ...metadataFaults(asObject(next.metadata)),
    ...faults(resource, next, old),
  ];
  if (errors.length > 0) throw invalid(resource.group, resource.kind, old.metadata.name, errors);
  const owned = recordFields(call, next, old);
  if (equal(owned, old)) return old;
  checkSize(call, owned);
  if (isDryRun(call)) return freeze(owned);
  if (isFinished(owned)) {
    world.commit(resource.id, undefined, old, call.user);
    return freeze(owned);
  }
  return world.commit(resource.id, owned, old, call.user);
}

/** A deleted object whose last finalizer is gone, and which waits for nobody's grace. */
function isFinished(object: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = object.metadata;
  return deletionTimestamp !== undefined && deletionGracePeriodSeconds === 0 && finalizers.length === 0;
}

function checkPreconditions(call: Call, old: KubeObject, sent: JsonObject, versioning: Versioning): void {
  const { resource } = call;
  const { name } = old.metadata;
  if (sent['name'] !== undefined && sent['name'] !== '' && sent['name'] !== name) {
    throw badRequest(`the name of the object (${asText(sent['name'])}) does not match the name on the URL (${name})`);
  }
  const uid = sent['uid'];
  if (uid !== undefined && uid !== '' && uid !== old.metadata.uid) {
    throw conflict(
      resource,
      name,
      `Precondition failed: UID in precondition: ${asText(uid)}, UID in object meta: ${old.metadata.uid}`,
    );
  }
  const version = sent['resourceVersion'];
  if (version === undefined || version === '') {
    if (versioning === 'not needed' || resource.custom === undefined) return;
    const detail = 'must be specified for an update';
    const error = { field: 'metadata.resourceVersion', type: 'Invalid', value: 0, detail } as const;
    throw invalid(resource.group, resource.kind, name, [error]);
  }
  if (version !== old.metadata.resourceVersion) throw modifiedConflict(resource, name);
}

function prepare(call: Call, old: KubeObject, draft: JsonObject): KubeObject {
  const { resource, subresource } = call;
  const completed = complete(resource, draft, unknownFields(call));
  const metadata = keepServerFields(old, asObject(completed['metadata']));
  if (subresource === 'status') return statusOnly(resource, old, completed, metadata);
  const kept = kindRules(resource.id).prepareUpdate?.(completed, old) ?? completed;
  const next: MutableJson = { ...kept, metadata };
  if (resource.status) {
    delete next['status'];
    if (old['status'] !== undefined) next['status'] = old['status'];
  }
  return next as unknown as KubeObject;
}

// A custom resource's status endpoint touches nothing but the status; a built-in one's also takes labels and the like.
function statusOnly(resource: Resource, old: KubeObject, draft: JsonObject, metadata: JsonObject): KubeObject {
  const { status } = draft;
  const rest = without(asObject(old), 'status');
  const { ownerReferences } = old.metadata;
  const open = {
    ...without(metadata, 'ownerReferences'),
    ...(ownerReferences === undefined ? {} : { ownerReferences }),
  };
  const kept = resource.custom === undefined ? open : old.metadata;
  const next = status === undefined ? { ...rest, metadata: kept } : { ...rest, metadata: kept, status };
  return next as unknown as KubeObject;
}

function keepServerFields(old: KubeObject, sent: JsonObject): JsonObject {
  const metadata: MutableJson = { ...sent, name: old.metadata.name, resourceVersion: old.metadata.resourceVersion };
  delete metadata['selfLink'];
  for (const field of ['namespace', 'generateName', 'managedFields', ...SERVER_FIELDS] as const) {
    const value = old.metadata[field];
    if (value === undefined) delete metadata[field];
    else metadata[field] = value;
  }
  for (const field of ['labels', 'annotations', 'ownerReferences', 'finalizers']) {
    const value = metadata[field];
    if (value === null || (typeof value === 'object' && Object.keys(value).length === 0)) delete metadata[field];
  }
  return metadata;
}

function withGeneration(resource: Resource, next: KubeObject, old: KubeObject): KubeObject {
  if (resource.generation === 'none' || equal(generationPart(resource, next), generationPart(resource, old)))
    return next;
  const generation = (old.metadata.generation ?? 0) + 1;
  return { ...next, metadata: { ...next.metadata, generation } };
}

/** What a generation counts the changes of. */
function generationPart(resource: Resource, object: KubeObject): unknown {
  if (resource.custom === undefined && object['spec'] !== undefined) return object['spec'];
  const rest = without(without(asObject(object), 'metadata'), 'apiVersion');
  return resource.status ? without(rest, 'status') : rest;
}

function finalizerFaults(
  next: KubeObject,
  old: KubeObject,
): readonly {
  readonly field: string;
  readonly type: 'Forbidden';
  readonly detail: string;
}[] {
  if (old.metadata.deletionTimestamp === undefined) return [];
  const before = old.metadata.finalizers ?? [];
  const added = (next.metadata.finalizers ?? []).filter((finalizer) => !before.includes(finalizer));
  if (added.length === 0) return [];
  const list = added.map((finalizer) => JSON.stringify(finalizer)).join(', ');
  const detail = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`;
  return [{ field: 'metadata.finalizers', type: 'Forbidden', detail }];
}

function checkSize(call: Call, object: KubeObject): void {
  if (JSON.stringify(object).length > call.world.options.maxObjectBytes) throw storageTooLarge();
}

/** The draft a request's body carries. */
export function draftOf(call: Call): JsonObject {
  const draft = bodyObject(call);
  const apiVersion = apiVersionOf(call.resource);
  // A client may leave the type out of a body that can be only one thing.
  return draft['kind'] === undefined && draft['apiVersion'] === undefined
    ? { ...draft, apiVersion, kind: call.resource.kind }
    : draft;
}
