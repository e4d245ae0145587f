import { beforeEach, describe, expect, it } from '@jest/globals';
import { deletedPod, rawPod } from '../testing/objects.js';
import { type PodView, StoreBench } from '../testing/store-bench.js';
import type { ObjectStore } from './object-store.js';

describe('ObjectStore', () => {
  let bench: StoreBench;
  let store: ObjectStore<PodView>;

  beforeEach(() => {
    bench = new StoreBench();
    ({ store } = bench);
  });

  describe('lists', () => {
    it('show nothing before they are complete', () => {
      const replacement = store.beginReplacement();
      replacement.apply('ADDED', rawPod('a', 1));
      expect([store.synced, store.size, store.position]).toEqual([false, 0, '']);
      replacement.commit('5');
      expect([store.synced, store.size, store.position]).toEqual([true, 1, '5']);
      expect(bench.told()).toEqual(['+a@1']);
    });

    it('show what was there until the new one is complete', () => {
      bench.list([rawPod('a', 1), rawPod('b', 2)], 5);
      const replacement = store.beginReplacement();
      replacement.apply('ADDED', rawPod('b', 7));
      expect(bench.names()).toEqual(['a', 'b']);
      replacement.commit('9');
      expect(bench.names()).toEqual(['b']);
    });

    it('tell the difference, deletions first, and give no proof for them [B114]', () => {
      bench.list([rawPod('a', 1), rawPod('b', 2), rawPod('c', 3)], 5);
      bench.told();
      bench.list([rawPod('b', 2), rawPod('c', 8), rawPod('d', 9)], 9);
      expect(bench.told()).toEqual(['-a', '~c@8', '+d@9']);
      expect(store.deletedWithProof('default/a')).toBeUndefined();
    });

    it('see that an object was replaced by another of its name, which proves the old one gone [B114]', () => {
      bench.list([rawPod('a', 1, { uid: 'first' })], 5);
      bench.told();
      bench.list([rawPod('a', 8, { uid: 'second' })], 9);
      expect(bench.changes).toMatchObject([
        { old: { version: '1' }, proof: { uid: 'first', resourceVersion: '9' }, cause: 'relist' },
        { now: { version: '8' }, meta: { uid: 'second' }, cause: 'relist' },
      ]);
      expect(bench.changes[1]).not.toHaveProperty('old');
      expect(store.deletedWithProof('default/a')).toBeUndefined();
    });

    it('are refused when they lie before what is known [B42]', () => {
      bench.list([rawPod('a', 1)], 5);
      store.applyEvent('ADDED', rawPod('b', 6));
      bench.told();
      expect(bench.list([rawPod('a', 1)], 5)).toBe('older');
      expect(bench.names()).toEqual(['a', 'b']);
      expect([store.position, bench.told()]).toEqual(['6', []]);
      expect(bench.list([rawPod('a', 1), rawPod('b', 6)], 6)).toBe('committed');
    });

    it('follow what happens while they are streamed', () => {
      const replacement = store.beginReplacement();
      replacement.apply('ADDED', rawPod('a', 1));
      replacement.apply('ADDED', rawPod('b', 2));
      replacement.apply('MODIFIED', rawPod('a', 6));
      replacement.apply('DELETED', deletedPod('b', 7));
      replacement.commit('7');
      expect(bench.told()).toEqual(['+a@6']);
    });

    it('keep the identity of what did not change', () => {
      bench.list([rawPod('a', 1)], 5);
      const before = store.get('default/a');
      bench.list([rawPod('a', 1)], 9);
      expect(store.get('default/a')).toBe(before);
    });
  });

  describe('events', () => {
    beforeEach(() => {
      bench.list([rawPod('a', 1)], 5);
      bench.told();
    });

    it('move the objects and the position', () => {
      store.applyEvent('ADDED', rawPod('b', 6));
      store.applyEvent('MODIFIED', rawPod('a', 7));
      store.applyEvent('DELETED', deletedPod('b', 8));
      expect(bench.told()).toEqual(['+b@6', '~a@7', '-b!']);
      expect(store.position).toBe('8');
      store.bookmark('20');
      expect(store.position).toBe('20');
    });

    it('are dropped when they are no news [B115]', () => {
      for (const version of [7, 7, 6, 5, 1]) store.applyEvent('MODIFIED', rawPod('a', version));
      store.applyEvent('DELETED', deletedPod('a', 7));
      expect(bench.told()).toEqual(['~a@7']);
      expect(store.counters).toEqual({ events: 6, repeated: 5 });
      expect(store.get('default/a')?.version).toBe('7');
    });

    it('do not let a bookmark turn back', () => {
      store.bookmark('4');
      expect(store.position).toBe('5');
    });

    it('that are no objects are reported and ignored', () => {
      store.applyEvent('ADDED', { metadata: { name: 'x' } });
      store.applyEvent('ADDED', null);
      expect(bench.problems.map(({ kind }) => kind)).toEqual(['malformed', 'malformed']);
      expect(store.position).toBe('5');
    });

    it('show the store as it is after them, and lists do too', () => {
      const seen: unknown[] = [];
      store.subscribe(({ key }) => seen.push([store.get(key)?.version, store.position]));
      store.applyEvent('MODIFIED', rawPod('a', 7));
      bench.list([rawPod('a', 8)], 9);
      expect(seen).toEqual([
        ['7', '7'],
        ['8', '9'],
      ]);
    });
  });

  describe('proof of a deletion', () => {
    beforeEach(() => {
      bench.list([rawPod('a', 1), rawPod('b', 2)], 5);
    });

    it.each([
      ['was being deleted', deletedPod('a', 6)],
      ['had ended', rawPod('a', 6, { phase: 'Failed' })],
    ])('is the event of an object that %s', (_, last) => {
      store.applyEvent('DELETED', last);
      expect(store.deletedWithProof('default/a')).toEqual({ uid: 'uid-a', resourceVersion: '6' });
      expect(bench.changes.at(-1)?.proof).toEqual({ uid: 'uid-a', resourceVersion: '6' });
    });

    it('is not the event of an object that has only left the selector', () => {
      store.applyEvent('DELETED', rawPod('a', 6));
      expect(store.get('default/a')).toBeUndefined();
      expect(store.deletedWithProof('default/a')).toBeUndefined();
      expect(bench.changes.at(-1)).not.toHaveProperty('proof');
    });

    it('ends when the key lives again, by an event or by a list', () => {
      store.applyEvent('DELETED', deletedPod('a', 6));
      store.applyEvent('DELETED', deletedPod('b', 7));
      store.applyEvent('ADDED', rawPod('a', 8, { uid: 'other' }));
      expect(store.deletedWithProof('default/a')).toBeUndefined();
      bench.list([rawPod('b', 9, { uid: 'other' })], 10);
      expect(store.deletedWithProof('default/b')).toBeUndefined();
    });

    it('outlives a list that does not show the object', () => {
      store.applyEvent('DELETED', deletedPod('a', 6));
      bench.list([rawPod('b', 2)], 10);
      expect(store.deletedWithProof('default/a')).toBeDefined();
    });

    it('ends when it is forgotten', () => {
      store.applyEvent('DELETED', deletedPod('a', 6));
      store.forget('default/a');
      expect(store.deletedWithProof('default/a')).toBeUndefined();
    });

    it('is kept for so many objects only, the newest', () => {
      bench = new StoreBench(2);
      ({ store } = bench);
      bench.list([], 1);
      for (const [i, name] of ['a', 'b', 'c'].entries()) store.applyEvent('DELETED', deletedPod(name, 10 + i));
      expect(['a', 'b', 'c'].map((name) => store.deletedWithProof(`default/${name}`)?.uid)).toEqual([
        undefined,
        'uid-b',
        'uid-c',
      ]);
    });

    it('is not drawn from what the caller cannot read', () => {
      store.applyEvent('DELETED', { metadata: rawPod('a', 6).metadata });
      expect(store.get('default/a')).toBeUndefined();
      expect(store.deletedWithProof('default/a')).toBeUndefined();
      expect(bench.problems).toHaveLength(1);
    });
  });

  describe('an object that cannot be read', () => {
    it('is set aside and reported, and stops no other [B24]', () => {
      bench.list([rawPod('a', 1), rawPod('b', 2, { labels: { broken: 'no spec' } }), rawPod('c', 3)], 5);
      store.applyEvent('ADDED', rawPod('d', 6));
      expect(bench.names()).toEqual(['a', 'c', 'd']);
      expect(store.size).toBe(3);
      expect(store.isolated()).toMatchObject([
        { meta: { key: 'default/b', resourceVersion: '2' }, error: { message: 'no spec' } },
      ]);
      expect(bench.problems).toMatchObject([
        { kind: 'isolated', message: 'pods default/b (resourceVersion 2) cannot be read and is set aside' },
      ]);
    });

    it('is no longer shown as it was, and is not proved gone [B24]', () => {
      bench.list([rawPod('a', 1, { labels: { node: 'n1' } })], 5);
      bench.told();
      store.applyEvent('MODIFIED', rawPod('a', 6, { labels: { broken: 'odd', node: 'n1' } }));
      expect(bench.told()).toEqual(['-a']);
      expect(store.byIndex('node', 'n1')).toEqual([]);
      expect(store.meta('default/a')?.resourceVersion).toBe('6');
      expect(store.deletedWithProof('default/a')).toBeUndefined();
    });

    it('comes back when it can be read, and goes when it is deleted [B24]', () => {
      bench.list([rawPod('a', 1, { labels: { broken: 'odd' } }), rawPod('b', 2, { labels: { broken: 'odd' } })], 5);
      bench.told();
      store.applyEvent('MODIFIED', rawPod('a', 6));
      store.applyEvent('DELETED', deletedPod('b', 7));
      expect(bench.told()).toEqual(['+a@6', '-b!']);
      expect([store.isolated(), store.size]).toEqual([[], 1]);
    });

    it('is one that an index cannot read, too [B24]', () => {
      bench.list([rawPod('a', 1, { labels: { node: 'unfit' } }), rawPod('b', 2, { labels: { node: 'n1' } })], 5);
      expect(bench.names()).toEqual(['b']);
      expect(store.isolated()).toHaveLength(1);
    });

    it('vanishes from a list like any other [B24]', () => {
      bench.list([rawPod('a', 1, { labels: { broken: 'odd' } })], 5);
      bench.list([], 6);
      expect([store.isolated(), store.size]).toEqual([[], 0]);
    });
  });

  describe('indexes', () => {
    it('find objects by what they say, in the order of keys', () => {
      bench.list(
        [rawPod('b', 1, { labels: { node: 'n1' } }), rawPod('a', 2, { labels: { node: 'n1' } }), rawPod('c', 3)],
        5,
      );
      expect(store.byIndex('node', 'n1').map(({ name }) => name)).toEqual(['a', 'b']);
      expect(store.byIndex('node', 'n2')).toEqual([]);
      expect(() => store.byIndex('none', 'x')).toThrow('the cache has no index "none"');
    });

    it('give the same list while nothing bench.changes', () => {
      bench.list([rawPod('a', 1, { labels: { node: 'n1' } })], 5);
      expect(store.byIndex('node', 'n1')).toBe(store.byIndex('node', 'n1'));
    });
  });

  it('calls back when a version is reached, by whatever reaches it', () => {
    const reached: string[] = [];
    for (const version of ['30', '10', '5', '20', '7']) store.whenAt(version, () => reached.push(version));
    const take = store.whenAt('7', () => reached.push('taken back'));
    take();
    bench.list([], 5);
    expect(reached).toEqual(['5']);
    store.applyEvent('ADDED', rawPod('a', 10));
    expect(reached).toEqual(['5', '7', '10']);
    store.bookmark('25');
    store.whenAt('25', () => reached.push('at once'));
    expect(reached).toEqual(['5', '7', '10', '20', 'at once']);
  });

  it('keeps listeners apart from each other and from the stream', () => {
    store.subscribe(() => {
      throw new Error('a bad listener');
    });
    const later: string[] = [];
    const unsubscribe = store.subscribe(({ key }) => later.push(key));
    store.whenAt('1', () => {
      throw new Error('a bad callback');
    });
    bench.list([rawPod('a', 1)], 5);
    unsubscribe();
    store.applyEvent('ADDED', rawPod('b', 6));
    expect(later).toEqual(['default/a']);
    expect(bench.names()).toEqual(['a', 'b']);
    expect(bench.problems.map(({ kind }) => kind)).toEqual(['listener', 'listener', 'listener']);
  });
});
