/**
 * What the status of a large replica takes in etcd, and where the server stops. What is stored is measured as the body of a
 * GET: the API server stores JSON and gives the same JSON back, with the resourceVersion added (24 bytes more than the
 * value in etcd).
 */
import { expect, it } from '@jest/globals';
import {
  decodeStatus,
  type EncodeOptions,
  estimateStatusBytes,
  type StatusEncoding,
  statusBytes,
} from '@omenative/api';
import { type ApiServer, describeOnApiServer, type Json, messageOf } from '../crds/testing/api-server.js';
import { createReplica, creatingStatus, plural, putStatus } from './testing/replicas.js';

const maxRequestBytes = 1.5 * 1024 * 1024;

const bytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

function optionsOf(encoding: StatusEncoding): EncodeOptions {
  return { encoding, maxDecodedInstances: 20_000 };
}

/** Writes a status of Creating rows; what is stored of it, and its object. */
async function store(
  server: ApiServer,
  encoding: StatusEncoding,
  count: number,
): Promise<{ readonly storedBytes: number; readonly object: Json }> {
  const name = `${encoding.toLowerCase()}-${count}`;
  const created = await createReplica(server, name);
  expect(messageOf(await putStatus(server, created, creatingStatus(count), optionsOf(encoding)))).toBe('');
  const { body: object } = await server.get(plural, name);
  return { storedBytes: bytes(object) - bytes(created), object };
}

describeOnApiServer('the status of a large replica', (server) => {
  it.each<[StatusEncoding, number]>([
    ['DenseV1', 1000],
    ['DenseV1', 2400],
    ['ColumnarV2', 2000],
    ['ColumnarV2', 5000],
  ])('is stored as %s with %d rows, at its estimated size within a tenth, and read back', async (encoding, count) => {
    const status = creatingStatus(count);
    const { storedBytes, object } = await store(server, encoding, count);
    const estimate = estimateStatusBytes(status, optionsOf(encoding));
    expect(estimate / storedBytes).toBeGreaterThan(0.9);
    expect(estimate / storedBytes).toBeLessThan(1.1);
    expect(decodeStatus(object['status'])).toEqual({ ok: true, status: { ...status, stored: encoding } });
  });

  it('loses its managedFields rather than be refused, when it fits without them', async () => {
    const count = 2800;
    const status = creatingStatus(count);
    expect(estimateStatusBytes(status, optionsOf('DenseV1'))).toBeGreaterThan(maxRequestBytes);
    const { storedBytes, object } = await store(server, 'DenseV1', count);
    expect(object).not.toHaveProperty('metadata.managedFields');
    expect(Math.abs(storedBytes / statusBytes(status, 'DenseV1') - 1)).toBeLessThan(0.1);
  });

  it.each<[StatusEncoding, number]>([
    ['DenseV1', 4900],
    ['ColumnarV2', 6300],
  ])('is refused as %s with %d rows, whose JSON alone is more than etcd takes', async (encoding, count) => {
    const status = creatingStatus(count);
    expect(statusBytes(status, encoding)).toBeGreaterThan(maxRequestBytes);
    const created = await createReplica(server, `refused-${encoding.toLowerCase()}`);
    const reply = await putStatus(server, created, status, optionsOf(encoding));
    expect(messageOf(reply)).toMatch(/request is too large/);
  });
});
