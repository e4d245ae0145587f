/** Gangs of a leader and a worker on two nodes: found, gated, routed, counted and repaired as one. */
import { beforeAll, expect, it } from '@jest/globals';
import { label } from '@omenative/api';
import { createAll, example } from './testing/examples.js';
import type { PodHistory } from './testing/history.js';
import {
  conditionOf,
  countsOf,
  endpointSlices,
  hasReadyContainers,
  inferenceReplicas,
  inferenceServices,
  instanceOf,
  isServing,
  isTerminating,
  type Pod,
  pods,
} from './testing/objects.js';
import { requestOnce } from './testing/prober.js';
import { addressesOf, serviceUrl } from './testing/steps.js';
import { describeOnNodes } from './testing/suite.js';

const isvc = 'gang-lab';
const irep = 'gang-lab-engine';
const leaders = [0, 1].map((index) => `${irep}-${index}-leader-0`);
const workers = [0, 1].map((index) => `${irep}-${index}-worker-0`);
const stepMs = 60_000;

describeOnNodes('gangs', { name: 'gang' }, (bed) => {
  let history: PodHistory;

  beforeAll(async () => {
    history = await bed.watchPods(`${label.inferenceService}=${isvc}`);
    await createAll(bed.api, example('busybox-gang'));
  });

  const podOf = (name: string): Pod => {
    const pod = history.pods.find(({ metadata }) => metadata.name === name);
    if (pod === undefined) throw new Error(`there is no pod ${name}`);
    return pod;
  };

  const whenServing = (): Promise<unknown> => {
    return bed.api.waitUntil(inferenceReplicas, irep, 'has two available Instances', stepMs, (found) => {
      const [desired, ready, available] = countsOf(found);
      return desired === 2 && ready === 2 && available === 2 && found.status?.servingReplicas === 2;
    });
  };

  it(
    'run a leader and a worker for each Instance, each on a node of its own',
    bed.explained(async () => {
      await whenServing();
      expect(history.pods.map(({ metadata }) => metadata.name).toSorted()).toEqual([...leaders, ...workers].toSorted());
      for (const index of [0, 1]) {
        const at = history.pods.filter((pod) => instanceOf(pod) === index).map(({ spec }) => spec.nodeName);
        expect(new Set(at).size).toBe(2);
      }
    }),
  );

  it(
    'let a worker reach its own leader by OME_LEADER_ADDRESS',
    bed.explained(async () => {
      for (const [index, name] of workers.entries()) {
        const said = await requestOnce(`http://${podOf(name).status.podIP}:8080/`);
        expect(said).toBe(`leader of Instance ${index}`);
      }
    }),
  );

  it(
    'enter rotation together: no gate opens before the containers of all members are ready [E195]',
    bed.explained(async () => {
      const opened = history.changes.filter(({ pod, before }) => isServing(pod) && !(before && isServing(before)));
      expect(opened.length).toBeGreaterThanOrEqual(4);
      for (const { pod, all } of opened) {
        const members = all.filter((one) => instanceOf(one) === instanceOf(pod) && hasReadyContainers(one));
        expect([pod.metadata.name, members.length]).toEqual([pod.metadata.name, 2]);
      }
    }),
  );

  it(
    'take requests at their leaders alone, and are counted as Instances',
    bed.explained(async () => {
      const slices = await bed.api.list(endpointSlices);
      const services = new Set(slices.map(({ metadata }) => metadata.labels?.[label.serviceName] ?? ''));
      expect([...services]).toEqual(expect.arrayContaining([isvc, irep, `${irep}-headless`]));
      for (const service of services) {
        const behind = service.endsWith('-headless') ? [...leaders, ...workers] : leaders;
        expect([service, addressesOf(slices, service)]).toEqual([service, behind.toSorted()]);
      }
      expect(await requestOnce(await serviceUrl(bed.api, irep))).toMatch(/^leader of Instance [01]$/);

      const { status } = await bed.api.get(inferenceReplicas, irep);
      expect(status).toMatchObject({ replicas: 2, readyReplicas: 2, servingReplicas: 2, updatedReadyReplicas: 2 });
      expect(status?.instanceStatuses?.map(({ podCount, servingPodCount }) => [podCount, servingPodCount])).toEqual([
        [2, 2],
        [2, 2],
      ]);
      const scaled = await bed.api.list(pods, { labelSelector: status?.labelSelector ?? '' });
      expect(scaled.map(({ metadata }) => metadata.name).toSorted()).toEqual(leaders);
    }),
  );

  it(
    'fill in a member that somebody has deleted, and leave the other gang alone',
    bed.explained(async () => {
      const [lost, other] = [podOf(`${irep}-0-worker-0`), podOf(`${irep}-1-worker-0`)];
      const changesBefore = history.changes.length;
      await bed.api.delete(pods, lost.metadata.name);
      await bed.api.waitFor('the gang is whole again', stepMs, async () => {
        const members = history.pods.filter((pod) => instanceOf(pod) === 0 && !isTerminating(pod) && isServing(pod));
        return members.length === 2 && members.every(({ metadata }) => metadata.uid !== lost.metadata.uid);
      });
      await whenServing();
      expect(podOf(other.metadata.name).metadata.uid).toBe(other.metadata.uid);
      const others = history.changes.slice(changesBefore).filter(({ pod }) => instanceOf(pod) === 1);
      expect(others).toEqual([]);
    }),
  );

  it(
    'leave nothing when their InferenceService is deleted',
    bed.explained(async () => {
      await bed.api.waitUntil(inferenceServices, isvc, 'is Ready again', stepMs, (service) => {
        return conditionOf(service, 'Ready')?.status === 'True';
      });
      await bed.api.delete(inferenceServices, isvc);
      await bed.api.waitFor('the replica is gone', stepMs, async () => {
        return (await bed.api.find(inferenceReplicas, irep)) === undefined;
      });
      expect(history.pods).toEqual([]);
      history.expectAtMost(4);
    }),
  );
});
