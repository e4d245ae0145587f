/** The schemas obey what the API server asks of a structural schema, so that a mistake shows before a cluster sees it. */
import { describe, expect, it } from '@jest/globals';
import { crds } from './index.js';
import { scalarProblem } from './scalars.js';
import type { StructuralSchema } from './schema.js';

interface Node {
  readonly at: string;
  readonly schema: StructuralSchema;
}

function* walk(schema: StructuralSchema, at: string): Generator<Node> {
  yield { at, schema };
  for (const [key, property] of Object.entries(schema.properties ?? {})) yield* walk(property, `${at}.${key}`);
  if (schema.items) yield* walk(schema.items, `${at}[]`);
  if (schema.additionalProperties) yield* walk(schema.additionalProperties, `${at}{}`);
}

const nodes: readonly Node[] = crds.flatMap((crd) => [
  ...walk(crd.spec.versions[0].schema.openAPIV3Schema, crd.spec.names.kind),
]);

/** Where the nodes are for which `fault` says what is wrong. */
function faults(fault: (schema: StructuralSchema, at: string) => string | false | undefined): string[] {
  return nodes.flatMap(({ schema, at }) => {
    const found = fault(schema, at);
    return found ? [`${at}: ${found}`] : [];
  });
}

/** The schema that `self.a.b` means in a rule of `schema`; undefined when a part of it is a CEL variable or function. */
function resolve(schema: StructuralSchema, path: string): StructuralSchema | undefined {
  return path
    .split('.')
    .filter((key) => key !== '')
    .reduce<StructuralSchema | undefined>((inner, key) => inner?.properties?.[key], schema);
}

describe('the schemas', () => {
  it('give every node a type, and use anyOf only for a number or text', () => {
    expect(
      faults((schema) => {
        if (schema['x-kubernetes-int-or-string']) return (schema.type || schema.anyOf?.length !== 2) && 'int-or-string';
        return (!schema.type && 'no type') || (schema.anyOf && 'anyOf');
      }),
    ).toEqual([]);
  });

  it('never name fields and free keys in one object', () => {
    expect(faults((schema) => schema.properties && schema.additionalProperties && 'both')).toEqual([]);
  });

  it('require only fields that exist', () => {
    expect(
      faults((schema) => schema.required?.filter((name) => !schema.properties?.[name]).join(', ') || undefined),
    ).toEqual([]);
  });

  it('say of every list how it is merged, and of what', () => {
    expect(
      faults(
        (schema) =>
          schema.type === 'array' && !(schema.items && schema['x-kubernetes-list-type']) && 'no items or list type',
      ),
    ).toEqual([]);
  });

  it('require or default the keys of list maps, which are scalars', () => {
    expect(
      faults((schema) => {
        if (schema['x-kubernetes-list-type'] !== 'map') return undefined;
        const keys = schema['x-kubernetes-list-map-keys'] ?? [];
        const good = (key: string): boolean => {
          const property = schema.items?.properties?.[key];
          if (!property || property.nullable || property.type === 'object' || property.type === 'array') return false;
          return schema.items?.required?.includes(key) === true || property.default !== undefined;
        };
        return (keys.length === 0 && 'no keys') || keys.filter((key) => !good(key)).join(', ') || undefined;
      }),
    ).toEqual([]);
  });

  it('hold only scalars in sets', () => {
    expect(
      faults(
        (schema) =>
          schema['x-kubernetes-list-type'] === 'set' &&
          (schema.items?.type === 'object' || schema.items?.type === 'array') &&
          'objects in a set',
      ),
    ).toEqual([]);
  });

  it('default only below the root, to values that are valid there', () => {
    expect(
      faults((schema, at) => {
        if (schema.default === undefined) return undefined;
        return (at.split('.').length < 3 && 'default near the root') || scalarProblem(schema, schema.default);
      }),
    ).toEqual([]);
  });

  it('leave metadata to the API server', () => {
    expect(
      faults(
        (schema, at) => /^\w+\.metadata$/.test(at) && Object.keys(schema).join() !== 'type' && 'metadata is checked',
      ),
    ).toEqual([]);
  });

  it('use patterns that Go and JavaScript read alike', () => {
    expect(faults((schema) => schema.pattern && /\(\?|\\[dwsb1-9]/.test(schema.pattern) && schema.pattern)).toEqual([]);
  });
});

describe('the validation rules', () => {
  it('explain themselves to people', () => {
    expect(
      faults(
        (schema) => schema['x-kubernetes-validations']?.find(({ message }) => !message || message.length < 10)?.rule,
      ),
    ).toEqual([]);
  });

  it('go only over lists and maps of a bounded size', () => {
    expect(
      faults((schema) =>
        (schema['x-kubernetes-validations'] ?? [])
          .flatMap(({ rule }) => [...rule.matchAll(/self((?:\.\w+)*)\.(?:all|exists|exists_one|filter|map)\(/g)])
          .map(([text, path]) => ({ text, inner: resolve(schema, path ?? '') }))
          .filter(({ inner }) => inner && inner.maxItems === undefined && inner.maxProperties === undefined)
          .map(({ text }) => text)
          .join(', '),
      ),
    ).toEqual([]);
  });

  it('reach only fields that exist', () => {
    const outside = new Set([
      'metadata',
      'value',
      'hasValue',
      'size',
      'matches',
      'endsWith',
      'all',
      'exists',
      'exists_one',
      'filter',
    ]);
    expect(
      faults((schema) =>
        (schema['x-kubernetes-validations'] ?? [])
          .flatMap(({ rule }) => [...rule.matchAll(/\b(?:self|oldSelf(?:\.value\(\))?)\.(\w+)/g)])
          .map(([, field]) => field ?? '')
          .filter((field) => !outside.has(field) && !schema.properties?.[field])
          .join(', '),
      ),
    ).toEqual([]);
  });
});
