/** DELETE: grace, preconditions, finalizers, and what is left to the garbage collector. */

import { asObject, asText, type JsonObject, type MutableJson, wireCopy } from '../base/json.js';
import type { KubeObject } from '../base/object.js';
import { parseRfc3339, rfc3339 } from '../base/time.js';
import type { Call } from './call.js';
import { conflict, invalid } from './errors.js';
import { existing } from './replace.js';
import type { Resource } from './resource.js';

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan';
  readonly dryRun: 'All' | 'none';
}

/** What a deletion came to: the object as it is now, and whether it is gone from the store. */
export interface Deletion {
  readonly object: KubeObject;
  readonly gone: boolean;
}

/** The options of a delete call, from its body and its query. */
export function deleteOptions(call: Call): DeleteOptions {
  const body = asObject(wireCopy(call.body ?? {}));
  const preconditions = asObject(body['preconditions']);
  const grace = body['gracePeriodSeconds'] ?? call.query['gracePeriodSeconds'];
  const policy = body['propagationPolicy'] ?? call.query['propagationPolicy'];
  if (policy !== undefined && policy !== 'Background' && policy !== 'Foreground' && policy !== 'Orphan') {
    const detail = 'supported values: "Foreground", "Background", "Orphan", "nil"';
    const error = { field: 'propagationPolicy', type: 'Unsupported', value: policy, detail } as const;
    throw invalid('meta.k8s.io', 'DeleteOptions', '', [error]);
  }
  const dry = body['dryRun'] ?? call.query['dryRun'];
  return {
    ...(grace === undefined ? {} : { gracePeriodSeconds: Number(grace) }),
    ...(preconditions['uid'] === undefined ? {} : { uid: asText(preconditions['uid']) }),
    ...(preconditions['resourceVersion'] === undefined
      ? {}
      : { resourceVersion: asText(preconditions['resourceVersion']) }),
    ...(policy === undefined ? {} : { propagation: policy }),
    dryRun: dry === undefined ? 'none' : 'All',
  };
}

/** Deletes the object a call names. Throws 404, and 409 when a precondition does not hold. */
export function remove(call: Call, options: DeleteOptions): Deletion {
  const old = existing(call);
  checkPreconditions(call.resource, old, options);
  if (call.resource.id === 'namespaces')
    return options.dryRun === 'All' ? { object: old, gone: false } : removeNamespace(call, old);
  const marked = graceful(call, old, options);
  if (marked === 'pending') return { object: old, gone: false };
  const { finalizers, changed } = withPropagation(marked ?? old, options);
  const pending = finalizers.length > 0;
  let object = marked ?? old;
  if (changed) object = withMetadata(object, { finalizers: pending ? finalizers : undefined });
  if (marked === undefined && pending) object = markDeleting(call, object);
  if (options.dryRun === 'All') return { object, gone: false };
  if (object !== old) object = call.world.commit(call.resource.id, object, old, call.user);
  const waits = (object.metadata.deletionGracePeriodSeconds ?? 0) > 0;
  if (pending || waits) return { object, gone: false };
  return { object: call.world.commit(call.resource.id, undefined, object, call.user), gone: true };
}

function checkPreconditions(resource: Resource, old: KubeObject, options: DeleteOptions): void {
  const { name, uid, resourceVersion } = old.metadata;
  if (options.uid !== undefined && options.uid !== uid) {
    const why = `the UID in the precondition (${options.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`;
    throw conflict({ group: resource.group, plural: resource.kind }, name, why);
  }
  if (options.resourceVersion !== undefined && options.resourceVersion !== resourceVersion) {
    const why = `the ResourceVersion in the precondition (${options.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`;
    throw conflict({ group: resource.group, plural: resource.kind }, name, why);
  }
}

