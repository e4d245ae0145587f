/** Lists: order, selectors, pages, versions. */
import { expect } from '@jest/globals';
import { at, type Bed, type Case, configMap, idlePod, type Json, make, metaOf } from '../bed.js';
import { widget } from '../definitions.js';

async function names(bed: Bed, plural: string, query: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const { status, body } = await bed.request('GET', at(bed, plural), { query });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return (body['items'] as Json[]).map((item) => metaOf(item).name);
}

/** What the one row of a table says of its object. */
async function rowObject(bed: Bed, path: string, query: Readonly<Record<string, string>>): Promise<unknown> {
  const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
  const { body } = await bed.request('GET', path, { accept, query });
  expect(body).toMatchObject({ kind: 'Table', apiVersion: 'meta.k8s.io/v1' });
  const [row] = body['rows'] as [Json];
  return row['object'];
}

export const reads: readonly Case[] = [
  {
    id: 'list-form',
    title: 'a list is ordered by name; items of a built-in list carry no kind, custom ones do',
    needs: 'api',
    run: async (bed) => {
      for (const name of ['b', 'a', 'c']) {
        await make(bed, 'pods', idlePod(name));
        await make(bed, 'widgets', widget(name));
      }
      const pods = await bed.request('GET', at(bed, 'pods'));
      expect(pods.body).toMatchObject({ kind: 'PodList', apiVersion: 'v1' });
      const items = pods.body['items'] as Json[];
      expect(items.map((item) => metaOf(item).name)).toEqual(['a', 'b', 'c']);
      expect(items[0]).not.toHaveProperty('kind');
      const widgets = await bed.request('GET', at(bed, 'widgets'));
      expect(widgets.body).toMatchObject({ kind: 'WidgetList', apiVersion: 'conformance.ome.test/v1' });
      expect((widgets.body['items'] as Json[])[0]).toMatchObject({ kind: 'Widget' });
    },
  },
  {
    id: 'table-objects',
    title: 'the rows of a table carry whole objects, metadata, or nothing, and what they carry says its kind',
    needs: 'api',
    run: async (bed) => {
      const whole = { kind: 'Pod', apiVersion: 'v1', metadata: { name: 'a' }, spec: { schedulerName: 'nobody' } };
      const reduced = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { name: 'a' } };
      await make(bed, 'pods', idlePod('a'));
      for (const path of [at(bed, 'pods'), at(bed, 'pods', 'a')]) {
        expect(await rowObject(bed, path, { includeObject: 'Object' })).toMatchObject(whole);
        for (const query of [{}, { includeObject: 'Metadata' }]) {
          const object = await rowObject(bed, path, query);
          expect(object).toMatchObject(reduced);
          expect(object).not.toHaveProperty('spec');
        }
        expect(await rowObject(bed, path, { includeObject: 'None' })).toBeNull();
      }
    },
  },
  {
    id: 'list-selectors',
    title: 'lists are selected by labels and fields',
    needs: 'api',
    run: async (bed) => {
      await make(bed, 'pods', idlePod('a', { metadata: { labels: { app: 'x', tier: 'one' } } }));
      await make(bed, 'pods', idlePod('b', { metadata: { labels: { app: 'x' } }, spec: { nodeName: 'ghost' } }));
      await make(bed, 'pods', idlePod('c'));
      const by = (labelSelector: string) => names(bed, 'pods', { labelSelector });
      expect(await by('app=x')).toEqual(['a', 'b']);
      expect(await by('app=x,tier!=one')).toEqual(['b']);
      expect(await by('app in (x,y),tier')).toEqual(['a']);
      expect(await by('!app')).toEqual(['c']);
      expect(await by('app notin (x)')).toEqual(['c']);
      const field = (fieldSelector: string) => names(bed, 'pods', { fieldSelector });
      expect(await field('spec.nodeName=ghost')).toEqual(['b']);
      expect(await field('spec.nodeName=,metadata.name!=c')).toEqual(['a']);
      expect(await field('status.phase=Pending')).toEqual(['a', 'b', 'c']);
      await bed.request('DELETE', at(bed, 'pods', 'b'), { body: { gracePeriodSeconds: 0 } });
    },
  },
  {
    id: 'list-bad-selector',
    title: 'a field that cannot be selected by is a bad request',
    needs: 'api',
    run: async (bed) => {
      const answer = await bed.request('GET', at(bed, 'pods'), { query: { fieldSelector: 'spec.nothing=x' } });
      expect(answer).toMatchObject({ status: 400, body: { reason: 'BadRequest' } });
      expect(answer.body['message']).toContain('field label not supported: spec.nothing');
    },
  },
  {
    id: 'list-pages',
    title: 'pages come from one version: what changes between them is not seen',
    needs: 'api',
    run: async (bed) => {
      for (const name of ['a', 'b', 'c', 'd', 'e']) await make(bed, 'widgets', widget(name));
      const first = await bed.request('GET', at(bed, 'widgets'), { query: { limit: '2' } });
      expect(first.body['metadata']).toMatchObject({ continue: expect.any(String), remainingItemCount: 3 });
      await bed.request('DELETE', at(bed, 'widgets', 'd'));
      await make(bed, 'widgets', widget('cc'));
      const token = (first.body['metadata'] as { continue: string }).continue;
      const rest = await bed.request('GET', at(bed, 'widgets'), { query: { limit: '9', continue: token } });
      expect((rest.body['items'] as Json[]).map((item) => metaOf(item).name)).toEqual(['c', 'd', 'e']);
      expect(rest.body['metadata']).toMatchObject({ continue: '' });
      expect(metaOf(rest.body).resourceVersion).toBe(metaOf(first.body).resourceVersion);
    },
  },
  {
    id: 'list-exact-version',
    title: 'a list at an exact version shows the past',
    needs: 'api',
    run: async (bed) => {
      await make(bed, 'widgets', widget('a'));
      const before = await bed.request('GET', at(bed, 'widgets'));
      await make(bed, 'widgets', widget('b'));
      const { resourceVersion } = metaOf(before.body);
      const exact = { resourceVersion, resourceVersionMatch: 'Exact' };
      expect(await names(bed, 'widgets', exact)).toEqual(['a']);
      const atLeast = { resourceVersion, resourceVersionMatch: 'NotOlderThan' };
      expect(await names(bed, 'widgets', atLeast)).toContain('a');
      const old = await bed.request('GET', at(bed, 'widgets'), {
        query: { resourceVersion: '1', resourceVersionMatch: 'Exact' },
      });
      expect([200, 410]).toContain(old.status);
    },
  },
  {
    id: 'list-future-version',
    title: 'a list not older than a version that is not there yet waits, and then gives up with 504',
    needs: 'api',
    run: async (bed) => {
      const list = await bed.request('GET', at(bed, 'widgets'));
      const resourceVersion = String(Number(metaOf(list.body).resourceVersion) + 100_000_000);
      const answer = await bed.request('GET', at(bed, 'widgets'), {
        query: { resourceVersion, resourceVersionMatch: 'NotOlderThan' },
      });
      expect(answer).toMatchObject({
        status: 504,
        body: {
          reason: 'Timeout',
          details: {
            causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
            retryAfterSeconds: 1,
          },
        },
      });
      expect(answer.body['message']).toContain('Too large resource version');
    },
  },
  {
    id: 'list-bad-match',
    title: 'resourceVersionMatch without a version, or exact at 0, is refused',
    needs: 'api',
    run: async (bed) => {
      const alone = await bed.request('GET', at(bed, 'widgets'), { query: { resourceVersionMatch: 'Exact' } });
      expect(alone.status).toBe(422);
      expect(alone.body['message']).toContain('resourceVersionMatch is forbidden unless resourceVersion is provided');
      const zero = await bed.request('GET', at(bed, 'widgets'), {
        query: { resourceVersion: '0', resourceVersionMatch: 'Exact' },
      });
      expect(zero.status).toBe(422);
      expect(zero.body['message']).toContain('resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
    },
  },
  {
    id: 'one-version-counter',
    title: 'one counter serves all resources: each write has a higher version than the one before',
    needs: 'api',
    run: async (bed) => {
      const versions: number[] = [];
      versions.push(Number(metaOf(await make(bed, 'pods', idlePod('a'))).resourceVersion));
      versions.push(Number(metaOf(await make(bed, 'configmaps', configMap('a'))).resourceVersion));
      versions.push(Number(metaOf(await make(bed, 'widgets', widget('a'))).resourceVersion));
      versions.push(Number(metaOf((await bed.request('GET', at(bed, 'pods'))).body).resourceVersion));
      expect(versions).toEqual(versions.toSorted((a, b) => a - b));
    },
  },
  {
    id: 'no-such-path',
    title: 'a resource that is not served is 404, and a subresource that a kind lacks as well',
    needs: 'api',
    run: async (bed) => {
      const nothing = await bed.request('GET', `/apis/conformance.ome.test/v1/namespaces/${bed.namespace}/gadgets`);
      expect(nothing.status).toBe(404);
      const sub = await bed.request('GET', at(bed, 'configmaps', 'a', 'status'));
      expect(sub.status).toBe(404);
      expect(sub.body).toMatchObject({
        reason: 'NotFound',
        message: 'the server could not find the requested resource',
      });
    },
  },
];
