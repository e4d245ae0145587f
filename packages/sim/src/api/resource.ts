/** What the API server knows of one kind of object. */

import type { CustomVersion } from '../crd/schema.js';
import type { MergeNode } from './merge-schema.js';

export interface ScalePaths {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

/** A column of `kubectl get`. `jsonPath` is relative to the object: `.status.phase`. */
export interface Column {
  readonly name: string;
  readonly type: string;
  readonly jsonPath: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
}

export interface Resource {
  /** `pods`, `inferenceservices.ome.io`: the key in the store. */
  readonly id: string;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  /** Has a status subresource. */
  readonly status: boolean;
  readonly scale?: ScalePaths;
  /** Whether `metadata.generation` is kept. */
  readonly generation: 'kept' | 'none';
  readonly merge: MergeNode;
  /** Present for a custom resource. */
  readonly custom?: CustomVersion;
}

/** `v1`, `apps/v1`. */
export function apiVersionOf(resource: Pick<Resource, 'group' | 'version'>): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
}
