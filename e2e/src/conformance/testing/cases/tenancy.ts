/** Namespaces that end, and quotas that refuse. */
import { expect } from '@jest/globals';
import { at, type Bed, type Case, configMap, idlePod, JSON_PATCH, type Json, make, metaOf, read } from '../bed.js';
import { widget } from '../definitions.js';

async function quota(bed: Bed, hard: Json): Promise<void> {
  await make(bed, 'resourcequotas', {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'q' },
    spec: { hard },
  });
  await bed.eventually('the usage of the quota', async () => {
    const status = (await read(bed, 'resourcequotas', 'q'))['status'] as { used?: Json };
    return status.used === undefined ? undefined : true;
  });
}

function used(bed: Bed): Promise<Json> {
  return read(bed, 'resourcequotas', 'q').then((object) => (object['status'] as { used: Json }).used);
}

export const tenancy: readonly Case[] = [
  {
    id: 'namespace-missing',
    title: 'nothing is made in a namespace that does not exist',
    needs: 'api',
    run: async (bed) => {
      const answer = await bed.request('POST', '/api/v1/namespaces/nowhere/configmaps', { body: configMap('a') });
      expect(answer).toMatchObject({
        status: 404,
        body: { reason: 'NotFound', message: 'namespaces "nowhere" not found' },
      });
    },
  },
  {
    id: 'namespace-deletion',
    title: 'a namespace that is being deleted refuses creations with a cause, empties itself, and waits for finalizers',
    needs: 'controllers',
    run: async (bed) => {
      const name = `${bed.namespace}-b`;
      const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
      const made = await bed.request('POST', '/api/v1/namespaces', { body });
      expect(made.body).toMatchObject({ spec: { finalizers: ['kubernetes'] }, status: { phase: 'Active' } });
      expect(metaOf(made.body).labels).toEqual({ 'kubernetes.io/metadata.name': name });
      const maps = `/api/v1/namespaces/${name}/configmaps`;
      await bed.request('POST', maps, { body: configMap('plain') });
      await bed.request('POST', maps, { body: configMap('held', {}, { finalizers: ['ome.test/hold'] }) });
      const deleted = await bed.request('DELETE', `/api/v1/namespaces/${name}`);
      expect(deleted).toMatchObject({ status: 200, body: { kind: 'Namespace', status: { phase: 'Terminating' } } });
      const refused = await bed.request('POST', maps, { body: configMap('late') });
      expect(refused).toEqual({
        status: 403,
        body: {
          kind: 'Status',
          apiVersion: 'v1',
          metadata: {},
          status: 'Failure',
          message: `configmaps "late" is forbidden: unable to create new content in namespace ${name} because it is being terminated`,
          reason: 'Forbidden',
          details: {
            name: 'late',
            kind: 'configmaps',
            causes: [
              {
                reason: 'NamespaceTerminating',
                message: `namespace ${name} is being terminated`,
                field: 'metadata.namespace',
              },
            ],
          },
          code: 403,
        },
      });
      await bed.eventually('the plain map gone', async () =>
        (await bed.request('GET', `${maps}/plain`)).status === 404 ? true : undefined,
      );
      expect(metaOf((await bed.request('GET', `${maps}/held`)).body).deletionTimestamp).toBeDefined();
      await bed.request('PATCH', `${maps}/held`, {
        contentType: JSON_PATCH,
        body: [{ op: 'remove', path: '/metadata/finalizers' }],
      });
      await bed.eventually(
        'the namespace gone',
        async () => ((await bed.request('GET', `/api/v1/namespaces/${name}`)).status === 404 ? true : undefined),
        60_000,
      );
    },
  },
  {
    id: 'quota-refuses',
    title: 'a quota refuses what goes over it, before it looks whether the name is taken',
    needs: 'controllers',
    run: async (bed) => {
      await quota(bed, { pods: '1', 'requests.cpu': '1' });
      const resources = { requests: { cpu: '500m' } };
      const containers = [{ name: 'main', image: 'x', resources }];
      await make(bed, 'pods', idlePod('a', { spec: { containers } }));
      const second = await bed.request('POST', at(bed, 'pods'), { body: idlePod('b', { spec: { containers } }) });
      expect(second).toEqual({
        status: 403,
        body: {
          kind: 'Status',
          apiVersion: 'v1',
          metadata: {},
          status: 'Failure',
          message: 'pods "b" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1',
          reason: 'Forbidden',
          details: { name: 'b', kind: 'pods' },
          code: 403,
        },
      });
      const taken = await bed.request('POST', at(bed, 'pods'), { body: idlePod('a', { spec: { containers } }) });
      expect(taken.status).toBe(403);
      expect(await used(bed)).toEqual({ pods: '1', 'requests.cpu': '500m' });
    },
  },
  {
    id: 'quota-released-late',
    title: 'what is deleted is released by the controller, some time later',
    needs: 'controllers',
    run: async (bed) => {
      await quota(bed, { pods: '1' });
      await make(bed, 'pods', idlePod('a'));
      await bed.request('DELETE', at(bed, 'pods', 'a'));
      await bed.eventually('the release', async () => ((await used(bed))['pods'] === '0' ? true : undefined), 60_000);
      await make(bed, 'pods', idlePod('b'));
    },
  },
  {
    id: 'quota-counts-objects',
    title: 'a quota counts objects of custom kinds by count/',
    needs: 'controllers',
    run: async (bed) => {
      await quota(bed, { 'count/widgets.conformance.ome.test': '1' });
      await make(bed, 'widgets', widget('a'));
      const second = await bed.request('POST', at(bed, 'widgets'), { body: widget('b') });
      expect(second.status).toBe(403);
      expect(second.body['message']).toBe(
        'widgets.conformance.ome.test "b" is forbidden: exceeded quota: q, requested: count/widgets.conformance.ome.test=1, used: count/widgets.conformance.ome.test=1, limited: count/widgets.conformance.ome.test=1',
      );
    },
  },
];
