/** PUT, and what every patch comes to: a stored object and the draft that is to take its place. */

import { asObject, asText, equal, freeze, type JsonObject, type MutableJson, without } from '../base/json.js';
import { type KubeObject, objectKey } from '../base/object.js';
import { admitWrite } from './admission.js';
import { type Call, isDryRun } from './call.js';
import type { Recorder } from './create.js';
import { checkSize, checkType, complete, faults, unknownFields } from './draft.js';
import { badRequest, conflict, type FieldError, invalid, modifiedConflict, notFound } from './errors.js';
import { kindRules } from './kinds.js';
import { recordFields } from './managed-fields.js';
import { finalizerFaults, immutableFaults, uidMismatch, updateMetadata } from './metadata.js';
import { metadataFaults } from './names.js';
import type { Resource } from './resource.js';

/** The stored object a call names. Throws 404. */
export function existing(call: Call): KubeObject {
  const { resource, name = '' } = call;
  const object = call.world.store.get(resource.id, objectKey(call.namespace, name));
  if (object === undefined) throw notFound(resource, name);
  return object;
}

/** Where a draft comes from: a PUT is checked for its UID before all else, and a custom kind demands a version of it. */
export type Source = 'put' | 'patch';

/**
 * Replaces a stored object by a draft, honouring the subresource of the call. A draft equal to what is stored changes
 * nothing and emits nothing. Throws 400, 409 Conflict, 422.
 */
export function replace(
  call: Call,
  old: KubeObject,
  draft: JsonObject,
  source: Source,
  record: Recorder = (next) => recordFields(call, next, old),
): KubeObject {
  const { world, resource } = call;
  checkType(resource, draft);
  const sent = asObject(draft['metadata']);
  checkPreconditions(call, old, sent, source);
  const next = withGeneration(resource, prepare(call, old, draft), old);
  const errors = [...metadataUpdateFaults(call, next, old, sent), ...faults(resource, next, old)];
  if (errors.length > 0) throw invalid(resource.group, resource.kind, old.metadata.name, errors);
  admitWrite(call, next, old);
  const owned = record(next);
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

function checkPreconditions(call: Call, old: KubeObject, sent: JsonObject, source: Source): void {
  const { resource } = call;
  const { name, uid, resourceVersion } = old.metadata;
  if (sent['name'] !== undefined && sent['name'] !== '' && sent['name'] !== name) {
    throw badRequest(`the name of the object (${asText(sent['name'])}) does not match the name on the URL (${name})`);
  }
  const namesUid = sent['uid'] !== undefined && sent['uid'] !== '';
  if (source === 'put' && namesUid && sent['uid'] !== uid) {
    throw conflict(resource, name, uidMismatch(call, old, sent['uid']));
  }
  const version = sent['resourceVersion'];
  if (version === undefined || version === '') {
    if (source === 'patch' || resource.custom === undefined) return;
    const detail = 'must be specified for an update';
    const error = { field: 'metadata.resourceVersion', type: 'Invalid', value: 0, detail } as const;
    throw invalid(resource.group, resource.plural, name, [error]);
  }
  if (version !== resourceVersion) throw modifiedConflict(resource, name);
}

function prepare(call: Call, old: KubeObject, draft: JsonObject): KubeObject {
  const { resource, subresource } = call;
  const completed = complete(resource, draft, unknownFields(call));
  const metadata = updateMetadata(old, asObject(completed['metadata']));
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
  const owners = ownerReferences === undefined ? {} : { ownerReferences };
  const kept = resource.custom === undefined ? { ...without(metadata, 'ownerReferences'), ...owners } : old.metadata;
  const next = status === undefined ? { ...rest, metadata: kept } : { ...rest, metadata: kept, status };
  return next as unknown as KubeObject;
}

function withGeneration(resource: Resource, next: KubeObject, old: KubeObject): KubeObject {
  if (resource.generation === 'none') return next;
  if (equal(generationPart(resource, next), generationPart(resource, old))) return next;
  const generation = (old.metadata.generation ?? 0) + 1;
  return { ...next, metadata: { ...next.metadata, generation } };
}

/** What a generation counts the changes of. */
function generationPart(resource: Resource, object: KubeObject): unknown {
  if (resource.custom === undefined && object['spec'] !== undefined) return object['spec'];
  const rest = without(without(asObject(object), 'metadata'), 'apiVersion');
  return resource.status ? without(rest, 'status') : rest;
}

// The real server checks the metadata of an update twice over, and reports each fault as often.
function metadataUpdateFaults(call: Call, next: KubeObject, old: KubeObject, sent: JsonObject): readonly FieldError[] {
  const { resource, subresource } = call;
  if (subresource === 'status' && resource.custom !== undefined) return [];
  const immutable = immutableFaults(old, subresource === 'status' ? without(sent, 'deletionTimestamp') : sent);
  const once = [...immutable, ...finalizerFaults(next, old), ...metadataFaults(asObject(next.metadata))];
  return [...once, ...once];
}
