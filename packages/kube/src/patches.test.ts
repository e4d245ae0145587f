import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import jsonPatch from 'fast-json-patch';
import {
  addFinalizer,
  type JsonPatchOperation,
  jsonPointer,
  mergePatchBetween,
  type Patch,
  podConditionPatch,
  removeFinalizer,
} from './patches.js';
import type { KubeObject } from './resources.js';
import type { Json } from './transport.js';

/** RFC 7386 as its section 2 words it. */
function applyMergePatch(target: Json, patch: Json): Json {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const isObject = typeof target === 'object' && target !== null && !Array.isArray(target);
  const result: Record<string, Json> = isObject ? { ...target } : {};
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = applyMergePatch(result[key], value);
  }
  return result;
}

/** Applies a JSON Patch as a server does; throws when a test fails. */
function applied(object: KubeObject, patch: Patch | undefined): KubeObject {
  if (patch?.kind !== 'json') throw new Error('not a JSON Patch');
  const operations = structuredClone(patch.body) as JsonPatchOperation[];
  return jsonPatch.applyPatch(structuredClone(object), operations as Parameters<typeof jsonPatch.applyPatch>[1], true)
    .newDocument;
}

describe('mergePatchBetween', () => {
  const { json } = fc.letrec((tie) => ({
    json: fc.oneof({ maxDepth: 4 }, fc.integer(), fc.boolean(), fc.string(), tie('list'), tie('object')),
    list: fc.array(tie('json'), { maxLength: 3 }),
    // Few names, so that both sides share some.
    object: fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('json')),
  }));
  const object = fc.dictionary(fc.constantFrom('a', 'b', 'c'), json);

  it('turns one object into the other', () => {
    fc.assert(
      fc.property(object, object, (before, after) => {
        const patch = mergePatchBetween(before, after);
        expect(applyMergePatch(before, patch ?? {})).toEqual(after);
        expect(patch === undefined).toBe(jsonPatch.compare(before, after).length === 0);
      }),
    );
  });

  it('says nothing of what is the same', () => {
    expect(mergePatchBetween({ a: { b: 1, c: [1] }, d: 2 }, { a: { b: 3, c: [1] }, d: 2 })).toEqual({ a: { b: 3 } });
  });

  it('takes undefined for absent', () => {
    expect(mergePatchBetween({ a: 1, b: undefined }, { a: undefined, b: undefined })).toEqual({ a: null });
    expect(mergePatchBetween({ a: undefined }, {})).toBeUndefined();
  });
});

describe('jsonPointer', () => {
  it('escapes slashes and tildes', () => {
    expect(jsonPointer('metadata', 'annotations', 'a/b~c')).toBe('/metadata/annotations/a~1b~0c');
  });
});

describe('finalizers', () => {
  const bare: KubeObject = { metadata: { name: 'x', uid: 'u', resourceVersion: '5' } };
  const held: KubeObject = { metadata: { ...bare.metadata, finalizers: ['other/a', 'ours/f', 'other/b'] } };

  it('are added once, beside those of others', () => {
    expect(applied(bare, addFinalizer(bare, 'ours/f')).metadata?.finalizers).toEqual(['ours/f']);
    expect(applied(held, addFinalizer(held, 'ours/g')).metadata?.finalizers).toEqual([
      'other/a',
      'ours/f',
      'other/b',
      'ours/g',
    ]);
    expect(addFinalizer(held, 'ours/f')).toBeUndefined();
  });

  it('are removed without touching those of others', () => {
    expect(applied(held, removeFinalizer(held, 'ours/f')).metadata?.finalizers).toEqual(['other/a', 'other/b']);
    expect(removeFinalizer(bare, 'ours/f')).toBeUndefined();
  });

  it.each([
    ['added to another object of the same name', { uid: 'v' }, addFinalizer(held, 'ours/g')],
    ['added twice, by a patch whose answer was lost', { resourceVersion: '6' }, addFinalizer(held, 'ours/g')],
    ['removed from another object', { uid: 'v' }, removeFinalizer(held, 'ours/f')],
    [
      'taken for ours when the list has shifted',
      { finalizers: ['ours/f', 'other/b'] },
      removeFinalizer(held, 'ours/f'),
    ],
  ])('are not %s', (_, change, patch) => {
    expect(() => applied({ metadata: { ...held.metadata, ...change } }, patch)).toThrow(/test/i);
  });

  it('need an object that the server has seen', () => {
    expect(() => addFinalizer({ kind: 'Pod', metadata: { name: 'x' } }, 'ours/f')).toThrow(/Pod x: metadata lacks uid/);
  });
});

describe('podConditionPatch', () => {
  it('names one condition, for one pod', () => {
    const condition = {
      type: 'Serving',
      status: 'True',
      reason: 'R',
      message: 'm',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    } as const;
    expect(podConditionPatch({ uid: 'u', resourceVersion: '5' }, condition)).toEqual({
      kind: 'strategic',
      body: { metadata: { uid: 'u', resourceVersion: '5' }, status: { conditions: [condition] } },
    });
  });
});
