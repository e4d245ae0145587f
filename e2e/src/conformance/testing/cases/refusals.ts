/** Requests that are wrong in themselves: too large, malformed, or of a method that does not belong to the path. */
import { expect } from '@jest/globals';
import type { ApiRequest } from '@omenative/kube';
import { at, type Bed, type Case, configMap, idlePod, type Json, make, type Parts } from '../bed.js';
import { widget } from '../definitions.js';

function sized(bytes: number): Json {
  return widget('a', { open: { text: 'x'.repeat(bytes) } });
}

async function refusal(bed: Bed, method: ApiRequest['method'], path: string, parts: Parts = {}): Promise<string> {
  const { status, body } = await bed.request(method, path, parts);
  const { reason } = body as { readonly reason?: string };
  return `${status} ${reason ?? '-'}`;
}

export const refusals: readonly Case[] = [
  {
    id: 'too-large',
    title: 'above 3 MiB a request is refused with 413; what the storage does not take is an error 500 without a reason',
    needs: 'api',
    run: async (bed) => {
      const post = (bytes: number) => bed.request('POST', at(bed, 'widgets'), { body: sized(bytes) });
      expect(await post(3_200_000)).toMatchObject({
        status: 413,
        body: { reason: 'RequestEntityTooLarge', message: 'Request entity too large: limit is 3145728' },
      });
      const large = await post(1_700_000);
      expect(large).toMatchObject({ status: 500, body: { message: 'etcdserver: request is too large' } });
      expect(large.body).not.toHaveProperty('reason');
      const larger = await post(2_900_000);
      expect(larger.status).toBe(500);
      expect(larger.body['message']).toMatch(
        /^rpc error: code = ResourceExhausted desc = trying to send message larger than max \(\d+ vs. 2097152\)$/,
      );
      expect((await post(1_500_000)).status).toBe(201);
    },
  },
  {
    id: 'method-not-allowed',
    title: 'a method that a path does not have is 405',
    needs: 'api',
    run: async (bed) => {
      expect(await refusal(bed, 'POST', at(bed, 'pods', 'a'), { body: idlePod('a') })).toBe('405 MethodNotAllowed');
      expect(await refusal(bed, 'PUT', at(bed, 'pods'), { body: idlePod('a') })).toBe('405 MethodNotAllowed');
      expect(
        await refusal(bed, 'PATCH', at(bed, 'pods'), { body: {}, contentType: 'application/merge-patch+json' }),
      ).toBe('405 MethodNotAllowed');
    },
  },
  {
    id: 'bad-request',
    title: 'what is not an object of the kind, or names a selector or version that cannot be read, is a bad request',
    needs: 'api',
    run: async (bed) => {
      const maps = at(bed, 'configmaps');
      expect(await refusal(bed, 'POST', maps, { body: { ...configMap('a'), apiVersion: 'v2' } })).toBe(
        '400 BadRequest',
      );
      expect(await refusal(bed, 'POST', maps, { body: { ...idlePod('a') } })).toBe('400 BadRequest');
      expect(await refusal(bed, 'GET', maps, { query: { labelSelector: 'a b' } })).toBe('400 BadRequest');
      expect(await refusal(bed, 'GET', maps, { query: { resourceVersion: 'abc' } })).toBe('400 BadRequest');
      expect(await refusal(bed, 'GET', maps, { query: { continue: 'abc' } })).toBe('400 BadRequest');
      expect(await refusal(bed, 'POST', maps, { body: { kind: 'ConfigMap' } })).toBe('422 Invalid');
      await make(bed, 'configmaps', configMap('a'));
      expect(await refusal(bed, 'DELETE', at(bed, 'configmaps', 'a'), { body: { propagationPolicy: 'Odd' } })).toBe(
        '422 Invalid',
      );
    },
  },
];
