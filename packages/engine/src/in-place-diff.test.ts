import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { inPlaceDiff } from './in-place-diff.js';
import type { RevisionPayload } from './snapshot.js';
import { gang, payload } from './testing/world.js';

interface Container {
  readonly name?: string;
  readonly image?: string;
  readonly env?: string;
}

interface Template {
  readonly regular: readonly Container[];
  readonly init?: readonly Container[];
  readonly node?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly protocol?: string;
}

/** A payload of one pod, with nothing in it that its template does not say. */
function single({ regular, init, node, labels, annotations, protocol }: Template): RevisionPayload {
  const metadata = { ...(labels && { labels }), ...(annotations && { annotations }) };
  const spec = {
    containers: regular,
    ...(init && { initContainers: init }),
    ...(node && { nodeSelector: { zone: node } }),
  };
  return {
    runners: [{ name: 'default', size: 1, template: { metadata, spec } }],
    ...(protocol !== undefined && { pairingProtocol: protocol }),
  };
}

const base: Template = { regular: [{ name: 'main', image: 'a:1' }] };
const diff = (from: Template, to: Template) => inPlaceDiff(single(from), single(to));

describe('a change in place', () => {
  it('is seen through what an API server filled in: adopting a revision costs no recreate [B20] [B87]', () => {
    const defaulted = { name: 'main', image: 'a:1', imagePullPolicy: 'IfNotPresent', resources: {} };
    const stored = {
      runners: [
        { name: 'default', size: 1, template: { spec: { containers: [defaulted], dnsPolicy: 'ClusterFirst' } } },
      ],
    } as const;
    expect(inPlaceDiff(stored, single({ regular: [{ name: 'main', image: 'a:2' }] }))?.images).toEqual({ main: 'a:2' });
  });

  it('names the containers whose image differs, and no other', () => {
    const from = {
      regular: [
        { name: 'main', image: 'a:1' },
        { name: 'proxy', image: 'p:1' },
      ],
    };
    const to = {
      regular: [
        { name: 'main', image: 'a:2' },
        { name: 'proxy', image: 'p:1' },
      ],
    };
    expect(diff(from, to)?.images).toEqual({ main: 'a:2' });
  });

  it('calls a container without a name what its pod will call it', () => {
    expect(diff({ regular: [{ image: 'a:1' }] }, { regular: [{ image: 'a:2' }] })?.images).toEqual({
      'ome-container': 'a:2',
    });
  });

  it('adds and changes the annotations of the new template and takes away those that the old one had alone', () => {
    const from = { ...base, annotations: { kept: '1', changed: '1', dropped: '1' } };
    const to = { ...base, annotations: { kept: '1', changed: '2', added: '1' } };
    expect(diff(from, to)?.annotations).toEqual({ kept: '1', changed: '2', added: '1', dropped: null });
  });

  it('leaves labels to pods that are made anew', () => {
    expect(diff(base, { ...base, labels: { tier: 'gold' } })).toEqual({
      images: {},
      annotations: {},
      pairingProtocol: '',
    });
  });

  it('carries the protocol of the new revision', () => {
    expect(diff(base, { ...base, protocol: 'v2' })?.pairingProtocol).toBe('v2');
  });

  it.each<[string, Template]>([
    ['an init container has another image', { ...base, init: [{ name: 'fetch', image: 'f:2' }] }],
    ['a container has another environment', { regular: [{ name: 'main', image: 'a:1', env: 'x' }] }],
    ['a container has another name', { regular: [{ name: 'other', image: 'a:1' }] }],
    ['there is a container more', { regular: [...base.regular, { name: 'proxy', image: 'p:1' }] }],
    ['the pod goes elsewhere', { ...base, node: 'b' }],
    ['an image is taken away', { regular: [{ name: 'main' }] }],
  ])('is impossible when %s [E39]', (_, to) => {
    expect(diff({ ...base, init: to.init && [{ name: 'fetch', image: 'f:1' }] } as Template, to)).toBeUndefined();
  });

  it('is impossible when two containers change places: their order is theirs', () => {
    const [a, b] = [
      { name: 'a', image: 'x' },
      { name: 'b', image: 'x' },
    ];
    expect(diff({ regular: [a, b] }, { regular: [b, a] })).toBeUndefined();
  });

  it('is impossible for a gang, and between a gang and a single pod [E38]', () => {
    expect(inPlaceDiff(payload('v1', gang(1)), payload('v2', gang(1)))).toBeUndefined();
    expect(inPlaceDiff(payload('v1'), payload('v2', gang(1)))).toBeUndefined();
  });
});

const key = fc.constantFrom('a', 'b', 'c');
const keys = fc.option(fc.dictionary(key, fc.constantFrom('1', '2'), { maxKeys: 3 }), { nil: undefined });
const image = fc.constantFrom('i:1', 'i:2', 'i@sha256:aa');
const container = fc.record({ name: fc.constantFrom('main', 'proxy'), image, env: fc.constantFrom('x', 'x', 'y') });
const containers = fc.uniqueArray(container, { selector: (one) => one.name, minLength: 1, maxLength: 2 });
const template: fc.Arbitrary<Template> = fc.record(
  {
    regular: containers,
    init: containers,
    node: fc.constantFrom('n1', 'n2'),
    labels: keys,
    annotations: keys,
    protocol: fc.constantFrom('', 'p'),
  },
  { requiredKeys: ['regular'] },
) as fc.Arbitrary<Template>;

/** All of a template but regular images and metadata, as text. */
function fixed({ regular, init, node }: Template): string {
  return JSON.stringify([regular.map(({ name, env }) => [name, env]), init ?? null, node ?? null]);
}

describe('for any two templates', () => {
  it('a change in place exists just when they differ in regular images and metadata alone [E39] [B87]', () => {
    fc.assert(
      fc.property(template, template, fc.boolean(), (from, other, isNear) => {
        // Half of the pairs are made near, or hardly any would be possible.
        const to = isNear ? { ...other, ...near(from, other) } : other;
        expect(diff(from, to) !== undefined).toBe(fixed(from) === fixed(to));
      }),
      { numRuns: 500 },
    );
  });

  it('applying it turns the one into the other and touches no key of anybody else', () => {
    fc.assert(
      fc.property(template, template, (from, other) => {
        const to = { ...other, ...near(from, other) };
        const found = diff(from, to);
        const images = Object.fromEntries(from.regular.map((one) => [one.name, one.image]));
        expect({ ...images, ...found?.images }).toEqual(
          Object.fromEntries(to.regular.map((one) => [one.name, one.image])),
        );
        const patched = { foreign: '1', ...from.annotations, ...found?.annotations };
        expect(Object.fromEntries(Object.entries(patched).filter(([, value]) => value !== null))).toEqual({
          foreign: '1',
          ...to.annotations,
        });
      }),
      { numRuns: 300 },
    );
  });
});

/** What `to` must take over from `from` to differ in images and metadata alone; its images come from `images`. */
function near(from: Template, images: Template): Pick<Template, 'regular' | 'init' | 'node'> {
  const regular = from.regular.map((one, at) => ({ ...one, image: images.regular[at]?.image ?? 'i:3' }));
  return { regular, ...({ init: from.init, node: from.node } as object) };
}
