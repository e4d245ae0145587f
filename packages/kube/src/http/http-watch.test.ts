import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { LoopbackServer, sendJson } from '../testing/loopback-server.js';
import { VirtualRuntime } from '../testing/virtual-runtime.js';
import type { WatchEnd, WatchEvent, WatchHandle } from '../transport.js';
import { fixedConnection } from './connection.js';
import { HttpTransport } from './http-transport.js';

function line(event: WatchEvent): string {
  return `${JSON.stringify(event)}\n`;
}

describe('HttpTransport.watch', () => {
  let server: LoopbackServer;
  let runtime: VirtualRuntime;
  let transport: HttpTransport;
  let stream: ServerResponse | undefined;
  let opened: number;
  let events: WatchEvent[];
  let ends: WatchEnd[];
  let handles: WatchHandle[];

  function watch(): WatchHandle {
    const handle = transport.watch(
      { method: 'GET', path: '/api/v1/pods', query: { watch: 'true' } },
      {
        onOpen: () => {
          opened++;
        },
        onEvent: (event) => events.push(event),
        onEnd: (end) => ends.push(end),
      },
    );
    handles.push(handle);
    return handle;
  }

  async function aWhile(): Promise<void> {
    for (let i = 0; i < 50; i++) await runtime.advance(0);
  }

  async function openStream(): Promise<WatchHandle> {
    const handle = watch();
    await runtime.until(() => opened === 1);
    return handle;
  }

  beforeEach(async () => {
    runtime = new VirtualRuntime();
    server = await LoopbackServer.start((_, response) => {
      stream = response;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.flushHeaders();
    });
    transport = new HttpTransport({ connection: fixedConnection(server.url), runtime, userAgent: 'kube-test/1' });
    stream = undefined;
    opened = 0;
    events = [];
    ends = [];
    handles = [];
  });

  afterEach(async () => {
    for (const handle of handles) handle.close();
    transport.close();
    await server.stop();
  });

  it('lets others run in the middle of a long answer', async () => {
    await openStream();
    const filler = 'x'.repeat(4096);
    for (let number = 0; number < 500; number++) stream?.write(line({ type: 'ADDED', object: { number, filler } }));
    // Time stands still, so nobody has their turn.
    for (let turn = 0; turn < 500; turn++) await new Promise(setImmediate);
    expect(events.length).toBeGreaterThan(50);
    expect(events.length).toBeLessThan(200);
    await runtime.until(() => events.length === 500);
    expect(events.map(({ object }) => (object as { readonly number: number }).number)).toEqual([...Array(500).keys()]);
  });

  it('puts events together from bytes that are cut anywhere', async () => {
    await openStream();
    const sent: WatchEvent[] = [
      { type: 'ADDED', object: { note: 'žluťoučký kůň 🐎' } },
      { type: 'MODIFIED', object: { big: 'x'.repeat(300_000) } },
      { type: 'BOOKMARK', object: {} },
    ];
    const bytes = Buffer.from(sent.map(line).join(''));
    for (const [from, to] of [
      [0, 38],
      [38, 41],
      [41, 45],
      [45, 200_000],
      [200_000, bytes.length],
    ]) {
      stream?.write(bytes.subarray(from, to));
      await aWhile();
    }
    await runtime.until(() => events.length === 3);
    expect(events).toEqual(sent);
    expect(ends).toEqual([]);
  });

  it('takes a clean end as such [B112]', async () => {
    await openStream();
    stream?.end(line({ type: 'ADDED', object: {} }));
    await runtime.until(() => ends.length > 0);
    expect(events).toHaveLength(1);
    expect(ends).toEqual([{ how: 'closed' }]);
  });

  it.each([
    ['in the middle of a line', '{"type":"ADDED","obj'],
    ['between lines', '{"type":"ADDED","object":{}}\n'],
  ])('reports a connection that is cut %s', async (_, bytes) => {
    await openStream();
    stream?.write(bytes);
    await aWhile();
    server.cut();
    await runtime.until(() => ends.length > 0);
    expect(ends).toMatchObject([{ how: 'broken', error: { name: 'TransportError', kind: 'reset' } }]);
  });

  it('reports a stream that ends in the middle of a line', async () => {
    await openStream();
    stream?.end('{"type":"ADDED","obj');
    await runtime.until(() => ends.length > 0);
    expect(events).toEqual([]);
    expect(ends).toMatchObject([{ how: 'broken' }]);
  });

  it.each(['<html>', 'null', '7', '{"kind":"Status"}'])(
    'reports a line that is no event, and lets go: %s',
    async (text) => {
      await openStream();
      stream?.write(`${text}\n{"type":"ADDED","object":{}}\n`);
      await runtime.until(() => ends.length > 0);
      await runtime.until(() => server.connections === 0);
      expect(events).toEqual([]);
      expect(ends).toMatchObject([{ how: 'broken', error: { kind: 'malformed' } }]);
    },
  );

  it.each([
    [410, {}],
    [429, { 'retry-after': '7' }],
    [500, {}],
  ])('hands a refusal with %d on', async (status, headers) => {
    server.handler = (_, response) => sendJson(response, status, { kind: 'Status', code: status }, headers);
    watch();
    await runtime.until(() => ends.length > 0);
    expect(ends).toMatchObject([{ how: 'response', response: { status, headers, body: { code: status } } }]);
    expect(opened).toBe(0);
  });

  it('does not wait for ever for an answer', async () => {
    server.handler = () => {};
    watch();
    await runtime.until(() => server.received.length === 1);
    await runtime.advance(30_000);
    expect(ends).toMatchObject([{ how: 'broken', error: { kind: 'timeout' } }]);
    await runtime.until(() => server.connections === 0);
  });

  it('reports a server that is not there', async () => {
    transport.close();
    transport = new HttpTransport({
      connection: fixedConnection('http://127.0.0.1:1'),
      runtime,
      userAgent: 'kube-test/1',
    });
    watch();
    await runtime.until(() => ends.length > 0);
    expect(ends).toMatchObject([{ how: 'broken', error: { kind: 'refused', sent: 'no' } }]);
  });

  it('says nothing after it was closed', async () => {
    const handle = await openStream();
    stream?.write(line({ type: 'ADDED', object: {} }).repeat(2));
    await runtime.until(() => events.length > 0);
    const heard = events.length;
    handle.close();
    stream?.write(line({ type: 'ADDED', object: {} }));
    await runtime.until(() => server.connections === 0);
    await aWhile();
    expect(events).toHaveLength(heard);
    expect(ends).toEqual([]);
  });

  it('says nothing more of a chunk when its sink closes it on the way', async () => {
    const seen: WatchEvent[] = [];
    const handle = transport.watch(
      { method: 'GET', path: '/api/v1/pods' },
      {
        onOpen: () => {},
        onEvent: (event) => {
          seen.push(event);
          handle.close();
        },
        onEnd: (end) => ends.push(end),
      },
    );
    await runtime.until(() => stream !== undefined);
    stream?.write(line({ type: 'ADDED', object: {} }).repeat(3));
    await runtime.until(() => server.connections === 0);
    expect(seen).toHaveLength(1);
    expect(ends).toEqual([]);
  });

  it('may be closed before it was sent', async () => {
    watch().close();
    await aWhile();
    expect(server.received).toHaveLength(0);
  });

  it('leaves no socket behind, however often it is started again [B113]', async () => {
    for (let i = 0; i < 25; i++) {
      opened = 0;
      const handle = await openStream();
      if (i % 3 === 0) server.cut();
      else if (i % 3 === 1) stream?.end();
      else handle.close();
      await runtime.until(() => server.connections === 0);
    }
    expect(server.accepted).toBe(25);
    await runtime.until(() => transport.openSockets === 0);
    expect(runtime.pendingTimers).toBe(0);
  });

  it('does not take sockets from requests', async () => {
    transport.close();
    transport = new HttpTransport({
      connection: fixedConnection(server.url),
      runtime,
      userAgent: 'kube-test/1',
      maxInFlight: 1,
    });
    await openStream();
    opened = 0;
    await openStream();
    server.handler = (_, response) => sendJson(response, 200, {});
    expect((await transport.request({ method: 'GET', path: '/api/v1/pods' })).status).toBe(200);
    expect(transport.openSockets).toBe(3);
  });
});
