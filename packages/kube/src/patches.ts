/** Patches as data, and builders for the few that need care: preconditions, differences, finalizers, one condition. */
import type { KubeObject } from './resources.js';
import type { Json } from './transport.js';

export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace' | 'test'; readonly path: string; readonly value: Json }
  | { readonly op: 'remove'; readonly path: string };

/** The four patch types of the API. */
export type Patch =
  | { readonly kind: 'json'; readonly body: readonly JsonPatchOperation[] }
  | { readonly kind: 'merge'; readonly body: Json }
  /** Built-in types only: custom resources refuse it with 415. */
  | { readonly kind: 'strategic'; readonly body: Json }
  /** Server-side apply. `takeOver` wins fields that another manager owns; `yield` gets a conflict. */
  | {
      readonly kind: 'apply';
      readonly body: Json;
      readonly fieldManager: string;
      readonly force: 'takeOver' | 'yield';
    };

const contentTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const satisfies Record<Patch['kind'], string>;

export function patchContentType(patch: Patch): string {
  return contentTypes[patch.kind];
}

/** A JSON Pointer to a path of property names, escaped: `jsonPointer('metadata', 'annotations', 'a/b')`. */
export function jsonPointer(...segments: readonly string[]): string {
  return segments.map((segment) => `/${segment.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** Operations that let a JSON Patch pass only for this very object, or for this very version of it. */
export function testIdentity(identity: {
  readonly uid: string;
  readonly resourceVersion?: string;
}): JsonPatchOperation[] {
  const operations: JsonPatchOperation[] = [{ op: 'test', path: '/metadata/uid', value: identity.uid }];
  if (identity.resourceVersion !== undefined) {
    operations.push({ op: 'test', path: '/metadata/resourceVersion', value: identity.resourceVersion });
  }
  return operations;
}

/**
 * The merge patch (RFC 7386) that turns `before` into `after`, or undefined when they are the same. Lists are replaced
 * whole. A property whose value is undefined counts as absent.
 */
export function mergePatchBetween(before: Json, after: Json): Json {
  if (!isPlainObject(before) || !isPlainObject(after)) return isSameJson(before, after) ? undefined : after;
  const patch: Record<string, Json> = {};
  for (const key of Object.keys(before)) {
    if (before[key] !== undefined && after[key] === undefined) patch[key] = null;
  }
  for (const [key, value] of Object.entries(after)) {
    if (value === undefined) continue;
    // A whole object where there was none may not carry nulls: they would mean "remove" to the server.
    const change = before[key] === undefined ? value : mergePatchBetween(before[key], value);
    if (change !== undefined) patch[key] = change;
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}

/**
 * The JSON Patch that adds a finalizer to this object, or undefined when it is there. It is refused as a conflict when
 * the object has changed.
 *
 * @throws TypeError when the object carries no uid or resourceVersion.
 */
export function addFinalizer(object: KubeObject, finalizer: string): Patch | undefined {
  const { uid, resourceVersion, finalizers = [] } = identified(object);
  if (finalizers.includes(finalizer)) return undefined;
  // The version too: a patch repeated after a lost answer would else list the finalizer twice, and one removal leave one.
  const same = testIdentity({ uid, resourceVersion });
  return finalizers.length > 0
    ? { kind: 'json', body: [...same, { op: 'add', path: '/metadata/finalizers/-', value: finalizer }] }
    : { kind: 'json', body: [...same, { op: 'add', path: '/metadata/finalizers', value: [finalizer] }] };
}

/**
 * The JSON Patch that removes a finalizer, ours alone, or undefined when it is not there. It is refused as a conflict
 * when the object is another one, or the list has changed.
 *
 * @throws TypeError when the object carries no uid or resourceVersion.
 */
export function removeFinalizer(object: KubeObject, finalizer: string): Patch | undefined {
  const { uid, finalizers = [] } = identified(object);
  const at = finalizers.indexOf(finalizer);
  if (at < 0) return undefined;
  const path = `/metadata/finalizers/${at}`;
  return {
    kind: 'json',
    body: [...testIdentity({ uid }), { op: 'test', path, value: finalizer }, { op: 'remove', path }],
  };
}

/** One entry of a pod's `status.conditions`. */
export interface PodConditionPatch {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  /** RFC 3339, whole seconds. */
  readonly lastTransitionTime: string;
}

/**
 * The strategic merge patch, for the `status` subresource of a pod, that sets one condition and leaves the others. With a
 * resourceVersion it passes for that version only; the uid always must match.
 */
export function podConditionPatch(
  identity: { readonly uid: string; readonly resourceVersion?: string },
  condition: PodConditionPatch,
): Patch {
  return { kind: 'strategic', body: { metadata: { ...identity }, status: { conditions: [condition] } } };
}

function identified(object: KubeObject): {
  readonly uid: string;
  readonly resourceVersion: string;
  readonly finalizers?: readonly string[];
} {
  const { uid, resourceVersion, finalizers, name } = object.metadata ?? {};
  if (uid === undefined || resourceVersion === undefined) {
    throw new TypeError(`${object.kind ?? 'object'} ${name ?? ''}: metadata lacks uid or resourceVersion`);
  }
  return finalizers === undefined ? { uid, resourceVersion } : { uid, resourceVersion, finalizers };
}

function isPlainObject(value: Json): value is Readonly<Record<string, Json>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isSameJson(a: Json, b: Json): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, i) => isSameJson(item, b[i]));
  }
  if (!isPlainObject(a) || !isPlainObject(b)) return false;
  return mergePatchBetween(a, b) === undefined;
}
