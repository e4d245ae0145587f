/** From a raw object to what the cache holds: metadata, and the caller's projection of the rest. */
import { type KubeObject, type ObjectKey, objectKey } from '../resources.js';
import type { Json } from '../transport.js';

/** Which object, and which version of it. */
export interface ObjectMeta {
  readonly key: ObjectKey;
  readonly name: string;
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** One object of the cache. */
export type Entry<T> =
  | {
      readonly meta: ObjectMeta;
      readonly as: 'object';
      readonly value: T;
      /** What each index files the object under, in the order of the indexes. Kept, so that it can be taken out again. */
      readonly terms: readonly (readonly string[])[];
    }
  /** The projection or an index threw: the object exists, and nobody may act on what it says. */
  | { readonly meta: ObjectMeta; readonly as: 'isolated'; readonly error: unknown };

/** What a controller keeps of an object. Throws for an object that cannot be understood. */
export type Projection<T> = (raw: KubeObject) => T;

/** The values under which an index finds an object. */
export type IndexFunction<T> = (value: T, meta: ObjectMeta) => readonly string[];

/** Undefined for what is no Kubernetes object: without it, neither a key nor a position can be told. */
export function readMeta(raw: Json): ObjectMeta | undefined {
  if (typeof raw !== 'object' || raw === null) return undefined;
  const { metadata } = raw as KubeObject;
  const { name, namespace = '', uid, resourceVersion } = metadata ?? {};
  if (name === undefined || uid === undefined || resourceVersion === undefined) return undefined;
  return { key: objectKey({ namespace, name }), name, namespace, uid, resourceVersion };
}

/** Never throws: an object that fails its projection or an index becomes an isolated entry. */
export function decode<T>(
  raw: Json,
  meta: ObjectMeta,
  project: Projection<T>,
  indexes: readonly IndexFunction<T>[],
): Entry<T> {
  try {
    const value = project(raw as KubeObject);
    return { meta, as: 'object', value, terms: indexes.map((index) => index(value, meta)) };
  } catch (error) {
    return { meta, as: 'isolated', error };
  }
}
