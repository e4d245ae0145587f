/** Creating and replacing objects: versions, conflicts, what a status endpoint may touch. */
import { expect } from '@jest/globals';
import { at, type Case, configMap, idlePod, make, metaOf, read } from '../bed.js';
import { widget } from '../definitions.js';

export const writes: readonly Case[] = [
  {
    id: 'create-fills-metadata',
    title: 'a creation sets uid, version, whole-second time and generation, and ignores what the client says of them',
    needs: 'api',
    run: async (bed) => {
      const forged = { uid: 'mine', creationTimestamp: '2001-01-01T00:00:00Z', generation: 7 };
      const pod = await make(bed, 'pods', idlePod('a', { metadata: forged }));
      const meta = metaOf(pod);
      expect(meta.uid).not.toBe('mine');
      expect(meta.creationTimestamp).toMatch(/^202\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      expect(meta.generation).toBe(1);
      expect(Number(meta.resourceVersion)).toBeGreaterThan(0);
      expect(metaOf(await make(bed, 'configmaps', configMap('a'))).generation).toBeUndefined();
      expect(metaOf(await make(bed, 'widgets', widget('a'))).generation).toBe(1);
    },
  },
  {
    id: 'create-exists',
    title: 'a name that is taken is AlreadyExists, told apart from Conflict by its reason',
    needs: 'api',
    run: async (bed) => {
      await make(bed, 'pods', idlePod('a'));
      const again = await bed.request('POST', at(bed, 'pods'), { body: idlePod('a') });
      expect(again).toEqual({
        status: 409,
        body: {
          kind: 'Status',
          apiVersion: 'v1',
          metadata: {},
          status: 'Failure',
          message: 'pods "a" already exists',
          reason: 'AlreadyExists',
          details: { name: 'a', kind: 'pods' },
          code: 409,
        },
      });
      await make(bed, 'widgets', widget('a'));
      const custom = await bed.request('POST', at(bed, 'widgets'), { body: widget('a') });
      expect(custom.body).toMatchObject({
        message: 'widgets.conformance.ome.test "a" already exists',
        details: { name: 'a', group: 'conformance.ome.test', kind: 'widgets' },
      });
    },
  },
  {
    id: 'create-refuses-version',
    title: 'a creation with a resourceVersion is a bad request',
    needs: 'api',
    run: async (bed) => {
      const body = configMap('a', {}, { resourceVersion: '5' });
      const answer = await bed.request('POST', at(bed, 'configmaps'), { body });
      expect(answer.status).toBe(500);
      expect(answer.body['message']).toContain('resourceVersion should not be set on objects to be created');
    },
  },
  {
    id: 'create-generate-name',
    title: 'generateName makes a name of five more characters',
    needs: 'api',
    run: async (bed) => {
      const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { generateName: 'cm-' } };
      const answer = await bed.request('POST', at(bed, 'configmaps'), { body });
      expect(metaOf(answer.body).name).toMatch(/^cm-[a-z0-9]{5}$/);
    },
  },
  {
    id: 'names-and-labels',
    title: 'names and labels that break the rules are Invalid, with a cause for each field',
    needs: 'api',
    run: async (bed) => {
      const name = await bed.request('POST', at(bed, 'configmaps'), { body: configMap('Not_A_Name') });
      expect(name.status).toBe(422);
      expect(name.body).toMatchObject({
        reason: 'Invalid',
        details: { causes: [{ field: 'metadata.name', reason: 'FieldValueInvalid' }] },
      });
      const labels = configMap('a', {}, { labels: { 'bad key': 'x', good: '-bad-' } });
      const label = await bed.request('POST', at(bed, 'configmaps'), { body: labels });
      expect(label.status).toBe(422);
      expect(label.body).toMatchObject({
        details: { causes: [{ field: 'metadata.labels' }, { field: 'metadata.labels' }] },
      });
      const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: '1a' }, spec: { ports: [{ port: 80 }] } };
      const digit = await bed.request('POST', at(bed, 'services'), { body: service });
      expect(digit).toMatchObject({ status: 422, body: { details: { causes: [{ field: 'metadata.name' }] } } });
    },
  },
  {
    id: 'owner-references',
    title: 'an owner reference needs all of its fields, and only one may be the controller',
    needs: 'api',
    run: async (bed) => {
      const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u1', controller: true };
      const half = configMap('a', {}, { ownerReferences: [{ ...owner, uid: '' }] });
      const missing = await bed.request('POST', at(bed, 'configmaps'), { body: half });
      expect(missing).toMatchObject({
        status: 422,
        body: { details: { causes: [{ field: 'metadata.ownerReferences.uid' }] } },
      });
      const two = configMap('a', {}, { ownerReferences: [owner, { ...owner, name: 'q', uid: 'u2' }] });
      const answer = await bed.request('POST', at(bed, 'configmaps'), { body: two });
      expect(answer.status).toBe(422);
      expect(answer.body['message']).toContain('Only one reference can have Controller set to true');
    },
  },
  {
    id: 'update-conflict',
    title: 'a replacement from an older version is a Conflict',
    needs: 'api',
    run: async (bed) => {
      const first = await make(bed, 'configmaps', configMap('a', { n: '1' }));
      await bed.request('PUT', at(bed, 'configmaps', 'a'), { body: { ...first, data: { n: '2' } } });
      const late = await bed.request('PUT', at(bed, 'configmaps', 'a'), { body: { ...first, data: { n: '3' } } });
      expect(late).toEqual({
        status: 409,
        body: {
          kind: 'Status',
          apiVersion: 'v1',
          metadata: {},
          status: 'Failure',
          message:
            'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
          reason: 'Conflict',
          details: { name: 'a', kind: 'configmaps' },
          code: 409,
        },
      });
    },
  },
  {
    id: 'update-without-version',
    title: 'a replacement without a version is unconditional for built-in kinds and refused for custom ones',
    needs: 'api',
    run: async (bed) => {
      await make(bed, 'configmaps', configMap('a', { n: '1' }));
      const plain = await bed.request('PUT', at(bed, 'configmaps', 'a'), { body: configMap('a', { n: '2' }) });
      expect(plain.status).toBe(200);
      await make(bed, 'widgets', widget('a'));
      const custom = await bed.request('PUT', at(bed, 'widgets', 'a'), { body: widget('a', { size: 2 }) });
      expect(custom.status).toBe(422);
      expect(custom.body).toMatchObject({
        reason: 'Invalid',
        message:
          'widgets.conformance.ome.test "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
      });
    },
  },
  {
    id: 'update-uid',
    title: 'a replacement that names another UID is a Conflict',
    needs: 'api',
    run: async (bed) => {
      const first = await make(bed, 'configmaps', configMap('a'));
      const other = { ...first, metadata: { ...metaOf(first), uid: 'other' } };
      const answer = await bed.request('PUT', at(bed, 'configmaps', 'a'), { body: other });
      expect(answer.status).toBe(409);
      expect(answer.body).toMatchObject({
        reason: 'Conflict',
        message: `Operation cannot be fulfilled on configmaps "a": StorageError: invalid object, Code: 4, Key: /registry/configmaps/${bed.namespace}/a, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: other, UID in object meta: ${metaOf(first).uid}`,
      });
    },
  },
  {
    id: 'update-missing',
    title: 'a replacement of what is not there is NotFound',
    needs: 'api',
    run: async (bed) => {
      const answer = await bed.request('PUT', at(bed, 'configmaps', 'a'), { body: configMap('a') });
      expect(answer).toMatchObject({
        status: 404,
        body: { reason: 'NotFound', message: 'configmaps "a" not found', details: { name: 'a', kind: 'configmaps' } },
      });
    },
  },
  {
    id: 'update-no-change',
    title: 'a write that changes nothing keeps the version and emits nothing',
    needs: 'api',
    run: async (bed) => {
      const first = await make(bed, 'configmaps', configMap('a', { n: '1' }));
      const watching = bed.watch(at(bed, 'configmaps'), { resourceVersion: metaOf(first).resourceVersion });
      const same = await bed.request('PUT', at(bed, 'configmaps', 'a'), { body: first });
      expect(metaOf(same.body).resourceVersion).toBe(metaOf(first).resourceVersion);
      await make(bed, 'configmaps', configMap('b'));
      await bed.eventually('the event of b', () => (watching.events.length > 0 ? true : undefined));
      expect(watching.events.map(({ type }) => type)).toEqual(['ADDED']);
    },
  },
  {
    id: 'name-mismatch',
    title: 'a body whose name, namespace or kind is not that of the path is a bad request',
    needs: 'api',
    run: async (bed) => {
      await make(bed, 'configmaps', configMap('a'));
      const name = await bed.request('PUT', at(bed, 'configmaps', 'a'), { body: configMap('b') });
      expect(name).toMatchObject({
        status: 400,
        body: { message: 'the name of the object (b) does not match the name on the URL (a)' },
      });
      const elsewhere = configMap('c', {}, { namespace: 'default' });
      const place = await bed.request('POST', at(bed, 'configmaps'), { body: elsewhere });
      expect(place.status).toBe(400);
      expect(place.body['message']).toBe(
        'the namespace of the provided object does not match the namespace sent on the request',
      );
      const kind = await bed.request('POST', at(bed, 'configmaps'), { body: idlePod('a') });
      expect(kind.status).toBe(400);
    },
  },
  {
    id: 'generation',
    title: 'the generation counts changes of the spec and nothing else',
    needs: 'api',
    run: async (bed) => {
      const first = await make(bed, 'widgets', widget('a'));
      const labelled = await bed.request('PUT', at(bed, 'widgets', 'a'), {
        body: { ...first, metadata: { ...metaOf(first), labels: { x: 'y' } } },
      });
      expect(metaOf(labelled.body).generation).toBe(1);
      const status = await bed.request('PUT', at(bed, 'widgets', 'a', 'status'), {
        body: { ...labelled.body, status: { phase: 'Up' } },
      });
      expect(metaOf(status.body).generation).toBe(1);
      const resized = await bed.request('PUT', at(bed, 'widgets', 'a'), {
        body: { ...status.body, spec: { size: 2 } },
      });
      expect(metaOf(resized.body).generation).toBe(2);
    },
  },
  {
    id: 'status-isolation-custom',
    title: 'a custom status endpoint takes the status alone, and the main one everything but it',
    needs: 'api',
    run: async (bed) => {
      const first = await make(bed, 'widgets', { ...widget('a'), status: { phase: 'Sent' } });
      expect(first['status']).toBeUndefined();
      const changed = {
        ...first,
        metadata: { ...metaOf(first), labels: { x: 'y' } },
        spec: { size: 5 },
        status: { phase: 'Up' },
      };
      const status = await bed.request('PUT', at(bed, 'widgets', 'a', 'status'), { body: changed });
      expect(status.body).toMatchObject({ spec: { size: 1 }, status: { phase: 'Up' } });
      expect(metaOf(status.body).labels).toBeUndefined();
      const main = await bed.request('PUT', at(bed, 'widgets', 'a'), {
        body: { ...status.body, spec: { size: 5 }, status: { phase: 'Down' } },
      });
      expect(main.body).toMatchObject({ spec: { size: 5 }, status: { phase: 'Up' } });
    },
  },
  {
    id: 'status-isolation-pod',
    title: "a pod's status endpoint takes status and labels, but neither spec nor owners",
    needs: 'api',
    run: async (bed) => {
      const first = await make(bed, 'pods', idlePod('a'));
      const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u' };
      const body = {
        ...first,
        metadata: { ...metaOf(first), labels: { x: 'y' }, ownerReferences: [owner] },
        spec: { ...(first['spec'] as object), activeDeadlineSeconds: 5 },
        status: { ...(first['status'] as object), message: 'hello' },
      };
      const { body: after } = await bed.request('PUT', at(bed, 'pods', 'a', 'status'), { body });
      expect(after['status']).toMatchObject({ message: 'hello' });
      expect(metaOf(after).labels).toEqual({ x: 'y' });
      expect(after['metadata']).not.toHaveProperty('ownerReferences');
      expect(after['spec']).not.toHaveProperty('activeDeadlineSeconds');
      expect(metaOf(after).generation).toBe(1);
    },
  },
  {
    id: 'dry-run',
    title: 'a dry run answers as the write would and leaves nothing behind',
    needs: 'api',
    run: async (bed) => {
      const query = { dryRun: 'All' };
      const made = await bed.request('POST', at(bed, 'configmaps'), { query, body: configMap('a') });
      expect(made.status).toBe(201);
      expect((await bed.request('GET', at(bed, 'configmaps', 'a'))).status).toBe(404);
      await make(bed, 'configmaps', configMap('b', { n: '1' }));
      const put = await bed.request('PUT', at(bed, 'configmaps', 'b'), { query, body: configMap('b', { n: '2' }) });
      expect(put.body['data']).toEqual({ n: '2' });
      expect((await read(bed, 'configmaps', 'b'))['data']).toEqual({ n: '1' });
    },
  },
  {
    id: 'controller-revision-immutable',
    title: 'the data of a ControllerRevision never changes; its revision number may',
    needs: 'api',
    run: async (bed) => {
      const body = {
        apiVersion: 'apps/v1',
        kind: 'ControllerRevision',
        metadata: { name: 'a' },
        revision: 1,
        data: { spec: 1 },
      };
      const made = await make(bed, 'controllerrevisions', body);
      const number = await bed.request('PUT', at(bed, 'controllerrevisions', 'a'), { body: { ...made, revision: 2 } });
      expect(number.status).toBe(200);
      const data = await bed.request('PUT', at(bed, 'controllerrevisions', 'a'), {
        body: { ...number.body, data: { spec: 2 } },
      });
      expect(data).toMatchObject({
        status: 422,
        body: { details: { causes: [{ field: 'data', message: expect.stringContaining('field is immutable') }] } },
      });
    },
  },
  {
    id: 'secret-string-data',
    title: 'the stringData of a Secret is stored as data',
    needs: 'api',
    run: async (bed) => {
      const body = {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'a' },
        data: { x: 'eA==' },
        stringData: { y: 'grüß' },
      };
      const made = await make(bed, 'secrets', body);
      expect(made).toMatchObject({ type: 'Opaque', data: { x: 'eA==', y: 'Z3LDvMOf' } });
      expect(made).not.toHaveProperty('stringData');
    },
  },
];
