/** The custom resources of `ome.io/v1beta1`: the same objects that `crds/*.yaml` and the generated types are made of. */
import type { CustomResourceDefinition } from './definition.js';
import { inferenceReplica } from './inference-replica.js';
import { inferenceService } from './inference-service.js';
import { baseModel, clusterBaseModel } from './model.js';
import { clusterServingRuntime, servingRuntime } from './runtime.js';

export type { CustomResourceDefinition, PrinterColumn, ScaleSubresource } from './definition.js';
export type { IntOrString, ObjectMeta, OwnerReference, PreservedObject, Quantity, Time } from './object-meta.js';
export { type StructuralSchema, typeName, type ValidationRule } from './schema.js';

/** Every CustomResourceDefinition. Larger than a client-side apply can annotate: apply them server-side. */
export const crds: readonly CustomResourceDefinition[] = [
  inferenceService,
  inferenceReplica,
  servingRuntime,
  clusterServingRuntime,
  baseModel,
  clusterBaseModel,
];
