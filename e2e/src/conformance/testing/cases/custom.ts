/** Custom resources: pruning, defaults, validation, transition rules, scale. */
import { expect } from '@jest/globals';
import { at, type Bed, type Case, type Json, MERGE, make, metaOf, read } from '../bed.js';
import { widget } from '../definitions.js';

async function refusal(bed: Bed, spec: Json): Promise<string> {
  const answer = await bed.request('POST', at(bed, 'widgets'), { body: widget('x', spec) });
  expect(answer).toMatchObject({
    status: 422,
    body: { reason: 'Invalid', details: { name: 'x', group: 'conformance.ome.test', kind: 'Widget' } },
  });
  const { causes } = answer.body['details'] as { causes: { field: string; message: string }[] };
  return causes
    .map(({ field, message }) => `${field}: ${message}`)
    .toSorted()
    .join('; ');
}

/** What is added when faults of the schema keep its rules from being checked. */
const UNCHECKED =
  '<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation';

const REFUSALS: readonly (readonly [Json, string])[] = [
  [{ size: 11 }, 'spec.size: Invalid value: 11: spec.size in body should be less than or equal to 10'],
  [{ size: -1 }, 'spec.size: Invalid value: -1: spec.size in body should be greater than or equal to 0'],
  [{ code: 'a1' }, 'spec.code: Invalid value: "a1": spec.code in body should match \'^[a-z]+$\''],
  [{ code: 'a' }, 'spec.code: Invalid value: "a": spec.code in body should be at least 2 chars long'],
  [{ parts: [{ name: 'a' }, { name: 'a' }] }, 'spec.parts[1]: Duplicate value: {"name":"a"}'],
  [{ tags: ['a', 'a'] }, 'spec.tags[1]: Duplicate value: "a"'],
  [{ limits: { low: 5, high: 2 } }, 'spec.limits: Invalid value: "object": low must not be above high'],
];

const BLOCKING: readonly (readonly [Json, string])[] = [
  [{ size: 'big' }, 'spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"'],
  [{ size: 1.5 }, 'spec.size: Invalid value: "number": spec.size in body must be of type integer: "number"'],
  [{ size: null }, 'spec.size: Required value'],
  [{ mode: 'Odd' }, 'spec.mode: Unsupported value: "Odd": supported values: "Fast", "Slow"'],
  [{ code: 'abcdef' }, 'spec.code: Too long: may not be more than 5 bytes'],
  [{ parts: ['a', 'b', 'c', 'd'].map((name) => ({ name })) }, 'spec.parts: Too many: 4: must have at most 3 items'],
  [{ parts: [{ weight: 1 }] }, 'spec.parts[0].name: Required value'],
  [{ port: true }, 'spec.port: Invalid value: "boolean": spec.port in body must be of type integer,string: "boolean"'],
  [
    { labels: { a: 1 } },
    'spec.labels.a: Invalid value: "integer": spec.labels.a in body must be of type string: "integer"',
  ],
];

function merge(bed: Bed, body: Json, name = 'a') {
  return bed.request('PATCH', at(bed, 'widgets', name), { contentType: MERGE, body });
}

