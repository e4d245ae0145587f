import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { type LoopbackHandler, LoopbackServer, sendJson } from '../testing/loopback-server.js';
import { VirtualRuntime } from '../testing/virtual-runtime.js';
import type { ApiRequest, TransportError } from '../transport.js';
import { fixedConnection } from './connection.js';
import { HttpTransport, type HttpTransportOptions } from './http-transport.js';

const get: ApiRequest = { method: 'GET', path: '/api/v1/pods' };
const post: ApiRequest = { method: 'POST', path: '/api/v1/pods', body: { n: 1 } };
const silent: LoopbackHandler = () => {};

async function faultOf(answer: Promise<unknown>): Promise<TransportError> {
  return answer.then(
    () => {
      throw new Error('the request should have failed');
    },
    (error: unknown) => error as TransportError,
  );
}

describe('HttpTransport', () => {
  let server: LoopbackServer;
  let runtime: VirtualRuntime;
  let transport: HttpTransport;

  function connect(options: Partial<HttpTransportOptions> = {}): HttpTransport {
    const connection = fixedConnection(server.url);
    return new HttpTransport({ connection, runtime, userAgent: 'kube-test/1', ...options });
  }

  beforeEach(async () => {
    runtime = new VirtualRuntime();
    server = await LoopbackServer.start((_, response) => sendJson(response, 200, { ok: true }));
    transport = connect();
  });

  afterEach(async () => {
    transport.close();
    await server.stop();
  });

  it('sends what it is told, and reads the answer', async () => {
    server.handler = (_, response) => sendJson(response, 201, { kind: 'Pod', note: 'žluťoučký' }, { 'X-Trace': '7' });
    const request = { ...post, query: { fieldManager: 'a b&c' }, contentType: 'application/merge-patch+json' };
    const response = await transport.request({ ...request, method: 'PATCH', body: { note: 'žluťoučký' } });
    expect(response).toMatchObject({
      status: 201,
      body: { kind: 'Pod', note: 'žluťoučký' },
      headers: { 'x-trace': '7' },
    });
    const [received] = server.received;
    expect(received).toMatchObject({
      method: 'PATCH',
      url: '/api/v1/pods?fieldManager=a+b%26c',
      body: '{"note":"žluťoučký"}',
    });
    expect(received?.headers).toMatchObject({
      accept: 'application/json',
      'user-agent': 'kube-test/1',
      'content-type': 'application/merge-patch+json',
      'content-length': String(Buffer.byteLength('{"note":"žluťoučký"}')),
    });
    expect(received?.headers['accept-encoding']).toBeUndefined();
  });

  it('keeps the path of the server it was given', async () => {
    transport.close();
    transport = connect({ connection: fixedConnection(`${server.url}/clusters/one/`) });
    await transport.request(get);
    expect(server.received[0]?.url).toBe('/clusters/one/api/v1/pods');
  });

  it('resolves with refusals, in JSON or not', async () => {
    server.handler = (_, response) => sendJson(response, 409, { kind: 'Status', reason: 'Conflict' });
    expect(await transport.request(get)).toMatchObject({ status: 409, body: { reason: 'Conflict' } });
    server.handler = (_, response) =>
      response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>bad gateway</h1>');
    expect(await transport.request(get)).toMatchObject({ status: 502, body: '<h1>bad gateway</h1>' });
    server.handler = (_, response) => response.writeHead(200).end();
    expect(await transport.request(get)).toMatchObject({ status: 200, body: undefined });
  });

  it('sends request after request over one socket', async () => {
    for (let i = 0; i < 20; i++) await transport.request(get);
    expect(server.accepted).toBe(1);
    expect(transport.openSockets).toBe(1);
  });

  it('has no more requests in flight than it may', async () => {
    transport.close();
    transport = connect({ maxInFlight: 3 });
    const held: (() => void)[] = [];
    server.handler = (_, response) => held.push(() => sendJson(response, 200, {}));
    const answers = Array.from({ length: 8 }, () => transport.request(get));
    await runtime.until(() => held.length === 3);
    for (let i = 0; i < 50; i++) await runtime.advance(0);
    expect(held).toHaveLength(3);
    server.handler = (_, response) => sendJson(response, 200, {});
    for (const answer of held) answer();
    await Promise.all(answers);
    expect(server.accepted).toBe(3);
  });

  it('gives up at the deadline, and its socket with it', async () => {
    server.handler = silent;
    const fault = faultOf(transport.request({ ...post, deadlineMs: 5000 }));
    await runtime.until(() => server.received.length === 1);
    await runtime.advance(4999);
    expect(server.connections).toBe(1);
    await runtime.advance(1);
    expect(await fault).toMatchObject({
      kind: 'timeout',
      sent: 'maybe',
      message: 'POST /api/v1/pods: no answer within 5 s',
    });
    await runtime.until(() => server.connections === 0);
    expect(transport.openSockets).toBe(0);
  });

  it('says that a request was not sent when it only waited for a socket', async () => {
    transport.close();
    transport = connect({ maxInFlight: 1 });
    server.handler = silent;
    const first = faultOf(transport.request({ ...post, deadlineMs: 60_000 }));
    const second = faultOf(transport.request({ ...post, deadlineMs: 1000 }));
    await runtime.until(() => server.received.length === 1);
    await runtime.advance(1000);
    expect(await second).toMatchObject({ kind: 'timeout', sent: 'no' });
    await runtime.advance(59_000);
    expect(await first).toMatchObject({ kind: 'timeout', sent: 'maybe' });
    expect(server.received).toHaveLength(1);
  });

  it('gives up on an answer that stalls in its body', async () => {
    server.handler = (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).write('{"half":');
    const fault = faultOf(transport.request(get));
    await runtime.until(() => server.received.length === 1);
    for (let i = 0; i < 20; i++) await runtime.advance(0);
    await runtime.advance(30_000);
    expect(await fault).toMatchObject({ kind: 'timeout', sent: 'maybe' });
    await runtime.until(() => server.connections === 0);
  });

  it('knows that nothing was sent when no connection could be made', async () => {
    transport.close();
    transport = connect({ connection: fixedConnection('http://127.0.0.1:1') });
    expect(await faultOf(transport.request(post))).toMatchObject({ kind: 'refused', sent: 'no' });
  });

  it.each([
    ['before it answers', silent],
    ['in the middle of its answer', (_, response) => response.writeHead(200).write('{"half":')],
  ] as [string, LoopbackHandler][])('reports a server that goes away %s', async (_, handler) => {
    server.handler = handler;
    const fault = faultOf(transport.request(post));
    await runtime.until(() => server.received.length === 1);
    for (let i = 0; i < 20; i++) await runtime.advance(0);
    server.cut();
    expect(await fault).toMatchObject({ kind: 'reset', sent: 'maybe' });
    await runtime.until(() => transport.openSockets === 0);
  });

  it('rejects an answer that claims to be JSON and is not', async () => {
    server.handler = (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"half":');
    expect(await faultOf(transport.request(get))).toMatchObject({ kind: 'malformed', sent: 'maybe' });
  });

  describe('when the server closes an idle socket while a request takes it', () => {
    beforeEach(async () => {
      await transport.request(get);
      let requests = 0;
      server.handler = ({ socket }, response) => {
        requests++;
        if (requests === 1) socket.resetAndDestroy();
        else sendJson(response, 200, { requests });
      };
    });

    it('repeats a read once', async () => {
      expect(await transport.request(get)).toMatchObject({ status: 200, body: { requests: 2 } });
      expect(server.accepted).toBe(2);
    });

    it('does not repeat a write, which may have been carried out', async () => {
      expect(await faultOf(transport.request(post))).toMatchObject({ kind: 'reset', sent: 'maybe' });
      expect(server.received.map(({ method }) => method)).toEqual(['GET', 'POST']);
    });
  });

  it('does not repeat a read on a new socket', async () => {
    server.handler = ({ socket }) => socket.resetAndDestroy();
    expect(await faultOf(transport.request(get))).toMatchObject({ kind: 'reset' });
    expect(server.received).toHaveLength(1);
  });

  it('reads its credentials anew after a 401', async () => {
    transport.close();
    const tokens = ['old', 'new'];
    let held = tokens.shift();
    transport = connect({
      connection: {
        server: server.url,
        namespace: 'default',
        credentials: async (freshness) => {
          if (freshness === 'refresh') held = tokens.shift();
          return { authorization: `Bearer ${held}`, tls: { verification: 'strict' } };
        },
      },
    });
    server.handler = ({ headers }, response) =>
      sendJson(response, headers.authorization === 'Bearer new' ? 200 : 401, {});
    expect((await transport.request(get)).status).toBe(401);
    expect((await transport.request(get)).status).toBe(200);
  });

  it('sends nothing without credentials', async () => {
    transport.close();
    const failing = {
      ...fixedConnection(server.url),
      credentials: () => Promise.reject(new Error('the plugin failed')),
    };
    transport = connect({ connection: failing });
    expect(await faultOf(transport.request(post))).toMatchObject({
      sent: 'no',
      message: 'POST /api/v1/pods: no credentials: the plugin failed',
    });
    expect(server.received).toHaveLength(0);
  });

  it('keeps to its rate, and tells how long it held requests back', async () => {
    transport.close();
    const waits: number[] = [];
    const outcomes: string[] = [];
    transport = connect({
      rate: { qps: 10, burst: 2 },
      metrics: {
        delayed: (_, waitedMs) => waits.push(waitedMs),
        answered: (_, outcome) => outcomes.push(outcome),
      },
    });
    const answers = Promise.all(Array.from({ length: 4 }, () => transport.request(get)));
    await runtime.until(() => server.received.length === 2);
    await runtime.advance(100);
    await runtime.until(() => server.received.length === 3);
    await runtime.advance(100);
    await answers;
    expect(waits).toEqual([0, 0, 100, 200]);
    expect(outcomes).toEqual(['200', '200', '200', '200']);
  });
});
