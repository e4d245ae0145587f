/** From a stored CustomResourceDefinition to the resources it serves. */

import { ANY, ATOMIC, META, type MergeNode, SET } from '../api/merge-schema.js';
import type { Resource, ScalePaths } from '../api/resource.js';
import { asList, asObject, asText, isObject, type JsonObject } from '../base/json.js';
import type { KubeObject } from '../base/object.js';
import { type CustomVersion, propertySchema, type Schema } from './schema.js';

interface Definition {
  readonly byVersion: ReadonlyMap<string, Resource>;
  readonly storage: Resource | undefined;
}

/** By the spec, which outlives the versions of the object around it. */
const compiled = new WeakMap<JsonObject, Definition>();

/** The resource of one served version, or of the storage version when none is named. */
export function customResource(definition: KubeObject, version: string | undefined): Resource | undefined {
  const { byVersion, storage } = compile(definition);
  return version === undefined ? storage : byVersion.get(version);
}

/** The resources of every served version, in the order of the definition. */
export function customVersions(definition: KubeObject): readonly Resource[] {
  return [...compile(definition).byVersion.values()];
}

function compile(definition: KubeObject): Definition {
  const spec = asObject(definition['spec']);
  const known = compiled.get(spec);
  if (known !== undefined) return known;
  const versions = asList(spec['versions']).filter(isObject);
  const storageVersion = asText(versions.find((version) => version['storage'] === true)?.['name']);
  const resources = new Map<string, Resource>();
  let storage: Resource | undefined;
  for (const version of versions) {
    const resource = compileVersion(spec, version, storageVersion);
    if (version['served'] !== false) resources.set(resource.version, resource);
    if (resource.version === storageVersion) storage = resource;
  }
  const result = { byVersion: resources, storage };
  compiled.set(spec, result);
  return result;
}

function compileVersion(spec: JsonObject, version: JsonObject, storageVersion: string): Resource {
  const names = asObject(spec['names']);
  const kind = asText(names['kind']);
  const group = asText(spec['group']);
  const plural = asText(names['plural']);
  const subresources = asObject(version['subresources']);
  const schema = asObject(asObject(version['schema'])['openAPIV3Schema']) as Schema;
  const custom: CustomVersion = {
    schema,
    storageVersion,
    columns: asList(version['additionalPrinterColumns']) as CustomVersion['columns'],
    selectableFields: asList(version['selectableFields']).map((field) => asText(asObject(field)['jsonPath'])),
  };
  return {
    id: `${plural}.${group}`,
    group,
    version: asText(version['name']),
    kind,
    plural,
    singular: asText(names['singular']) || kind.toLowerCase(),
    shortNames: asList(names['shortNames']) as readonly string[],
    categories: asList(names['categories']) as readonly string[],
    namespaced: spec['scope'] !== 'Cluster',
    status: isObject(subresources['status']),
    ...(isObject(subresources['scale']) ? { scale: subresources['scale'] as unknown as ScalePaths } : {}),
    generation: 'kept',
    merge: { kind: 'object', fields: { metadata: META, ...fieldNodes(schema) }, rest: ANY },
    custom,
  };
}

function fieldNodes(schema: Schema): Readonly<Record<string, MergeNode>> {
  const entries = Object.entries(schema.properties ?? {});
  return Object.fromEntries(entries.filter(([key]) => key !== 'metadata').map(([key, part]) => [key, mergeNode(part)]));
}

function mergeNode(schema: Schema): MergeNode {
  if (schema.type === 'array') return listNode(schema);
  if (schema['x-kubernetes-map-type'] === 'atomic') return ATOMIC;
  if (schema.properties === undefined && typeof schema.additionalProperties !== 'object') return ANY;
  const rest = propertySchema({ additionalProperties: schema.additionalProperties ?? false }, '');
  return { kind: 'object', fields: fieldNodes(schema), rest: rest === undefined ? ANY : mergeNode(rest) };
}

function listNode(schema: Schema): MergeNode {
  const { items } = schema;
  const type = schema['x-kubernetes-list-type'];
  if (type === 'set') return SET;
  if (type !== 'map') return ATOMIC;
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const keyDefaults = Object.fromEntries(
    keys.flatMap((key) => {
      const value = items?.properties?.[key]?.default;
      return value === undefined ? [] : [[key, value]];
    }),
  );
  return { kind: 'map', keys, keyDefaults, item: items === undefined ? ANY : mergeNode(items) };
}
