/** Metadata of a draft against that of the stored object: what a client may set, what is kept, what is refused. */

import { asText, equal, type JsonObject, type MutableJson } from '../base/json.js';
import type { KubeObject } from '../base/object.js';
import { rfc3339 } from '../base/time.js';
import type { Call } from './call.js';
import { type FieldError, invalid } from './errors.js';

/** Fields that only the server sets. */
const SERVER_FIELDS = [
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'generation',
] as const;

/** The metadata of a new object. Throws 422 without a name. */
export function createMetadata(call: Call, sent: JsonObject): JsonObject {
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
  return withoutEmpty(metadata);
}

function randomSuffix(call: Call): string {
  const letters = 'bcdfghjklmnpqrstvwxz2456789';
  return Array.from({ length: 5 }, () => letters.charAt(call.world.random.next() % letters.length)).join('');
}

/** The metadata of a replacement: the client's, with the server's fields as they are stored. */
export function updateMetadata(old: KubeObject, sent: JsonObject): JsonObject {
  const metadata: MutableJson = { ...sent, name: old.metadata.name, resourceVersion: old.metadata.resourceVersion };
  delete metadata['selfLink'];
  for (const field of ['namespace', 'generateName', 'managedFields', ...SERVER_FIELDS] as const) {
    const value = old.metadata[field];
    if (value === undefined) delete metadata[field];
    else metadata[field] = value;
  }
  return withoutEmpty(metadata);
}

function withoutEmpty(metadata: MutableJson): JsonObject {
  for (const field of ['labels', 'annotations', 'ownerReferences', 'finalizers']) {
    const value = metadata[field];
    if (value === null || (typeof value === 'object' && Object.keys(value).length === 0)) delete metadata[field];
  }
  return metadata;
}

/** What a replacement says of the server's fields that is not so. */
export function immutableFaults(old: KubeObject, sent: JsonObject): readonly FieldError[] {
  const errors: FieldError[] = [];
  const { uid, deletionTimestamp, deletionGracePeriodSeconds } = old.metadata;
  const check = (field: string, stored: unknown): void => {
    const value = sent[field];
    if (value === undefined || value === null || value === '' || equal(value, stored)) return;
    errors.push({ field: `metadata.${field}`, type: 'Invalid', value, detail: 'field is immutable' });
  };
  check('uid', uid);
  if (deletionTimestamp === undefined) check('deletionTimestamp', undefined);
  check('deletionGracePeriodSeconds', deletionGracePeriodSeconds);
  return errors;
}

/** Nobody adds a finalizer to what is being deleted. */
export function finalizerFaults(next: KubeObject, old: KubeObject): readonly FieldError[] {
  if (old.metadata.deletionTimestamp === undefined) return [];
  const before = old.metadata.finalizers ?? [];
  const added = (next.metadata.finalizers ?? []).filter((finalizer) => !before.includes(finalizer));
  if (added.length === 0) return [];
  const list = added.map((finalizer) => JSON.stringify(finalizer)).join(', ');
  const detail = `no new finalizers can be added if the object is being deleted, found new finalizers []string{${list}}`;
  return [{ field: 'metadata.finalizers', type: 'Forbidden', detail }];
}

/** How the storage words a replacement meant for another object of the same name. */
export function uidMismatch(call: Call, old: KubeObject, uid: unknown): string {
  const { resource } = call;
  const { namespace, name } = old.metadata;
  const folder = [resource.group, resource.plural, namespace, name].filter((part) => part !== undefined && part !== '');
  const path = resource.custom === undefined ? folder.filter((part) => part !== resource.group) : folder;
  return `StorageError: invalid object, Code: 4, Key: /registry/${path.join('/')}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${asText(uid)}, UID in object meta: ${old.metadata.uid}`;
}
