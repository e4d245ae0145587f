import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Client } from './client.js';
import { EventRecorder, type EventRecorderOptions, eventName, type KubeEvent, truncateUtf8 } from './event-recorder.js';
import { failure, noAnswer, ok, ScriptedTransport } from './testing/scripted-transport.js';
import { VirtualRuntime } from './testing/virtual-runtime.js';

const regarding = { apiVersion: 'v1', kind: 'Pod', namespace: 'team-a', name: 'p', uid: 'u1' };
const record = { regarding, type: 'Warning', reason: 'Stuck', message: 'it is stuck', episode: '1' } as const;

describe('EventRecorder', () => {
  let runtime: VirtualRuntime;
  let transport: ScriptedTransport;
  let recorder: EventRecorder;
  let counted: string[];

  function create(options: Partial<EventRecorderOptions> = {}): EventRecorder {
    recorder = new EventRecorder({
      client: new Client({ transport, runtime }),
      runtime,
      component: 'the-controller',
      instance: 'copy-1',
      metrics: { written: () => counted.push('written'), dropped: (why) => counted.push(why) },
      ...options,
    });
    return recorder;
  }

  beforeEach(() => {
    runtime = new VirtualRuntime();
    transport = new ScriptedTransport(() => ok({}, 201));
    counted = [];
    create();
  });

  it('writes an Event that kubectl shows with its object', async () => {
    recorder.record(record);
    expect(transport.requests).toEqual([]);
    await recorder.flush();
    expect(transport.requests).toMatchObject([{ method: 'POST', path: '/api/v1/namespaces/team-a/events' }]);
    expect(transport.requests[0]?.body).toEqual({
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: eventName(regarding, 'Stuck', '1'), namespace: 'team-a' },
      involvedObject: regarding,
      type: 'Warning',
      reason: 'Stuck',
      message: 'it is stuck',
      source: { component: 'the-controller' },
      reportingComponent: 'the-controller',
      reportingInstance: 'copy-1',
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:00:00Z',
      count: 1,
    });
    expect(counted).toEqual(['written']);
  });

  it('puts Events of cluster-scoped objects into default', async () => {
    recorder.record({ ...record, regarding: { apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u2' } });
    await recorder.flush();
    expect(transport.requests).toMatchObject([{ path: '/api/v1/namespaces/default/events' }]);
  });

  it('writes an episode once, in this process and after it', async () => {
    for (let i = 0; i < 3; i++) recorder.record({ ...record, message: `told ${i} times` });
    recorder.record({ ...record, episode: '2' });
    await recorder.flush();
    expect(transport.requests).toHaveLength(2);
    transport.answerAll(() => failure(409, 'AlreadyExists', 'there is one'));
    create().record(record);
    await recorder.flush();
    expect(transport.requests).toHaveLength(3);
    expect(counted).toEqual(['written', 'written']);
  });

  it('bounds how much one object may say, not what others say', async () => {
    create({ perObject: { burst: 2, refillMs: 1000 } });
    for (let i = 0; i < 5; i++) recorder.record({ ...record, episode: String(i) });
    recorder.record({ ...record, regarding: { ...regarding, uid: 'u2' } });
    await recorder.flush();
    expect(counted).toEqual(['rate', 'rate', 'rate', 'written', 'written', 'written']);
    await runtime.advance(1000);
    recorder.record({ ...record, episode: 'later' });
    await recorder.flush();
    expect(counted.at(-1)).toBe('written');
  });

  it('bounds how much may wait', async () => {
    create({ queueLimit: 2 });
    transport.answerAll(() => 'hang');
    for (let i = 0; i < 5; i++) recorder.record({ ...record, episode: String(i) });
    await runtime.advance(0);
    recorder.record({ ...record, episode: 'one more, for the place of the one under way' });
    expect(counted).toEqual(['full', 'full', 'full']);
    expect(transport.requests).toHaveLength(1);
  });

  it.each([
    ['no answer', noAnswer()],
    ['a fault of the server', failure(500, 'InternalError', 'm')],
    ['a server that is busy', failure(429, 'TooManyRequests', 'm', { headers: { 'retry-after': '60' } })],
  ])('tries again after %s, since the name makes that harmless', async (_, answer) => {
    transport.answerNext(answer).answerNext(answer);
    recorder.record(record);
    await runtime.advance(60_000);
    await recorder.flush();
    expect(counted).toEqual(['written']);
    expect(new Set(transport.requests.map(({ body }) => (body as KubeEvent).metadata?.name)).size).toBe(1);
  });

  it.each([
    ['forbidden', failure(403, 'Forbidden', 'no')],
    ['namespaceTerminating', failure(403, 'Forbidden', 'because it is being terminated')],
    ['notFound', failure(404, 'NotFound', 'no namespace')],
  ])('gives up at once on what cannot pass: %s', async (why, answer) => {
    transport.answerAll(() => answer);
    recorder.record(record);
    await runtime.advance(60_000);
    expect([counted, transport.requests.length]).toEqual([[why], 1]);
  });

  it('gives up in the end, and goes on with the next', async () => {
    for (let i = 0; i < 4; i++) transport.answerNext(noAnswer());
    recorder.record(record);
    recorder.record({ ...record, episode: '2' });
    await runtime.advance(60_000);
    expect(counted).toEqual(['unknown', 'written']);
  });

  it('takes up again after it had nothing to do', async () => {
    recorder.record(record);
    await recorder.flush();
    recorder.record({ ...record, episode: '2' });
    await recorder.flush();
    expect(counted).toEqual(['written', 'written']);
  });
});

describe('eventName', () => {
  it('differs with the object, the reason and the episode, and with nothing else', () => {
    const name = eventName(regarding, 'Stuck', '1');
    expect(name).toMatch(/^p\.[0-9a-f]{16}$/);
    expect(eventName({ ...regarding, resourceVersion: '9' }, 'Stuck', '1')).toBe(name);
    const others = [
      eventName({ ...regarding, uid: 'u2' }, 'Stuck', '1'),
      eventName({ ...regarding, fieldPath: 'spec.containers{main}' }, 'Stuck', '1'),
      eventName(regarding, 'Other', '1'),
      eventName(regarding, 'Stuck', '2'),
    ];
    expect(new Set([name, ...others]).size).toBe(5);
  });

  it('is a name for any object', () => {
    const name = eventName({ ...regarding, name: `${'x'.repeat(235)}.-${'y'.repeat(16)}` }, 'Stuck', '1');
    expect(name.length).toBeLessThanOrEqual(253);
    expect(name).toMatch(/^x+\.[0-9a-f]{16}$/);
  });
});

describe('truncateUtf8', () => {
  it('keeps whole characters within the bytes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), fc.integer({ min: 3, max: 80 }), (text, maxBytes) => {
        const cut = truncateUtf8(text, maxBytes);
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(maxBytes);
        expect(cut).not.toContain('\ufffd');
        if (Buffer.byteLength(text) <= maxBytes) expect(cut).toBe(text);
        else expect(text.startsWith(cut.slice(0, -1)) && cut.endsWith('…')).toBe(true);
      }),
    );
  });
});
