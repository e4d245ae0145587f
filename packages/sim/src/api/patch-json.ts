/** JSON Patch (RFC 6902) over immutable values. */

import { asText, equal, isList, isObject, type JsonObject, type MutableJson } from '../base/json.js';
import { ApiError, badRequest } from './errors.js';

interface Operation {
  readonly op: string;
  readonly path: readonly string[];
  readonly from: readonly string[];
  readonly value: unknown;
}

/** The document after all operations. Throws 400 for a malformed patch, 422 when an operation does not apply. */
export function jsonPatch(document: unknown, patch: unknown): unknown {
  if (!Array.isArray(patch))
    throw badRequest('error decoding patch: json: cannot unmarshal object into Go value of type jsonpatch.Patch');
  let result = document;
  for (const operation of patch.map(parse)) result = apply(result, operation);
  return result;
}

function parse(raw: unknown): Operation {
  if (!isObject(raw)) throw badRequest('error decoding patch: an operation must be an object');
  return { op: asText(raw['op']), path: pointer(raw['path']), from: pointer(raw['from']), value: raw['value'] };
}

function pointer(text: unknown): readonly string[] {
  if (typeof text !== 'string' || text === '') return [];
  return text
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function apply(document: unknown, { op, path, from, value }: Operation): unknown {
  switch (op) {
    case 'add':
      return edit(document, path, (parent, key) => insert(parent, key, value));
    case 'remove':
      return edit(document, path, remove);
    case 'replace':
      return edit(document, path, (parent, key) => assign(parent, key, value));
    case 'test':
      if (!equal(read(document, path, 'missing allowed') ?? null, value ?? null)) throw refused();
      return document;
    case 'copy':
      return apply(document, { op: 'add', path, from: [], value: read(document, from) });
    case 'move':
      return apply(edit(document, from, remove), { op: 'add', path, from: [], value: read(document, from) });
    default:
      throw refused();
  }
}

function refused(): ApiError {
  return new ApiError(422, 'Invalid', 'the server rejected our request due to an error in our request', {});
}

function read(document: unknown, path: readonly string[], missing?: 'missing allowed'): unknown {
  let here = document;
  for (const key of path) {
    if (Array.isArray(here)) here = here[index(here, key)];
    else if (isObject(here) && Object.hasOwn(here, key)) here = here[key];
    else if (missing === undefined) throw refused();
    else return undefined;
  }
  return here;
}

type Container = readonly unknown[] | JsonObject;

function edit(here: unknown, path: readonly string[], change: (parent: Container, key: string) => unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) throw refused();
  if (Array.isArray(here)) {
    if (rest.length === 0) return change(here, key);
    const i = index(here, key);
    return here.with(i, edit(here[i], rest, change));
  }
  if (!isObject(here)) throw refused();
  if (rest.length === 0) return change(here, key);
  if (!Object.hasOwn(here, key)) throw refused();
  return { ...here, [key]: edit(here[key], rest, change) };
}

function insert(parent: Container, key: string, value: unknown): unknown {
  if (isList(parent)) {
    const i = key === '-' ? parent.length : Number(key);
    if (!Number.isInteger(i) || i < 0 || i > parent.length) throw refused();
    return parent.toSpliced(i, 0, value);
  }
  return { ...parent, [key]: value };
}

function remove(parent: Container, key: string): unknown {
  if (isList(parent)) return parent.toSpliced(index(parent, key), 1);
  if (!Object.hasOwn(parent, key)) throw refused();
  const rest: MutableJson = { ...parent };
  delete rest[key];
  return rest;
}

function assign(parent: Container, key: string, value: unknown): unknown {
  if (isList(parent)) return parent.with(index(parent, key), value);
  if (!Object.hasOwn(parent, key)) throw refused();
  return { ...parent, [key]: value };
}

function index(list: readonly unknown[], key: string): number {
  const i = Number(key);
  if (!Number.isInteger(i) || i < 0 || i >= list.length) throw refused();
  return i;
}
