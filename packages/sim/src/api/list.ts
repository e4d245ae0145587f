/** Lists: order, selectors, pages, and the version a list is taken at. */

import { asObject, compareText, type JsonObject, without } from '../base/json.js';
import { type KubeObject, keyOf } from '../base/object.js';
import type { Call } from './call.js';
import { badRequest, expired, invalid, tooNew } from './errors.js';
import { apiVersionOf, type Resource } from './resource.js';
import { queryMatcher } from './selectors.js';

interface Page {
  readonly rv: number;
  /** The key of the last object of the page before. */
  readonly after: string;
}

/** The list body of a collection. Throws 400 for bad parameters, 410 when the version asked for is gone. */
export function list(call: Call): JsonObject {
  const { resource, query } = call;
  const limit = Number(query['limit'] ?? 0);
  const page = query['continue'] === undefined || query['continue'] === '' ? undefined : decodePage(query['continue']);
  const rv = page?.rv ?? listVersion(call);
  const matching = select(call, rv);
  const rest = page === undefined ? matching : matching.filter((object) => compareText(keyOf(object), page.after) > 0);
  // A list from the watch cache (resourceVersion=0) ignores the limit.
  const whole = limit <= 0 || query['resourceVersion'] === '0' || rest.length <= limit;
  const items = whole ? rest : rest.slice(0, limit);
  const last = items.at(-1);
  const metadata: JsonObject = {
    resourceVersion: String(rv),
    ...(whole || last === undefined ? NO_PAGE[kindOf(resource)] : { continue: encodePage({ rv, after: keyOf(last) }) }),
    ...(whole || queryMatcher(resource, query) !== undefined ? {} : { remainingItemCount: rest.length - items.length }),
  };
  return {
    kind: `${resource.kind}List`,
    apiVersion: apiVersionOf(resource),
    metadata,
    items: items.map((object) => listItem(resource, object)),
  };
}

/** The objects a list call selects, as they were at a version, in the order of their keys. */
export function select(call: Call, rv: number): readonly KubeObject[] {
  const { world, resource, namespace, query } = call;
  const objects = world.store.listAt(resource.id, rv);
  if (objects === undefined) throw tooOld();
  const matches = queryMatcher(resource, query);
  const selected = [...objects.values()].filter(
    (object) => (namespace === undefined || object.metadata.namespace === namespace) && (matches?.(object) ?? true),
  );
  return selected.toSorted((a, b) => compareText(keyOf(a), keyOf(b)));
}

/** The last page of a custom list names an empty next one. */
const NO_PAGE: Readonly<Record<'custom' | 'built-in', JsonObject>> = { custom: { continue: '' }, 'built-in': {} };

function kindOf(resource: Resource): 'custom' | 'built-in' {
  return resource.custom === undefined ? 'built-in' : 'custom';
}

// Built-in items carry no kind and apiVersion of their own; custom ones do.
function listItem(resource: Resource, object: KubeObject): JsonObject {
  if (resource.custom !== undefined) return asVersion(resource, object);
  return without(without(asObject(object), 'kind'), 'apiVersion');
}

/** A stored custom object in the version it was asked for in. */
export function asVersion(resource: Resource, object: KubeObject): JsonObject {
  const apiVersion = apiVersionOf(resource);
  return object.apiVersion === apiVersion ? object : { ...object, apiVersion };
}

function listVersion(call: Call): number {
  const { world, query } = call;
  const asked = query['resourceVersion'] ?? '';
  const match = query['resourceVersionMatch'];
  if (match !== undefined && asked === '') {
    throw listInvalid('resourceVersionMatch is forbidden unless resourceVersion is provided');
  }
  if (asked === '' || asked === '0') {
    if (match === 'Exact' && asked === '0') {
      throw listInvalid('resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
    }
    return world.store.rv;
  }
  const rv = parseVersion(asked);
  if (match === 'Exact' || (match === undefined && Number(query['limit'] ?? 0) > 0)) {
    if (rv > world.store.rv) throw tooNew(rv, world.store.rv);
    if (world.store.listAt(call.resource.id, rv) === undefined) {
      throw expired('The resourceVersion for the provided list is too old.');
    }
    return rv;
  }
  if (rv > world.store.rv) throw tooNew(rv, world.store.rv);
  return world.store.rv;
}

function listInvalid(detail: string): Error {
  const error = { field: 'resourceVersionMatch', type: 'Forbidden', detail } as const;
  return invalid('meta.k8s.io', 'ListOptions', '', [error]);
}

/** A resourceVersion parameter as a number. Throws 400. */
export function parseVersion(text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  const why = `strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`;
  throw badRequest(`invalid resource version: resourceVersion: Invalid value: ${JSON.stringify(text)}: ${why}`);
}

function tooOld(): Error {
  return expired(
    'The provided continue parameter is too old to display a consistent list result. You must start a new list without the continue parameter.',
  );
}

function encodePage(page: Page): string {
  return btoa(JSON.stringify({ v: 'meta.k8s.io/v1', rv: page.rv, start: page.after }));
}

function decodePage(token: string): Page {
  try {
    const page = asObject(JSON.parse(atob(token)));
    return { rv: Number(page['rv']), after: String(page['start']) };
  } catch {
    throw badRequest('invalid continue token: continue key is not valid: the token could not be decoded');
  }
}
