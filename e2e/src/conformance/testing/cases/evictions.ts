/** Evictions, and the budgets that refuse them. */
import { expect } from '@jest/globals';
import { at, type Bed, type Case, idlePod, make, metaOf, read, STRATEGIC } from '../bed.js';

function evict(bed: Bed, name: string, deleteOptions: object = {}) {
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name }, deleteOptions };
  return bed.request('POST', at(bed, 'pods', name, 'eviction'), { body });
}

export const evictions: readonly Case[] = [
  {
    id: 'evict-plain',
    title: 'an eviction without a budget is a deletion, and may name the UID it means',
    needs: 'api',
    run: async (bed) => {
      await make(bed, 'pods', idlePod('a'));
      expect((await evict(bed, 'a', { preconditions: { uid: 'other' } })).status).toBe(409);
      expect(await evict(bed, 'a')).toMatchObject({ status: 201, body: { kind: 'Status', status: 'Success' } });
      expect((await bed.request('GET', at(bed, 'pods', 'a'))).status).toBe(404);
      expect((await evict(bed, 'a')).status).toBe(404);
    },
  },
  {
    id: 'evict-budget',
    title: 'a budget without room refuses the eviction of a ready pod with 429 and a cause',
    needs: 'controllers',
    run: async (bed) => {
      await make(bed, 'pods', idlePod('a', { metadata: { labels: { app: 'x' } }, spec: { nodeName: 'ghost' } }));
      const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }];
      const body = { status: { phase: 'Running', conditions } };
      await bed.request('PATCH', at(bed, 'pods', 'a', 'status'), { contentType: STRATEGIC, body });
      const spec = { minAvailable: 1, selector: { matchLabels: { app: 'x' } } };
      await make(bed, 'poddisruptionbudgets', {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'b' },
        spec,
      });
      const refused = await bed.eventually('the budget to be counted', async () => {
        const budget = await read(bed, 'poddisruptionbudgets', 'b');
        const counted = (budget['status'] as { currentHealthy?: number } | undefined)?.currentHealthy;
        // An eviction that comes before the count is refused with other words.
        if (bed.cluster !== 'sim' && counted !== 1) return undefined;
        return bed.request('POST', at(bed, 'pods', 'a', 'eviction'), {
          query: { dryRun: 'All' },
          body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'a' } },
        });
      });
      expect(refused).toMatchObject({
        status: 429,
        body: {
          reason: 'TooManyRequests',
          message: "Cannot evict pod as it would violate the pod's disruption budget.",
          details: {
            causes: [
              {
                reason: 'DisruptionBudget',
                message: 'The disruption budget b needs 1 healthy pods and has 1 currently',
              },
            ],
          },
        },
      });
      expect(metaOf(await read(bed, 'pods', 'a')).deletionTimestamp).toBeUndefined();
      await bed.request('DELETE', at(bed, 'pods', 'a'), { body: { gracePeriodSeconds: 0 } });
    },
  },
];
