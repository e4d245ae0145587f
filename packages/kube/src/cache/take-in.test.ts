/** Own writes and live reads, ahead of the stream. */
import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { deletedPod, type RawPod, rawPod } from '../testing/objects.js';
import { type PodView, StoreBench } from '../testing/store-bench.js';
import type { ObjectStore } from './object-store.js';

describe('ObjectStore, ahead of its stream', () => {
  let bench: StoreBench;
  let store: ObjectStore<PodView>;

  beforeEach(() => {
    bench = new StoreBench();
    ({ store } = bench);
  });

  describe('what is taken in', () => {
    beforeEach(() => {
      bench.list([rawPod('a', 1)], 5);
      bench.told();
    });

    it('is shown before the stream tells it, and told once', () => {
      expect(store.takeIn(rawPod('b', 8))).toBe('taken');
      expect(bench.told()).toEqual(['+b@8']);
      expect([store.position, store.size]).toEqual(['5', 2]);
      store.applyEvent('ADDED', rawPod('b', 8));
      expect([store.position, bench.told()]).toEqual(['8', []]);
      store.applyEvent('MODIFIED', rawPod('b', 9));
      expect(bench.told()).toEqual(['~b@9']);
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
      expect(bench.names()).toEqual(['a']);
    });

    it('outlives a list that is older than it', () => {
      store.takeIn(rawPod('b', 8));
      store.takeIn(rawPod('a', 9));
      bench.told();
      bench.list([rawPod('a', 6)], 7);
      expect(bench.told()).toEqual([]);
      expect([store.get('default/a')?.version, store.get('default/b')?.version]).toEqual(['9', '8']);
      bench.list([rawPod('a', 9)], 10);
      expect(bench.told()).toEqual(['-b']);
    });

    it('replaces another object of its name', () => {
      store.takeIn(rawPod('a', 8, { uid: 'second' }));
      expect(bench.told()).toEqual(['-a!', '+a@8']);
      // The stream tells the end of the first only now.
      store.applyEvent('DELETED', deletedPod('a', 7));
      expect(bench.told()).toEqual([]);
      expect(store.deletedWithProof('default/a')).toBeUndefined();
    });
  });

  describe('a deletion that is taken in', () => {
    beforeEach(() => {
      bench.list([rawPod('a', 1)], 5);
      bench.told();
    });

    it('is shown with proof, and not taken back by a stream or list that lags', () => {
      store.takeInDeletion('default/a', 'uid-a');
      expect(bench.told()).toEqual(['-a!']);
      expect(store.deletedWithProof('default/a')?.uid).toBe('uid-a');
      store.applyEvent('MODIFIED', rawPod('a', 6));
      bench.list([rawPod('a', 6)], 7);
      expect(store.takeIn(rawPod('a', 9))).toBe('covered');
      store.applyEvent('DELETED', deletedPod('a', 10));
      expect([bench.told(), bench.names()]).toEqual([[], []]);
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

  it('shows what the server had at its position, whatever mix of lists, events, own writes and repeats led there', () => {
    // A history of three names: each step creates, bench.changes or deletes one of them at the next version.
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
        bench = new StoreBench();
        ({ store } = bench);
        bench.list([], 0);
        const head = events.length;
        for (const one of actions) {
          const position = Number(store.position);
          const at = head === 0 ? 0 : one.of % head;
          if (one.do === 'list') bench.list([...(states[at + 1]?.values() ?? [])], Math.min(at + 1, head));
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
