/** What is wrong with one object is said on that object, with what to do, and is nobody else's trouble. */
import { beforeAll, expect, it } from '@jest/globals';
import { label } from '@omenative/api';
import type { Manifest } from './testing/api.js';
import { createAll, example, renamed } from './testing/examples.js';
import {
  conditionOf,
  countsOf,
  type Event,
  events,
  inferenceReplicas,
  inferenceServices,
  isServing,
  pods,
  servingRuntimes,
} from './testing/objects.js';
import { type Prober, textOf } from './testing/prober.js';
import { convergedAt, setLifecycle } from './testing/steps.js';
import { describeOnNodes } from './testing/suite.js';

const stepMs = 60_000;
const healthy = { isvc: 'http-lab', irep: 'http-lab-engine' };

/** Rows that leave out what a member of theirs is in. */
const brokenColumns = { members: '0-1', phases: [{ value: 'Ready', indexes: '0' }] };

/** The InferenceService of the lab with one Instance, under another name, and with some members of its spec replaced. */
function service(name: string, spec: { readonly runtime?: object; readonly engine?: object }): Manifest {
  return {
    apiVersion: 'ome.io/v1beta1',
    kind: 'InferenceService',
    metadata: { name },
    spec: {
      deploymentMode: 'OMENative',
      runtime: { apiGroup: 'ome.io', kind: 'ServingRuntime', name: 'http-echo', ...spec.runtime },
      engine: { minReplicas: 1, maxReplicas: 1, autoscaler: { class: 'None' }, ...spec.engine },
    },
  };
}

