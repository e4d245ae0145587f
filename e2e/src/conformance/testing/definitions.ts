/** A custom resource made for these cases: one of each thing that a schema can say. */
import type { Json } from './bed.js';

const spec = {
  type: 'object',
  required: ['size'],
  properties: {
    size: { type: 'integer', format: 'int32', minimum: 0, maximum: 10 },
    replicas: { type: 'integer', format: 'int32' },
    mode: { type: 'string', enum: ['Fast', 'Slow'], default: 'Fast' },
    code: { type: 'string', pattern: '^[a-z]+$', minLength: 2, maxLength: 5 },
    fixed: { type: 'string', 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'fixed is immutable' }] },
    limits: {
      type: 'object',
      properties: {
        low: { type: 'integer', default: 1 },
        high: { type: 'integer' },
      },
      'x-kubernetes-validations': [
        { rule: '!has(self.high) || self.low <= self.high', message: 'low must not be above high' },
      ],
    },
    parts: {
      type: 'array',
      maxItems: 3,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      items: {
        type: 'object',
        required: ['name'],
        properties: { name: { type: 'string' }, weight: { type: 'integer' } },
      },
    },
    tags: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string' } },
    port: { 'x-kubernetes-int-or-string': true },
    open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    note: { type: 'string', nullable: true },
  },
};

const status = {
  type: 'object',
  properties: {
    replicas: { type: 'integer' },
    selector: { type: 'string' },
    phase: { type: 'string' },
  },
};

/** The definitions the cases need. */
export const definitions: readonly Json[] = [
  {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.conformance.ome.test' },
    spec: {
      group: 'conformance.ome.test',
      scope: 'Namespaced',
      names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList', shortNames: ['wdg'] },
      versions: [
        {
          name: 'v1',
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: 'object', properties: { spec, status } } },
          subresources: {
            status: {},
            scale: {
              specReplicasPath: '.spec.replicas',
              statusReplicasPath: '.status.replicas',
              labelSelectorPath: '.status.selector',
            },
          },
          additionalPrinterColumns: [
            { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
            { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
            { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
          ],
        },
      ],
    },
  },
];

/** A widget that breaks no rule. */
export function widget(name: string, more: Json = {}, metadata: Json = {}): Json {
  return {
    apiVersion: 'conformance.ome.test/v1',
    kind: 'Widget',
    metadata: { name, ...metadata },
    spec: { size: 1, ...more },
  };
}
