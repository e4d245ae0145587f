/** Merging an applied object into the stored one, and taking out what its manager has dropped. */

import { asObject, isList, isObject, type MutableJson } from '../../base/json.js';
import { childNode, type MergeNode } from '../merge-schema.js';
import { type FieldTree, isEmpty, SELF } from './tree.js';
import { itemStep, partsOf } from './walk.js';

/** The stored value with the applied one merged in. */
export function merge(stored: unknown, applied: unknown, node: MergeNode): unknown {
  if (isObject(stored) && isObject(applied) && partsOf(applied, node) !== undefined) {
    const merged: MutableJson = { ...stored };
    for (const [key, value] of Object.entries(applied)) merged[key] = merge(merged[key], value, childNode(node, key));
    return merged;
  }
  if (!isList(stored) || !isList(applied)) return applied;
  if (node.kind === 'set') return mergeSet(stored, applied);
  if (node.kind === 'map') return mergeItems(stored, applied, node);
  return applied;
}

function mergeSet(stored: readonly unknown[], applied: readonly unknown[]): readonly unknown[] {
  const known = new Set(applied.map((item) => JSON.stringify(item)));
  return [...stored.filter((item) => !known.has(JSON.stringify(item))), ...applied];
}

// Items that were there keep their places; new ones come in the order they were applied.
function mergeItems(
  stored: readonly unknown[],
  applied: readonly unknown[],
  node: Extract<MergeNode, { kind: 'map' }>,
): readonly unknown[] {
  const left = new Map(applied.map((item) => [itemStep(item, node), item]));
  const merged = stored.map((item) => {
    const step = itemStep(item, node);
    const change = left.get(step);
    left.delete(step);
    return change === undefined ? item : merge(item, change, node.item);
  });
  return [...merged, ...left.values()];
}

/** The value without a set of fields. Items and objects that are left with nothing of their own go too. */
export function takeOut(value: unknown, gone: FieldTree, node: MergeNode): unknown {
  if (isObject(value)) {
    const rest: MutableJson = { ...value };
    for (const [key, part] of Object.entries(value)) {
      const below = gone[`f:${key}`];
      if (!isObject(below)) continue;
      if (isEmpty(below)) delete rest[key];
      else {
        const left = takeOut(part, below, childNode(node, key));
        if (left === undefined || (isHollow(left) && !isHollow(part))) delete rest[key];
        else rest[key] = left;
      }
    }
    return rest;
  }
  if (!isList(value)) return value;
  return value.flatMap((item) => takeOutItem(item, gone, node));
}

function takeOutItem(item: unknown, gone: FieldTree, node: MergeNode): readonly unknown[] {
  if (node.kind === 'set') return gone[`v:${JSON.stringify(item)}`] === undefined ? [item] : [];
  if (node.kind !== 'map') return [item];
  const below = gone[itemStep(item, node)];
  if (!isObject(below)) return [item];
  const left = asObject(takeOut(item, withoutKeys(below, node.keys), node.item));
  const onlyKeys = Object.keys(left).every((key) => node.keys.includes(key));
  return onlyKeys && (SELF in below || isEmpty(below)) ? [] : [left];
}

// The keys of an item stay while the item does.
function withoutKeys(tree: FieldTree, keys: readonly string[]): FieldTree {
  return Object.fromEntries(Object.entries(tree).filter(([step]) => !keys.includes(step.slice(2)) && step !== SELF));
}

function isHollow(value: unknown): boolean {
  return (isObject(value) && isEmpty(value)) || (isList(value) && value.length === 0);
}
