/** What a resource and an object look like to this package: a type's place in the API, metadata, keys and paths. */

/** `kubectl api-resources` in one row. `T` is the shape of its objects and exists for the compiler alone. */
export interface ResourceType<T extends KubeObject = KubeObject> {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** Never present at run time; it carries `T`. */
  readonly shape?: T;
}

/** The metadata that this package reads. Objects may carry more. */
export interface KubeMetadata {
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
}

export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: KubeMetadata;
}

/** Names one object of a known type. `namespace` is absent for cluster-scoped types. */
export interface ObjectName {
  readonly namespace?: string;
  readonly name: string;
}

/** `namespace/name`, or `name` alone: how caches and queues name an object. */
export type ObjectKey = string;

export function objectKey(name: ObjectName): ObjectKey {
  return name.namespace === undefined || name.namespace === '' ? name.name : `${name.namespace}/${name.name}`;
}

/** The inverse of `objectKey`. */
export function parseObjectKey(key: ObjectKey): ObjectName {
  const slash = key.indexOf('/');
  return slash < 0 ? { name: key } : { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/** `v1`, `apps/v1`. */
export function apiVersionOf(type: ResourceType): string {
  return type.group === '' ? type.version : `${type.group}/${type.version}`;
}

/** `pods`, `leases.coordination.k8s.io`: the name of a type for people and metrics. */
export function resourceName(type: ResourceType): string {
  return type.group === '' ? type.plural : `${type.plural}.${type.group}`;
}

/** Path of all objects of a type, in one namespace or, without it, in all. */
export function collectionPath(type: ResourceType, namespace?: string): string {
  const root = type.group === '' ? `/api/${type.version}` : `/apis/${type.group}/${type.version}`;
  const scope = namespace === undefined || namespace === '' ? '' : `/namespaces/${encodeURIComponent(namespace)}`;
  return `${root}${scope}/${type.plural}`;
}

/**
 * Path of one object, or of a subresource of it.
 *
 * @throws TypeError when a namespaced type is named without a namespace, or the other way round: such a request would
 * reach the wrong objects.
 */
export function objectPath(type: ResourceType, name: ObjectName, subresource?: string): string {
  const hasNamespace = name.namespace !== undefined && name.namespace !== '';
  if (type.namespaced !== hasNamespace) {
    throw new TypeError(
      `${type.kind} ${objectKey(name)}: ${type.namespaced ? 'needs a namespace' : 'is cluster-scoped and takes no namespace'}`,
    );
  }
  const path = `${collectionPath(type, name.namespace)}/${encodeURIComponent(name.name)}`;
  return subresource === undefined ? path : `${path}/${subresource}`;
}

/** Whether an object carries all of these labels. */
export function hasLabels(object: KubeObject, labels: Readonly<Record<string, string>>): boolean {
  const own = object.metadata?.labels;
  return Object.entries(labels).every(([label, value]) => own?.[label] === value);
}

/** The `labelSelector` query of an exact match: `a=1,b=2`, in the order of the labels' names. */
export function labelQuery(labels: Readonly<Record<string, string>>): string {
  return Object.keys(labels)
    .toSorted()
    .map((label) => `${label}=${labels[label]}`)
    .join(',');
}
