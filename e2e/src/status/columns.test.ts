/** What people see of a replica does not depend on how its rows are stored. */
import { expect, it } from '@jest/globals';
import { type StatusEncoding, statusBytes } from '@omenative/api';
import { type ApiServer, describeOnApiServer, type Json, messageOf } from '../crds/testing/api-server.js';
import { createReplica, creatingStatus, plural, putStatus } from './testing/replicas.js';

const tables = 'application/json;as=Table;v=v1;g=meta.k8s.io';

/** The lines of `kubectl get inferencereplicas`, without name and age. */
async function linesOf(server: ApiServer): Promise<ReadonlyMap<string, readonly unknown[]>> {
  const { body } = await server.request('GET', server.path(plural), { accept: tables });
  const rows = body['rows'] as readonly { readonly cells: readonly unknown[] }[];
  return new Map(rows.map(({ cells }) => [String(cells[0]), cells.slice(1, 6)]));
}

describeOnApiServer('an InferenceReplica with many Instances', (server) => {
  it('shows the same columns in kubectl get, and the same scale, in either encoding [A1]', async () => {
    const status = creatingStatus(8);
    expect(statusBytes(status, 'ColumnarV2')).toBeLessThan(statusBytes(status, 'DenseV1'));
    const scales: unknown[] = [];
    for (const encoding of ['DenseV1', 'ColumnarV2'] satisfies StatusEncoding[]) {
      const name = encoding.toLowerCase();
      const replica = await createReplica(server, name);
      const reply = await putStatus(server, replica, status, { encoding, maxDecodedInstances: 20_000 });
      expect(messageOf(reply)).toBe('');
      expect((reply.body['status'] as Json)['instanceStatusEncoding']).toBe(
        encoding === 'DenseV1' ? undefined : encoding,
      );
      scales.push((await server.get(plural, `${name}/scale`)).body['status']);
    }
    const lines = await linesOf(server);
    // Component, Desired, Current, Ready, Available: one Instance more than desired, as during a migration.
    expect(lines.get('densev1')).toEqual(['engine', 7, 8, 1, 3]);
    expect(lines.get('columnarv2')).toEqual(lines.get('densev1'));
    expect(scales[1]).toEqual(scales[0]);
  });
});
