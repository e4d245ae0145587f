/**
 * Sets of fields in the form managedFields has them: a tree of `f:name`, `k:{"name":"x"}` and `v:"x"` steps, where an
 * empty tree below a step is a field that belongs to the set as a whole.
 */

import { asObject, compareText, isObject, type JsonObject, type MutableJson } from '../../base/json.js';

export type FieldTree = JsonObject;

/** No fields. At the root only: below a step an empty tree is a field. */
export const NO_FIELDS: FieldTree = Object.freeze({});

/** Marks that an item or an entry itself is in the set, besides what is in it. */
export const SELF = '.';

/** True when the set has no field. */
export function isEmpty(tree: FieldTree): boolean {
  return Object.keys(tree).length === 0;
}

/** The fields of either set. */
export function union(a: FieldTree, b: FieldTree): FieldTree {
  if (isEmpty(a)) return b;
  if (isEmpty(b)) return a;
  const all: MutableJson = { ...a };
  for (const [step, below] of Object.entries(b)) {
    all[step] = step in a ? union(asObject(a[step]), asObject(below)) : below;
  }
  return all;
}

/** The fields of the first set that are not in the second. */
export function subtract(a: FieldTree, b: FieldTree): FieldTree {
  if (isEmpty(b)) return a;
  const rest: MutableJson = {};
  for (const [step, below] of Object.entries(a)) {
    const taken = b[step];
    const mine = asObject(below);
    // A field as a whole and the fields below it are different fields.
    if (!isObject(taken) || isEmpty(mine) !== isEmpty(taken)) rest[step] = below;
    else if (!isEmpty(mine)) {
      const left = subtract(mine, taken);
      if (!isEmpty(left)) rest[step] = left;
    }
  }
  return rest;
}

/** The fields that are in both sets. */
export function intersect(a: FieldTree, b: FieldTree): FieldTree {
  const both: MutableJson = {};
  for (const [step, below] of Object.entries(a)) {
    const other = b[step];
    if (!isObject(other)) continue;
    const mine = asObject(below);
    if (isEmpty(mine) !== isEmpty(other)) continue;
    const common = intersect(mine, other);
    if (isEmpty(mine) || !isEmpty(common)) both[step] = common;
  }
  return both;
}

/** The paths of the fields of a set in order, as messages write them: `.spec.parts[name="a"].weight`. */
export function paths(tree: FieldTree, prefix = ''): readonly string[] {
  return Object.entries(tree)
    .filter(([step]) => step !== SELF)
    .toSorted(([a], [b]) => compareText(a, b))
    .flatMap(([step, below]) => {
      const here = prefix + stepText(step);
      return isEmpty(asObject(below)) ? [here] : paths(asObject(below), here);
    });
}

function stepText(step: string): string {
  if (step.startsWith('f:')) return `.${step.slice(2)}`;
  if (step.startsWith('v:')) return `[=${step.slice(2)}]`;
  const keys = Object.entries(asObject(JSON.parse(step.slice(2))));
  return `[${keys.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(',')}]`;
}
