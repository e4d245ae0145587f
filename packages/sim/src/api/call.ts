/** One request to the API server, understood: which resource, which object, who asks. */

import { isObject, type JsonObject, wireCopy } from '../base/json.js';
import type { World } from '../base/world.js';
import { badRequest, noSuchPath } from './errors.js';
import type { Resource } from './resource.js';
import { findResource } from './resources.js';

export interface SimRequest {
  readonly method: string;
  /** Absolute, without a query. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
  /** Who asks, for the trace and for field ownership. */
  readonly user?: string;
}

export interface SimResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON, or text where the content type says so. */
  readonly body: unknown;
}

export interface Call {
  readonly world: World;
  readonly resource: Resource;
  /** Undefined for a cluster-scoped resource, and for a list over all namespaces. */
  readonly namespace: string | undefined;
  readonly name: string | undefined;
  readonly subresource: string | undefined;
  readonly query: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly contentType: string;
  readonly accept: string | undefined;
  readonly user: string;
  /** The field manager of a write. */
  readonly manager: string;
}

/** The call a resource path means, or undefined when the path is not one of a resource. */
export function parseCall(world: World, request: SimRequest): Call | undefined {
  const parts = request.path.split('/').filter((part) => part !== '');
  const [root, ...rest] = parts.map(decodeURIComponent);
  let group = '';
  let version: string | undefined;
  let tail: readonly string[];
  if (root === 'api') [version, ...tail] = rest;
  else if (root === 'apis') [group = '', version, ...tail] = rest;
  else return undefined;
  if (version === undefined || tail.length === 0) return undefined;
  const place = locate(tail);
  const resource = findResource(world, group, version, place.plural);
  if (resource === undefined) throw noSuchPath();
  if (place.namespace !== undefined && !resource.namespaced) throw noSuchPath();
  const query = request.query ?? {};
  const user = request.user ?? 'anonymous';
  return {
    world,
    resource,
    namespace: place.namespace,
    name: place.name,
    subresource: place.subresource,
    query,
    body: request.body,
    contentType: request.contentType ?? 'application/json',
    accept: request.accept,
    user,
    manager: query['fieldManager'] ?? user,
  };
}

interface Place {
  readonly namespace?: string;
  readonly plural: string;
  readonly name?: string;
  readonly subresource?: string;
}

// `namespaces/x` and `namespaces/x/status` are about the namespace itself; `namespaces/x/pods` is not.
function locate(tail: readonly string[]): Place {
  const [first = '', second, third] = tail;
  const own = third === undefined || ['status', 'finalize'].includes(third);
  const inNamespace = first === 'namespaces' && second !== undefined && !own;
  const [plural = '', name, subresource] = inNamespace ? tail.slice(2) : tail;
  return {
    plural,
    ...(inNamespace ? { namespace: second } : {}),
    ...(name === undefined ? {} : { name }),
    ...(subresource === undefined ? {} : { subresource }),
  };
}

/** The body as an object of our own, as it would arrive over the wire. */
export function bodyObject(call: Call): JsonObject {
  const body = wireCopy(call.body);
  if (!isObject(body)) throw badRequest('the object provided is unrecognized (must be of type Object)');
  return body;
}

/** True when the write is to be checked but not made. */
export function isDryRun(call: Call): boolean {
  return call.query['dryRun'] === 'All';
}
