/** From values to sets of fields: all fields of a value, and those in which two values differ. */

import { asObject, equal, isList, isObject, type JsonObject, type MutableJson } from '../../base/json.js';
import { childNode, type MergeNode } from '../merge-schema.js';
import { type FieldTree, isEmpty, SELF } from './tree.js';

/** The parts of a value that are merged one by one, by step; undefined when it is merged as one. */
export function partsOf(value: unknown, node: MergeNode): ReadonlyMap<string, Part> | undefined {
  if (isObject(value)) {
    if (node.kind !== 'object' && node.kind !== 'any') return undefined;
    const entries = Object.entries(value).filter(([, part]) => part !== undefined);
    return new Map(entries.map(([key, part]) => [`f:${key}`, { key, value: part, node: childNode(node, key) }]));
  }
  if (!isList(value)) return undefined;
  if (node.kind === 'set') return new Map(value.map((item) => [`v:${JSON.stringify(item)}`, { value: item, node }]));
  if (node.kind !== 'map') return undefined;
  return new Map(value.map((item) => [itemStep(item, node), { value: item, node: node.item }]));
}

export interface Part {
  /** The name of a field; absent for a list item. */
  readonly key?: string;
  readonly value: unknown;
  readonly node: MergeNode;
}

/** The step of an item of a keyed list. */
export function itemStep(item: unknown, node: Extract<MergeNode, { kind: 'map' }>): string {
  const keys: MutableJson = {};
  for (const key of node.keys.toSorted()) {
    const value = asObject(item)[key] ?? node.keyDefaults?.[key];
    if (value !== undefined) keys[key] = value;
  }
  return `k:${JSON.stringify(keys)}`;
}

/** All fields of a value. */
export function fieldsOf(value: unknown, node: MergeNode): FieldTree {
  const parts = partsOf(value, node);
  if (parts === undefined) return {};
  const tree: MutableJson = {};
  for (const [step, part] of parts) tree[step] = fieldsBelow(step, part);
  return tree;
}

function fieldsBelow(step: string, part: Part): FieldTree {
  const below = fieldsOf(part.value, part.node);
  return step.startsWith('k:') && !isEmpty(below) ? { [SELF]: {}, ...below } : below;
}

export interface Difference {
  /** Fields that are new or have another value. */
  readonly set: FieldTree;
  readonly removed: FieldTree;
}

const SAME: Difference = { set: {}, removed: {} };

/** In which fields `next` differs from `old`. At the root both must be objects. */
export function difference(old: unknown, next: unknown, node: MergeNode): Difference {
  if (equal(old, next)) return SAME;
  const before = partsOf(old, node) ?? new Map<string, Part>();
  const after = partsOf(next, node) ?? new Map<string, Part>();
  const set: MutableJson = {};
  const removed: MutableJson = {};
  for (const [step, part] of after) {
    const earlier = before.get(step);
    if (earlier === undefined) {
      set[step] = fieldsBelow(step, part);
      continue;
    }
    if (equal(earlier.value, part.value)) continue;
    if (isWhole(earlier) || isWhole(part)) {
      set[step] = fieldsBelow(step, part);
      if (!isWhole(earlier)) removed[step] = fieldsBelow(step, earlier);
      continue;
    }
    const below = difference(earlier.value, part.value, part.node);
    if (!isEmpty(below.set)) set[step] = below.set;
    if (!isEmpty(below.removed)) removed[step] = below.removed;
  }
  for (const [step, part] of before) {
    if (!after.has(step)) removed[step] = fieldsBelow(step, part);
  }
  return { set, removed };
}

/** True for a part that is replaced as one: it has no parts, or none now. */
function isWhole(part: Part): boolean {
  const parts = partsOf(part.value, part.node);
  return parts === undefined || parts.size === 0;
}

/** The object without what the server owns, so that nobody is recorded as the owner of it. */
export function ownable(object: JsonObject): JsonObject {
  const { apiVersion: _version, kind: _kind, metadata, ...rest } = object;
  const kept: MutableJson = { ...asObject(metadata) };
  for (const field of SERVER_FIELDS) delete kept[field];
  return isEmpty(kept) ? rest : { ...rest, metadata: kept };
}

const SERVER_FIELDS = [
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'generation',
  'generateName',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'selfLink',
  'managedFields',
];
