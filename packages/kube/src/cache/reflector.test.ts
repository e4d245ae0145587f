import { beforeEach, describe, expect, it } from '@jest/globals';
import { gateShut, InformerBench, longestPauseMs } from '../testing/informer-bench.js';
import { rawPod } from '../testing/objects.js';
import { failure, listOf, noAnswer, type ScriptedTransport } from '../testing/scripted-transport.js';
import type { VirtualRuntime } from '../testing/virtual-runtime.js';

/** The list/watch protocol, seen from the wire: what is asked, when, and what the cache makes of the answers. */
describe('Reflector', () => {
  let bench: InformerBench;
  let runtime: VirtualRuntime;
  let transport: ScriptedTransport;

  beforeEach(() => {
    bench = new InformerBench();
    ({ runtime, transport } = bench);
  });

  describe('begins', () => {
    it('with a list that comes as a stream, and goes on with the same stream', async () => {
      bench.informer.start();
      bench.informer.start();
      expect(transport.streams).toHaveLength(1);
      const { path, query } = transport.stream.request;
      expect(path).toBe('/api/v1/pods');
      expect(query).toMatchObject({
        watch: 'true',
        sendInitialEvents: 'true',
        resourceVersionMatch: 'NotOlderThan',
        allowWatchBookmarks: 'true',
      });
      expect(query).not.toHaveProperty('resourceVersion');
      const seconds = Number(query?.['timeoutSeconds']);
      expect(seconds).toBeGreaterThanOrEqual(300);
      expect(seconds).toBeLessThan(600);

      let isSynced = false;
      const synced = bench.informer.whenSynced().then(() => (isSynced = true));
      transport.stream.open().send('ADDED', rawPod('a', 5)).send('ADDED', rawPod('b', 3));
      await runtime.advance(0);
      expect([isSynced, bench.informer.store.synced, bench.objects(), bench.changes]).toEqual([false, false, [], []]);
      transport.stream.endOfInitialEvents('100');
      await synced;
      expect([bench.objects(), bench.informer.store.position]).toEqual([['a@5', 'b@3'], '100']);
      transport.stream.send('MODIFIED', rawPod('a', 101));
      expect(bench.objects()).toEqual(['a@101', 'b@3']);
      expect(transport.streams).toHaveLength(1);
      expect(transport.requests).toEqual([]);
    });

    it('where it is told to look', () => {
      bench.create({ namespace: 'team-a', labels: { b: '2', a: '1' }, fieldSelector: 'metadata.name=x' }).start();
      expect(transport.stream.request.path).toBe('/api/v1/namespaces/team-a/pods');
      expect(transport.stream.request.query).toMatchObject({
        labelSelector: 'a=1,b=2',
        fieldSelector: 'metadata.name=x',
      });
      expect(bench.informer.takeIn(rawPod('x', 7, { namespace: 'team-a', labels: { a: '1', b: '2' } }))).toBe('taken');
      expect(bench.informer.takeIn(rawPod('y', 7, { namespace: 'team-a', labels: { a: '1' } }))).toBe('outOfScope');
      expect(bench.informer.takeIn(rawPod('z', 7, { namespace: 'team-b', labels: { a: '1', b: '2' } }))).toBe(
        'outOfScope',
      );
    });

    it.each([400, 422])('with pages where the server answers %d to a streamed list, and remembers', async (status) => {
      bench.informer.start();
      transport
        .answerNext(listOf([rawPod('a', 5)], '100', 'page-2'))
        .answerNext(listOf([rawPod('b', 3)], '100', 'page-3'))
        .answerNext(listOf([], '100'));
      transport.stream.end({ how: 'response', response: { ...gateShut, status } });
      await runtime.advance(0);
      expect(transport.requests.map(({ query }) => query)).toEqual([
        { limit: '500' },
        { limit: '500', continue: 'page-2' },
        { limit: '500', continue: 'page-3' },
      ]);
      expect([bench.objects(), bench.informer.store.position]).toEqual([['a@5', 'b@3'], '100']);
      expect(transport.stream.request.query).toMatchObject({ resourceVersion: '100', allowWatchBookmarks: 'true' });
      expect(transport.stream.request.query).not.toHaveProperty('sendInitialEvents');
      expect(bench.problems).toEqual([]);

      transport.answerNext(listOf([], '200'));
      transport.stream.open().end({ how: 'response', response: failure(410, 'Expired', 'too old') });
      await runtime.advance(longestPauseMs);
      expect(bench.objects()).toEqual([]);
      expect(
        transport.streams.filter(({ request }) => request.query?.['sendInitialEvents'] !== undefined),
      ).toHaveLength(1);
    });

    it('with pages where the server does not know streamed lists, and starts a plain stream', async () => {
      transport.answerNext(listOf([rawPod('a', 5), rawPod('b', 6)], '100'));
      bench.informer.start();
      const [first] = transport.streams;
      first?.open().send('ADDED', rawPod('a', 5)).bookmark('90');
      await runtime.advance(0);
      expect(first?.state).toBe('closed');
      expect([bench.objects(), bench.informer.store.position]).toEqual([['a@5', 'b@6'], '100']);
    });

    it('again from the first page when a page fails, and shows nothing of the half', async () => {
      bench.informer.start();
      transport
        .answerNext(listOf([rawPod('a', 5)], '100', 'page-2'))
        .answerNext(failure(410, 'Expired', 'the token is too old'));
      transport.stream.end({ how: 'response', response: gateShut });
      await runtime.advance(0);
      expect([bench.informer.store.synced, bench.objects(), bench.kinds()]).toEqual([false, [], ['expired']]);
      transport.answerNext(noAnswer()).answerNext(listOf([rawPod('b', 7)], '110'));
      await runtime.advance(2 * longestPauseMs);
      expect(bench.kinds()).toEqual(['broken']);
      expect([bench.objects(), transport.requests.map(({ query }) => query?.['continue'])]).toEqual([
        ['b@7'],
        [undefined, 'page-2', undefined, undefined],
      ]);
    });

    it('again when the stream ends before the list is complete', async () => {
      bench.informer.start();
      transport.stream.open().send('ADDED', rawPod('a', 5));
      await runtime.advance(20_000);
      transport.stream.end({ how: 'closed' });
      expect(bench.kinds()).toEqual(['broken']);
      await runtime.advance(longestPauseMs);
      bench.streamList([rawPod('b', 6)], '100');
      expect(bench.objects()).toEqual(['b@6']);
    });
  });

  describe('goes on for ever', () => {
    it('where a stream that ends cleanly left off, at once, without a list [B111] [B112]', async () => {
      bench.sync([rawPod('a', 5)]);
      transport.stream.send('MODIFIED', rawPod('a', 120)).bookmark('150');
      await runtime.advance(60_000);
      transport.stream.end({ how: 'closed' });
      expect(transport.streams).toHaveLength(2);
      expect(transport.stream.request.query).toMatchObject({ resourceVersion: '150', allowWatchBookmarks: 'true' });
      expect(transport.stream.request.query).not.toHaveProperty('sendInitialEvents');
      transport.stream.open().send('MODIFIED', rawPod('a', 160));
      expect(bench.objects()).toEqual(['a@160']);
      expect([bench.problems, transport.requests]).toEqual([[], []]);
      expect(bench.informer.stats()).toMatchObject({ lists: 1, resumes: 1 });
    });

    it('through hours of streams that end on time [B112]', async () => {
      bench.sync();
      for (let i = 0; i < 50; i++) {
        await runtime.advance(80_000);
        transport.stream.bookmark(String(200 + i));
        transport.stream.end({ how: 'closed' });
        transport.stream.open();
      }
      expect(transport.streams).toHaveLength(51);
      expect(bench.informer.stats()).toMatchObject({ lists: 1, resumes: 50, silences: 0 });
      expect(bench.informer.store.position).toBe('249');
    });

    it('at once when a busy server cuts off streams that brought something', async () => {
      bench.sync();
      await runtime.advance(60_000);
      transport.stream.end({ how: 'closed' });
      for (let version = 200; version < 210; version++) {
        transport.stream.open().send('MODIFIED', rawPod('a', version));
        transport.stream.end({ how: 'closed' });
      }
      expect(transport.stream.request.query).toMatchObject({ resourceVersion: '209' });
      expect([transport.liveStreams, bench.problems]).toEqual([1, []]);
    });

    it('with a pause when a server ends streams as soon as they begin', async () => {
      bench.sync();
      for (let i = 0; i < 10; i++) {
        transport.stream.end({ how: 'closed' });
        expect(transport.liveStreams).toBe(0);
        while (transport.liveStreams === 0) await runtime.advance(100);
      }
      await runtime.advance(1000);
      transport.stream.end({ how: 'closed' });
      expect(transport.liveStreams).toBe(1);
    });

    it.each([
      ['a broken connection', (): void => transport.stream.end({ how: 'broken', error: noAnswer() }), 'broken'],
      [
        'a 500',
        (): void => transport.stream.end({ how: 'response', response: failure(500, 'InternalError', 'm') }),
        'refused',
      ],
      [
        'a 403',
        (): void => transport.stream.end({ how: 'response', response: failure(403, 'Forbidden', 'm') }),
        'refused',
      ],
      [
        'an error event',
        (): void => void transport.stream.send('ERROR', failure(500, 'InternalError', 'm').body),
        'refused',
      ],
      ['an error event that says nothing', (): void => void transport.stream.send('ERROR', null), 'refused'],
    ] as [string, () => void, string][])(
      'where it left off after %s, for as long as it takes',
      async (_, fail, kind) => {
        bench.sync([rawPod('a', 5)]);
        for (let i = 0; i < 30; i++) {
          fail();
          expect(transport.liveStreams).toBe(0);
          expect(bench.kinds()).toEqual([kind]);
          await runtime.advance(longestPauseMs);
          expect(transport.liveStreams).toBe(1);
          expect(transport.stream.request.query).toMatchObject({ resourceVersion: '100' });
        }
        transport.stream.open().send('ADDED', rawPod('b', 101));
        expect(bench.objects()).toEqual(['a@5', 'b@101']);
      },
    );

    it('with pauses that grow and scatter, and start small after a good stream', async () => {
      bench.sync();
      await runtime.advance(20_000);
      const pauses: number[] = [];
      for (let i = 0; i < 12; i++) {
        const failedAtMs = runtime.monotonicMs();
        const before = transport.streams.length;
        transport.stream.end({ how: 'broken', error: noAnswer() });
        while (transport.streams.length === before) await runtime.advance(50);
        pauses.push(runtime.monotonicMs() - failedAtMs);
      }
      expect(pauses[0]).toBeLessThanOrEqual(2450);
      expect(Math.min(...pauses)).toBeGreaterThanOrEqual(800);
      expect(Math.max(...pauses)).toBeLessThanOrEqual(longestPauseMs + 50);
      expect(Math.max(...pauses)).toBeGreaterThan(5000);
      transport.stream.open();
      await runtime.advance(10_000);
      transport.stream.end({ how: 'broken', error: noAnswer() });
      const before = transport.streams.length;
      await runtime.advance(2400);
      expect(transport.streams).toHaveLength(before + 1);
    });

    it('with pauses that start small again after a good stream that ended cleanly', async () => {
      bench.sync();
      for (let i = 0; i < 12; i++) {
        transport.stream.end({ how: 'broken', error: noAnswer() });
        await runtime.advance(800);
        while (transport.liveStreams === 0) await runtime.advance(50);
      }
      await runtime.advance(10_000);
      transport.stream.end({ how: 'closed' });
      transport.stream.end({ how: 'broken', error: noAnswer() });
      await runtime.advance(2400);
      expect(transport.liveStreams).toBe(1);
    });

    it.each([
      [
        'in the answer',
        (): void =>
          transport.stream.end({
            how: 'response',
            response: failure(429, 'TooManyRequests', 'm', { headers: { 'retry-after': '45' } }),
          }),
      ],
      [
        'in the stream',
        (): void =>
          void transport.stream.send(
            'ERROR',
            failure(429, 'TooManyRequests', 'm', { details: { retryAfterSeconds: 45 } }).body,
          ),
      ],
    ])('after as long as the server asks for %s', async (_, fail) => {
      bench.sync();
      fail();
      await runtime.advance(44_999);
      expect(transport.liveStreams).toBe(0);
      await runtime.advance(9_001);
      expect(transport.liveStreams).toBe(1);
    });

    it('when the connection goes silent, which it gives up and replaces [B111]', async () => {
      bench.sync([rawPod('a', 5)]);
      const [first] = transport.streams;
      await runtime.advance(60_000);
      first?.bookmark('120');
      await runtime.advance(89_999);
      expect(first?.state).toBe('live');
      expect(bench.informer.stats().lastActivityAgeMs).toBe(89_999);
      await runtime.advance(1);
      expect(first?.state).toBe('closed');
      expect(bench.kinds()).toEqual(['silent']);
      await runtime.advance(2400);
      expect(transport.stream.request.query).toMatchObject({ resourceVersion: '120' });
      transport.stream.open().send('ADDED', rawPod('b', 130));
      first?.send('ADDED', rawPod('c', 140));
      expect(bench.objects()).toEqual(['a@5', 'b@130']);
      expect(bench.informer.stats()).toMatchObject({ silences: 1, lastActivityAgeMs: expect.any(Number) });
    });

    it('when the first connection never opens [B111]', async () => {
      bench.informer.start();
      for (let i = 0; i < 5; i++) await runtime.advance(90_000 + longestPauseMs);
      expect(transport.streams.length).toBeGreaterThanOrEqual(5);
      expect(transport.liveStreams).toBeLessThanOrEqual(1);
      await runtime.advance(longestPauseMs);
      bench.streamList([rawPod('a', 5)], '100');
      expect(bench.objects()).toEqual(['a@5']);
    });

    it('when a page of a list never comes [B111]', async () => {
      bench.informer.start();
      transport.answerNext('hang');
      transport.stream.end({ how: 'response', response: gateShut });
      await runtime.advance(90_000);
      expect(bench.kinds()).toEqual(['silent']);
      transport.answerNext(listOf([rawPod('a', 5)], '100'));
      await runtime.advance(longestPauseMs);
      expect(bench.objects()).toEqual(['a@5']);
    });

    it('with at most one connection, whatever happens [B113]', async () => {
      bench.sync();
      const ends: (() => void)[] = [
        () => transport.stream.end({ how: 'closed' }),
        () => transport.stream.end({ how: 'broken', error: noAnswer() }),
        () => void transport.stream.send('ERROR', failure(410, 'Expired', 'too old').body),
        () => void transport.stream.send('ERROR', failure(500, 'InternalError', 'm').body),
        () => bench.informer.relistNotOlderThan('500'),
        () => {},
      ];
      for (let i = 0; i < 120; i++) {
        ends[Math.floor(runtime.random() * ends.length)]?.();
        await runtime.advance(runtime.random() * 100_000);
        expect(transport.liveStreams).toBeLessThanOrEqual(1);
        if (runtime.random() < 0.7) transport.stream.open();
        if (runtime.random() < 0.5 && transport.stream.request.query?.['sendInitialEvents'] !== undefined) {
          transport.stream.endOfInitialEvents(String(1000 + i));
        }
      }
      bench.informer.stop();
      expect(transport.liveStreams).toBe(0);
      expect(runtime.pendingTimers).toBe(0);
    });
  });

  describe('lists again', () => {
    it.each([
      [
        'in the answer',
        (): void => transport.stream.end({ how: 'response', response: failure(410, 'Expired', 'too old') }),
      ],
      ['in the stream', (): void => void transport.stream.send('ERROR', failure(410, 'Expired', 'too old').body)],
    ])('when its position is too old, said %s, and tells what it missed [B114]', async (_, expire) => {
      bench.sync([rawPod('a', 5), rawPod('b', 6), rawPod('c', 7, { uid: 'old' })]);
      bench.changes.length = 0;
      expire();
      expect(transport.liveStreams).toBe(0);
      await runtime.advance(2400);
      expect(transport.stream.request.query).toMatchObject({ sendInitialEvents: 'true' });
      bench.streamList([rawPod('b', 6), rawPod('c', 150, { uid: 'new' })], '200');
      expect(bench.changes.map(({ key, old, now }) => [key, old, now])).toEqual([
        ['default/a', 'a@5', undefined],
        ['default/c', 'c@7', undefined],
        ['default/c', undefined, 'c@150'],
      ]);
      expect(bench.kinds()).toEqual(['expired']);
    });

    it('with growing pauses while the server goes on to say so [B114]', async () => {
      bench.sync();
      for (let i = 0; i < 200; i++) {
        transport.stream.open().send('ERROR', failure(410, 'Expired', 'too old').body);
        await runtime.advance(1000);
        if (transport.liveStreams === 1) bench.streamList([], '100');
      }
      expect(bench.informer.stats().lists).toBeLessThan(40);
    });

    it('when its position is refused', async () => {
      bench.sync();
      transport.stream.end({ how: 'response', response: failure(400, 'BadRequest', 'invalid resourceVersion') });
      await runtime.advance(2400);
      expect(transport.stream.request.query).toMatchObject({ sendInitialEvents: 'true' });
    });

    it('when it is told of a version that it should have reached', async () => {
      bench.sync([rawPod('a', 5)]);
      const [first] = transport.streams;
      bench.informer.relistNotOlderThan('300');
      bench.informer.relistNotOlderThan('250');
      expect(first?.state).toBe('closed');
      await runtime.advance(0);
      expect(transport.streams).toHaveLength(2);
      expect(transport.stream.request.query).toMatchObject({
        resourceVersion: '300',
        resourceVersionMatch: 'NotOlderThan',
      });
      bench.informer.relistNotOlderThan('280');
      expect(transport.liveStreams).toBe(1);
      let isReached = false;
      bench.informer.whenAt('300', () => (isReached = true));
      bench.streamList([rawPod('a', 5)], '310');
      expect(isReached).toBe(true);
      expect(bench.informer.stats().lists).toBe(2);
    });

    it('at such a version when pages are all there is', async () => {
      bench.informer.start();
      transport.answerNext(listOf([], '100'));
      transport.stream.end({ how: 'response', response: gateShut });
      await runtime.advance(0);
      transport.answerNext(listOf([], '300'));
      bench.informer.relistNotOlderThan('300');
      await runtime.advance(0);
      expect(transport.requests.at(-1)?.query).toEqual({
        limit: '500',
        resourceVersion: '300',
        resourceVersionMatch: 'NotOlderThan',
      });
    });

    it('does not hurry through a pause when it is asked', async () => {
      bench.sync();
      transport.stream.end({ how: 'broken', error: noAnswer() });
      bench.informer.relistNotOlderThan('300');
      await runtime.advance(700);
      expect(transport.liveStreams).toBe(0);
      await runtime.advance(1700);
      expect(transport.stream.request.query).toMatchObject({ sendInitialEvents: 'true', resourceVersion: '300' });
    });
  });

  describe('does not believe a server that is behind', () => {
    it('and asks again for what is not older, with streamed lists [B42]', async () => {
      bench.sync([rawPod('a', 5), rawPod('b', 90)]);
      bench.changes.length = 0;
      transport.stream.send('ERROR', failure(410, 'Expired', 'too old').body);
      await runtime.advance(2400);
      bench.streamList([rawPod('a', 5)], '80');
      expect([bench.objects(), bench.informer.store.position, bench.changes]).toEqual([['a@5', 'b@90'], '100', []]);
      expect(bench.kinds()).toEqual(['expired', 'older']);
      expect(transport.liveStreams).toBe(0);
      await runtime.advance(longestPauseMs);
      expect(transport.stream.request.query).toMatchObject({
        resourceVersion: '100',
        resourceVersionMatch: 'NotOlderThan',
      });
      bench.streamList([rawPod('a', 5), rawPod('b', 90)], '110');
      expect([bench.objects(), bench.informer.store.position]).toEqual([['a@5', 'b@90'], '110']);
      expect(bench.informer.stats().olderLists).toBe(1);
    });

    it('and asks again for what is not older, with pages [B42]', async () => {
      bench.informer.start();
      transport.answerNext(listOf([rawPod('b', 90)], '100'));
      transport.stream.end({ how: 'response', response: gateShut });
      await runtime.advance(0);
      transport.answerNext(listOf([], '80'));
      transport.stream.end({ how: 'response', response: failure(410, 'Expired', 'too old') });
      await runtime.advance(2400);
      expect(bench.objects()).toEqual(['b@90']);
      transport.answerNext(listOf([], '120'));
      await runtime.advance(longestPauseMs);
      expect(transport.requests.at(-1)?.query).toMatchObject({
        resourceVersion: '100',
        resourceVersionMatch: 'NotOlderThan',
      });
      expect(bench.objects()).toEqual([]);
    });
  });
});