/** A pod with its deletion time set or brought forward; undefined when no grace applies, `pending` when nothing changes. */
function graceful(call: Call, old: KubeObject, options: DeleteOptions): KubeObject | 'pending' | undefined {
  if (call.resource.id !== 'pods') return undefined;
  const { nowMs } = call.world;
  const asked = options.gracePeriodSeconds;
  const { deletionTimestamp, deletionGracePeriodSeconds } = old.metadata;
  if (deletionTimestamp !== undefined) {
    if (deletionGracePeriodSeconds === undefined || deletionGracePeriodSeconds === 0) return undefined;
    const period = asked !== undefined && asked < 0 ? 1 : asked;
    if (period === undefined || period >= deletionGracePeriodSeconds) return 'pending';
    const startedMs = (parseRfc3339(deletionTimestamp) ?? nowMs) - deletionGracePeriodSeconds * 1000;
    const endMs = startedMs + period * 1000;
    const past = endMs < nowMs;
    return withMetadata(old, {
      deletionTimestamp: rfc3339(past ? nowMs : endMs),
      deletionGracePeriodSeconds: past && period !== 0 ? 1 : period,
    });
  }
  const period = podGrace(old, asked);
  return withMetadata(old, {
    deletionTimestamp: rfc3339(nowMs + period * 1000),
    deletionGracePeriodSeconds: period,
    ...nextGeneration(old),
  });
}

/** Seconds a pod gets: what was asked, else what its spec says; none when it never ran or has ended. */
function podGrace(pod: KubeObject, asked: number | undefined): number {
  const spec = asObject(pod['spec']);
  const phase = asText(asObject(pod['status'])['phase']);
  if (asText(spec['nodeName']) === '' || phase === 'Succeeded' || phase === 'Failed') return 0;
  const fromSpec = spec['terminationGracePeriodSeconds'];
  const period = asked ?? (typeof fromSpec === 'number' ? fromSpec : 30);
  return period < 0 ? 1 : period;
}

function markDeleting(call: Call, object: KubeObject): KubeObject {
  if (object.metadata.deletionTimestamp !== undefined) return object;
  return withMetadata(object, {
    deletionTimestamp: rfc3339(call.world.nowMs),
    deletionGracePeriodSeconds: 0,
    ...nextGeneration(object),
  });
}

function nextGeneration(object: KubeObject): JsonObject {
  const { generation } = object.metadata;
  return generation === undefined || generation === 0 ? {} : { generation: generation + 1 };
}

const ORPHAN = 'orphan';
const FOREGROUND = 'foregroundDeletion';

/** The finalizers after a deletion of this propagation: those two that the garbage collector serves come and go. */
function withPropagation(
  object: KubeObject,
  options: DeleteOptions,
): { finalizers: readonly string[]; changed: boolean } {
  const before = object.metadata.finalizers ?? [];
  const { propagation } = options;
  if (propagation === undefined) return { finalizers: before, changed: false };
  const rest = before.filter((finalizer) => finalizer !== ORPHAN && finalizer !== FOREGROUND);
  const added = propagation === 'Foreground' ? [FOREGROUND] : propagation === 'Orphan' ? [ORPHAN] : [];
  const finalizers = [...rest, ...added];
  const changed = finalizers.length !== before.length || finalizers.some((finalizer) => !before.includes(finalizer));
  return { finalizers, changed };
}

function withMetadata(object: KubeObject, changes: JsonObject): KubeObject {
  const metadata: MutableJson = { ...object.metadata };
  for (const [key, value] of Object.entries(changes)) {
    if (value === undefined) delete metadata[key];
    else metadata[key] = value;
  }
  return { ...object, metadata } as unknown as KubeObject;
}

function removeNamespace(call: Call, old: KubeObject): Deletion {
  const { world, resource } = call;
  if (old.metadata.deletionTimestamp !== undefined) {
    const why =
      'The system is ensuring all content is removed from this namespace.  Upon completion, this namespace will automatically be purged by the system.';
    throw conflict(resource, old.metadata.name, why);
  }
  const marked = withMetadata(old, { deletionTimestamp: rfc3339(world.nowMs) });
  const status = { ...asObject(old['status']), phase: 'Terminating' };
  return { object: world.commit(resource.id, { ...marked, status }, old, call.user), gone: false };
}
