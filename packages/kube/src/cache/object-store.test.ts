import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { deletedPod, type RawPod, rawPod } from '../testing/objects.js';
import { VirtualRuntime } from '../testing/virtual-runtime.js';
import { ObjectStore, type StoreProblem } from './object-store.js';
import type { Change } from './store.js';

interface Pod {
  readonly name: string;
  readonly version: string;
  readonly node: string | undefined;
}

describe('ObjectStore', () => {
  let runtime: VirtualRuntime;
  let store: ObjectStore<Pod>;
  let changes: Change<Pod>[];
  let problems: StoreProblem[];

  function create(maxTombstones = 100): ObjectStore<Pod> {
    const created = new ObjectStore<Pod>({
      runtime,
      kind: 'pods',
      project: (raw) => {
        const { labels = {}, name = '', resourceVersion = '' } = raw.metadata ?? {};
        if (labels['broken'] !== undefined) throw new Error(labels['broken']);
        return { name, version: resourceVersion, node: labels['node'] };
      },
      indexes: {
        node: ({ node }) => (node === undefined ? [] : [node]),
        strict: ({ node }) => {
          if (node === 'unfit') throw new Error('unfit for the index');
          return [];
        },
      },
      isProofOfDeletion: (raw) =>
        raw.metadata?.deletionTimestamp !== undefined || (raw as RawPod).status.phase === 'Failed',
      inScope: (raw) => raw.metadata?.labels?.['foreign'] === undefined,
      maxTombstones,
      report: (problem) => problems.push(problem),
    });
    created.subscribe((change) => changes.push(change));
    return created;
  }

  function list(pods: readonly RawPod[], resourceVersion: string | number): 'committed' | 'older' {
    const replacement = store.beginReplacement();
    for (const pod of pods) replacement.apply('ADDED', pod);
    return replacement.commit(String(resourceVersion));
  }

  /** What changed, in short: `+a@5`, `~a@6`, `-a`, `-a!` with proof. */
  function told(): string[] {
    return changes.splice(0).map(({ old, now, meta, proof }) => {
      if (now !== undefined) return `${old === undefined ? '+' : '~'}${meta.name}@${now.version}`;
      return `-${meta.name}${proof === undefined ? '' : '!'}`;
    });
  }

  function names(): string[] {
    return [...store.values()].map(({ name }) => name).toSorted();
  }

  beforeEach(() => {
    runtime = new VirtualRuntime();
    changes = [];
    problems = [];
    store = create();
  });

  describe('lists', () => {
    it('show nothing before they are complete', () => {
      const replacement = store.beginReplacement();
      replacement.apply('ADDED', rawPod('a', 1));
      expect([store.synced, store.size, store.position]).toEqual([false, 0, '']);
      replacement.commit('5');
      expect([store.synced, store.size, store.position]).toEqual([true, 1, '5']);
      expect(told()).toEqual(['+a@1']);
    });

    it('show what was there until the new one is complete', () => {
      list([rawPod('a', 1), rawPod('b', 2)], 5);
      const replacement = store.beginReplacement();
      replacement.apply('ADDED', rawPod('b', 7));
      expect(names()).toEqual(['a', 'b']);
      replacement.commit('9');
      expect(names()).toEqual(['b']);
    });

    it('tell the difference, deletions first, and give no proof for them [B114]', () => {
      list([rawPod('a', 1), rawPod('b', 2), rawPod('c', 3)], 5);
      told();
      list([rawPod('b', 2), rawPod('c', 8), rawPod('d', 9)], 9);
      expect(told()).toEqual(['-a', '~c@8', '+d@9']);
      expect(store.deletedWithProof('default/a')).toBeUndefined();
    });

    it('see that an object was replaced by another of its name, which proves the old one gone [B114]', () => {
      list([rawPod('a', 1, { uid: 'first' })], 5);
      told();
      list([rawPod('a', 8, { uid: 'second' })], 9);
      expect(changes).toMatchObject([
        { old: { version: '1' }, proof: { uid: 'first', resourceVersion: '9' }, cause: 'relist' },
        { now: { version: '8' }, meta: { uid: 'second' }, cause: 'relist' },
      ]);
      expect(changes[1]).not.toHaveProperty('old');
      expect(store.deletedWithProof('default/a')).toBeUndefined();
    });

    it('are refused when they lie before what is known [B42]', () => {
      list([rawPod('a', 1)], 5);
      store.applyEvent('ADDED', rawPod('b', 6));
      told();
      expect(list([rawPod('a', 1)], 5)).toBe('older');
      expect(names()).toEqual(['a', 'b']);
      expect([store.position, told()]).toEqual(['6', []]);
      expect(list([rawPod('a', 1), rawPod('b', 6)], 6)).toBe('committed');
    });

    it('follow what happens while they are streamed', () => {
      const replacement = store.beginReplacement();
      replacement.apply('ADDED', rawPod('a', 1));
      replacement.apply('ADDED', rawPod('b', 2));
      replacement.apply('MODIFIED', rawPod('a', 6));
      replacement.apply('DELETED', deletedPod('b', 7));
      replacement.commit('7');
      expect(told()).toEqual(['+a@6']);
    });

    it('keep the identity of what did not change', () => {
      list([rawPod('a', 1)], 5);
      const before = store.get('default/a');
      list([rawPod('a', 1)], 9);
      expect(store.get('default/a')).toBe(before);
    });
  });

  describe('events', () => {
    beforeEach(() => {
      list([rawPod('a', 1)], 5);
      told();
    });

    it('move the objects and the position', () => {
      store.applyEvent('ADDED', rawPod('b', 6));
      store.applyEvent('MODIFIED', rawPod('a', 7));
      store.applyEvent('DELETED', deletedPod('b', 8));
      expect(told()).toEqual(['+b@6', '~a@7', '-b!']);
      expect(store.position).toBe('8');
      store.bookmark('20');
      expect(store.position).toBe('20');
    });

    it('are dropped when they are no news [B115]', () => {
      for (const version of [7, 7, 6, 5, 1]) store.applyEvent('MODIFIED', rawPod('a', version));
      store.applyEvent('DELETED', deletedPod('a', 7));
      expect(told()).toEqual(['~a@7']);
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
      expect(problems.map(({ kind }) => kind)).toEqual(['malformed', 'malformed']);
      expect(store.position).toBe('5');
    });

    it('show the store as it is after them', () => {
      const seen: unknown[] = [];
      store.subscribe(({ key }) => seen.push([store.get(key)?.version, store.position]));
      store.applyEvent('MODIFIED', rawPod('a', 7));
      expect(seen).toEqual([['7', '7']]);
    });
  });

  describe('proof of a deletion', () => {
    beforeEach(() => {
      list([rawPod('a', 1), rawPod('b', 2)], 5);
    });

    it.each([
      ['was being deleted', deletedPod('a', 6)],
      ['had ended', rawPod('a', 6, { phase: 'Failed' })],
    ])('is the event of an object that %s', (_, last) => {
      store.applyEvent('DELETED', last);
      expect(store.deletedWithProof('default/a')).toEqual({ uid: 'uid-a', resourceVersion: '6' });
      expect(changes.at(-1)?.proof).toEqual({ uid: 'uid-a', resourceVersion: '6' });
    });

    it('is not the event of an object that has only left the selector', () => {
      store.applyEvent('DELETED', rawPod('a', 6));
      expect(store.get('default/a')).toBeUndefined();
      expect(store.deletedWithProof('default/a')).toBeUndefined();
      expect(changes.at(-1)).not.toHaveProperty('proof');
    });

    it('ends when the key lives again, by an event or by a list', () => {
      store.applyEvent('DELETED', deletedPod('a', 6));
      store.applyEvent('DELETED', deletedPod('b', 7));
      store.applyEvent('ADDED', rawPod('a', 8, { uid: 'other' }));
      expect(store.deletedWithProof('default/a')).toBeUndefined();
      list([rawPod('b', 9, { uid: 'other' })], 10);
      expect(store.deletedWithProof('default/b')).toBeUndefined();
    });

    it('outlives a list that does not show the object', () => {
      store.applyEvent('DELETED', deletedPod('a', 6));
      list([rawPod('b', 2)], 10);
      expect(store.deletedWithProof('default/a')).toBeDefined();
    });

    it('ends when it is forgotten', () => {
      store.applyEvent('DELETED', deletedPod('a', 6));
      store.forget('default/a');
      expect(store.deletedWithProof('default/a')).toBeUndefined();
    });

    it('is kept for so many objects only, the newest', () => {
      store = create(2);
      list([], 1);
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
      expect(problems).toHaveLength(1);
    });
  });

  describe('what is taken in', () => {
    beforeEach(() => {
      list([rawPod('a', 1)], 5);
      told();
    });

    it('is shown before the stream tells it, and told once', () => {
      expect(store.takeIn(rawPod('b', 8))).toBe('taken');
      expect(told()).toEqual(['+b@8']);
      expect([store.position, store.size]).toEqual(['5', 2]);
      store.applyEvent('ADDED', rawPod('b', 8));
      expect([store.position, told()]).toEqual(['8', []]);
      store.applyEvent('MODIFIED', rawPod('b', 9));
      expect(told()).toEqual(['~b@9']);
    });

    it('does not fall back to an older event', () => {
      store.takeIn(rawPod('a', 8));
      store.applyEvent('MODIFIED', rawPod('a', 7));
      expect(store.get('default/a')?.version).toBe('8');
      expect(store.position).toBe('7');
    });

    it('does not bring back what the stream has already deleted', () => {
      store.applyEvent('ADDED', rawPod('b', 8));
      store.applyEvent('DELETED', deletedPod('b', 9));
      expect(store.takeIn(rawPod('b', 8))).toBe('covered');
      expect(store.get('default/b')).toBeUndefined();
    });

    it('is covered by what is newer already', () => {
      store.takeIn(rawPod('a', 9));
      expect(store.takeIn(rawPod('a', 8))).toBe('covered');
    });

    it('must belong here', () => {
      expect(store.takeIn(rawPod('b', 8, { labels: { foreign: '' } }))).toBe('outOfScope');
      expect(store.takeIn({ kind: 'Status' })).toBe('outOfScope');
      expect(names()).toEqual(['a']);
    });

    it('outlives a list that is older than it', () => {
      store.takeIn(rawPod('b', 8));
      store.takeIn(rawPod('a', 9));
      told();
      list([rawPod('a', 6)], 7);
      expect(told()).toEqual([]);
      expect([store.get('default/a')?.version, store.get('default/b')?.version]).toEqual(['9', '8']);
      list([rawPod('a', 9)], 10);
      expect(told()).toEqual(['-b']);
    });

    it('replaces another object of its name', () => {
      store.takeIn(rawPod('a', 8, { uid: 'second' }));
      expect(told()).toEqual(['-a!', '+a@8']);
      // The stream tells the end of the first only now.
      store.applyEvent('DELETED', deletedPod('a', 7));
      expect(told()).toEqual([]);
      expect(store.deletedWithProof('default/a')).toBeUndefined();
    });
  });

  describe('a deletion that is taken in', () => {
    beforeEach(() => {
      list([rawPod('a', 1)], 5);
      told();
    });

    it('is shown with proof, and not taken back by a stream or list that lags', () => {
      store.takeInDeletion('default/a', 'uid-a');
      expect(told()).toEqual(['-a!']);
      expect(store.deletedWithProof('default/a')?.uid).toBe('uid-a');
      store.applyEvent('MODIFIED', rawPod('a', 6));
      list([rawPod('a', 6)], 7);
      expect(store.takeIn(rawPod('a', 9))).toBe('covered');
      store.applyEvent('DELETED', deletedPod('a', 10));
      expect([told(), names()]).toEqual([[], []]);
      expect(store.deletedWithProof('default/a')?.uid).toBe('uid-a');
    });

    it('does not touch the next object of that name', () => {
      store.takeInDeletion('default/a', 'uid-a');
      store.applyEvent('ADDED', rawPod('a', 8, { uid: 'second' }));
      store.takeInDeletion('default/a', 'uid-a');
      expect(store.get('default/a')?.version).toBe('8');
      expect(store.deletedWithProof('default/a')).toBeUndefined();
    });
  });

  describe('an object that cannot be read', () => {
    it('is set aside and reported, and stops no other [B24]', () => {
      list([rawPod('a', 1), rawPod('b', 2, { labels: { broken: 'no spec' } }), rawPod('c', 3)], 5);
      store.applyEvent('ADDED', rawPod('d', 6));
      expect(names()).toEqual(['a', 'c', 'd']);
      expect(store.size).toBe(3);
      expect(store.isolated()).toMatchObject([
        { meta: { key: 'default/b', resourceVersion: '2' }, error: { message: 'no spec' } },
      ]);
      expect(problems).toMatchObject([
        { kind: 'isolated', message: 'pods default/b (resourceVersion 2) cannot be read and is set aside' },
      ]);
    });

    it('is no longer shown as it was, and is not proved gone [B24]', () => {
      list([rawPod('a', 1, { labels: { node: 'n1' } })], 5);
      told();
      store.applyEvent('MODIFIED', rawPod('a', 6, { labels: { broken: 'odd', node: 'n1' } }));
      expect(told()).toEqual(['-a']);
      expect(store.byIndex('node', 'n1')).toEqual([]);
      expect(store.meta('default/a')?.resourceVersion).toBe('6');
      expect(store.deletedWithProof('default/a')).toBeUndefined();
    });

    it('comes back when it can be read, and goes when it is deleted [B24]', () => {
      list([rawPod('a', 1, { labels: { broken: 'odd' } }), rawPod('b', 2, { labels: { broken: 'odd' } })], 5);
      told();
      store.applyEvent('MODIFIED', rawPod('a', 6));
      store.applyEvent('DELETED', deletedPod('b', 7));
      expect(told()).toEqual(['+a@6', '-b!']);
      expect([store.isolated(), store.size]).toEqual([[], 1]);
    });

    it('is one that an index cannot read, too [B24]', () => {
      list([rawPod('a', 1, { labels: { node: 'unfit' } }), rawPod('b', 2, { labels: { node: 'n1' } })], 5);
      expect(names()).toEqual(['b']);
      expect(store.isolated()).toHaveLength(1);
    });

    it('vanishes from a list like any other [B24]', () => {
      list([rawPod('a', 1, { labels: { broken: 'odd' } })], 5);
      list([], 6);
      expect([store.isolated(), store.size]).toEqual([[], 0]);
    });
  });

  describe('indexes', () => {
    it('find objects by what they say, in the order of keys', () => {
      list([rawPod('b', 1, { labels: { node: 'n1' } }), rawPod('a', 2, { labels: { node: 'n1' } }), rawPod('c', 3)], 5);
      expect(store.byIndex('node', 'n1').map(({ name }) => name)).toEqual(['a', 'b']);
      expect(store.byIndex('node', 'n2')).toEqual([]);
      expect(() => store.byIndex('none', 'x')).toThrow('the cache has no index "none"');
    });

    it('give the same list while nothing changes', () => {
      list([rawPod('a', 1, { labels: { node: 'n1' } })], 5);
      expect(store.byIndex('node', 'n1')).toBe(store.byIndex('node', 'n1'));
    });
  });

  it('calls back when a version is reached, by whatever reaches it', () => {
    const reached: string[] = [];
    for (const version of ['30', '10', '5', '20', '7']) store.whenAt(version, () => reached.push(version));
    const take = store.whenAt('7', () => reached.push('taken back'));
    take();
    list([], 5);
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
    list([rawPod('a', 1)], 5);
    unsubscribe();
    store.applyEvent('ADDED', rawPod('b', 6));
    expect(later).toEqual(['default/a']);
    expect(names()).toEqual(['a', 'b']);
    expect(problems.map(({ kind }) => kind)).toEqual(['listener', 'listener', 'listener']);
  });

  it('shows what the server had at its position, whatever mix of lists, events, own writes and repeats led there', () => {
    // A history of three names: each step creates, changes or deletes one of them at the next version.
    const history = fc.array(
      fc.record({ name: fc.constantFrom('a', 'b', 'c'), do: fc.constantFrom('write', 'delete') }),
      { maxLength: 25 },
    );
    const action = fc.record({
      do: fc.constantFrom(
        'event' as const,
        'repeat' as const,
        'list' as const,
        'takeIn' as const,
        'takeInDeletion' as const,
      ),
      of: fc.nat(),
    });
    fc.assert(
      fc.property(history, fc.array(action, { maxLength: 60 }), (steps, actions) => {
        const events: { type: 'ADDED' | 'MODIFIED' | 'DELETED'; pod: RawPod }[] = [];
        const states: Map<string, RawPod>[] = [new Map()];
        const goneAt = new Map<string, number>();
        for (const [i, step] of steps.entries()) {
          const state = new Map(states.at(-1));
          const held = state.get(step.name);
          const version = i + 1;
          if (step.do === 'delete' && held !== undefined) {
            const uid = held.metadata?.uid ?? '';
            events.push({ type: 'DELETED', pod: deletedPod(step.name, version, { uid }) });
            goneAt.set(uid, version);
            state.delete(step.name);
          } else {
            const pod = rawPod(step.name, version, { uid: held?.metadata?.uid ?? `${step.name}-${version}` });
            events.push({ type: held === undefined ? 'ADDED' : 'MODIFIED', pod });
            state.set(step.name, pod);
          }
          states.push(state);
        }
        store = create();
        list([], 0);
        const head = events.length;
        for (const one of actions) {
          const position = Number(store.position);
          const at = head === 0 ? 0 : one.of % head;
          if (one.do === 'list') list([...(states[at + 1]?.values() ?? [])], Math.min(at + 1, head));
          else if (one.do === 'event' && position < head) applyAt(position);
          else if (one.do === 'repeat' && at < position) applyAt(at);
          else if (one.do === 'takeIn' && events[at] !== undefined && events[at].type !== 'DELETED') {
            // A live read shows an object only while it exists; a reply may come late, but not for what a read found gone.
            store.takeIn(events[at].pod);
          } else if (one.do === 'takeInDeletion' && events[at]?.type === 'DELETED') {
            store.takeInDeletion(`default/${events[at].pod.metadata?.name}`, events[at].pod.metadata?.uid ?? '');
          }
        }
        while (Number(store.position) < head) applyAt(Number(store.position));
        const expected = [...(states[head]?.values() ?? [])].map(
          ({ metadata }) => `${metadata?.name}@${metadata?.resourceVersion}`,
        );
        expect([...store.values()].map(({ name, version }) => `${name}@${version}`).toSorted()).toEqual(
          expected.toSorted(),
        );
        for (const uid of goneAt.keys())
          expect([...store.values()].map(({ name }) => store.meta(`default/${name}`)?.uid)).not.toContain(uid);

        function applyAt(index: number): void {
          const event = events[index];
          if (event !== undefined) store.applyEvent(event.type, event.pod);
        }
      }),
      { numRuns: 300 },
    );
  });
});
