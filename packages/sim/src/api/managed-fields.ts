/** Which manager set which field of an object: the entries of `metadata.managedFields`. */

import { asObject, equal, type JsonObject, without } from '../base/json.js';
import type { KubeObject, ManagedFieldsEntry } from '../base/object.js';
import { rfc3339 } from '../base/time.js';
import type { Call } from './call.js';
import { type FieldTree, isEmpty, NO_FIELDS, subtract, union } from './fields/tree.js';
import { difference, ownable } from './fields/walk.js';
import { apiVersionOf } from './resource.js';

/** The object with its managedFields brought up to date by a write that is not an apply. */
export function recordFields(call: Call, next: KubeObject, old: KubeObject | undefined): KubeObject {
  const before = old?.metadata.managedFields ?? [];
  const applied = before.some((entry) => entry.operation === 'Apply');
  if (call.world.options.managedFields === 'apply' && !applied) return next;
  const scope = inScope(call);
  const changes = difference(
    scope(old === undefined ? {} : ownable(asObject(old))),
    scope(ownable(asObject(next))),
    call.resource.merge,
  );
  if (isEmpty(changes.set) && isEmpty(changes.removed)) return next;
  const lost = union(changes.set, changes.removed);
  const rest = before.map((entry) => withFields(entry, subtract(entry.fieldsV1, lost)));
  const own = find(rest, call, 'Update');
  const fields = union(own?.fieldsV1 ?? NO_FIELDS, changes.set);
  return withEntries(next, withEntry(rest, own, entryOf(call, 'Update', fields)));
}

// A write to one endpoint owns nothing of what the other endpoint keeps.
function inScope(call: Call): (object: JsonObject) => JsonObject {
  if (!call.resource.status) return (object) => object;
  if (call.subresource !== 'status') return (object) => without(object, 'status');
  return (object) => (call.resource.custom === undefined ? without(object, 'spec') : { status: object['status'] });
}

/** The entry of the manager of a call. */
export function find(
  entries: readonly ManagedFieldsEntry[],
  call: Call,
  operation: ManagedFieldsEntry['operation'],
): ManagedFieldsEntry | undefined {
  return entries.find(
    (entry) =>
      entry.manager === call.manager && entry.operation === operation && entry.subresource === call.subresource,
  );
}

/** An entry of the manager of a call, as of now. */
export function entryOf(call: Call, operation: ManagedFieldsEntry['operation'], fields: FieldTree): ManagedFieldsEntry {
  return {
    manager: call.manager,
    operation,
    apiVersion: apiVersionOf(call.resource),
    time: rfc3339(call.world.nowMs),
    fieldsType: 'FieldsV1',
    fieldsV1: fields,
    ...(call.subresource === undefined ? {} : { subresource: call.subresource }),
  };
}

/** The entry with other fields; its time stays. */
export function withFields(entry: ManagedFieldsEntry, fields: FieldTree): ManagedFieldsEntry {
  return equal(fields, entry.fieldsV1) ? entry : { ...entry, fieldsV1: fields };
}

/** The entries with one put in place of another, or added. One whose fields are as before keeps its time. */
export function withEntry(
  entries: readonly ManagedFieldsEntry[],
  old: ManagedFieldsEntry | undefined,
  next: ManagedFieldsEntry,
): readonly ManagedFieldsEntry[] {
  if (old === undefined) return [...entries, next];
  if (equal(old.fieldsV1, next.fieldsV1)) return entries;
  return entries.map((entry) => (entry === old ? next : entry));
}

/** The object with these entries; those without fields are dropped. */
export function withEntries(object: KubeObject, entries: readonly ManagedFieldsEntry[]): KubeObject {
  const managedFields = entries.filter((entry) => !isEmpty(entry.fieldsV1));
  const { managedFields: _old, ...metadata } = object.metadata;
  return { ...object, metadata: managedFields.length === 0 ? metadata : { ...metadata, managedFields } };
}
