/** The JSON paths that printer columns use: `.status.conditions[?(@.type=="Ready")].status`. */

import { isList, isObject } from '../base/json.js';

type Step =
  | { readonly is: 'key'; readonly key: string }
  | { readonly is: 'index'; readonly index: number }
  | { readonly is: 'all' }
  | { readonly is: 'where'; readonly key: string; readonly value: string };

const STEP = /\.((?:\\.|[^.[\]\\])+)|\[(\d+)\]|\[\*\]|\[\?\(@\.([^=!]+?)\s*==\s*["']([^"']*)["']\)\]|\['([^']+)'\]/gy;

const parsed = new Map<string, readonly Step[]>();

function parse(path: string): readonly Step[] {
  let steps = parsed.get(path);
  if (steps === undefined) {
    steps = [...path.matchAll(STEP)].map(toStep);
    parsed.set(path, steps);
  }
  return steps;
}

function toStep([text, key, index, field, value, quoted]: RegExpMatchArray): Step {
  if (key !== undefined) return { is: 'key', key: key.replaceAll('\\', '') };
  if (quoted !== undefined) return { is: 'key', key: quoted };
  if (index !== undefined) return { is: 'index', index: Number(index) };
  if (field !== undefined) return { is: 'where', key: field, value: value ?? '' };
  return text === '[*]' ? { is: 'all' } : { is: 'key', key: '' };
}

/** The values a path leads to. */
export function jsonPath(object: unknown, path: string): readonly unknown[] {
  let here: readonly unknown[] = [object];
  for (const step of parse(path)) here = here.flatMap((value) => follow(value, step));
  return here.filter((value) => value !== undefined);
}

function follow(value: unknown, step: Step): readonly unknown[] {
  switch (step.is) {
    case 'key':
      return isObject(value) ? [value[step.key]] : [];
    case 'index':
      return isList(value) ? [value[step.index]] : [];
    case 'all':
      return isList(value) ? value : [];
    case 'where':
      return isList(value) ? value.filter((item) => isObject(item) && item[step.key] === step.value) : [];
  }
}
