/** Others who refuse writes: policies of the cluster, and webhooks that do not answer. */
import { expect } from '@jest/globals';
import { at, type Case, FORBIDDEN_IMAGE, idlePod, make, metaOf, read, STRATEGIC } from '../bed.js';

const forbidden = idlePod('a', { spec: { containers: [{ name: 'main', image: FORBIDDEN_IMAGE }] } });

export const refusers: readonly Case[] = [
  {
    id: 'refused-by-policy',
    title: 'a policy refuses creations, dry runs and changes of valid objects alone, as Invalid or Forbidden',
    needs: 'api',
    run: async (bed) => {
      for (const [reason, status] of [
        ['Invalid', 422],
        ['Forbidden', 403],
      ] as const) {
        const name = await bed.refuse(reason);
        const message = `ValidatingAdmissionPolicy '${name}' with binding '${name}' denied request: not this image`;
        const refused = {
          status,
          body: {
            kind: 'Status',
            apiVersion: 'v1',
            metadata: {},
            status: 'Failure',
            message: `pods "a" is forbidden: ${message}`,
            reason,
            details: { name: 'a', kind: 'pods', causes: [{ message }] },
            code: status,
          },
        };
        expect(await bed.request('POST', at(bed, 'pods'), { body: forbidden })).toEqual(refused);
        expect(await bed.request('POST', at(bed, 'pods'), { body: forbidden, query: { dryRun: 'All' } })).toEqual(
          refused,
        );
        const containers = [{ name: 'main', image: FORBIDDEN_IMAGE, imagePullPolicy: 'No' }];
        const invalid = await bed.request('POST', at(bed, 'pods'), { body: idlePod('a', { spec: { containers } }) });
        expect(invalid.body['message']).toMatch(/imagePullPolicy/);
        const made = await make(bed, 'pods', idlePod('a'));
        const change = { spec: { containers: [{ name: 'main', image: FORBIDDEN_IMAGE }] } };
        const patched = await bed.request('PATCH', at(bed, 'pods', 'a'), { contentType: STRATEGIC, body: change });
        expect(patched).toEqual(refused);
        expect(metaOf(await read(bed, 'pods', 'a')).generation).toBe(metaOf(made).generation);
        await bed.request('DELETE', at(bed, 'pods', 'a'));
      }
    },
  },
  {
    id: 'refused-without-webhook',
    title: 'a webhook that must be asked and does not answer is an internal error',
    needs: 'api',
    run: async (bed) => {
      const name = await bed.refuse('unreachable');
      const message = `failed calling webhook "${name}": failed to call webhook: Post "https://127.0.0.1:1/?timeout=10s": dial tcp 127.0.0.1:1: connect: connection refused`;
      const refused = {
        status: 500,
        body: {
          kind: 'Status',
          apiVersion: 'v1',
          metadata: {},
          status: 'Failure',
          message: `Internal error occurred: ${message}`,
          reason: 'InternalError',
          details: { causes: [{ message }] },
          code: 500,
        },
      };
      expect(await bed.request('POST', at(bed, 'pods'), { body: forbidden })).toEqual(refused);
      expect(await bed.request('POST', at(bed, 'pods'), { body: forbidden, query: { dryRun: 'All' } })).toEqual(
        refused,
      );
      await make(bed, 'pods', idlePod('a'));
    },
  },
];
