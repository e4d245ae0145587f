/** The metadata of every object, as far as the controllers read or write it. */

/** An owner in `metadata.ownerReferences`. */
export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

/** `metadata`. The API server fills in `uid`, `resourceVersion`, `generation` and the times (RFC 3339). */
export interface ObjectMeta {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  readonly ownerReferences?: readonly OwnerReference[];
}

/** A count, or a percentage such as `25%`. */
export type IntOrString = number | string;
/** A Kubernetes quantity: `2`, `"500m"`, `"80Gi"`. */
export type Quantity = number | string;
/** An RFC 3339 time. */
export type Time = string;
/** A JSON object that is stored as written and not looked into. */
export type PreservedObject = Readonly<Record<string, unknown>>;
