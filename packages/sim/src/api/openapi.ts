/**
 * The least OpenAPI that kubectl needs: that a PATCH understands `fieldValidation`, so that it leaves validation to the
 * server, and the schemas of custom resources, so that it can explain them.
 */

import type { JsonObject } from '../base/json.js';
import type { World } from '../base/world.js';
import { noSuchPath } from './errors.js';
import { apiVersionOf, type Resource } from './resource.js';
import { allResources } from './resources.js';

/** `/openapi/v3`: where each group's document is. */
export function openApiIndex(world: World): JsonObject {
  const names = new Set(allResources(world).map(documentName));
  const paths = Object.fromEntries([...names].map((name) => [name, { serverRelativeURL: `/openapi/v3/${name}` }]));
  return { paths };
}

/** The document of one group and version: `api/v1`, `apis/ome.io/v1beta1`. Throws 404. */
export function openApi(world: World, name: string): JsonObject {
  const own = allResources(world).filter((resource) => documentName(resource) === name);
  if (own.length === 0) throw noSuchPath();
  return {
    openapi: '3.0.0',
    info: { title: 'Kubernetes, simulated', version: 'v1.34.4' },
    paths: Object.fromEntries(own.map((resource) => [`/${name}/${objectPath(resource)}`, pathItem(resource)])),
    components: { schemas: Object.fromEntries(own.map((resource) => [schemaName(resource), schema(resource)])) },
  };
}

function documentName(resource: Resource): string {
  return resource.group === '' ? `api/${resource.version}` : `apis/${apiVersionOf(resource)}`;
}

function objectPath(resource: Resource): string {
  return resource.namespaced ? `namespaces/{namespace}/${resource.plural}/{name}` : `${resource.plural}/{name}`;
}

function typeOf(resource: Resource): JsonObject {
  const { group, version, kind } = resource;
  return { group, version, kind };
}

function schemaName(resource: Resource): string {
  const group = resource.group === '' ? 'core' : resource.group;
  return [...group.split('.').toReversed(), resource.version, resource.kind].join('.');
}

function pathItem(resource: Resource): JsonObject {
  const parameters = ['fieldManager', 'fieldValidation', 'dryRun', 'force'].map((name) => {
    return { name, in: 'query', schema: { type: 'string' } };
  });
  const operation = (action: string): JsonObject => ({
    'x-kubernetes-action': action,
    'x-kubernetes-group-version-kind': typeOf(resource),
    parameters,
    responses: { '200': { description: 'OK', content: { 'application/json': { schema: reference(resource) } } } },
  });
  return { get: operation('get'), patch: operation('patch') };
}

function reference(resource: Resource): JsonObject {
  return { $ref: `#/components/schemas/${schemaName(resource)}` };
}

function schema(resource: Resource): JsonObject {
  const known = resource.custom?.schema ?? { type: 'object' };
  const properties = {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { type: 'object' },
    ...known.properties,
  };
  return { ...known, properties, 'x-kubernetes-group-version-kind': [typeOf(resource)] };
}
