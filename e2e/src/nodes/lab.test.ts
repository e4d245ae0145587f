/** The HTTP lab, as a reader would do it, under a client that opens a connection for each request. */
import { beforeAll, expect, it } from '@jest/globals';
import { label, revisionHashOf, teardownFinalizer } from '@omenative/api';
import { createAll, example } from './testing/examples.js';
import type { PodHistory } from './testing/history.js';
import {
  conditionOf,
  controllerRevisions,
  countsOf,
  deployments,
  endpointSlices,
  hasReadyContainers,
  type InferenceReplica,
  inferenceReplicas,
  inferenceServices,
  isTerminating,
  type Pod,
  pods,
  services,
} from './testing/objects.js';
import { createPlain } from './testing/plain.js';
import { requestOnce, textOf } from './testing/prober.js';
import { convergedAt, labScript, serviceUrl } from './testing/steps.js';
import { describeOnNodes } from './testing/suite.js';

const isvc = 'http-lab';
const irep = 'http-lab-engine';
const stepMs = 60_000;
/** Deletions of the control run, until one fails a request. */
const maxDeletions = 20;
const rolls = process.env['OME_SOAK'] === '1' ? 20 : 3;

describeOnNodes('the HTTP lab', { name: 'lab' }, (bed) => {
  let history: PodHistory;

  beforeAll(async () => {
    history = await bed.watchPods(`${label.inferenceService}=${isvc}`);
    await createAll(bed.api, example('busybox-lab'));
  });

  const replica = (): Promise<InferenceReplica> => bed.api.get(inferenceReplicas, irep);

  it(
    'becomes Ready, and its columns say 2 2 2',
    bed.explained(async () => {
      await bed.api.waitUntil(inferenceServices, isvc, 'is Ready', stepMs, (service) => {
        return conditionOf(service, 'Ready')?.status === 'True';
      });
      await bed.api.waitUntil(inferenceReplicas, irep, 'has 2 available', stepMs, (found) => {
        return found.status?.availableReplicas === 2;
      });
      expect(countsOf(await replica())).toEqual([2, 2, 2]);
      const table = await bed.api.table(inferenceReplicas);
      expect(table.columns.join(' ').toUpperCase()).toBe('NAME COMPONENT DESIRED CURRENT READY AVAILABLE AGE');
      expect(table.rows.map((cells) => cells.slice(0, 6))).toEqual([[irep, 'engine', 2, 2, 2, 2]]);
    }),
  );

  it(
    'answers through its Service',
    bed.explained(async () => {
      await (await bed.probe(irep)).stop();
      expect(await requestOnce(await serviceUrl(bed.api, irep))).toBe('hello from OMENative v1');
    }),
  );

  it(
    'has three Instances when the InferenceService asks for three',
    bed.explained(async () => {
      const before = history.pods.map((pod) => pod.metadata.uid);
      await bed.api.merge(inferenceServices, isvc, { spec: { engine: { minReplicas: 3, maxReplicas: 3 } } });
      await bed.api.waitUntil(inferenceReplicas, irep, 'has 3 available', stepMs, (found) => {
        return found.status?.availableReplicas === 3;
      });
      const after = history.pods.map((pod) => pod.metadata.uid);
      expect(after).toEqual(expect.arrayContaining(before));
    }),
  );

  /** What was seen while a roll was under way: `Ready` of the replica, as status and reason, and `EngineReady`. */
  const seen = { ready: new Set<string>(), engineReady: new Set<string | undefined>() };

  const rollTo = async (version: string): Promise<InferenceReplica> => {
    const before = await replica();
    const runner = { name: 'ome-container', args: [labScript(version)] };
    await bed.api.merge(inferenceServices, isvc, { spec: { engine: { runner } } });
    const after = await bed.api.waitFor(`the roll to ${version} is over`, stepMs, async () => {
      const service = await bed.api.get(inferenceServices, isvc);
      seen.engineReady.add(conditionOf(service, 'EngineReady')?.status);
      const found = await replica();
      if (found.status?.updateRevision === before.status?.updateRevision) return undefined;
      const ready = conditionOf(found, 'Ready');
      seen.ready.add(`${ready?.status} ${ready?.reason}`);
      return convergedAt(found, 3) && found;
    });
    await bed.api.waitFor('the old pods are gone', stepMs, async () => history.pods.length === 3);
    return after;
  };

  it(
    'rolls with at most four pods and without a failed request, time and again; pods change their names and keep their incarnation; EngineReady stays True, and the replica’s Ready is Unknown meanwhile [A2] [A3] [B109]',
    bed.explained(async () => {
      const prober = await bed.probe(irep);
      for (let roll = 1; roll <= rolls; roll++) {
        const after = await rollTo(`v${roll + 1}`);
        const hash = revisionHashOf(after.status?.updateRevision ?? '');
        const metadata = history.pods.map((pod) => pod.metadata);
        expect(metadata.map(({ labels }) => labels?.[label.revisionHash])).toEqual([hash, hash, hash]);
        expect(metadata.map(({ labels }) => labels?.[label.incarnation])).toEqual(['1', '1', '1']);
        const names = [0, 1, 2].map((index) => `${irep}-${index}-default-${roll % 2}`);
        expect(metadata.map(({ name }) => name).toSorted()).toEqual(names);
      }
      const report = await prober.stop();
      expect(textOf(report)).toMatch(/^0 of /);
      expect([...report.answers.keys()]).toContain(`hello from OMENative v${rolls + 1}`);
      history.expectAtMost(4);
      history.expectDrainedBeforeDeletion();
      expect([...seen.engineReady]).toEqual(['True']);
      expect([...seen.ready].filter((text) => !text.startsWith('True'))).toEqual(['Unknown RolloutInProgress']);
    }),
    rolls * stepMs,
  );

  it(
    'is drained and gone when it is deleted, and leaves nothing: its finalizer holds it until then [A15]',
    bed.explained(async () => {
      await bed.api.delete(inferenceServices, isvc);
      let sawHeld = false;
      await bed.api.waitFor('the replica is gone', stepMs, async () => {
        const found = await bed.api.find(inferenceReplicas, irep);
        if (found === undefined) return true;
        sawHeld ||= found.metadata.finalizers?.includes(teardownFinalizer) === true && history.pods.length > 0;
        return false;
      });
      expect(sawHeld).toBe(true);
      expect(history.pods).toEqual([]);
      history.expectDrainedBeforeDeletion();
      for (const type of [inferenceServices, pods, services, controllerRevisions, endpointSlices]) {
        await bed.api.waitFor(`no ${type.plural} are left`, stepMs, async () => {
          const left = await bed.api.client.list(type, { namespace: bed.api.namespace });
          return left.items.length === 0;
        });
      }
    }),
  );

  it(
    'would have failed requests without the drain: the same client sees them when a Deployment’s pods are deleted',
    bed.explained(async () => {
      await createPlain(bed.api, 'plain', 3);
      const plain = await bed.watchPods('app=plain');
      const whenAllReady = (): Promise<readonly Pod[]> => {
        return bed.api.waitFor('three pods of the Deployment are ready', stepMs, async () => {
          const ready = plain.pods.filter((pod) => hasReadyContainers(pod) && !isTerminating(pod));
          return ready.length === 3 && ready;
        });
      };
      await whenAllReady();
      const prober = await bed.probe('plain');
      // Whether one deletion hits a request is chance: kubelet and kube-proxy race.
      for (let deletions = 0; prober.report().failures.length === 0 && deletions < maxDeletions; deletions++) {
        const [one] = await whenAllReady();
        await bed.api.delete(pods, one?.metadata.name ?? '');
        await bed.api.waitFor('it is gone', stepMs, async () => {
          return !plain.pods.some(({ metadata }) => metadata.uid === one?.metadata.uid);
        });
      }
      const report = await prober.stop();
      expect(report.failures.length).toBeGreaterThan(0);
      await bed.api.delete(deployments, 'plain');
    }),
  );
});
