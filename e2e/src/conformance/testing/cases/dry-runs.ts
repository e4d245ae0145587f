/** Dry runs: everything is checked and answered as the write would be, and nothing happens. */
import { expect } from '@jest/globals';
import {
  at,
  type Bed,
  type Case,
  configMap,
  idlePod,
  type Json,
  MERGE,
  make,
  metaOf,
  read,
  STRATEGIC,
} from '../bed.js';

const query = { dryRun: 'All' };

function create(bed: Bed, plural: string, body: Json) {
  return bed.request('POST', at(bed, plural), { body, query });
}

async function withQuota(bed: Bed, hard: Json): Promise<void> {
  await make(bed, 'resourcequotas', {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'q' },
    spec: { hard },
  });
  await bed.eventually('the usage of the quota', async () => (await used(bed)) && true);
}

async function used(bed: Bed): Promise<Json | undefined> {
  return ((await read(bed, 'resourcequotas', 'q'))['status'] as { used?: Json } | undefined)?.used;
}

export const dryRuns: readonly Case[] = [
  {
    id: 'dry-run-create',
    title: 'a creation is answered with what would be stored, and no stream hears of it',
    needs: 'api',
    run: async (bed) => {
      const { resourceVersion } = metaOf(await make(bed, 'configmaps', configMap('before')));
      const watching = bed.watch(at(bed, 'pods'), { resourceVersion });
      const { apiVersion, kind, spec } = idlePod('x');
      const answer = await create(bed, 'pods', { apiVersion, kind, spec, metadata: { generateName: 'x-' } });
      expect(answer).toMatchObject({
        status: 201,
        body: {
          metadata: { name: expect.stringMatching(/^x-.{5}$/), uid: expect.any(String), generation: 1 },
          spec: { terminationGracePeriodSeconds: 30, serviceAccountName: 'default' },
          status: { phase: 'Pending' },
        },
      });
      expect(metaOf(answer.body).resourceVersion).toBeUndefined();
      await make(bed, 'pods', idlePod('after'));
      await bed.eventually('an event', () => watching.events[0]);
      expect(watching.events.map(({ object }) => metaOf(object as Json).name)).toEqual(['after']);
    },
  },
  {
    id: 'dry-run-refusals',
    title: 'a creation is refused as it would be: an invalid object first, then the quota, then the name',
    needs: 'controllers',
    run: async (bed) => {
      await withQuota(bed, { pods: '1' });
      expect((await create(bed, 'pods', idlePod('a'))).status).toBe(201);
      expect((await create(bed, 'pods', idlePod('b'))).status).toBe(201);
      expect(await used(bed)).toEqual({ pods: '0' });
      await make(bed, 'pods', idlePod('a'));
      const taken = await create(bed, 'configmaps', configMap('kube-root-ca.crt'));
      expect(taken).toMatchObject({ status: 409, body: { reason: 'AlreadyExists' } });
      const over = await create(bed, 'pods', idlePod('a'));
      expect(over).toMatchObject({
        status: 403,
        body: {
          reason: 'Forbidden',
          message: 'pods "a" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1',
        },
      });
      const containers = [{ name: 'main', image: 'x', imagePullPolicy: 'No' }];
      const invalid = idlePod('a', { spec: { containers } });
      expect(await create(bed, 'pods', invalid)).toMatchObject({ status: 422, body: { reason: 'Invalid' } });
      const really = await bed.request('POST', at(bed, 'pods'), { body: invalid });
      expect(really).toMatchObject({ status: 422, body: { reason: 'Invalid' } });
      expect(await used(bed)).toEqual({ pods: '1' });
    },
  },
  {
    id: 'dry-run-terminating',
    title: 'a namespace that is being deleted refuses a dry run, before it looks at the object',
    needs: 'controllers',
    run: async (bed) => {
      const name = `${bed.namespace}-c`;
      await bed.request('POST', '/api/v1/namespaces', {
        body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
      });
      const path = `/api/v1/namespaces/${name}`;
      const held = configMap('held', {}, { finalizers: ['ome.test/hold'] });
      await bed.request('POST', `${path}/configmaps`, { body: held });
      expect((await bed.request('DELETE', path, { query })).status).toBe(200);
      expect((await bed.request('GET', path)).body['status']).toEqual({ phase: 'Active' });
      await bed.request('DELETE', path);
      const body = idlePod('x', { spec: { containers: [] } });
      const answer = await bed.request('POST', `${path}/pods`, { body, query });
      expect(answer).toMatchObject({
        status: 403,
        body: { details: { causes: [{ reason: 'NamespaceTerminating' }] } },
      });
      await bed.request('PATCH', `${path}/configmaps/held`, {
        contentType: MERGE,
        body: { metadata: { finalizers: null } },
      });
    },
  },
  {
    id: 'dry-run-change',
    title: 'a patch and a deletion are answered as they would be, preconditions checked, and change nothing',
    needs: 'api',
    run: async (bed) => {
      const made = await make(bed, 'pods', idlePod('a'));
      const patch = (image: string) =>
        bed.request('PATCH', at(bed, 'pods', 'a'), {
          contentType: STRATEGIC,
          body: { spec: { containers: [{ name: 'main', image }] } },
          query,
        });
      expect(await patch('busybox:v2')).toMatchObject({ status: 200, body: { metadata: { generation: 2 } } });
      expect((await patch('')).status).toBe(422);
      const remove = (uid: string) =>
        bed.request('DELETE', at(bed, 'pods', 'a'), { body: { preconditions: { uid }, dryRun: ['All'] } });
      expect((await remove('other')).status).toBe(409);
      expect((await remove(metaOf(made).uid)).status).toBe(200);
      expect(await read(bed, 'pods', 'a')).toEqual(made);
    },
  },
];
