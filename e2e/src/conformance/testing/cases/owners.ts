/** The garbage collector: what goes with its owner, and what waits for whom. */
import { expect } from '@jest/globals';
import { at, type Bed, type Case, configMap, idlePod, JSON_PATCH, type Json, make, metaOf, read } from '../bed.js';

function ownerOf(object: Json, more: Json = {}): Json {
  const { name, uid } = metaOf(object);
  return { apiVersion: 'v1', kind: 'ConfigMap', name, uid, ...more };
}

function gone(bed: Bed, plural: string, name: string): Promise<boolean> {
  const probe = async () => ((await bed.request('GET', at(bed, plural, name))).status === 404 ? true : undefined);
  return bed.eventually(`${plural}/${name} gone`, probe, 60_000);
}

function remove(bed: Bed, name: string, propagationPolicy?: string) {
  return bed.request(
    'DELETE',
    at(bed, 'configmaps', name),
    propagationPolicy === undefined ? {} : { body: { propagationPolicy } },
  );
}

export const owners: readonly Case[] = [
  {
    id: 'collect-background',
    title: 'dependants go after their owner, all down the line',
    needs: 'controllers',
    run: async (bed) => {
      const top = await make(bed, 'configmaps', configMap('top'));
      const middle = await make(bed, 'configmaps', configMap('middle', {}, { ownerReferences: [ownerOf(top)] }));
      await make(bed, 'pods', idlePod('leaf', { metadata: { ownerReferences: [ownerOf(middle)] } }));
      const answer = await remove(bed, 'top');
      expect(answer.body).toMatchObject({ kind: 'Status', status: 'Success' });
      expect((await bed.request('GET', at(bed, 'configmaps', 'top'))).status).toBe(404);
      await gone(bed, 'configmaps', 'middle');
      await gone(bed, 'pods', 'leaf');
    },
  },
  {
    id: 'collect-absent-owner',
    title: 'a dependant of an owner that does not exist, or of one with another UID, is collected',
    needs: 'controllers',
    run: async (bed) => {
      const top = await make(bed, 'configmaps', configMap('top'));
      const stale = ownerOf(top, { uid: '11111111-1111-4111-8111-111111111111' });
      await make(bed, 'configmaps', configMap('leaf', {}, { ownerReferences: [stale] }));
      await gone(bed, 'configmaps', 'leaf');
      expect((await bed.request('GET', at(bed, 'configmaps', 'top'))).status).toBe(200);
    },
  },
  {
    id: 'collect-two-owners',
    title: 'a dependant of two owners loses the reference to the one that went, and stays',
    needs: 'controllers',
    run: async (bed) => {
      const one = await make(bed, 'configmaps', configMap('one'));
      const two = await make(bed, 'configmaps', configMap('two'));
      await make(bed, 'configmaps', configMap('leaf', {}, { ownerReferences: [ownerOf(one), ownerOf(two)] }));
      await remove(bed, 'one');
      const left = await bed.eventually(
        'one owner left',
        async () => {
          const leaf = (await read(bed, 'configmaps', 'leaf'))['metadata'] as { ownerReferences: Json[] };
          return leaf.ownerReferences.length === 1 ? leaf.ownerReferences : undefined;
        },
        60_000,
      );
      expect(left).toEqual([ownerOf(two)]);
    },
  },
  {
    id: 'collect-foreground',
    title: 'in the foreground the owner stays, marked, until dependants that block it are gone',
    needs: 'controllers',
    run: async (bed) => {
      const top = await make(bed, 'configmaps', configMap('top'));
      const held = { ownerReferences: [ownerOf(top, { blockOwnerDeletion: true })], finalizers: ['ome.test/hold'] };
      await make(bed, 'configmaps', configMap('leaf', {}, held));
      const answer = await remove(bed, 'top', 'Foreground');
      expect(answer.body).toMatchObject({ kind: 'ConfigMap', metadata: { finalizers: ['foregroundDeletion'] } });
      await bed.eventually(
        'the dependant marked',
        async () => metaOf(await read(bed, 'configmaps', 'leaf')).deletionTimestamp,
        60_000,
      );
      await bed.pause(1500);
      expect((await bed.request('GET', at(bed, 'configmaps', 'top'))).status).toBe(200);
      await bed.request('PATCH', at(bed, 'configmaps', 'leaf'), {
        contentType: JSON_PATCH,
        body: [{ op: 'remove', path: '/metadata/finalizers' }],
      });
      await gone(bed, 'configmaps', 'top');
    },
  },
  {
    id: 'collect-orphan',
    title: 'orphaned dependants stay, without the reference',
    needs: 'controllers',
    run: async (bed) => {
      const top = await make(bed, 'configmaps', configMap('top'));
      await make(bed, 'configmaps', configMap('leaf', {}, { ownerReferences: [ownerOf(top)] }));
      await remove(bed, 'top', 'Orphan');
      await gone(bed, 'configmaps', 'top');
      expect((await read(bed, 'configmaps', 'leaf'))['metadata']).not.toHaveProperty('ownerReferences');
    },
  },
];
