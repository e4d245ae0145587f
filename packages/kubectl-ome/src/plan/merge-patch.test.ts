import { describe, expect, it } from '@jest/globals';
import { applyPatch, lastAppliedAnnotation, merged } from './merge-patch.js';

describe('merged', () => {
  it.each([
    [{ a: 1 }, { b: 2 }, { a: 1, b: 2 }],
    [{ a: 1, b: 2 }, { b: null }, { a: 1 }],
    [{ a: [1, 2] }, { a: [3] }, { a: [3] }],
    [{ a: { b: 1, c: 2 } }, { a: { b: null } }, { a: { c: 2 } }],
    [{ a: 'text' }, { a: { b: 1, c: null } }, { a: { b: 1 } }],
  ])('%j with %j is %j', (value, patch, result) => {
    expect(merged(value, patch)).toEqual(result);
  });
});

const applied = (last: object, spec: object) => ({
  metadata: { annotations: { [lastAppliedAnnotation]: JSON.stringify(last) } },
  spec,
});

describe('what apply sends', () => {
  it('sets what the file says, removes what it no longer says, and leaves what others have set', () => {
    const current = applied({ spec: { image: 'v1', paused: true } }, { image: 'v1', paused: true, replicas: 5 });
    const patch = applyPatch(current, { spec: { image: 'v2' } });
    expect(patch['spec']).toEqual({ image: 'v2', paused: null });
    expect(merged(current, patch)).toMatchObject({ spec: { image: 'v2', replicas: 5 } });
  });

  it('removes nothing where nobody has applied before', () => {
    expect(applyPatch({ spec: { image: 'v1', replicas: 5 } }, { spec: { image: 'v1' } })['spec']).toBeUndefined();
  });

  it('keeps for the next time what was applied now', () => {
    const file = { spec: { image: 'v2' } };
    const { annotations } = applyPatch({}, file)['metadata'] as { annotations: Readonly<Record<string, string>> };
    expect(JSON.parse(annotations[lastAppliedAnnotation] ?? '')).toEqual(file);
  });
});
