/** What the API server says about itself: groups, versions, resources, health. */

import type { JsonObject } from '../base/json.js';
import type { World } from '../base/world.js';
import { noSuchPath } from './errors.js';
import { openApi, openApiIndex } from './openapi.js';
import { apiVersionOf, type Resource } from './resource.js';
import { allResources } from './resources.js';

const VERSION: JsonObject = {
  major: '1',
  minor: '34',
  gitVersion: 'v1.34.4-simulated',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: 'none',
  compiler: 'none',
  platform: 'simulated',
};

const HEALTHY = new Set(['/healthz', '/livez', '/readyz']);

/** The answer to a path that is not one of a resource: JSON, or text. Throws 404. */
export function discovery(world: World, path: string): JsonObject | string {
  const clean = path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
  if (HEALTHY.has(clean)) return 'ok';
  if (clean === '/version') return VERSION;
  if (clean === '/api') return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] };
  if (clean === '/apis') return groupList(world);
  if (clean === '/openapi/v3') return openApiIndex(world);
  const [root, first, second, third] = clean.split('/').slice(1);
  if (root === 'openapi' && first === 'v3') return openApi(world, clean.slice('/openapi/v3/'.length));
  if (third !== undefined || first === undefined) throw noSuchPath();
  if (root === 'api' && second === undefined) return resourceList(world, first);
  if (root === 'apis') return second === undefined ? group(world, first) : resourceList(world, `${first}/${second}`);
  throw noSuchPath();
}

function groupNames(world: World): readonly string[] {
  return [...new Set(allResources(world).map((resource) => resource.group))].filter((name) => name !== '');
}

function groupList(world: World): JsonObject {
  const groups = groupNames(world).map((name) => {
    const { kind: _kind, apiVersion: _version, ...rest } = group(world, name);
    return rest;
  });
  return { kind: 'APIGroupList', apiVersion: 'v1', groups };
}

function group(world: World, name: string): JsonObject {
  const own = allResources(world).filter((resource) => resource.group === name);
  const versions = [...new Set(own.map((resource) => resource.version))].map((version) => {
    return { groupVersion: `${name}/${version}`, version };
  });
  const [preferredVersion] = versions;
  if (preferredVersion === undefined) throw noSuchPath();
  return { kind: 'APIGroup', apiVersion: 'v1', name, versions, preferredVersion };
}

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const SUB_VERBS = ['get', 'patch', 'update'];

function resourceList(world: World, groupVersion: string): JsonObject {
  const own = allResources(world).filter((resource) => apiVersionOf(resource) === groupVersion);
  if (own.length === 0) throw noSuchPath();
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources: own.flatMap(describe) };
}

function describe(resource: Resource): readonly JsonObject[] {
  const { plural: name, singular: singularName, namespaced, kind, shortNames, categories } = resource;
  const sub = (part: string, more: JsonObject): JsonObject => {
    return { name: `${name}/${part}`, singularName: '', namespaced, kind, verbs: SUB_VERBS, ...more };
  };
  return [
    {
      name,
      singularName,
      namespaced,
      kind,
      verbs: VERBS,
      ...(shortNames.length === 0 ? {} : { shortNames }),
      ...(categories.length === 0 ? {} : { categories }),
    },
    ...(resource.status ? [sub('status', {})] : []),
    ...(resource.scale === undefined ? [] : [sub('scale', { group: 'autoscaling', version: 'v1', kind: 'Scale' })]),
    ...(resource.id === 'pods'
      ? [sub('eviction', { group: 'policy', version: 'v1', kind: 'Eviction', verbs: ['create'] })]
      : []),
  ];
}
