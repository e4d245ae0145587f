/** Server-side apply: each manager says what it wants of an object, and owns what it says. */

import { asObject, equal, type JsonObject } from '../base/json.js';
import { type KubeObject, type ManagedFieldsEntry, objectKey } from '../base/object.js';
import type { Call } from './call.js';
import { create } from './create.js';
import { checkType } from './draft.js';
import { ApiError, badRequest, modifiedConflict, notFound } from './errors.js';
import { merge, takeOut } from './fields/merge.js';
import { type FieldTree, intersect, isEmpty, NO_FIELDS, paths, subtract, union } from './fields/tree.js';
import { difference, fieldsOf, ownable } from './fields/walk.js';
import { entryOf, find, withEntries, withEntry, withFields } from './managed-fields.js';
import { replace } from './replace.js';

/** What an apply came to. */
export interface Applied {
  readonly object: KubeObject;
  readonly created: boolean;
}

/** Applies a body. Throws 409 with the conflicting fields unless the call forces them. */
export function apply(call: Call, body: JsonObject): Applied {
  checkBody(call, body);
  const wanted = ownable(body);
  const fields = fieldsOf(wanted, call.resource.merge);
  const old = call.world.store.get(call.resource.id, objectKey(call.namespace, call.name ?? ''));
  if (old === undefined) {
    if (call.subresource !== undefined) throw notFound(call.resource, call.name ?? '');
    const record = (object: KubeObject): KubeObject => withEntries(object, [entryOf(call, 'Apply', fields)]);
    return { object: create(call, named(call, body), record), created: true };
  }
  const version = asObject(body['metadata'])['resourceVersion'];
  if (version !== undefined && version !== '' && version !== old.metadata.resourceVersion) {
    throw modifiedConflict(call.resource, old.metadata.name);
  }
  return { object: applyTo(call, old, wanted, fields), created: false };
}

function checkBody(call: Call, body: JsonObject): void {
  checkType(call.resource, body);
  if (asObject(body['metadata'])['managedFields'] !== undefined) throw badRequest('metadata.managedFields must be nil');
}

function named(call: Call, body: JsonObject): JsonObject {
  const metadata = asObject(body['metadata']);
  return metadata['name'] === undefined ? { ...body, metadata: { ...metadata, name: call.name } } : body;
}

function applyTo(call: Call, old: KubeObject, wanted: JsonObject, fields: FieldTree): KubeObject {
  const { merge: node } = call.resource;
  const entries = old.metadata.managedFields ?? [];
  const own = find(entries, call, 'Apply');
  const others = entries.filter((entry) => entry !== own);
  const stored = ownable(asObject(old));
  const changes = difference(stored, merge(stored, wanted, node), node).set;
  const contested = others
    .map((entry) => ({ entry, fields: intersect(intersect(entry.fieldsV1, fields), changes) }))
    .filter((one) => !isEmpty(one.fields));
  if (contested.length > 0 && call.query['force'] !== 'true') throw conflictOf(contested);
  const dropped = subtract(subtract(own?.fieldsV1 ?? NO_FIELDS, fields), allFields(others));
  const lost = contested.map((one) => one.fields).reduce(union, NO_FIELDS);
  const kept = entries.map((entry) => (entry === own ? entry : withFields(entry, subtract(entry.fieldsV1, lost))));
  const after = withEntry(kept, own, entryOf(call, 'Apply', fields));
  const merged = merge(takeOut(asObject(old), dropped, node), wanted, node);
  const draft = { ...asObject(merged), apiVersion: old.apiVersion, kind: old.kind };
  return replace(call, old, draft, 'patch', (next) => settled(next, old, after));
}

// An apply that changes neither the object nor what its manager owns leaves the entries, and their times, alone.
function settled(next: KubeObject, old: KubeObject, entries: readonly ManagedFieldsEntry[]): KubeObject {
  const result = withEntries(next, entries);
  return equal(result, old) ? old : result;
}

function allFields(entries: readonly ManagedFieldsEntry[]): FieldTree {
  return entries.map((entry) => entry.fieldsV1).reduce(union, NO_FIELDS);
}

interface Contest {
  readonly entry: ManagedFieldsEntry;
  readonly fields: FieldTree;
}

function conflictOf(contests: readonly Contest[]): ApiError {
  const causes = contests.flatMap(({ entry, fields }) =>
    paths(fields).map((field) => ({ reason: 'FieldManagerConflict', message: `conflict with ${owner(entry)}`, field })),
  );
  const groups = new Map<string, string[]>();
  for (const { message, field } of causes) groups.set(message, [...(groups.get(message) ?? []), field]);
  const texts = [...groups].map(([message, fields]) =>
    fields.length === 1
      ? `${message}: ${fields[0] ?? ''}`
      : `${message.replace('conflict', 'conflicts')}:\n${fields.map((field) => `- ${field}`).join('\n')}`,
  );
  const count = causes.length === 1 ? '1 conflict' : `${causes.length} conflicts`;
  return new ApiError(409, 'Conflict', `Apply failed with ${count}: ${texts.join('\n')}`, { causes });
}

function owner(entry: ManagedFieldsEntry): string {
  const part = entry.subresource === undefined ? '' : ` with subresource ${JSON.stringify(entry.subresource)}`;
  const how = entry.operation === 'Apply' ? '' : ` using ${entry.apiVersion}`;
  return `${JSON.stringify(entry.manager)}${part}${how}`;
}
