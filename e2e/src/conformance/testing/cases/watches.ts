/** Watches: order, selectors, beginnings and ends. */
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
  outline,
  received,
} from '../bed.js';
import { widget } from '../definitions.js';

async function head(bed: Bed, plural: string): Promise<string> {
  return metaOf((await bed.request('GET', at(bed, plural))).body).resourceVersion;
}

function label(bed: Bed, plural: string, name: string, labels: Json) {
  return bed.request('PATCH', at(bed, plural, name), { contentType: MERGE, body: { metadata: { labels } } });
}

export const watches: readonly Case[] = [
  {
    id: 'watch-from-version',
    title: 'a watch from a version delivers every later change in order, with the versions of the replies',
    needs: 'api',
    run: async (bed) => {
      await make(bed, 'widgets', widget('before'));
      const watching = bed.watch(at(bed, 'widgets'), { resourceVersion: await head(bed, 'widgets') });
      const made = await make(bed, 'widgets', widget('a'));
      const changed = await bed.request('PATCH', at(bed, 'widgets', 'a'), {
        contentType: MERGE,
        body: { spec: { size: 2 } },
      });
      await bed.request('DELETE', at(bed, 'widgets', 'a'));
      const events = await received(bed, watching, 3);
      expect(outline(events)).toEqual(['ADDED a', 'MODIFIED a', 'DELETED a']);
      const versions = events.map(({ object }) => metaOf(object as Json).resourceVersion);
      expect(versions.slice(0, 2)).toEqual([metaOf(made).resourceVersion, metaOf(changed.body).resourceVersion]);
      expect(Number(versions[2])).toBeGreaterThan(Number(versions[1]));
      expect(events[2]?.object).toMatchObject({
        kind: 'Widget',
        apiVersion: 'conformance.ome.test/v1',
        spec: { size: 2 },
      });
    },
  },
  {
    id: 'watch-from-nothing',
    title: 'a watch without a version, or at 0, begins with what is there',
    needs: 'api',
    run: async (bed) => {
      await make(bed, 'widgets', widget('a'));
      await make(bed, 'widgets', widget('b'));
      for (const query of [{}, { resourceVersion: '0' }]) {
        const watching = bed.watch(at(bed, 'widgets'), query);
        expect(outline(await received(bed, watching, 2)).toSorted()).toEqual(['ADDED a', 'ADDED b']);
        watching.close();
      }
    },
  },
  {
    id: 'watch-label-selector',
    title: 'under a selector, losing the label is DELETED with the state before, and gaining it is ADDED',
    needs: 'api',
    run: async (bed) => {
      const watching = bed.watch(at(bed, 'widgets'), {
        resourceVersion: await head(bed, 'widgets'),
        labelSelector: 'on=yes',
      });
      await make(bed, 'widgets', widget('a', { size: 1 }));
      await label(bed, 'widgets', 'a', { on: 'yes' });
      await bed.request('PATCH', at(bed, 'widgets', 'a'), { contentType: MERGE, body: { spec: { size: 2 } } });
      const off = await label(bed, 'widgets', 'a', { on: 'no' });
      await bed.request('PATCH', at(bed, 'widgets', 'a'), { contentType: MERGE, body: { spec: { size: 3 } } });
      await label(bed, 'widgets', 'a', { on: 'yes' });
      const events = await received(bed, watching, 4);
      expect(outline(events)).toEqual(['ADDED a', 'MODIFIED a', 'DELETED a', 'ADDED a']);
      expect(events[2]?.object).toMatchObject({
        metadata: { labels: { on: 'yes' }, resourceVersion: metaOf(off.body).resourceVersion },
        spec: { size: 2 },
      });
      expect(events[3]?.object).toMatchObject({ metadata: { labels: { on: 'yes' } }, spec: { size: 3 } });
    },
  },
  {
    id: 'watch-field-selector',
    title: 'a field selector by name watches one object',
    needs: 'api',
    run: async (bed) => {
      const watching = bed.watch(at(bed, 'configmaps'), {
        resourceVersion: await head(bed, 'configmaps'),
        fieldSelector: 'metadata.name=b',
      });
      await make(bed, 'configmaps', configMap('a'));
      await make(bed, 'configmaps', configMap('b'));
      expect(outline(await received(bed, watching, 1))).toEqual(['ADDED b']);
    },
  },
  {
    id: 'watch-pods-by-node',
    title: 'pods watched by node appear when they are bound',
    needs: 'api',
    run: async (bed) => {
      const watching = bed.watch(at(bed, 'pods'), {
        resourceVersion: await head(bed, 'pods'),
        fieldSelector: 'spec.nodeName=ghost',
      });
      await make(bed, 'pods', idlePod('a'));
      const target = { apiVersion: 'v1', kind: 'Node', name: 'ghost' };
      const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'a' }, target };
      const bound = await bed.request('POST', at(bed, 'pods', 'a', 'binding'), { body: binding });
      expect(bound.status).toBe(201);
      const events = await received(bed, watching, 1);
      expect(outline(events)).toEqual(['ADDED a']);
      expect(events[0]?.object).toMatchObject({
        metadata: { generation: 1 },
        spec: { nodeName: 'ghost' },
        status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'True' }] },
      });
      await bed.request('DELETE', at(bed, 'pods', 'a'), { body: { gracePeriodSeconds: 0 } });
    },
  },
  {
    id: 'watch-list',
    title: 'a streamed list ends with a bookmark that says so, and goes on as a watch',
    needs: 'api',
    run: async (bed) => {
      await make(bed, 'widgets', widget('a'));
      await make(bed, 'widgets', widget('b'));
      const watching = bed.watch(at(bed, 'widgets'), {
        sendInitialEvents: 'true',
        resourceVersionMatch: 'NotOlderThan',
        allowWatchBookmarks: 'true',
      });
      const events = await received(bed, watching, 3);
      expect(outline(events)).toEqual(['ADDED a', 'ADDED b', 'BOOKMARK']);
      expect(events[2]?.object).toMatchObject({
        kind: 'Widget',
        metadata: { annotations: { 'k8s.io/initial-events-end': 'true' }, resourceVersion: expect.any(String) },
      });
      const late = await make(bed, 'widgets', widget('c'));
      const [, , bookmark, next] = await received(bed, watching, 4);
      expect(outline(next === undefined ? [] : [next])).toEqual(['ADDED c']);
      const version = Number(metaOf(bookmark?.object as Json).resourceVersion);
      expect(version).toBeLessThan(Number(metaOf(late).resourceVersion));
    },
  },
  {
    id: 'watch-list-parameters',
    title: 'a streamed list must ask for NotOlderThan, and nothing else may',
    needs: 'api',
    run: async (bed) => {
      const ends = async (query: Readonly<Record<string, string>>) => {
        const watching = bed.watch(at(bed, 'widgets'), query);
        return bed.eventually('the end', () => watching.ended);
      };
      expect(await ends({ sendInitialEvents: 'true' })).toBe('response 422');
      expect(await ends({ resourceVersionMatch: 'NotOlderThan' })).toBe('response 422');
    },
  },
  {
    id: 'watch-too-old',
    title: 'a watch from a version that is forgotten gets 200 and an ERROR event with code 410',
    needs: 'api',
    run: async (bed) => {
      const watching = bed.watch(at(bed, 'widgets'), { resourceVersion: '1' });
      const [event] = await received(bed, watching, 1);
      expect(event).toMatchObject({
        type: 'ERROR',
        object: { kind: 'Status', apiVersion: 'v1', status: 'Failure', reason: 'Expired', code: 410 },
      });
      expect(event === undefined ? '' : (event.object as Json)['message']).toMatch(
        /^too old resource version: 1 \(\d+\)$/,
      );
      await bed.eventually('the end', () => watching.ended);
    },
  },
  {
    id: 'watch-timeout',
    title: 'a watch ends in good order at its timeout',
    needs: 'api',
    run: async (bed) => {
      const watching = bed.watch(at(bed, 'widgets'), {
        resourceVersion: await head(bed, 'widgets'),
        timeoutSeconds: '1',
      });
      expect(await bed.eventually('the end', () => watching.ended)).toBe('closed');
      expect(watching.events).toEqual([]);
    },
  },
  {
    id: 'watch-bookmark-before-timeout',
    title: 'a watch that asked for bookmarks gets one shortly before its timeout',
    needs: 'api',
    run: async (bed) => {
      const query = { resourceVersion: await head(bed, 'widgets'), timeoutSeconds: '4', allowWatchBookmarks: 'true' };
      const watching = bed.watch(at(bed, 'widgets'), query);
      await bed.eventually('the end', () => watching.ended);
      expect(watching.events.map(({ type }) => type)).toContain('BOOKMARK');
    },
  },
  {
    id: 'watch-namespace-all',
    title: 'a watch over all namespaces sees objects of each',
    needs: 'api',
    run: async (bed) => {
      const list = await bed.request('GET', '/apis/conformance.ome.test/v1/widgets');
      const watching = bed.watch('/apis/conformance.ome.test/v1/widgets', {
        resourceVersion: metaOf(list.body).resourceVersion,
      });
      await make(bed, 'widgets', widget('a'));
      await bed.eventually('the event', () =>
        watching.events.find(
          ({ object }) => (object as { metadata: { namespace: string } }).metadata.namespace === bed.namespace,
        ),
      );
    },
  },
];
