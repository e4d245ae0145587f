/** The three patch types: what they do, and how they refuse. */
import { expect } from '@jest/globals';
import {
  at,
  type Bed,
  type Case,
  configMap,
  idlePod,
  JSON_PATCH,
  type Json,
  MERGE,
  make,
  metaOf,
  read,
  STRATEGIC,
} from '../bed.js';
import { widget } from '../definitions.js';

function patch(bed: Bed, plural: string, name: string, contentType: string, body: unknown, subresource?: string) {
  return bed.request('PATCH', at(bed, plural, name, subresource), { contentType, body });
}

/** Names a pod as an owner. */
function ownedBy(pod: Json): Json {
  const { name, uid } = metaOf(pod);
  return { apiVersion: 'v1', kind: 'Pod', name, uid };
}

export const patches: readonly Case[] = [
  {
    id: 'merge-patch',
    title: 'a merge patch merges objects, replaces lists, and removes what is null',
    needs: 'api',
    run: async (bed) => {
      await make(bed, 'widgets', widget('a', { tags: ['x', 'y'], labels: { p: '1', q: '2' } }));
      const { body } = await patch(bed, 'widgets', 'a', MERGE, { spec: { tags: ['z'], labels: { p: null, r: '3' } } });
      expect(body['spec']).toMatchObject({ tags: ['z'], labels: { q: '2', r: '3' } });
      expect((body['spec'] as { labels: Json }).labels).not.toHaveProperty('p');
    },
  },
  {
    id: 'patch-without-version',
    title: 'a patch without a version applies to whatever is there; one with an old version is a Conflict',
    needs: 'api',
    run: async (bed) => {
      const first = await make(bed, 'configmaps', configMap('a'));
      await patch(bed, 'configmaps', 'a', MERGE, { data: { n: '1' } });
      const plain = await patch(bed, 'configmaps', 'a', MERGE, { data: { m: '2' } });
      expect(plain.body['data']).toEqual({ n: '1', m: '2' });
      const { resourceVersion } = metaOf(first);
      const old = await patch(bed, 'configmaps', 'a', MERGE, { metadata: { resourceVersion }, data: { m: '3' } });
      expect(old.status).toBe(409);
      expect(old.body).toMatchObject({
        reason: 'Conflict',
        message:
          'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
      });
    },
  },
  {
    id: 'patch-uid',
    title: 'a patch that names another UID is Invalid, not a Conflict; a custom status patch does not look at it',
    needs: 'api',
    run: async (bed) => {
      const first = await make(bed, 'pods', idlePod('a'));
      const other = { metadata: { uid: 'other', labels: { x: 'y' } } };
      const cause = {
        reason: 'FieldValueInvalid',
        message: 'Invalid value: "other": field is immutable',
        field: 'metadata.uid',
      };
      const answer = await patch(bed, 'pods', 'a', STRATEGIC, other);
      expect(answer).toMatchObject({
        status: 422,
        body: {
          reason: 'Invalid',
          message: 'Pod "a" is invalid: metadata.uid: Invalid value: "other": field is immutable',
          details: { name: 'a', kind: 'Pod', causes: [cause, cause] },
        },
      });
      expect((await patch(bed, 'pods', 'a', STRATEGIC, { ...other, status: { message: 'x' } }, 'status')).status).toBe(
        422,
      );
      const right = await patch(bed, 'pods', 'a', STRATEGIC, {
        metadata: { uid: metaOf(first).uid, labels: { x: 'y' } },
      });
      expect(right.status).toBe(200);
      await make(bed, 'widgets', widget('a'));
      expect((await patch(bed, 'widgets', 'a', MERGE, other)).status).toBe(422);
      expect((await patch(bed, 'widgets', 'a', MERGE, { ...other, status: { phase: 'Up' } }, 'status')).status).toBe(
        200,
      );
    },
  },
  {
    id: 'patch-missing',
    title: 'a patch of what is not there is NotFound',
    needs: 'api',
    run: async (bed) => {
      const answer = await patch(bed, 'pods', 'a', MERGE, { metadata: { labels: { x: 'y' } } });
      expect(answer).toMatchObject({ status: 404, body: { reason: 'NotFound', message: 'pods "a" not found' } });
    },
  },
  {
    id: 'patch-no-change',
    title: 'a patch that changes nothing keeps the version',
    needs: 'api',
    run: async (bed) => {
      const first = await make(bed, 'configmaps', configMap('a', { n: '1' }));
      const same = await patch(bed, 'configmaps', 'a', MERGE, { data: { n: '1' } });
      expect(same.status).toBe(200);
      expect(metaOf(same.body).resourceVersion).toBe(metaOf(first).resourceVersion);
    },
  },
  {
    id: 'json-patch',
    title: 'a JSON patch applies its operations in order',
    needs: 'api',
    run: async (bed) => {
      await make(bed, 'configmaps', configMap('a', { n: '1' }, { annotations: { 'x/y': 'old' } }));
      const { body } = await patch(bed, 'configmaps', 'a', JSON_PATCH, [
        { op: 'test', path: '/metadata/annotations/x~1y', value: 'old' },
        { op: 'remove', path: '/metadata/annotations/x~1y' },
        { op: 'add', path: '/data/m', value: '2' },
        { op: 'replace', path: '/data/n', value: '3' },
      ]);
      expect(body['data']).toEqual({ n: '3', m: '2' });
      expect(body['metadata']).not.toHaveProperty('annotations');
    },
  },
  {
    id: 'json-patch-test-fails',
    title: 'a JSON patch whose test fails is refused with 422 and changes nothing',
    needs: 'api',
    run: async (bed) => {
      await make(bed, 'configmaps', configMap('a', { n: '1' }));
      const answer = await patch(bed, 'configmaps', 'a', JSON_PATCH, [
        { op: 'replace', path: '/data/n', value: '2' },
        { op: 'test', path: '/data/n', value: 'other' },
      ]);
      expect(answer.status).toBe(422);
      expect(answer.body).toMatchObject({
        reason: 'Invalid',
        message: 'the server rejected our request due to an error in our request',
      });
      expect((await read(bed, 'configmaps', 'a'))['data']).toEqual({ n: '1' });
      const missing = await patch(bed, 'configmaps', 'a', JSON_PATCH, [{ op: 'remove', path: '/data/z' }]);
      expect(missing.status).toBe(422);
    },
  },
  {
    id: 'json-patch-version-test',
    title: 'a JSON patch can test the version it was made for',
    needs: 'api',
    run: async (bed) => {
      const first = await make(bed, 'configmaps', configMap('a', { n: '1' }));
      const operations = [
        { op: 'test', path: '/metadata/resourceVersion', value: metaOf(first).resourceVersion },
        { op: 'add', path: '/metadata/finalizers', value: ['ome.test/hold'] },
      ];
      expect((await patch(bed, 'configmaps', 'a', JSON_PATCH, operations)).status).toBe(200);
      expect((await patch(bed, 'configmaps', 'a', JSON_PATCH, operations)).status).toBe(422);
      await patch(bed, 'configmaps', 'a', JSON_PATCH, [{ op: 'remove', path: '/metadata/finalizers' }]);
    },
  },
  {
    id: 'strategic-patch-lists',
    title: 'a strategic patch merges containers by name, variables by name, and deletes by directive',
    needs: 'api',
    run: async (bed) => {
      const containers = [
        { name: 'main', image: 'busybox:v1' },
        { name: 'side', image: 'busybox:v1' },
      ];
      await make(bed, 'pods', idlePod('a', { spec: { containers } }));
      const { body, status } = await patch(bed, 'pods', 'a', STRATEGIC, {
        metadata: { labels: { x: 'y' } },
        spec: { containers: [{ name: 'side', image: 'busybox:v2' }] },
      });
      expect(status).toBe(200);
      const images = (body['spec'] as { containers: { name: string; image: string }[] }).containers;
      expect(images.map(({ name, image }) => `${name} ${image}`)).toEqual(['main busybox:v1', 'side busybox:v2']);
      expect(metaOf(body).generation).toBe(2);
    },
  },
  {
    id: 'strategic-patch-conditions',
    title: 'a strategic patch of a pod status merges conditions by type',
    needs: 'api',
    run: async (bed) => {
      await make(bed, 'pods', idlePod('a'));
      const set = (type: string, state: string) =>
        patch(
          bed,
          'pods',
          'a',
          STRATEGIC,
          { status: { conditions: [{ type, status: state, lastTransitionTime: '2026-01-01T00:00:00Z' }] } },
          'status',
        );
      await set('one.test/a', 'True');
      await set('one.test/b', 'True');
      const { body } = await set('one.test/a', 'False');
      const { conditions } = body['status'] as { conditions: { type: string; status: string }[] };
      expect(conditions.map(({ type, status }) => `${type} ${status}`).toSorted()).toEqual([
        'one.test/a False',
        'one.test/b True',
      ]);
    },
  },
  {
    id: 'strategic-patch-finalizers',
    title: 'a strategic patch adds to finalizers and takes out by $deleteFromPrimitiveList; owners are keyed by UID',
    needs: 'api',
    run: async (bed) => {
      await make(bed, 'pods', idlePod('a', { metadata: { finalizers: ['ome.test/a'] } }));
      const added = await patch(bed, 'pods', 'a', STRATEGIC, { metadata: { finalizers: ['ome.test/b'] } });
      expect([...(metaOf(added.body).finalizers ?? [])].toSorted()).toEqual(['ome.test/a', 'ome.test/b']);
      const gone = { '$deleteFromPrimitiveList/finalizers': ['ome.test/a', 'ome.test/b'] };
      const cleared = await patch(bed, 'pods', 'a', STRATEGIC, { metadata: gone });
      expect(metaOf(cleared.body).finalizers).toBeUndefined();
      // Owners that exist: a pod whose owners do not is collected.
      const [p, q] = [await make(bed, 'pods', idlePod('p')), await make(bed, 'pods', idlePod('q'))];
      await patch(bed, 'pods', 'a', STRATEGIC, { metadata: { ownerReferences: [ownedBy(p)] } });
      const two = await patch(bed, 'pods', 'a', STRATEGIC, { metadata: { ownerReferences: [ownedBy(q)] } });
      expect(two.body['metadata']).toMatchObject({
        ownerReferences: [{ uid: expect.any(String) }, { uid: expect.any(String) }],
      });
      const one = await patch(bed, 'pods', 'a', STRATEGIC, {
        metadata: { ownerReferences: [{ $patch: 'delete', uid: metaOf(p).uid }] },
      });
      expect(one.body['metadata']).toMatchObject({ ownerReferences: [{ uid: metaOf(q).uid }] });
    },
  },
  {
    id: 'strategic-patch-custom',
    title: 'a custom resource takes no strategic patch',
    needs: 'api',
    run: async (bed) => {
      await make(bed, 'widgets', widget('a'));
      const answer = await patch(bed, 'widgets', 'a', STRATEGIC, { spec: { size: 2 } });
      expect(answer).toMatchObject({
        status: 415,
        body: {
          reason: 'UnsupportedMediaType',
          message:
            'the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml',
        },
      });
    },
  },
  {
    id: 'patch-status',
    title: 'a patch of the status subresource changes the status alone',
    needs: 'api',
    run: async (bed) => {
      await make(bed, 'widgets', widget('a'));
      const { body } = await patch(
        bed,
        'widgets',
        'a',
        MERGE,
        { metadata: { labels: { x: 'y' } }, spec: { size: 4 }, status: { phase: 'Up' } },
        'status',
      );
      expect(body).toMatchObject({ spec: { size: 1 }, status: { phase: 'Up' } });
      expect(metaOf(body).labels).toBeUndefined();
    },
  },
  {
    id: 'patch-server-fields',
    title: 'a patch moves neither creation time nor generation, silently; of the deletion it is told off',
    needs: 'api',
    run: async (bed) => {
      for (const [plural, body] of [
        ['pods', idlePod('a')],
        ['widgets', widget('a')],
      ] as const) {
        const first = await make(bed, plural, body);
        const silent = { creationTimestamp: '2001-01-01T00:00:00Z', generation: 5, selfLink: '/x' };
        const same = await patch(bed, plural, 'a', MERGE, { metadata: silent });
        expect(same).toEqual({ status: 200, body: first });
        const deleted = await patch(bed, plural, 'a', MERGE, {
          metadata: { deletionTimestamp: '2001-01-01T00:00:00Z' },
        });
        expect(deleted).toMatchObject({
          status: 422,
          body: { details: { causes: [{ field: 'metadata.deletionTimestamp' }, {}] } },
        });
        const grace = await patch(bed, plural, 'a', MERGE, { metadata: { deletionGracePeriodSeconds: 5 } });
        expect(grace).toMatchObject({
          status: 422,
          body: { details: { causes: [{ field: 'metadata.deletionGracePeriodSeconds' }, {}] } },
        });
        const name = await patch(bed, plural, 'a', MERGE, { metadata: { name: 'b' } });
        expect(name).toMatchObject({
          status: 400,
          body: { message: 'the name of the object (b) does not match the name on the URL (a)' },
        });
      }
    },
  },
];
