import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { VirtualRuntime } from '../testing/virtual-runtime.js';
import type { Connection, Credentials } from './connection.js';
import { connectionFromKubeconfig } from './kubeconfig.js';
import { NoClusterError } from './kubeconfig-files.js';

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

describe('connectionFromKubeconfig', () => {
  let folder: string;
  let runtime: VirtualRuntime;

  beforeEach(() => {
    runtime = new VirtualRuntime();
    folder = mkdtempSync(path.join(tmpdir(), 'kubeconfig-'));
    writeFileSync(path.join(folder, 'ca.crt'), 'CA FROM FILE');
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  function write(users: Readonly<Record<string, unknown>>, cluster: object = {}): string {
    const file = path.join(folder, 'config');
    const names = Object.keys(users);
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': names[0],
      clusters: [
        { name: 'one', cluster: { server: 'https://api.test:6443', 'certificate-authority': 'ca.crt', ...cluster } },
      ],
      users: names.map((name) => ({ name, user: users[name] })),
      contexts: names.map((name) => ({ name, context: { cluster: 'one', user: name, namespace: `home-of-${name}` } })),
    };
    writeFileSync(file, JSON.stringify(config));
    return file;
  }

  async function load(file: string, context?: string): Promise<{ connection: Connection; credentials: Credentials }> {
    const connection = await connectionFromKubeconfig({
      runtime,
      path: file,
      ...(context === undefined ? {} : { context }),
    });
    return { connection, credentials: await connection.credentials('cached') };
  }

  it('reads the server, a token and files beside it', async () => {
    const { connection, credentials } = await load(write({ ann: { token: 'secret' } }));
    expect(connection).toMatchObject({ server: 'https://api.test:6443', namespace: 'home-of-ann' });
    expect(credentials).toEqual({
      authorization: 'Bearer secret',
      tls: { ca: 'CA FROM FILE', verification: 'strict' },
    });
  });

  it('picks another context, with basic authentication', async () => {
    const file = write({ ann: {}, bob: { username: 'bob', password: 'pässword' } });
    const { connection, credentials } = await load(file, 'bob');
    expect(connection.namespace).toBe('home-of-bob');
    expect(credentials.authorization).toBe(`Basic ${base64('bob:pässword')}`);
  });

  it('takes another user, and says which cluster there is not', async () => {
    const file = write({ ann: { token: 'hers' }, bob: { token: 'his' } });
    const connection = await connectionFromKubeconfig({ runtime, path: file, user: 'bob' });
    expect(connection.namespace).toBe('home-of-ann');
    expect((await connection.credentials('cached')).authorization).toBe('Bearer his');
    await expect(connectionFromKubeconfig({ runtime, path: file, cluster: 'two' })).rejects.toThrow(/no cluster "two"/);
  });

  it('merges the files of KUBECONFIG that there are, or else reads the one at home', async () => {
    mkdirSync(path.join(folder, '.kube'));
    const ca = { 'certificate-authority': path.join(folder, 'ca.crt') };
    renameSync(write({ ann: { token: 'at home' } }, ca), path.join(folder, '.kube/config'));
    const elsewhere = path.join(folder, 'elsewhere');
    renameSync(write({ bob: { token: 'elsewhere' } }), elsewhere);
    const token = async (env: Readonly<Record<string, string>>): Promise<string | undefined> => {
      const connection = await connectionFromKubeconfig({ runtime, env: { HOME: folder, ...env } });
      return (await connection.credentials('cached')).authorization;
    };
    expect(await token({})).toBe('Bearer at home');
    expect(await token({ KUBECONFIG: '' })).toBe('Bearer at home');
    expect(await token({ KUBECONFIG: `${folder}/none:${elsewhere}` })).toBe('Bearer elsewhere');
  });

  it('goes to no server that nobody named', async () => {
    const refusal = (env: Readonly<Record<string, string>>): Promise<unknown> =>
      connectionFromKubeconfig({ runtime, env: { HOME: folder, ...env } }).catch((error: unknown) => error);
    const nothing = await refusal({});
    expect(nothing).toBeInstanceOf(NoClusterError);
    expect(nothing).toMatchObject({
      message: `no cluster: KUBECONFIG is not set, and ${folder}/.kube/config does not exist`,
    });
    expect(await refusal({ KUBECONFIG: '/none' })).toMatchObject({
      message: 'no cluster: KUBECONFIG names /none, which does not exist',
    });
    expect(await refusal({ KUBECONFIG: '/none:/neither' })).toMatchObject({
      message: 'no cluster: KUBECONFIG names /none, /neither, none of which exists',
    });
  });

  it('decodes certificates, and honours what the cluster says of TLS', async () => {
    const user = { 'client-certificate-data': base64('CERT'), 'client-key-data': base64('KEY') };
    const file = write({ ann: user }, { 'insecure-skip-tls-verify': true, 'tls-server-name': 'inner.test' });
    expect((await load(file)).credentials.tls).toEqual({
      ca: 'CA FROM FILE',
      cert: 'CERT',
      key: 'KEY',
      serverName: 'inner.test',
      verification: 'insecure',
    });
  });

  it('accepts a server without TLS', async () => {
    const { connection, credentials } = await load(write({ ann: {} }, { server: 'http://127.0.0.1:8001' }));
    expect(connection.server).toBe('http://127.0.0.1:8001');
    expect(credentials.authorization).toBeUndefined();
  });

  it('reads the file again after a minute', async () => {
    const { connection } = await load(write({ ann: { token: 'first' } }));
    write({ ann: { token: 'second' } });
    expect((await connection.credentials('cached')).authorization).toBe('Bearer first');
    await runtime.advance(60_000);
    expect((await connection.credentials('cached')).authorization).toBe('Bearer second');
  });

  it('asks a plugin, and again only when its answer has expired', async () => {
    const plugin = path.join(folder, 'plugin');
    const answer = {
      apiVersion: 'client.authentication.k8s.io/v1',
      kind: 'ExecCredential',
      status: {
        token: 'issued',
        clientCertificateData: 'CERT',
        clientKeyData: 'KEY',
        expirationTimestamp: '2999-01-01T00:00:00Z',
      },
    };
    writeFileSync(plugin, `#!/bin/sh\necho run >> ${folder}/runs\necho '${JSON.stringify(answer)}'\n`);
    chmodSync(plugin, 0o755);
    const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: plugin, interactiveMode: 'Never' };
    const { connection, credentials } = await load(write({ ann: { exec } }));
    const issued = {
      headers: { authorization: 'Bearer issued' },
      tls: { ca: 'CA FROM FILE', cert: 'CERT', key: 'KEY', verification: 'strict' },
    };
    expect(credentials).toEqual(issued);
    rmSync(plugin);
    await runtime.advance(60_000);
    expect(await connection.credentials('cached')).toEqual(issued);
  });

  it.each([
    ['a file that is not there', async () => `${folder}/none`, undefined, /no cluster: .*none does not exist/],
    ['a context that is not in it', async () => write({ ann: {} }), 'eve', /has no context "eve"/],
    [
      'a proxy',
      async () => write({ ann: {} }, { 'proxy-url': 'http://proxy.test' }),
      undefined,
      /asks for the proxy http:\/\/proxy.test/,
    ],
  ] as [string, () => Promise<string>, string | undefined, RegExp][])(
    'refuses %s in words',
    async (_, file, context, words) => {
      await expect(load(await file(), context)).rejects.toThrow(words);
    },
  );
});
