import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import type { Component } from '@omenative/api';
import fc from 'fast-check';
import { payloadOf, revisionContent, revisionHash, revisionName } from './revision.js';
import type { RevisionPayload } from './snapshot.js';

interface Golden {
  readonly name: string;
  readonly payload: RevisionPayload;
  readonly collisionCount: number;
  readonly hash: string;
}

/** Hashes that clusters already carry on their pods: an entry may be added, none may ever change. */
const goldens: readonly Golden[] = JSON.parse(
  readFileSync(new URL('../golden/revision-hashes.json', import.meta.url), 'utf8'),
);

const single = (template: unknown): RevisionPayload => ({ runners: [{ name: 'default', size: 1, template }] });
const spec = { containers: [{ name: 'ome-container', image: 'server:1' }] };
const gang = (workers: number, leader: unknown = { spec }, worker: unknown = { spec }): RevisionPayload => ({
  runners: [
    { name: 'leader', size: 1, template: leader },
    { name: 'worker', size: workers, template: worker },
  ],
});
const hash = (payload: RevisionPayload): string => revisionHash(payload, 0);

describe('the hash of a revision', () => {
  it.each(goldens.map((golden) => [golden.name, golden] as const))(
    'is what it has always been for %s [B18]',
    (_, { payload, collisionCount, hash: stored }) => {
      expect(revisionHash(payload, collisionCount)).toBe(stored);
    },
  );

  it.each<[string, RevisionPayload]>([
    ['the order of keys', single({ spec: { containers: [{ image: 'server:1', name: 'ome-container' }] } })],
    ['metadata that says nothing', single({ metadata: {}, spec })],
    ['a creation timestamp that a typed client adds', single({ metadata: { creationTimestamp: null }, spec })],
    ['empty labels and annotations', single({ metadata: { labels: {}, annotations: null }, spec })],
    ['a topology key of a single pod', { ...single({ spec }), topologyKey: 'zone' }],
    ['an empty pairing protocol', { ...single({ spec }), pairingProtocol: '' }],
    ['metadata beside labels and annotations', single({ metadata: { name: 'x', finalizers: ['y'] }, spec })],
  ])('does not depend on %s [B18]', (_, payload) => {
    expect(hash(payload)).toBe(hash(single({ spec })));
  });

  it.each<[string, RevisionPayload, RevisionPayload]>([
    ['the image', single({ spec }), single({ spec: { containers: [{ name: 'ome-container', image: 'server:2' }] } })],
    ['a label', single({ spec }), single({ metadata: { labels: { a: 'b' } }, spec })],
    ['an annotation', single({ spec }), single({ metadata: { annotations: { a: 'b' } }, spec })],
    ['the pairing protocol', single({ spec }), { ...single({ spec }), pairingProtocol: 'p' }],
    ['the size of a gang [B68]', gang(2), gang(3)],
    ['the topology key of a gang', gang(2), { ...gang(2), topologyKey: 'zone' }],
    ['the template of the workers', gang(2), gang(2, { spec }, { spec: {} })],
    ['the labels of the workers', gang(2), gang(2, { spec }, { metadata: { labels: { a: 'b' } }, spec })],
    ['having workers', single({ spec }), gang(1)],
  ])('depends on %s', (_, one, other) => {
    expect(hash(one)).not.toBe(hash(other));
  });

  it('depends on the order of every list, which can mean something [B19]', () => {
    const [one, other] = [
      [1, 2],
      [2, 1],
    ].map((containers) => single({ spec: { containers } }));
    expect(hash(one as RevisionPayload)).not.toBe(hash(other as RevisionPayload));
  });

  it('is salted when two templates meet under one name', () => {
    expect(revisionHash(single({ spec }), 1)).not.toBe(revisionHash(single({ spec }), 0));
  });

  it('ends the name of the revision', () => {
    const component: Component = 'decoder';
    expect(revisionName('chat', component, single({ spec }), 0)).toBe(`chat-decoder-${hash(single({ spec }))}`);
    expect(hash(single({ spec }))).toMatch(/^[0-9a-f]{8}$/);
  });
});

describe('what a revision stores', () => {
  const labels = fc.option(fc.dictionary(fc.string({ maxLength: 3 }), fc.string({ maxLength: 3 }), { maxKeys: 2 }), {
    nil: undefined,
  });
  const template = fc.record({
    metadata: fc.option(fc.record({ labels, annotations: labels }), { nil: undefined }),
    spec: fc.option(fc.dictionary(fc.string({ maxLength: 3 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }), {
      nil: undefined,
    }),
  });
  const payload: fc.Arbitrary<RevisionPayload> = fc
    .record({
      first: template,
      worker: fc.option(fc.record({ size: fc.integer({ min: 1, max: 9 }), template }), { nil: undefined }),
      topologyKey: fc.constantFrom(undefined, '', 'zone'),
      pairingProtocol: fc.constantFrom(undefined, '', 'kv'),
    })
    .map(({ first, worker, topologyKey, pairingProtocol }) => ({
      runners:
        worker === undefined
          ? [{ name: 'default' as const, size: 1, template: first }]
          : [
              { name: 'leader' as const, size: 1, template: first },
              { name: 'worker' as const, ...worker },
            ],
      ...(topologyKey === undefined ? {} : { topologyKey }),
      ...(pairingProtocol === undefined ? {} : { pairingProtocol }),
    }));

  it('says the same again when it is read back, through JSON', () => {
    fc.assert(
      fc.property(payload, (original) => {
        const stored = JSON.parse(JSON.stringify(revisionContent(original)));
        expect(hash(payloadOf(stored))).toBe(hash(original));
      }),
      { numRuns: 200 },
    );
  });

  it('has the same hash in whatever order its keys come and however its numbers are spelled [B18]', () => {
    const reordered = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(reordered);
      if (typeof value !== 'object' || value === null) return value;
      const members = Object.entries(value).map(([key, member]) => [key, reordered(member)] as const);
      return Object.fromEntries(members.toReversed());
    };
    fc.assert(
      fc.property(payload, fc.integer({ min: 1, max: 9 }), (original, count) => {
        const counted = (spelled: string): RevisionPayload => {
          const graced: unknown = JSON.parse(`{"spec":{"terminationGracePeriodSeconds":${spelled}}}`);
          return { ...original, runners: original.runners.map((runner) => ({ ...runner, template: graced })) };
        };
        expect(hash(reordered(original) as RevisionPayload)).toBe(hash(original));
        expect(hash(counted(`${count}.0e0`))).toBe(hash(counted(String(count))));
      }),
      { numRuns: 200 },
    );
  });

  it('gives the workers their own metadata back, also when that is none', () => {
    const leader = { metadata: { labels: { role: 'leader' } }, spec };
    const { runners } = payloadOf(revisionContent(gang(3, leader, { spec })));
    expect(runners).toEqual([
      { name: 'leader', size: 1, template: leader },
      { name: 'worker', size: 3, template: { spec } },
    ]);
  });
});
