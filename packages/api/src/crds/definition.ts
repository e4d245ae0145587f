/** The CustomResourceDefinition around a schema. */
import { apiGroup } from '../labels.js';
import { about, named, object, type StructuralSchema, str, type ValidationRule, withRules } from './schema.js';

/** A column of `kubectl get`. Priority 0 is always shown, higher ones with `-o wide`. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'integer' | 'boolean' | 'date';
  readonly jsonPath: string;
  readonly priority?: number;
}

/** The scale subresource: where the counts and the selector are. */
export interface ScaleSubresource {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath: string;
}

/** One version of a custom resource. */
export interface CustomResourceVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly additionalPrinterColumns: readonly PrinterColumn[];
  readonly schema: { readonly openAPIV3Schema: StructuralSchema };
  readonly subresources: { readonly status: Record<string, never>; readonly scale?: ScaleSubresource };
}

/** `apiextensions.k8s.io/v1` CustomResourceDefinition, as far as ours use it. */
export interface CustomResourceDefinition {
  readonly apiVersion: 'apiextensions.k8s.io/v1';
  readonly kind: 'CustomResourceDefinition';
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly group: string;
    readonly scope: 'Namespaced' | 'Cluster';
    readonly names: {
      readonly kind: string;
      readonly listKind: string;
      readonly plural: string;
      readonly singular: string;
      readonly shortNames?: readonly string[];
    };
    readonly versions: readonly [CustomResourceVersion];
  };
}

/** What makes one kind different from another. */
export interface ResourceOptions {
  readonly kind: string;
  readonly plural: string;
  readonly scope: 'Namespaced' | 'Cluster';
  readonly shortNames?: readonly string[];
  readonly description: string;
  readonly spec: StructuralSchema;
  readonly status: StructuralSchema;
  /** What to write into a missing spec; for people. */
  readonly specHint: string;
  /** Rules over the whole object; only the name of its metadata can be seen. */
  readonly rules?: readonly ValidationRule[];
  readonly columns: readonly PrinterColumn[];
  readonly scale?: ScaleSubresource;
}

/** The definition of a kind in version `v1beta1`, with a status subresource. */
export function defineResource(options: ResourceOptions): CustomResourceDefinition {
  // Not `required`: an object without a spec that is already stored must still be able to lose its finalizers.
  const specIsThere: ValidationRule = {
    rule: 'has(self.spec) || (oldSelf.hasValue() && !has(oldSelf.value().spec))',
    optionalOldSelf: true,
    message: `spec is required; ${options.specHint}`,
  };
  const root = named(
    options.kind,
    object({
      apiVersion: str(),
      kind: str(),
      metadata: { type: 'object' },
      spec: about('What is wanted.', options.spec),
      status: about('What is; written by the controller.', options.status),
    }),
  );
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${options.plural}.${apiGroup}` },
    spec: {
      group: apiGroup,
      scope: options.scope,
      names: {
        kind: options.kind,
        listKind: `${options.kind}List`,
        plural: options.plural,
        singular: options.kind.toLowerCase(),
        ...(options.shortNames ? { shortNames: options.shortNames } : {}),
      },
      versions: [
        {
          name: 'v1beta1',
          served: true,
          storage: true,
          additionalPrinterColumns: options.columns,
          schema: {
            openAPIV3Schema: about(options.description, withRules(root, specIsThere, ...(options.rules ?? []))),
          },
          subresources: { status: {}, ...(options.scale ? { scale: options.scale } : {}) },
        },
      ],
    },
  };
}