export const custom: readonly Case[] = [
  {
    id: 'custom-prune',
    title: 'unknown fields are dropped, except where the schema keeps them',
    needs: 'api',
    run: async (bed) => {
      const made = await make(bed, 'widgets', {
        ...widget('a', { colour: 'red', open: { any: { thing: 1 } }, parts: [{ name: 'p', extra: 1 }] }),
        top: 1,
      });
      expect(made).not.toHaveProperty('top');
      expect(made['spec']).toEqual({ size: 1, mode: 'Fast', open: { any: { thing: 1 } }, parts: [{ name: 'p' }] });
    },
  },
  {
    id: 'custom-strict',
    title: 'strict field validation refuses unknown fields by name',
    needs: 'api',
    run: async (bed) => {
      const query = { fieldValidation: 'Strict' };
      const answer = await bed.request('POST', at(bed, 'widgets'), {
        query,
        body: { ...widget('a', { colour: 'red' }), top: 1 },
      });
      expect(answer).toMatchObject({
        status: 400,
        body: {
          reason: 'BadRequest',
          message:
            'Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "spec.colour", unknown field "top"',
        },
      });
    },
  },
  {
    id: 'custom-defaults',
    title: 'defaults are filled in where the parent is there, at every write, and for null where null is not allowed',
    needs: 'api',
    run: async (bed) => {
      const made = await make(bed, 'widgets', widget('a', { limits: {}, note: null }));
      expect(made['spec']).toEqual({ size: 1, mode: 'Fast', limits: { low: 1 }, note: null });
      await bed.request('PUT', at(bed, 'widgets', 'a'), { body: { ...made, spec: { size: 1, mode: null } } });
      expect((await read(bed, 'widgets', 'a'))['spec']).toEqual({ size: 1, mode: 'Fast' });
    },
  },
  {
    id: 'custom-validation',
    title: 'each rule of a schema has its words',
    needs: 'api',
    run: async (bed) => {
      for (const [spec, words] of REFUSALS) expect([spec, await refusal(bed, spec)]).toEqual([spec, words]);
    },
  },
  {
    id: 'custom-validation-unchecked',
    title: 'where a fault keeps the rules from being checked, the answer says so',
    needs: 'api',
    run: async (bed) => {
      for (const [spec, words] of BLOCKING)
        expect([spec, await refusal(bed, spec)]).toEqual([spec, `${UNCHECKED}; ${words}`]);
    },
  },
  {
    id: 'custom-validation-many',
    title: 'several broken rules are listed together, in the message and as causes',
    needs: 'api',
    run: async (bed) => {
      const spec = { size: 11, code: 'a', limits: { low: 5, high: 2 } };
      expect(await refusal(bed, spec)).toBe(
        [
          'spec.code: Invalid value: "a": spec.code in body should be at least 2 chars long',
          'spec.limits: Invalid value: "object": low must not be above high',
          'spec.size: Invalid value: 11: spec.size in body should be less than or equal to 10',
        ].join('; '),
      );
    },
  },
  {
    id: 'custom-transition',
    title: 'a transition rule lets a field be set once and never changed',
    needs: 'api',
    run: async (bed) => {
      await make(bed, 'widgets', widget('a'));
      expect((await merge(bed, { spec: { fixed: 'one' } })).status).toBe(200);
      const changed = await merge(bed, { spec: { fixed: 'two' } });
      expect(changed.status).toBe(422);
      expect(changed.body['message']).toBe(
        'Widget.conformance.ome.test "a" is invalid: spec.fixed: Invalid value: "string": fixed is immutable',
      );
      expect((await merge(bed, { spec: { fixed: null } })).status).toBe(200);
    },
  },
  {
    id: 'custom-scale',
    title: 'the scale subresource reads and writes the replicas, and nothing else',
    needs: 'api',
    run: async (bed) => {
      const made = await make(bed, 'widgets', widget('a', { replicas: 2 }));
      await bed.request('PATCH', at(bed, 'widgets', 'a', 'status'), {
        contentType: MERGE,
        body: { status: { replicas: 1, selector: 'app=x' } },
      });
      const seen = await bed.request('GET', at(bed, 'widgets', 'a', 'scale'));
      expect(seen).toMatchObject({
        status: 200,
        body: {
          kind: 'Scale',
          apiVersion: 'autoscaling/v1',
          metadata: { name: 'a', namespace: bed.namespace, uid: metaOf(made).uid },
          spec: { replicas: 2 },
          status: { replicas: 1, selector: 'app=x' },
        },
      });
      const put = await bed.request('PUT', at(bed, 'widgets', 'a', 'scale'), {
        body: { ...seen.body, spec: { replicas: 5 } },
      });
      expect(put).toMatchObject({ status: 200, body: { kind: 'Scale', spec: { replicas: 5 } } });
      const late = await bed.request('PUT', at(bed, 'widgets', 'a', 'scale'), {
        body: { ...seen.body, spec: { replicas: 6 } },
      });
      expect(late).toMatchObject({ status: 409, body: { reason: 'Conflict' } });
      const patched = await bed.request('PATCH', at(bed, 'widgets', 'a', 'scale'), {
        contentType: MERGE,
        body: { spec: { replicas: 7 } },
      });
      expect(patched.body).toMatchObject({ kind: 'Scale', spec: { replicas: 7 } });
      const after = await read(bed, 'widgets', 'a');
      expect(after['spec']).toEqual({ size: 1, mode: 'Fast', replicas: 7 });
      expect(metaOf(after).generation).toBe(3);
    },
  },
  {
    id: 'custom-scale-unset',
    title: 'a scale without replicas in the spec is an internal error',
    needs: 'api',
    run: async (bed) => {
      await make(bed, 'widgets', widget('a'));
      const seen = await bed.request('GET', at(bed, 'widgets', 'a', 'scale'));
      expect(seen).toMatchObject({ status: 500, body: { reason: 'InternalError' } });
      expect(seen.body['message']).toContain('the spec replicas field ".spec.replicas" does not exist');
    },
  },
  {
    id: 'custom-table',
    title: 'a table has the columns of the definition',
    needs: 'api',
    run: async (bed) => {
      await make(bed, 'widgets', widget('a', { size: 3 }));
      const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
      const { body } = await bed.request('GET', at(bed, 'widgets'), { accept });
      expect(body).toMatchObject({ kind: 'Table', apiVersion: 'meta.k8s.io/v1' });
      const columns = body['columnDefinitions'] as { name: string }[];
      expect(columns.map(({ name }) => name)).toEqual(['Name', 'Size', 'Phase', 'Age']);
      const [row] = body['rows'] as { cells: unknown[]; object: Json }[];
      expect(row?.cells.slice(0, 3)).toEqual(['a', 3, null]);
      expect(row?.object).toMatchObject({
        kind: 'PartialObjectMetadata',
        apiVersion: 'meta.k8s.io/v1',
        metadata: { name: 'a' },
      });
    },
  },
];
