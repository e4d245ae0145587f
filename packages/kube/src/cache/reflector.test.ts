import { beforeEach, describe, expect, it } from '@jest/globals';
import type { KubeObject, ResourceType } from '../resources.js';
import { deletedPod, type RawPod, rawPod } from '../testing/objects.js';
import { failure, listOf, noAnswer, ScriptedTransport } from '../testing/scripted-transport.js';
import { VirtualRuntime } from '../testing/virtual-runtime.js';
import { Informer, type InformerOptions, type InformerProblem } from './informer.js';
import type { Change } from './store.js';

const pods: ResourceType = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true };
/** Longer than any pause between two tries. */
const longestPauseMs = 30_000;
const gateShut = failure(
  422,
  'Invalid',
  'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
);

/** The list/watch protocol, seen from the wire: what is asked, when, and what the cache makes of the answers. */
describe('Informer', () => {
  let runtime: VirtualRuntime;
  let transport: ScriptedTransport;
  let informer: Informer<string>;
  let problems: InformerProblem[];
  let changes: Change<string>[];

  function create(options: Partial<InformerOptions<string>> = {}): Informer<string> {
    informer = new Informer<string>({
      transport,
      runtime,
      type: pods,
      project: (raw: KubeObject) => `${raw.metadata?.name}@${raw.metadata?.resourceVersion}`,
      report: (problem) => problems.push(problem),
      ...options,
    });
    informer.subscribe((change) => changes.push(change));
    return informer;
  }

  /** Starts, and answers the streamed list. */
  function sync(held: readonly RawPod[] = [], resourceVersion = '100'): void {
    informer.start();
    streamList(held, resourceVersion);
  }

  function streamList(held: readonly RawPod[], resourceVersion: string): void {
    transport.stream.open();
    for (const pod of held) transport.stream.send('ADDED', pod);
    transport.stream.endOfInitialEvents(resourceVersion);
  }

  function objects(): string[] {
    return [...informer.store.values()].toSorted();
  }

  function kinds(): string[] {
    return problems.splice(0).map(({ kind }) => kind);
  }

  beforeEach(() => {
    runtime = new VirtualRuntime();
    transport = new ScriptedTransport();
    problems = [];
    changes = [];
    create();
  });

  describe('begins', () => {
    it('with a list that comes as a stream, and goes on with the same stream', async () => {
      informer.start();
      informer.start();
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
      const synced = informer.whenSynced().then(() => (isSynced = true));
      transport.stream.open().send('ADDED', rawPod('a', 5)).send('ADDED', rawPod('b', 3));
      await runtime.advance(0);
      expect([isSynced, informer.store.synced, objects(), changes]).toEqual([false, false, [], []]);
      transport.stream.endOfInitialEvents('100');
      await synced;
      expect([objects(), informer.store.position]).toEqual([['a@5', 'b@3'], '100']);
      transport.stream.send('MODIFIED', rawPod('a', 101));
      expect(objects()).toEqual(['a@101', 'b@3']);
      expect(transport.streams).toHaveLength(1);
      expect(transport.requests).toEqual([]);
    });

    it('where it is told to look', () => {
      create({ namespace: 'team-a', labels: { b: '2', a: '1' }, fieldSelector: 'metadata.name=x' }).start();
      expect(transport.stream.request.path).toBe('/api/v1/namespaces/team-a/pods');
      expect(transport.stream.request.query).toMatchObject({
        labelSelector: 'a=1,b=2',
        fieldSelector: 'metadata.name=x',
      });
      expect(informer.takeIn(rawPod('x', 7, { namespace: 'team-a', labels: { a: '1', b: '2' } }))).toBe('taken');
      expect(informer.takeIn(rawPod('y', 7, { namespace: 'team-a', labels: { a: '1' } }))).toBe('outOfScope');
      expect(informer.takeIn(rawPod('z', 7, { namespace: 'team-b', labels: { a: '1', b: '2' } }))).toBe('outOfScope');
    });

    it.each([400, 422])('with pages where the server answers %d to a streamed list, and remembers', async (status) => {
      informer.start();
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
      expect([objects(), informer.store.position]).toEqual([['a@5', 'b@3'], '100']);
      expect(transport.stream.request.query).toMatchObject({ resourceVersion: '100', allowWatchBookmarks: 'true' });
      expect(transport.stream.request.query).not.toHaveProperty('sendInitialEvents');
      expect(problems).toEqual([]);

      transport.answerNext(listOf([], '200'));
      transport.stream.open().end({ how: 'response', response: failure(410, 'Expired', 'too old') });
      await runtime.advance(longestPauseMs);
      expect(objects()).toEqual([]);
      expect(
        transport.streams.filter(({ request }) => request.query?.['sendInitialEvents'] !== undefined),
      ).toHaveLength(1);
    });

    it('with pages where the server does not know streamed lists, and starts a plain stream', async () => {
      transport.answerNext(listOf([rawPod('a', 5), rawPod('b', 6)], '100'));
      informer.start();
      const [first] = transport.streams;
      first?.open().send('ADDED', rawPod('a', 5)).bookmark('90');
      await runtime.advance(0);
      expect(first?.state).toBe('closed');
      expect([objects(), informer.store.position]).toEqual([['a@5', 'b@6'], '100']);
    });

    it('again from the first page when a page fails, and shows nothing of the half', async () => {
      informer.start();
      transport
        .answerNext(listOf([rawPod('a', 5)], '100', 'page-2'))
        .answerNext(failure(410, 'Expired', 'the token is too old'));
      transport.stream.end({ how: 'response', response: gateShut });
      await runtime.advance(0);
      expect([informer.store.synced, objects(), kinds()]).toEqual([false, [], ['expired']]);
      transport.answerNext(noAnswer()).answerNext(listOf([rawPod('b', 7)], '110'));
      await runtime.advance(2 * longestPauseMs);
      expect(kinds()).toEqual(['broken']);
      expect([objects(), transport.requests.map(({ query }) => query?.['continue'])]).toEqual([
        ['b@7'],
        [undefined, 'page-2', undefined, undefined],
      ]);
    });

    it('again when the stream ends before the list is complete', async () => {
      informer.start();
      transport.stream.open().send('ADDED', rawPod('a', 5));
      await runtime.advance(20_000);
      transport.stream.end({ how: 'closed' });
      expect(kinds()).toEqual(['broken']);
      await runtime.advance(longestPauseMs);
      streamList([rawPod('b', 6)], '100');
      expect(objects()).toEqual(['b@6']);
    });
  });

  describe('goes on for ever', () => {
    it('where a stream that ends cleanly left off, at once, without a list [B111] [B112]', async () => {
      sync([rawPod('a', 5)]);
      transport.stream.send('MODIFIED', rawPod('a', 120)).bookmark('150');
      await runtime.advance(60_000);
      transport.stream.end({ how: 'closed' });
      expect(transport.streams).toHaveLength(2);
      expect(transport.stream.request.query).toMatchObject({ resourceVersion: '150', allowWatchBookmarks: 'true' });
      expect(transport.stream.request.query).not.toHaveProperty('sendInitialEvents');
      transport.stream.open().send('MODIFIED', rawPod('a', 160));
      expect(objects()).toEqual(['a@160']);
      expect([problems, transport.requests]).toEqual([[], []]);
      expect(informer.stats()).toMatchObject({ lists: 1, resumes: 1 });
    });

    it('through hours of streams that end on time [B112]', async () => {
      sync();
      for (let i = 0; i < 50; i++) {
        await runtime.advance(80_000);
        transport.stream.bookmark(String(200 + i));
        transport.stream.end({ how: 'closed' });
        transport.stream.open();
      }
      expect(transport.streams).toHaveLength(51);
      expect(informer.stats()).toMatchObject({ lists: 1, resumes: 50, silences: 0 });
      expect(informer.store.position).toBe('249');
    });

    it('with a pause when a server ends streams as soon as they begin', async () => {
      sync();
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
        sync([rawPod('a', 5)]);
        for (let i = 0; i < 30; i++) {
          fail();
          expect(transport.liveStreams).toBe(0);
          expect(kinds()).toEqual([kind]);
          await runtime.advance(longestPauseMs);
          expect(transport.liveStreams).toBe(1);
          expect(transport.stream.request.query).toMatchObject({ resourceVersion: '100' });
        }
        transport.stream.open().send('ADDED', rawPod('b', 101));
        expect(objects()).toEqual(['a@5', 'b@101']);
      },
    );

    it('with pauses that grow and scatter, and start small after a good stream', async () => {
      sync();
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
      sync();
      fail();
      await runtime.advance(44_999);
      expect(transport.liveStreams).toBe(0);
      await runtime.advance(9_001);
      expect(transport.liveStreams).toBe(1);
    });

    it('when the connection goes silent, which it gives up and replaces [B111]', async () => {
      sync([rawPod('a', 5)]);
      const [first] = transport.streams;
      await runtime.advance(60_000);
      first?.bookmark('120');
      await runtime.advance(89_999);
      expect(first?.state).toBe('live');
      expect(informer.stats().lastActivityAgeMs).toBe(89_999);
      await runtime.advance(1);
      expect(first?.state).toBe('closed');
      expect(kinds()).toEqual(['silent']);
      await runtime.advance(2400);
      expect(transport.stream.request.query).toMatchObject({ resourceVersion: '120' });
      transport.stream.open().send('ADDED', rawPod('b', 130));
      first?.send('ADDED', rawPod('c', 140));
      expect(objects()).toEqual(['a@5', 'b@130']);
      expect(informer.stats()).toMatchObject({ silences: 1, lastActivityAgeMs: expect.any(Number) });
    });

    it('when the first connection never opens [B111]', async () => {
      informer.start();
      for (let i = 0; i < 5; i++) await runtime.advance(90_000 + longestPauseMs);
      expect(transport.streams.length).toBeGreaterThanOrEqual(5);
      expect(transport.liveStreams).toBeLessThanOrEqual(1);
      await runtime.advance(longestPauseMs);
      streamList([rawPod('a', 5)], '100');
      expect(objects()).toEqual(['a@5']);
    });

    it('when a page of a list never comes [B111]', async () => {
      informer.start();
      transport.answerNext('hang');
      transport.stream.end({ how: 'response', response: gateShut });
      await runtime.advance(90_000);
      expect(kinds()).toEqual(['silent']);
      transport.answerNext(listOf([rawPod('a', 5)], '100'));
      await runtime.advance(longestPauseMs);
      expect(objects()).toEqual(['a@5']);
    });

    it('with at most one connection, whatever happens [B113]', async () => {
      sync();
      const ends: (() => void)[] = [
        () => transport.stream.end({ how: 'closed' }),
        () => transport.stream.end({ how: 'broken', error: noAnswer() }),
        () => void transport.stream.send('ERROR', failure(410, 'Expired', 'too old').body),
        () => void transport.stream.send('ERROR', failure(500, 'InternalError', 'm').body),
        () => informer.relistNotOlderThan('500'),
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
      informer.stop();
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
      sync([rawPod('a', 5), rawPod('b', 6), rawPod('c', 7, { uid: 'old' })]);
      changes = [];
      expire();
      expect(transport.liveStreams).toBe(0);
      await runtime.advance(2400);
      expect(transport.stream.request.query).toMatchObject({ sendInitialEvents: 'true' });
      streamList([rawPod('b', 6), rawPod('c', 150, { uid: 'new' })], '200');
      expect(changes.map(({ key, old, now }) => [key, old, now])).toEqual([
        ['default/a', 'a@5', undefined],
        ['default/c', 'c@7', undefined],
        ['default/c', undefined, 'c@150'],
      ]);
      expect(kinds()).toEqual(['expired']);
    });

    it('with growing pauses while the server goes on to say so [B114]', async () => {
      sync();
      for (let i = 0; i < 200; i++) {
        transport.stream.open().send('ERROR', failure(410, 'Expired', 'too old').body);
        await runtime.advance(1000);
        if (transport.liveStreams === 1) streamList([], '100');
      }
      expect(informer.stats().lists).toBeLessThan(40);
    });

    it('when its position is refused', async () => {
      sync();
      transport.stream.end({ how: 'response', response: failure(400, 'BadRequest', 'invalid resourceVersion') });
      await runtime.advance(2400);
      expect(transport.stream.request.query).toMatchObject({ sendInitialEvents: 'true' });
    });

    it('when it is told of a version that it should have reached', async () => {
      sync([rawPod('a', 5)]);
      const [first] = transport.streams;
      informer.relistNotOlderThan('300');
      informer.relistNotOlderThan('250');
      expect(first?.state).toBe('closed');
      await runtime.advance(0);
      expect(transport.streams).toHaveLength(2);
      expect(transport.stream.request.query).toMatchObject({
        resourceVersion: '300',
        resourceVersionMatch: 'NotOlderThan',
      });
      informer.relistNotOlderThan('280');
      expect(transport.liveStreams).toBe(1);
      let isReached = false;
      informer.whenAt('300', () => (isReached = true));
      streamList([rawPod('a', 5)], '310');
      expect(isReached).toBe(true);
      expect(informer.stats().lists).toBe(2);
    });

    it('at such a version when pages are all there is', async () => {
      informer.start();
      transport.answerNext(listOf([], '100'));
      transport.stream.end({ how: 'response', response: gateShut });
      await runtime.advance(0);
      transport.answerNext(listOf([], '300'));
      informer.relistNotOlderThan('300');
      await runtime.advance(0);
      expect(transport.requests.at(-1)?.query).toEqual({
        limit: '500',
        resourceVersion: '300',
        resourceVersionMatch: 'NotOlderThan',
      });
    });

    it('does not hurry through a pause when it is asked', async () => {
      sync();
      transport.stream.end({ how: 'broken', error: noAnswer() });
      informer.relistNotOlderThan('300');
      await runtime.advance(700);
      expect(transport.liveStreams).toBe(0);
      await runtime.advance(1700);
      expect(transport.stream.request.query).toMatchObject({ sendInitialEvents: 'true', resourceVersion: '300' });
    });
  });

  describe('does not believe a server that is behind', () => {
    it('and asks again for what is not older, with streamed lists [B42]', async () => {
      sync([rawPod('a', 5), rawPod('b', 90)]);
      changes = [];
      transport.stream.send('ERROR', failure(410, 'Expired', 'too old').body);
      await runtime.advance(2400);
      streamList([rawPod('a', 5)], '80');
      expect([objects(), informer.store.position, changes]).toEqual([['a@5', 'b@90'], '100', []]);
      expect(kinds()).toEqual(['expired', 'older']);
      expect(transport.liveStreams).toBe(0);
      await runtime.advance(longestPauseMs);
      expect(transport.stream.request.query).toMatchObject({
        resourceVersion: '100',
        resourceVersionMatch: 'NotOlderThan',
      });
      streamList([rawPod('a', 5), rawPod('b', 90)], '110');
      expect([objects(), informer.store.position]).toEqual([['a@5', 'b@90'], '110']);
      expect(informer.stats().olderLists).toBe(1);
    });

    it('and asks again for what is not older, with pages [B42]', async () => {
      informer.start();
      transport.answerNext(listOf([rawPod('b', 90)], '100'));
      transport.stream.end({ how: 'response', response: gateShut });
      await runtime.advance(0);
      transport.answerNext(listOf([], '80'));
      transport.stream.end({ how: 'response', response: failure(410, 'Expired', 'too old') });
      await runtime.advance(2400);
      expect(objects()).toEqual(['b@90']);
      transport.answerNext(listOf([], '120'));
      await runtime.advance(longestPauseMs);
      expect(transport.requests.at(-1)?.query).toMatchObject({
        resourceVersion: '100',
        resourceVersionMatch: 'NotOlderThan',
      });
      expect(objects()).toEqual([]);
    });
  });

  it('proves a deletion by its event, and not by a list', async () => {
    sync([rawPod('a', 5), rawPod('b', 6)]);
    transport.stream.send('DELETED', deletedPod('a', 110)).send('ERROR', failure(410, 'Expired', 'too old').body);
    await runtime.advance(2400);
    streamList([], '200');
    expect(informer.store.deletedWithProof('default/a')).toEqual({ uid: 'uid-a', resourceVersion: '110' });
    expect(informer.store.deletedWithProof('default/b')).toBeUndefined();
  });

  it.each([
    ['a watch of everything: any last state', {}, rawPod('a', 110), true],
    [
      'a watch of some: not that of an object that may only have left them',
      { labels: { x: 'y' } },
      rawPod('a', 110),
      false,
    ],
    ['a watch of some: that of an object that was being deleted', { labels: { x: 'y' } }, deletedPod('a', 110), true],
    ['a field selector: as little', { fieldSelector: 'metadata.name=a' }, rawPod('a', 110), false],
    [
      'the word of the caller',
      { isProofOfDeletion: (raw) => (raw as RawPod).status.phase === 'Failed' },
      rawPod('a', 110),
      false,
    ],
    [
      'the word of the caller, who says yes',
      { labels: { x: 'y' }, isProofOfDeletion: (raw) => (raw as RawPod).status.phase === 'Failed' },
      rawPod('a', 110, { phase: 'Failed' }),
      true,
    ],
  ] as [string, Partial<InformerOptions<string>>, RawPod, boolean][])(
    'takes for proof, with %s',
    (_, options, last, isProof) => {
      create(options);
      sync([rawPod('a', 5, { labels: { x: 'y' } })]);
      transport.stream.send('DELETED', last);
      expect(objects()).toEqual([]);
      expect(informer.store.deletedWithProof('default/a') !== undefined).toBe(isProof);
    },
  );

  it('lets the event loop turn while it takes in a long page', async () => {
    create({
      project: (raw) => {
        runtime.freeze(1);
        return raw.metadata?.name ?? '';
      },
    });
    informer.start();
    transport.answerNext(
      listOf(
        Array.from({ length: 100 }, (_, i) => rawPod(`p${i}`, i + 1)),
        '100',
      ),
    );
    let turns = 0;
    const tick = (): void => {
      turns++;
      runtime.setTimer(0, tick);
    };
    runtime.setTimer(0, tick);
    transport.stream.end({ how: 'response', response: gateShut });
    for (let i = 0; !informer.store.synced && i < 100; i++) await runtime.advance(0.001);
    expect(informer.store.size).toBe(100);
    expect(turns).toBeGreaterThan(5);
  });

  describe('when it is stopped', () => {
    it('lets go of everything and says no more', async () => {
      sync();
      const told = changes.length;
      const stream = transport.stream;
      informer.stop();
      expect(stream.state).toBe('closed');
      await runtime.advance(1_000_000);
      expect([transport.liveStreams, changes.length, problems, runtime.pendingTimers]).toEqual([0, told, [], 0]);
    });

    it.each([
      ['in a pause', (): void => transport.stream.end({ how: 'broken', error: noAnswer() })],
      [
        'in a list of pages',
        (): void => {
          transport.answerNext('hang');
          transport.stream.end({ how: 'response', response: gateShut });
        },
      ],
    ])('stays so %s', async (_, fail) => {
      informer.start();
      fail();
      await runtime.advance(0);
      problems = [];
      informer.stop();
      await runtime.advance(1_000_000);
      expect([transport.liveStreams, problems, runtime.pendingTimers]).toEqual([0, [], 0]);
    });

    it('by a listener, in the middle of the news', async () => {
      informer.subscribe(() => informer.stop());
      sync([rawPod('a', 5), rawPod('b', 6)]);
      await runtime.advance(1_000_000);
      expect([transport.liveStreams, changes.length, runtime.pendingTimers]).toEqual([0, 1, 0]);
    });

    it('by what is called back at a version', async () => {
      informer.whenAt('100', () => informer.stop());
      sync([rawPod('a', 5)]);
      await runtime.advance(1_000_000);
      expect([transport.liveStreams, runtime.pendingTimers]).toEqual([0, 0]);
    });

    it('can start again, and then lists again unless it knows where it was', () => {
      sync([rawPod('a', 5)]);
      informer.stop();
      informer.start();
      expect(transport.stream.request.query).toMatchObject({ resourceVersion: '100' });
    });
  });

  it('copes with a transport that answers before it returns', async () => {
    let answers = 0;
    transport.onWatch((stream) => {
      answers++;
      if (answers === 1) stream.end({ how: 'response', response: failure(410, 'Expired', 'too old') });
      else if (answers === 2) stream.open().send('ERROR', failure(500, 'InternalError', 'm').body);
      else stream.open().send('ADDED', rawPod('a', 5)).endOfInitialEvents('100');
    });
    informer.start();
    await runtime.advance(longestPauseMs);
    expect(objects()).toEqual(['a@5']);
    expect(transport.streams.map(({ state }) => state)).toEqual(['ended', 'closed', 'live']);
  });

  it('tells numbers', () => {
    sync([rawPod('a', 5)]);
    transport.stream.send('MODIFIED', rawPod('a', 101)).send('MODIFIED', rawPod('a', 101));
    expect(informer.stats()).toEqual({
      synced: true,
      objects: 1,
      isolatedObjects: 0,
      events: 2,
      repeatedEvents: 1,
      lists: 1,
      resumes: 0,
      olderLists: 0,
      silences: 0,
      lastActivityAgeMs: 0,
    });
  });
});
