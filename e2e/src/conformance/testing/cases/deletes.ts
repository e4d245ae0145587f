/** Deleting: grace, preconditions, finalizers, and what the answer and the events carry. */
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
  outline,
  read,
  received,
} from '../bed.js';
import { widget } from '../definitions.js';

const HELD = { finalizers: ['ome.test/hold'] };

function remove(bed: Bed, plural: string, name: string, body?: Json) {
  return bed.request('DELETE', at(bed, plural, name), body === undefined ? {} : { body });
}

async function release(bed: Bed, plural: string, name: string) {
  return bed.request('PATCH', at(bed, plural, name), {
    contentType: JSON_PATCH,
    body: [{ op: 'remove', path: '/metadata/finalizers' }],
  });
}

/** A pod bound to a node that does not exist: nobody runs it, and its deletion waits. */
function boundPod(name: string, more: Json = {}): Json {
  return idlePod(name, { spec: { nodeName: 'ghost', ...more } });
}

export const deletes: readonly Case[] = [
  {
    id: 'delete-answers',
    title: 'what is deleted at once is answered with a Status; a pod and a Service with the object',
    needs: 'api',
    run: async (bed) => {
      const map = await make(bed, 'configmaps', configMap('a'));
      const plain = await remove(bed, 'configmaps', 'a');
      expect(plain).toEqual({
        status: 200,
        body: {
          kind: 'Status',
          apiVersion: 'v1',
          metadata: {},
          status: 'Success',
          details: { name: 'a', kind: 'configmaps', uid: metaOf(map).uid },
        },
      });
      const custom = await make(bed, 'widgets', widget('a'));
      expect((await remove(bed, 'widgets', 'a')).body).toMatchObject({
        kind: 'Status',
        details: { name: 'a', group: 'conformance.ome.test', kind: 'widgets', uid: metaOf(custom).uid },
      });
      await make(bed, 'pods', idlePod('a'));
      expect((await remove(bed, 'pods', 'a')).body).toMatchObject({ kind: 'Pod' });
      await make(bed, 'services', {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: 'a' },
        spec: { ports: [{ port: 80 }] },
      });
      expect((await remove(bed, 'services', 'a')).body).toMatchObject({ kind: 'Service' });
      const revision = {
        apiVersion: 'apps/v1',
        kind: 'ControllerRevision',
        metadata: { name: 'a' },
        revision: 1,
        data: { a: 1 },
      };
      await make(bed, 'controllerrevisions', revision);
      expect((await remove(bed, 'controllerrevisions', 'a')).body).toMatchObject({ kind: 'Status' });
      const missing = await remove(bed, 'pods', 'a');
      expect(missing).toMatchObject({ status: 404, body: { reason: 'NotFound', message: 'pods "a" not found' } });
    },
  },
  {
    id: 'delete-unscheduled-pod',
    title: 'a pod that was never scheduled goes at once: a MODIFIED with the deletion time, then DELETED',
    needs: 'api',
    run: async (bed) => {
      const pod = await make(bed, 'pods', idlePod('a'));
      const watching = bed.watch(at(bed, 'pods'), { resourceVersion: metaOf(pod).resourceVersion });
      await remove(bed, 'pods', 'a');
      const events = await received(bed, watching, 2);
      expect(outline(events)).toEqual(['MODIFIED a', 'DELETED a']);
      const [marked, gone] = events.map(({ object }) => metaOf(object as Json));
      expect(marked).toMatchObject({ deletionGracePeriodSeconds: 0, generation: 2 });
      expect(gone).toMatchObject({ deletionGracePeriodSeconds: 0, generation: 2, uid: metaOf(pod).uid });
      expect(Number(gone?.resourceVersion)).toBeGreaterThan(Number(marked?.resourceVersion));
    },
  },
  {
    id: 'delete-bound-pod',
    title: 'a scheduled pod gets the grace of its spec, stays, and its deletion time lies ahead by it',
    needs: 'api',
    run: async (bed) => {
      await make(bed, 'pods', boundPod('a', { terminationGracePeriodSeconds: 20 }));
      const answer = await remove(bed, 'pods', 'a');
      expect(answer.status).toBe(200);
      const meta = metaOf(answer.body);
      expect(meta).toMatchObject({ deletionGracePeriodSeconds: 20, generation: 2 });
      const aheadMs = Date.parse(meta.deletionTimestamp ?? '') - Date.parse(meta.creationTimestamp);
      expect(aheadMs).toBeGreaterThanOrEqual(20_000);
      expect(aheadMs).toBeLessThan(30_000);
      expect((await bed.request('GET', at(bed, 'pods', 'a'))).status).toBe(200);
      await remove(bed, 'pods', 'a', { gracePeriodSeconds: 0 });
    },
  },
  {
    id: 'delete-grace-only-shortens',
    title: 'a second delete may only shorten the grace; a longer or equal one changes nothing',
    needs: 'api',
    run: async (bed) => {
      await make(bed, 'pods', boundPod('a'));
      const first = await remove(bed, 'pods', 'a', { gracePeriodSeconds: 60 });
      expect(metaOf(first.body).deletionGracePeriodSeconds).toBe(60);
      const longer = await remove(bed, 'pods', 'a', { gracePeriodSeconds: 90 });
      expect(metaOf(longer.body)).toEqual(metaOf(first.body));
      const plain = await remove(bed, 'pods', 'a');
      expect(metaOf(plain.body).resourceVersion).toBe(metaOf(first.body).resourceVersion);
      const shorter = await remove(bed, 'pods', 'a', { gracePeriodSeconds: 10 });
      const meta = metaOf(shorter.body);
      expect(meta).toMatchObject({ deletionGracePeriodSeconds: 10, generation: 2 });
      const earlierMs =
        Date.parse(metaOf(first.body).deletionTimestamp ?? '') - Date.parse(meta.deletionTimestamp ?? '');
      expect(earlierMs).toBe(50_000);
      await remove(bed, 'pods', 'a', { gracePeriodSeconds: 0 });
    },
  },
  {
    id: 'delete-force',
    title: 'grace 0 removes a scheduled pod at once',
    needs: 'api',
    run: async (bed) => {
      const pod = await make(bed, 'pods', boundPod('a'));
      const watching = bed.watch(at(bed, 'pods'), { resourceVersion: metaOf(pod).resourceVersion });
      const answer = await remove(bed, 'pods', 'a', { gracePeriodSeconds: 0 });
      expect(answer.body).toMatchObject({ kind: 'Pod', metadata: { deletionGracePeriodSeconds: 0 } });
      expect((await bed.request('GET', at(bed, 'pods', 'a'))).status).toBe(404);
      expect(outline(await received(bed, watching, 2))).toEqual(['MODIFIED a', 'DELETED a']);
    },
  },
  {
    id: 'delete-terminal-pod',
    title: 'a pod that has ended goes at once whatever its grace',
    needs: 'api',
    run: async (bed) => {
      await make(bed, 'pods', boundPod('a'));
      await bed.request('PATCH', at(bed, 'pods', 'a', 'status'), {
        contentType: MERGE,
        body: { status: { phase: 'Failed' } },
      });
      await remove(bed, 'pods', 'a');
      expect((await bed.request('GET', at(bed, 'pods', 'a'))).status).toBe(404);
    },
  },
  {
    id: 'delete-uid-precondition',
    title: 'a delete with the UID of another object is a Conflict',
    needs: 'api',
    run: async (bed) => {
      const pod = await make(bed, 'pods', idlePod('a'));
      const answer = await remove(bed, 'pods', 'a', { preconditions: { uid: 'other' } });
      expect(answer).toMatchObject({
        status: 409,
        body: {
          reason: 'Conflict',
          message: `Operation cannot be fulfilled on Pod "a": the UID in the precondition (other) does not match the UID in record (${metaOf(pod).uid}). The object might have been deleted and then recreated`,
          details: { name: 'a', kind: 'Pod' },
        },
      });
      const right = await remove(bed, 'pods', 'a', { preconditions: { uid: metaOf(pod).uid } });
      expect(right.status).toBe(200);
      const custom = await make(bed, 'widgets', widget('a'));
      const refused = await remove(bed, 'widgets', 'a', { preconditions: { uid: 'other' } });
      expect(refused.body['message']).toBe(
        `Operation cannot be fulfilled on Widget.conformance.ome.test "a": the UID in the precondition (other) does not match the UID in record (${metaOf(custom).uid}). The object might have been deleted and then recreated`,
      );
    },
  },
  {
    id: 'delete-version-precondition',
    title: 'a delete with an old version is a Conflict',
    needs: 'api',
    run: async (bed) => {
      const first = await make(bed, 'configmaps', configMap('a'));
      await bed.request('PATCH', at(bed, 'configmaps', 'a'), { contentType: MERGE, body: { data: { n: '1' } } });
      const now = await read(bed, 'configmaps', 'a');
      const { resourceVersion } = metaOf(first);
      const answer = await remove(bed, 'configmaps', 'a', { preconditions: { resourceVersion } });
      expect(answer).toMatchObject({ status: 409, body: { reason: 'Conflict' } });
      expect(answer.body['message']).toContain(
        `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${metaOf(now).resourceVersion}). The object might have been modified`,
      );
    },
  },
  {
    id: 'delete-finalizer',
    title:
      'a finalizer keeps an object, marked; taking it out removes the object, and DELETED carries the last state stored',
    needs: 'api',
    run: async (bed) => {
      const first = await make(bed, 'configmaps', configMap('a', {}, HELD));
      const watching = bed.watch(at(bed, 'configmaps'), { resourceVersion: metaOf(first).resourceVersion });
      const answer = await remove(bed, 'configmaps', 'a');
      expect(answer).toMatchObject({
        status: 200,
        body: { kind: 'ConfigMap', metadata: { deletionGracePeriodSeconds: 0 } },
      });
      const again = await remove(bed, 'configmaps', 'a');
      expect(metaOf(again.body).resourceVersion).toBe(metaOf(answer.body).resourceVersion);
      const released = await release(bed, 'configmaps', 'a');
      expect(released.status).toBe(200);
      expect(metaOf(released.body).finalizers).toBeUndefined();
      expect((await bed.request('GET', at(bed, 'configmaps', 'a'))).status).toBe(404);
      const events = await received(bed, watching, 2);
      expect(outline(events)).toEqual(['MODIFIED a', 'DELETED a']);
      const last = metaOf(events[1]?.object as Json);
      expect(last.finalizers).toEqual(['ome.test/hold']);
      expect(Number(last.resourceVersion)).toBeGreaterThan(Number(metaOf(answer.body).resourceVersion));
    },
  },
  {
    id: 'delete-finalizer-generation',
    title: 'a deletion that waits for a finalizer bumps the generation of a custom object',
    needs: 'api',
    run: async (bed) => {
      await make(bed, 'widgets', widget('a', {}, HELD));
      const answer = await remove(bed, 'widgets', 'a');
      expect(answer.body).toMatchObject({ kind: 'Widget', metadata: { generation: 2 } });
      await release(bed, 'widgets', 'a');
    },
  },
  {
    id: 'delete-finalizer-added-late',
    title: 'nobody adds a finalizer to what is being deleted',
    needs: 'api',
    run: async (bed) => {
      await make(bed, 'configmaps', configMap('a', {}, HELD));
      await remove(bed, 'configmaps', 'a');
      const body = { metadata: { finalizers: ['ome.test/hold', 'ome.test/more'] } };
      const answer = await bed.request('PATCH', at(bed, 'configmaps', 'a'), { contentType: MERGE, body });
      expect(answer).toMatchObject({
        status: 422,
        body: { details: { causes: [{ field: 'metadata.finalizers', reason: 'FieldValueForbidden' }, {}] } },
      });
      expect(answer.body['message']).toBe(
        'ConfigMap "a" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"ome.test/more"}',
      );
      await release(bed, 'configmaps', 'a');
    },
  },
  {
    id: 'delete-pod-finalizer',
    title: 'a pod with a finalizer outlives its grace and goes with the finalizer',
    needs: 'api',
    run: async (bed) => {
      await make(bed, 'pods', idlePod('a', { metadata: HELD, spec: { nodeName: 'ghost' } }));
      await remove(bed, 'pods', 'a', { gracePeriodSeconds: 5 });
      const forced = await remove(bed, 'pods', 'a', { gracePeriodSeconds: 0 });
      expect(metaOf(forced.body)).toMatchObject({ deletionGracePeriodSeconds: 0 });
      expect((await bed.request('GET', at(bed, 'pods', 'a'))).status).toBe(200);
      await release(bed, 'pods', 'a');
      expect((await bed.request('GET', at(bed, 'pods', 'a'))).status).toBe(404);
    },
  },
  {
    id: 'delete-collection',
    title: 'a collection is deleted by selector',
    needs: 'api',
    run: async (bed) => {
      for (const name of ['a', 'b', 'c']) {
        await make(bed, 'widgets', widget(name, {}, { labels: { keep: name === 'b' ? 'yes' : 'no' } }));
      }
      const answer = await bed.request('DELETE', at(bed, 'widgets'), { query: { labelSelector: 'keep=no' } });
      expect(answer.status).toBe(200);
      const list = await bed.request('GET', at(bed, 'widgets'));
      expect((list.body['items'] as Json[]).map((item) => metaOf(item).name)).toEqual(['b']);
    },
  },
];
