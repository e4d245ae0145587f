/** One request in, one answer out: the API server without a wire. */

import { asObject, type JsonObject } from '../base/json.js';
import type { World } from '../base/world.js';
import { bind } from './binding.js';
import { bodyObject, type Call, parseCall, type SimRequest, type SimResponse } from './call.js';
import { create } from './create.js';
import { deleteOptions, remove } from './delete.js';
import { discovery } from './discovery.js';
import { draftOf } from './draft.js';
import { ApiError, methodNotAllowed, noSuchPath, notImplemented, tooLarge } from './errors.js';
import { evict } from './eviction.js';
import { asVersion, list, select } from './list.js';
import { patch } from './patch.js';
import { render } from './render.js';
import { existing, replace } from './replace.js';
import type { Resource } from './resource.js';
import { REVIEWS } from './resources.js';
import { readScale, writeScale } from './scale.js';
import { SimWatch } from './watch.js';

/** Answers a request, applying what it asks. Never throws for a fault of the request. */
export function handle(world: World, request: SimRequest): SimResponse {
  return answer((): SimResponse => {
    checkBodySize(world, request);
    const call = parseCall(world, request);
    if (call === undefined) return ok(200, discovery(world, request.path));
    const { status, body } = dispatch(call, request.method);
    return ok(status, render(call, body));
  });
}

/** Opens a watch, or answers why not. `asOfRv`: the server has seen nothing after that version. */
export function openWatch(world: World, request: SimRequest, asOfRv?: number): SimWatch | SimResponse {
  const call = answer(() => parseCall(world, request) ?? refusal(noSuchPath()));
  return 'status' in call ? call : answer(() => new SimWatch(call, asOfRv));
}

/** True for a request that `openWatch` is to be asked. */
export function isWatch(request: SimRequest): boolean {
  const { watch } = request.query ?? {};
  return request.method === 'GET' && (watch === 'true' || watch === '1');
}

/** The answer that carries a refusal. */
export function refusal(error: ApiError): SimResponse {
  const seconds = asObject(error.details)['retryAfterSeconds'];
  const headers = {
    'content-type': 'application/json',
    ...(seconds === undefined ? {} : { 'retry-after': JSON.stringify(seconds) }),
  };
  return { status: error.code, headers, body: error.status() };
}

function answer<T>(work: () => T): T | SimResponse {
  try {
    return work();
  } catch (error) {
    if (error instanceof ApiError) return refusal(error);
    throw error;
  }
}

function ok(status: number, body: unknown): SimResponse {
  const type = typeof body === 'string' ? 'text/plain' : 'application/json';
  return { status, headers: { 'content-type': type }, body };
}

function checkBodySize(world: World, request: SimRequest): void {
  if (request.body === undefined) return;
  const bytes = JSON.stringify(request.body).length;
  const limit = world.options.maxRequestBytes;
  if (bytes > limit) throw tooLarge(`Request entity too large: limit is ${limit}`);
}

interface Answer {
  readonly status: number;
  readonly body: JsonObject;
}

function dispatch(call: Call, method: string): Answer {
  if (call.subresource !== undefined) checkSubresource(call.resource, call.subresource);
  switch (method) {
    case 'GET':
      if (call.name === undefined) return { status: 200, body: list(call) };
      if (call.subresource === 'scale') return { status: 200, body: readScale(call.resource, existing(call)) };
      return { status: 200, body: asVersion(call.resource, existing(call)) };
    case 'POST':
      if (call.subresource === 'eviction') return { status: 201, body: evict(call) };
      if (call.subresource === 'binding') return { status: 201, body: bind(call) };
      if (call.name !== undefined) throw methodNotAllowed();
      // Everybody may do everything here.
      if (call.resource.plural === REVIEWS)
        return { status: 201, body: { ...draftOf(call), status: { allowed: true } } };
      return { status: 201, body: asVersion(call.resource, create(call, draftOf(call))) };
    case 'PUT':
      if (call.name === undefined) throw methodNotAllowed();
      return { status: 200, body: put(call) };
    case 'PATCH': {
      if (call.name === undefined) throw methodNotAllowed();
      const { object, created } = patch(call);
      return { status: created ? 201 : 200, body: object };
    }
    case 'DELETE':
      return call.name === undefined ? removeAll(call) : removeOne(call);
    default:
      throw methodNotAllowed();
  }
}

function checkSubresource(resource: Resource, subresource: string): void {
  switch (subresource) {
    case 'status':
      if (!resource.status) throw noSuchPath();
      return;
    case 'scale':
      if (resource.scale === undefined) throw noSuchPath();
      return;
    case 'eviction':
    case 'binding':
      if (resource.id !== 'pods') throw noSuchPath();
      return;
    case 'finalize':
      if (resource.id !== 'namespaces') throw noSuchPath();
      return;
    case 'log':
    case 'exec':
    case 'attach':
    case 'portforward':
    case 'proxy':
      throw notImplemented(`simulated: pods of this cluster run no processes, so there is no ${subresource}`);
    default:
      throw noSuchPath();
  }
}

function put(call: Call): JsonObject {
  const old = existing(call);
  if (call.subresource === 'scale') return writeScale(call, old, bodyObject(call));
  return asVersion(call.resource, replace(call, old, draftOf(call), 'put'));
}

function removeOne(call: Call): Answer {
  const { object, gone } = remove(call, deleteOptions(call));
  // Pods and Services are answered with what was deleted; of everything else that is gone there is only a Status.
  if (!gone || RETURNED.has(call.resource.id)) return { status: 200, body: asVersion(call.resource, object) };
  const { group, plural } = call.resource;
  const details = {
    name: object.metadata.name,
    ...(group === '' ? {} : { group }),
    kind: plural,
    uid: object.metadata.uid,
  };
  return { status: 200, body: { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details } };
}

const RETURNED: ReadonlySet<string> = new Set(['pods', 'services', 'serviceaccounts', 'resourcequotas']);

function removeAll(call: Call): Answer {
  const options = deleteOptions(call);
  const body = list(call);
  for (const { metadata } of select(call, call.world.store.rv)) {
    remove({ ...call, name: metadata.name, namespace: metadata.namespace }, options);
  }
  return { status: 200, body };
}
