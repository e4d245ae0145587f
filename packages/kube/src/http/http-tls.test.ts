import type { ServerOptions } from 'node:https';
import { afterEach, describe, expect, it } from '@jest/globals';
import { authorityCert, clientCert, clientKey, otherNameCert, serverCert, serverKey } from '../testing/certificates.js';
import { LoopbackServer, sendJson } from '../testing/loopback-server.js';
import { VirtualRuntime } from '../testing/virtual-runtime.js';
import type { ApiRequest } from '../transport.js';
import type { TlsMaterial } from './connection.js';
import { HttpTransport } from './http-transport.js';

const get: ApiRequest = { method: 'GET', path: '/api' };
const strict: TlsMaterial = { verification: 'strict' };

describe('HttpTransport over TLS', () => {
  let server: LoopbackServer | undefined;
  let transport: HttpTransport | undefined;

  async function serve(options: ServerOptions = {}): Promise<LoopbackServer> {
    server = await LoopbackServer.start((_, response) => sendJson(response, 200, {}), {
      cert: serverCert,
      key: serverKey,
      ...options,
    });
    return server;
  }

  function connect({ url }: LoopbackServer, tls: () => TlsMaterial): HttpTransport {
    const connection = { server: url, namespace: 'default', credentials: async () => ({ tls: tls() }) };
    transport = new HttpTransport({ connection, runtime: new VirtualRuntime(), userAgent: 'kube-test/1' });
    return transport;
  }

  afterEach(async () => {
    transport?.close();
    await server?.stop();
  });

  it('trusts the authority that it was given, and keeps its sockets', async () => {
    const api = await serve();
    const client = connect(api, () => ({ ...strict, ca: authorityCert }));
    for (let i = 0; i < 5; i++) expect((await client.request(get)).status).toBe(200);
    expect(api.accepted).toBe(1);
  });

  it.each([
    ['of an unknown authority', { cert: serverCert }, strict],
    ['for another name', { cert: otherNameCert }, { ...strict, ca: authorityCert }],
  ])('sends nothing to a server with a certificate %s', async (_, options, tls) => {
    const api = await serve(options);
    const answer = connect(api, () => tls).request({ ...get, method: 'POST', body: {} });
    await expect(answer).rejects.toMatchObject({ kind: 'refused', sent: 'no' });
    expect(api.received).toHaveLength(0);
  });

  it.each([
    ['the name it was told to expect', { ...strict, ca: authorityCert, serverName: 'other.test' }],
    ['any certificate when it may', { verification: 'insecure' }],
  ] as [string, TlsMaterial][])('accepts %s', async (_, tls) => {
    const api = await serve({ cert: otherNameCert });
    expect((await connect(api, () => tls).request(get)).status).toBe(200);
  });

  it('shows its certificate, and takes new sockets when that is rotated', async () => {
    const api = await serve({ ca: authorityCert, requestCert: true, rejectUnauthorized: true });
    let tls: TlsMaterial = { ...strict, ca: authorityCert, cert: clientCert, key: clientKey };
    const client = connect(api, () => tls);
    await client.request(get);
    await client.request(get);
    expect(api.accepted).toBe(1);
    tls = { ...tls, cert: `${clientCert}\n` };
    await client.request(get);
    expect(api.accepted).toBe(2);
    tls = { ...strict, ca: authorityCert };
    await expect(client.request(get)).rejects.toMatchObject({ name: 'TransportError' });
  });
});
