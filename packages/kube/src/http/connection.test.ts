import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { VirtualRuntime } from '../testing/virtual-runtime.js';
import { cachedCredentials, connectionFromCluster, isInCluster } from './connection.js';

describe('connectionFromCluster', () => {
  const env = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '6443' };
  let folder: string;
  let runtime: VirtualRuntime;

  beforeEach(() => {
    runtime = new VirtualRuntime();
    folder = mkdtempSync(path.join(tmpdir(), 'service-account-'));
    writeFileSync(path.join(folder, 'token'), 'first\n');
    writeFileSync(path.join(folder, 'ca.crt'), 'PEM');
    writeFileSync(path.join(folder, 'namespace'), 'system');
  });

  afterEach(() => rmSync(folder, { recursive: true }));

  it('speaks as the service account of the pod', async () => {
    const connection = connectionFromCluster({ runtime, env, folder });
    expect(connection).toMatchObject({ server: 'https://10.0.0.1:6443', namespace: 'system' });
    expect(await connection.credentials('cached')).toEqual({
      authorization: 'Bearer first',
      tls: { ca: 'PEM', verification: 'strict' },
    });
  });

  it('puts an IPv6 address in brackets', () => {
    const connection = connectionFromCluster({ runtime, env: { ...env, KUBERNETES_SERVICE_HOST: 'fd00::1' }, folder });
    expect(connection.server).toBe('https://[fd00::1]:6443');
  });

  it('reads the token again after a minute, or when it is asked to', async () => {
    const connection = connectionFromCluster({ runtime, env, folder });
    const token = async (freshness: 'cached' | 'refresh'): Promise<string | undefined> =>
      (await connection.credentials(freshness)).authorization;
    await token('cached');
    writeFileSync(path.join(folder, 'token'), 'second');
    await runtime.advance(59_999);
    expect(await token('cached')).toBe('Bearer first');
    await runtime.advance(1);
    expect(await token('cached')).toBe('Bearer second');
    writeFileSync(path.join(folder, 'token'), 'third');
    expect(await token('refresh')).toBe('Bearer third');
  });

  it('says why it is not in a cluster', () => {
    expect(isInCluster({ env: {}, folder })).toBe(false);
    expect(isInCluster({ env, folder: `${folder}/none` })).toBe(false);
    expect(isInCluster({ env, folder })).toBe(true);
    expect(() => connectionFromCluster({ runtime, env: {}, folder })).toThrow(
      /not in a cluster: KUBERNETES_SERVICE_HOST/,
    );
  });
});

describe('cachedCredentials', () => {
  it('does not remember a failure', async () => {
    let calls = 0;
    const credentials = cachedCredentials(new VirtualRuntime(), async () => {
      if (++calls === 1) throw new Error('not yet');
      return { tls: { verification: 'strict' } };
    });
    await expect(credentials('cached')).rejects.toThrow('not yet');
    await expect(credentials('cached')).resolves.toEqual({ tls: { verification: 'strict' } });
    await credentials('cached');
    expect(calls).toBe(2);
  });
});
