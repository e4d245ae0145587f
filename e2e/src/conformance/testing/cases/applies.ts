/** Server-side apply: who owns a field, and what happens when two managers want it. */
import { expect } from '@jest/globals';
import { APPLY, at, type Bed, type Case, configMap, idlePod, type Json, MERGE, make, metaOf, read } from '../bed.js';
import { widget } from '../definitions.js';

function apply(bed: Bed, plural: string, body: Json, manager: string, more: Readonly<Record<string, string>> = {}) {
  const query = { fieldManager: manager, ...more };
  return bed.request('PATCH', at(bed, plural, metaOf(body).name), { contentType: APPLY, query, body });
}

export const applies: readonly Case[] = [
  {
    id: 'apply-creates',
    title: 'an apply makes what is not there, and changes nothing the second time',
    needs: 'api',
    run: async (bed) => {
      const made = await apply(bed, 'widgets', widget('a', { tags: ['x'] }), 'one');
      expect(made.status).toBe(201);
      expect(metaOf(made.body).managedFields).toMatchObject([
        { manager: 'one', operation: 'Apply', apiVersion: 'conformance.ome.test/v1', fieldsType: 'FieldsV1' },
      ]);
      expect(metaOf(made.body).managedFields?.[0]?.['fieldsV1']).toEqual({
        'f:spec': { 'f:size': {}, 'f:tags': { 'v:"x"': {} } },
      });
      const again = await apply(bed, 'widgets', widget('a', { tags: ['x'] }), 'one');
      expect(again.status).toBe(200);
      expect(metaOf(again.body).resourceVersion).toBe(metaOf(made.body).resourceVersion);
    },
  },
  {
    id: 'apply-needs-manager',
    title: 'an apply without a field manager is refused',
    needs: 'api',
    run: async (bed) => {
      const answer = await bed.request('PATCH', at(bed, 'widgets', 'a'), { contentType: APPLY, body: widget('a') });
      expect(answer.status).toBe(422);
      expect(answer.body['message']).toContain('fieldManager: Required value: is required for apply patch');
    },
  },
  {
    id: 'apply-drops',
    title: 'what a manager no longer says goes, unless somebody else says it',
    needs: 'api',
    run: async (bed) => {
      await apply(bed, 'configmaps', configMap('a', { mine: '1', shared: '1' }), 'one');
      await apply(bed, 'configmaps', configMap('a', { shared: '1', theirs: '1' }), 'two');
      const less = await apply(bed, 'configmaps', configMap('a', {}), 'one');
      expect(less.body['data']).toEqual({ shared: '1', theirs: '1' });
      await bed.request('PATCH', at(bed, 'configmaps', 'a'), { contentType: MERGE, body: { data: { hand: 'made' } } });
      const none = await apply(bed, 'configmaps', configMap('a', { shared: '1' }), 'two');
      expect(none.body['data']).toEqual({ shared: '1', hand: 'made' });
    },
  },
  {
    id: 'apply-conflict',
    title: 'another value for a field that somebody else owns is a Conflict that names both, until it is forced',
    needs: 'api',
    run: async (bed) => {
      await apply(bed, 'configmaps', configMap('a', { n: '1' }), 'one');
      const refused = await apply(bed, 'configmaps', configMap('a', { n: '2' }), 'two');
      expect(refused).toEqual({
        status: 409,
        body: {
          kind: 'Status',
          apiVersion: 'v1',
          metadata: {},
          status: 'Failure',
          message: 'Apply failed with 1 conflict: conflict with "one": .data.n',
          reason: 'Conflict',
          details: { causes: [{ reason: 'FieldManagerConflict', message: 'conflict with "one"', field: '.data.n' }] },
          code: 409,
        },
      });
      const same = await apply(bed, 'configmaps', configMap('a', { n: '1' }), 'two');
      expect(same.status).toBe(200);
      const forced = await apply(bed, 'configmaps', configMap('a', { n: '2' }), 'two', { force: 'true' });
      expect(forced.body['data']).toEqual({ n: '2' });
      const lost = await apply(bed, 'configmaps', configMap('a', {}), 'one');
      expect(lost.body['data']).toEqual({ n: '2' });
    },
  },
  {
    id: 'apply-conflict-update',
    title: 'a field set by an ordinary write belongs to that writer',
    needs: 'api',
    run: async (bed) => {
      await bed.request('POST', at(bed, 'configmaps'), {
        query: { fieldManager: 'hand' },
        body: configMap('a', { n: '1', m: '1' }),
      });
      const refused = await apply(bed, 'configmaps', configMap('a', { n: '2', m: '2' }), 'one');
      expect(refused.status).toBe(409);
      expect(refused.body['message']).toBe(
        'Apply failed with 2 conflicts: conflicts with "hand" using v1:\n- .data.m\n- .data.n',
      );
    },
  },
  {
    id: 'apply-lists',
    title: 'keyed lists are merged by key, sets by value, and other lists as one',
    needs: 'api',
    run: async (bed) => {
      await apply(bed, 'widgets', widget('a', { parts: [{ name: 'p', weight: 1 }], tags: ['x'] }), 'one');
      const both = await apply(bed, 'widgets', widget('a', { parts: [{ name: 'q', weight: 2 }], tags: ['y'] }), 'two');
      expect(both.body['spec']).toMatchObject({
        parts: [
          { name: 'p', weight: 1 },
          { name: 'q', weight: 2 },
        ],
        tags: ['x', 'y'],
      });
      const fewer = await apply(bed, 'widgets', widget('a'), 'one');
      expect(fewer.body['spec']).toEqual({ size: 1, mode: 'Fast', parts: [{ name: 'q', weight: 2 }], tags: ['y'] });
    },
  },
  {
    id: 'apply-pod-containers',
    title: 'containers of a pod are merged by name',
    needs: 'api',
    run: async (bed) => {
      await make(bed, 'pods', idlePod('a'));
      const body = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'a', labels: { x: 'y' } },
        spec: { containers: [{ name: 'main', image: 'busybox:v2' }] },
      };
      const answer = await apply(bed, 'pods', body, 'one', { force: 'true' });
      expect(answer).toMatchObject({
        status: 200,
        body: {
          metadata: { labels: { x: 'y' } },
          spec: { containers: [{ name: 'main', image: 'busybox:v2', imagePullPolicy: 'IfNotPresent' }] },
        },
      });
    },
  },
  {
    id: 'apply-version',
    title: 'an apply with an old version is a Conflict',
    needs: 'api',
    run: async (bed) => {
      const first = await make(bed, 'configmaps', configMap('a'));
      await bed.request('PATCH', at(bed, 'configmaps', 'a'), { contentType: MERGE, body: { data: { n: '1' } } });
      const body = configMap('a', { m: '1' }, { resourceVersion: metaOf(first).resourceVersion });
      const answer = await apply(bed, 'configmaps', body, 'one');
      expect(answer).toMatchObject({ status: 409, body: { reason: 'Conflict' } });
      expect((await read(bed, 'configmaps', 'a'))['data']).toEqual({ n: '1' });
    },
  },
  {
    id: 'apply-status',
    title: 'the status is applied by its own endpoint, with an entry of its own',
    needs: 'api',
    run: async (bed) => {
      await apply(bed, 'widgets', widget('a'), 'one');
      const body = {
        apiVersion: 'conformance.ome.test/v1',
        kind: 'Widget',
        metadata: { name: 'a' },
        status: { phase: 'Up' },
      };
      const query = { fieldManager: 'one' };
      const answer = await bed.request('PATCH', at(bed, 'widgets', 'a', 'status'), { contentType: APPLY, query, body });
      expect(answer).toMatchObject({ status: 200, body: { spec: { size: 1 }, status: { phase: 'Up' } } });
      expect(metaOf(answer.body).managedFields?.map((entry) => entry['subresource'])).toEqual([undefined, 'status']);
    },
  },
  {
    id: 'update-records-owner',
    title: 'ordinary writes are recorded by manager, endpoint and operation',
    needs: 'api',
    run: async (bed) => {
      await bed.request('POST', at(bed, 'widgets'), { query: { fieldManager: 'maker' }, body: widget('a') });
      await bed.request('PATCH', at(bed, 'widgets', 'a', 'status'), {
        contentType: MERGE,
        query: { fieldManager: 'loop' },
        body: { status: { phase: 'Up' } },
      });
      await bed.request('PATCH', at(bed, 'widgets', 'a'), {
        contentType: MERGE,
        query: { fieldManager: 'other' },
        body: { spec: { size: 2 } },
      });
      const entries = metaOf(await read(bed, 'widgets', 'a')).managedFields ?? [];
      const text = entries.map(({ manager, operation, subresource }) =>
        [manager, operation, subresource ?? '-'].join(' '),
      );
      expect(text.toSorted()).toEqual(['loop Update status', 'maker Update -', 'other Update -']);
      const fields = (manager: string) => entries.find((entry) => entry['manager'] === manager)?.['fieldsV1'];
      expect(fields('other')).toEqual({ 'f:spec': { 'f:size': {} } });
      expect(JSON.stringify(fields('maker'))).not.toContain('f:size');
    },
  },
];
