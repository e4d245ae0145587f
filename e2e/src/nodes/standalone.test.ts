/** An InferenceReplica without an InferenceService: columns, the scale subresource, a roll by its template, its end. */
import { beforeAll, expect, it } from '@jest/globals';
import { label } from '@omenative/api';
import { createAll, example } from './testing/examples.js';
import type { PodHistory } from './testing/history.js';
import {
  controllerRevisions,
  endpointSlices,
  events,
  inferenceReplicas,
  instanceOf,
  isServing,
  isTerminating,
  pods,
  services,
} from './testing/objects.js';
import { requestOnce } from './testing/prober.js';
import { convergedAt } from './testing/steps.js';
import { describeOnNodes } from './testing/suite.js';

const irep = 'standalone-http';
const stepMs = 60_000;

describeOnNodes('a standalone replica', { name: 'standalone' }, (bed) => {
  let history: PodHistory;

  beforeAll(async () => {
    history = await bed.watchPods(`${label.inferenceService}=${irep}`);
    await createAll(bed.api, example('standalone'));
  });

  const whenConverged = (count: number): Promise<unknown> => {
    return bed.api.waitUntil(inferenceReplicas, irep, `has ${count} available`, stepMs, (found) => {
      return convergedAt(found, count);
    });
  };

  const answers = (): Promise<readonly string[]> => {
    return Promise.all(history.pods.map(({ status }) => requestOnce(`http://${status.podIP}:8080/`)));
  };

  it(
    'runs a pod named after itself, with its headless Service alone [A16]',
    bed.explained(async () => {
      await whenConverged(1);
      expect(history.pods.map(({ metadata }) => metadata.name)).toEqual([`${irep}-engine-0-default-0`]);
      expect((await bed.api.list(services)).map(({ metadata }) => metadata.name)).toEqual([`${irep}-engine-headless`]);
      const table = await bed.api.table(inferenceReplicas);
      expect(table.rows.map((cells) => cells.slice(0, 6))).toEqual([[irep, 'engine', 1, 1, 1, 1]]);
      expect(await answers()).toEqual(['standalone v1']);
      const said = (await bed.api.list(events)).filter(({ reason }) => reason === 'InstanceReady');
      expect(said.map(({ involvedObject: { kind, name } }) => `${kind} ${name}`)).toEqual([`InferenceReplica ${irep}`]);
    }),
  );

  it(
    'follows the scale subresource, whose selector finds its pods',
    bed.explained(async () => {
      await bed.api.merge(inferenceReplicas, irep, { spec: { replicas: 2 } }, { subresource: 'scale' });
      await whenConverged(2);
      const scale = (await bed.api.client.get(
        inferenceReplicas,
        { namespace: bed.api.namespace, name: irep },
        { subresource: 'scale' },
      )) as unknown as {
        readonly spec: { readonly replicas: number };
        readonly status: { readonly replicas: number; readonly selector: string };
      };
      expect([scale.spec.replicas, scale.status.replicas]).toEqual([2, 2]);
      expect((await bed.api.list(pods, { labelSelector: scale.status.selector })).map(instanceOf)).toEqual([0, 1]);
    }),
  );

  it(
    'rolls when its template changes, one Instance at a time',
    bed.explained(async () => {
      const path = '/spec/runners/0/template/spec/containers/0/args/0';
      const value = 'echo "standalone v2" > /www/index.html; httpd -f -p 8080 -h /www & trap "exit 0" TERM; wait';
      await bed.api.client.patch(
        inferenceReplicas,
        { namespace: bed.api.namespace, name: irep },
        { kind: 'json', body: [{ op: 'replace', path, value }] },
      );
      await bed.api.waitFor('only the new pods are there', stepMs, async () => {
        return history.pods.length === 2 && history.pods.every(({ metadata }) => metadata.name.endsWith('-default-1'));
      });
      await whenConverged(2);
      expect(await answers()).toEqual(['standalone v2', 'standalone v2']);
      history.expectAtMost(3);
      history.expectDrainedBeforeDeletion();
      for (const { all } of history.changes.slice(history.changes.findIndex(({ pod }) => instanceOf(pod) === 1))) {
        expect(all.filter((pod) => isServing(pod) && !isTerminating(pod)).length).toBeGreaterThanOrEqual(1);
      }
      expect((await bed.api.list(controllerRevisions)).length).toBe(2);
    }),
  );

  it(
    'leaves nothing when it is deleted',
    bed.explained(async () => {
      await bed.api.delete(inferenceReplicas, irep);
      await bed.api.waitFor('it is gone', stepMs, async () => {
        return (await bed.api.find(inferenceReplicas, irep)) === undefined;
      });
      expect(history.pods).toEqual([]);
      for (const type of [services, controllerRevisions, endpointSlices]) {
        await bed.api.waitFor(`no ${type.plural} are left`, stepMs, async () => {
          return (await bed.api.client.list(type, { namespace: bed.api.namespace })).items.length === 0;
        });
      }
    }),
  );
});
