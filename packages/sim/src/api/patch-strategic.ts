/** Strategic merge patch: a merge patch that knows which lists are keyed. */

import { asText, equal, isObject, type JsonObject, type MutableJson } from '../base/json.js';
import { badRequest } from './errors.js';
import { childNode, type MergeNode } from './merge-schema.js';

const DELETE_FROM = '$deleteFromPrimitiveList/';
const ORDER = '$setElementOrder/';

/** The target with the patch merged in under a merge tree. Throws 400 for an item without its key. */
export function strategicMerge(target: unknown, patch: JsonObject, node: MergeNode): JsonObject {
  const directive = patch['$patch'];
  const plain = Object.entries(patch).filter(([key]) => !key.startsWith('$'));
  if (directive === 'delete') return {};
  if (directive === 'replace') return Object.fromEntries(plain.filter(([, value]) => value !== null));
  const merged: MutableJson = isObject(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (!key.startsWith(DELETE_FROM) || !Array.isArray(value)) continue;
    const field = key.slice(DELETE_FROM.length);
    const list = merged[field];
    if (Array.isArray(list)) merged[field] = list.filter((item) => !value.some((gone) => equal(gone, item)));
  }
  for (const [key, value] of plain) {
    if (value === null) {
      delete merged[key];
      continue;
    }
    merged[key] = mergeValue(merged[key], value, childNode(node, key));
  }
  for (const [key, value] of Object.entries(patch)) {
    if (!key.startsWith(ORDER) || !Array.isArray(value)) continue;
    const field = key.slice(ORDER.length);
    const list = merged[field];
    const below = childNode(node, field);
    if (Array.isArray(list) && below.kind === 'map') merged[field] = inOrder(list, value, below.patchKey);
  }
  const retain = patch['$retainKeys'];
  if (!Array.isArray(retain)) return merged;
  return Object.fromEntries(Object.entries(merged).filter(([key]) => retain.includes(key)));
}

function mergeValue(target: unknown, value: unknown, node: MergeNode): unknown {
  if (Array.isArray(value)) {
    if (node.kind === 'map' && node.patchKey !== undefined) return mergeList(target, value, node.patchKey, node.item);
    if (node.kind === 'set') {
      const before: readonly unknown[] = Array.isArray(target) ? target : [];
      return [...before, ...value.filter((item) => !before.some((old) => equal(old, item)))];
    }
    return value;
  }
  // Objects merge field by field whatever the apply rules say: atomic is a word of server-side apply.
  return isObject(value) ? strategicMerge(target, value, node) : value;
}

function mergeList(target: unknown, patch: readonly unknown[], key: string, item: MergeNode): readonly unknown[] {
  const replaces = patch.some((one) => isObject(one) && one['$patch'] === 'replace' && one[key] === undefined);
  const merged: unknown[] = replaces || !Array.isArray(target) ? [] : [...target];
  for (const one of patch) {
    if (!isObject(one)) throw badRequest('a list item of a strategic merge patch must be an object');
    const name = one[key];
    if (name === undefined) {
      if (one['$patch'] === 'replace') continue;
      throw badRequest(`map: ${JSON.stringify(one)} does not contain declared merge key: ${key}`);
    }
    const i = merged.findIndex((old) => isObject(old) && equal(old[key], name));
    if (one['$patch'] === 'delete') {
      if (i >= 0) merged.splice(i, 1);
    } else if (i < 0) {
      merged.push(strategicMerge({}, one, item));
    } else {
      merged[i] = strategicMerge(merged[i], one, item);
    }
  }
  return merged;
}

// Items the order names come in that order, in the places the named ones held; the others stay where they are.
function inOrder(list: readonly unknown[], order: readonly unknown[], key: string | undefined): readonly unknown[] {
  if (key === undefined) return list;
  const nameOf = (item: unknown): string => JSON.stringify(isObject(item) ? item[key] : asText(item));
  const rank = new Map(order.map((item, i) => [nameOf(item), i]));
  const named = list.filter((item) => rank.has(nameOf(item)));
  named.sort((a, b) => (rank.get(nameOf(a)) ?? 0) - (rank.get(nameOf(b)) ?? 0));
  return list.map((item) => (rank.has(nameOf(item)) ? named.shift() : item));
}