describeOnNodes('bad input', { name: 'bad-input' }, (bed) => {
  let prober: Prober;

  const isReady = (name: string): Promise<unknown> => {
    return bed.api.waitUntil(inferenceServices, name, 'is Ready', stepMs, (found) => {
      return conditionOf(found, 'Ready')?.status === 'True';
    });
  };

  const warning = (kind: string, name: string, reason: string): Promise<Event> => {
    return bed.api.waitFor(`Warning ${reason} on ${kind} ${name}`, stepMs, async () => {
      const all = await bed.api.list(events);
      return all.find(({ type, reason: is, involvedObject: on }) => {
        return type === 'Warning' && is === reason && on.kind === kind && on.name === name;
      });
    });
  };

  beforeAll(
    bed.explained(async () => {
      await createAll(bed.api, example('busybox-lab'));
      await isReady(healthy.isvc);
      prober = await bed.probe(healthy.irep);
      await setLifecycle(bed.api, { stuckPodGracePeriod: '5s' });
      // Ends after its 30 seconds, while the other tests run.
      const readinessProbe = { httpGet: { path: '/', port: 9999 }, periodSeconds: 1 };
      const engine = {
        runner: { name: 'ome-container', readinessProbe },
        lifecycle: { instanceReadyTimeout: '30s' },
      };
      await bed.api.create(inferenceServices, service('deaf', { engine }));
    }),
  );

  it(
    'a runtime that does not exist is asked for, and used once it does',
    bed.explained(async () => {
      await bed.api.create(inferenceServices, service('no-runtime', { runtime: { name: 'not-yet' } }));
      const found = await bed.api.waitUntil(inferenceServices, 'no-runtime', 'says why not', stepMs, (one) => {
        return conditionOf(one, 'RuntimeReady')?.status === 'False';
      });
      expect(conditionOf(found, 'RuntimeReady')).toMatchObject({
        reason: 'RuntimeNotFound',
        message: expect.stringMatching(/ServingRuntime "not-yet" does not exist: create it/),
      });
      expect((await warning('InferenceService', 'no-runtime', 'RuntimeNotFound')).message).toContain('not-yet');
      const [runtime] = example('busybox-lab');
      await bed.api.create(servingRuntimes, renamed(runtime, 'not-yet'));
      await isReady('no-runtime');
    }),
  );

  it(
    'a template that the API server refuses fails its Instance with the server’s words, and can be corrected [E16]',
    bed.explained(async () => {
      const runner = { name: 'ome-container', volumeMounts: [{ name: 'nothing', mountPath: '/data' }] };
      await bed.api.create(inferenceServices, service('refused', { engine: { runner } }));
      const event = await warning('InferenceService', 'refused', 'InstanceFailed');
      expect(event.message).toMatch(/volumeMounts\[0\]\.name: Not found: "nothing"/);
      const replica = await bed.api.waitUntil(inferenceReplicas, 'refused-engine', 'says so', stepMs, (one) => {
        return conditionOf(one, 'Ready')?.reason === 'InstanceFailed';
      });
      const [row] = replica.status?.instanceStatuses ?? [];
      expect(row).toMatchObject({ phase: 'Failed', lastFailure: { message: expect.stringContaining('Not found') } });
      await bed.api.merge(inferenceServices, 'refused', { spec: { engine: { runner: { volumeMounts: null } } } });
      await isReady('refused');
    }),
  );

  it(
    'a status that can’t be read is reported and left alone with its pods, and goes on when it is put right [E187]',
    bed.explained(async () => {
      const name = 'unreadable';
      await createAll(
        bed.api,
        example('standalone').map((object) => renamed(object, name)),
      );
      const replica = await bed.api.waitUntil(inferenceReplicas, name, 'is up', stepMs, (one) => convergedAt(one, 1));
      const pod = await bed.api.get(pods, `${name}-engine-0-default-0`);
      const { instanceStatuses } = replica.status ?? {};
      const status = (body: object): Promise<unknown> => {
        return bed.api.merge(inferenceReplicas, name, { status: body }, { subresource: 'status' });
      };
      await status({
        instanceStatuses: null,
        instanceStatusEncoding: 'ColumnarV2',
        instanceStatusColumns: brokenColumns,
      });
      const event = await warning('InferenceReplica', name, 'InstanceStatusDecodeFailed');
      expect(event.message).toMatch(/can't be decoded/);
      await bed.api.merge(inferenceReplicas, name, { spec: { replicas: 2 } });
      const held = await bed.api.get(inferenceReplicas, name);
      expect(held.status?.instanceStatusColumns).toEqual(brokenColumns);
      expect((await bed.api.get(pods, pod.metadata.name)).metadata.resourceVersion).toBe(pod.metadata.resourceVersion);

      await status({ instanceStatuses, instanceStatusEncoding: null, instanceStatusColumns: null });
      await bed.api.waitUntil(inferenceReplicas, name, 'goes on', stepMs, (one) => convergedAt(one, 2));
      expect((await bed.api.get(pods, pod.metadata.name)).metadata.uid).toBe(pod.metadata.uid);
    }),
  );

  it(
    'a pod of somebody else under a name of ours is neither adopted nor deleted, and named [B105]',
    bed.explained(async () => {
      const name = 'taken-engine-0-default-0';
      const containers = [{ name: 'other', image: 'busybox:v1' }];
      const stranger = await bed.api.create(pods, { metadata: { name }, spec: { containers } });
      await bed.api.create(inferenceServices, service('taken', {}));
      const event = await warning('InferenceService', 'taken', 'NameTaken');
      expect(event.message).toMatch(new RegExp(`pod ${name} .*delete or rename it`));
      const { metadata } = await bed.api.get(pods, name);
      expect(metadata).toMatchObject({ uid: stranger.metadata.uid });
      expect(metadata.deletionTimestamp).toBeUndefined();
      expect(metadata.ownerReferences).toBeUndefined();
      await bed.api.client.delete(pods, { namespace: bed.api.namespace, name }, { gracePeriodSeconds: 0 });
      await isReady('taken');
    }),
  );

  it(
    'an image that can’t be pulled stops a roll at its first Instance, while all that served serves on; a corrected one goes out [B13]',
    bed.explained(async () => {
      const before = await bed.api.list(pods, { labelSelector: `${label.inferenceService}=${healthy.isvc}` });
      const image = (name: string): Promise<unknown> => {
        const runner = { name: 'ome-container', image: name };
        return bed.api.merge(inferenceServices, healthy.isvc, { spec: { engine: { runner } } });
      };
      await image('omenative.test/none:1');
      const event = await warning('InferenceService', healthy.isvc, 'InstanceFailed');
      expect(event.message).toMatch(/ErrImagePull|ImagePullBackOff/);
      const during = await bed.api.list(pods, { labelSelector: `${label.inferenceService}=${healthy.isvc}` });
      expect(during.filter(isServing).map(({ metadata }) => metadata.uid)).toEqual(
        before.map(({ metadata }) => metadata.uid),
      );
      expect(during.length).toBe(before.length + 1);
      await image('busybox:v2');
      await bed.api.waitUntil(inferenceReplicas, healthy.irep, 'has rolled', stepMs, (one) => convergedAt(one, 2));
    }),
  );

  it(
    'a workload that never becomes ready fails at its own deadline, with what is wrong with it [A14]',
    bed.explained(async () => {
      const replica = await bed.api.waitUntil(inferenceReplicas, 'deaf-engine', 'has failed', stepMs, (one) => {
        return conditionOf(one, 'Ready')?.reason === 'InstanceFailed';
      });
      const [row] = replica.status?.instanceStatuses ?? [];
      expect(row?.lastFailure).toMatchObject({
        podName: 'deaf-engine-0-default-0',
        containerName: 'ome-container',
        reason: 'ContainersNotReady',
      });
      // It is tried again after a pause, and costs the revision no attempt.
      const blocks = replica.status?.retryBlocks ?? [];
      expect(blocks.filter(({ state, attemptsStarted }) => state === 'Held' || attemptsStarted > 0)).toEqual([]);
    }),
  );

  it(
    'none of it has touched the service beside: it scales, and has lost no request',
    bed.explained(async () => {
      await bed.api.merge(inferenceServices, healthy.isvc, { spec: { engine: { minReplicas: 3, maxReplicas: 3 } } });
      const replica = await bed.api.waitUntil(inferenceReplicas, healthy.irep, 'has scaled', stepMs, (one) => {
        return convergedAt(one, 3);
      });
      expect(countsOf(replica)).toEqual([3, 3, 3]);
      expect(textOf(await prober.stop())).toMatch(/^0 of /);
    }),
  );
});
