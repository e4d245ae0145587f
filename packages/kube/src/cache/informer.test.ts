import { beforeEach, describe, expect, it } from '@jest/globals';
import { gateShut, InformerBench, longestPauseMs } from '../testing/informer-bench.js';
import { deletedPod, type RawPod, rawPod } from '../testing/objects.js';
import { failure, listOf, noAnswer, type ScriptedTransport } from '../testing/scripted-transport.js';
import type { VirtualRuntime } from '../testing/virtual-runtime.js';
import type { InformerOptions } from './informer.js';

describe('Informer', () => {
  let bench: InformerBench;
  let runtime: VirtualRuntime;
  let transport: ScriptedTransport;

  beforeEach(() => {
    bench = new InformerBench();
    ({ runtime, transport } = bench);
  });

  it('proves a deletion by its event, and not by a list', async () => {
    bench.sync([rawPod('a', 5), rawPod('b', 6)]);
    transport.stream.send('DELETED', deletedPod('a', 110)).send('ERROR', failure(410, 'Expired', 'too old').body);
    await runtime.advance(2400);
    bench.streamList([], '200');
    expect(bench.informer.store.deletedWithProof('default/a')).toEqual({ uid: 'uid-a', resourceVersion: '110' });
    expect(bench.informer.store.deletedWithProof('default/b')).toBeUndefined();
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
      bench.create(options);
      bench.sync([rawPod('a', 5, { labels: { x: 'y' } })]);
      transport.stream.send('DELETED', last);
      expect(bench.objects()).toEqual([]);
      expect(bench.informer.store.deletedWithProof('default/a') !== undefined).toBe(isProof);
    },
  );

  it('lets the event loop turn while it takes in a long page', async () => {
    bench.create({
      project: (raw) => {
        runtime.freeze(1);
        return raw.metadata?.name ?? '';
      },
    });
    bench.informer.start();
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
    for (let i = 0; !bench.informer.store.synced && i < 100; i++) await runtime.advance(0.001);
    expect(bench.informer.store.size).toBe(100);
    expect(turns).toBeGreaterThan(5);
  });

  describe('when it is stopped', () => {
    it('lets go of everything and says no more', async () => {
      bench.sync();
      const told = bench.changes.length;
      const stream = transport.stream;
      bench.informer.stop();
      expect(stream.state).toBe('closed');
      await runtime.advance(1_000_000);
      expect([transport.liveStreams, bench.changes.length, bench.problems, runtime.pendingTimers]).toEqual([
        0,
        told,
        [],
        0,
      ]);
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
      bench.informer.start();
      fail();
      await runtime.advance(0);
      bench.problems.length = 0;
      bench.informer.stop();
      await runtime.advance(1_000_000);
      expect([transport.liveStreams, bench.problems, runtime.pendingTimers]).toEqual([0, [], 0]);
    });

    it.each([
      ['a streamed list', (): void => bench.sync([rawPod('a', 5), rawPod('b', 6)])],
      [
        'pages',
        (): void => {
          transport.answerNext(listOf([rawPod('a', 5), rawPod('b', 6)], '100'));
          bench.startWithPages();
        },
      ],
    ])('by a listener, in the middle of the news of %s', async (_, sync) => {
      bench.informer.subscribe(() => bench.informer.stop());
      sync();
      await runtime.advance(1_000_000);
      expect([transport.liveStreams, bench.changes.length, runtime.pendingTimers]).toEqual([0, 1, 0]);
    });

    it('by what is called back at a version', async () => {
      bench.informer.whenAt('100', () => bench.informer.stop());
      bench.sync([rawPod('a', 5)]);
      await runtime.advance(1_000_000);
      expect([transport.liveStreams, runtime.pendingTimers]).toEqual([0, 0]);
    });

    it('can start again, and then lists again unless it knows where it was', () => {
      bench.sync([rawPod('a', 5)]);
      bench.informer.stop();
      bench.informer.start();
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
    bench.informer.start();
    await runtime.advance(longestPauseMs);
    expect(bench.objects()).toEqual(['a@5']);
    expect(transport.streams.map(({ state }) => state)).toEqual(['ended', 'closed', 'live']);
  });

  it('lists once more when a listener asks for it in the middle of the news', async () => {
    const unsubscribe = bench.informer.subscribe(() => {
      unsubscribe();
      bench.informer.relistNotOlderThan('300');
    });
    transport.answerNext(listOf([rawPod('a', 5)], '100')).answerNext(listOf([rawPod('a', 5)], '300'));
    bench.startWithPages();
    await runtime.advance(0);
    expect(transport.requests.map(({ query }) => query?.['resourceVersion'])).toEqual([undefined, '300']);
    expect([transport.liveStreams, bench.informer.store.position]).toEqual([1, '300']);
  });

  it('tells numbers', () => {
    bench.sync([rawPod('a', 5)]);
    transport.stream.send('MODIFIED', rawPod('a', 101)).send('MODIFIED', rawPod('a', 101));
    expect(bench.informer.stats()).toEqual({
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
