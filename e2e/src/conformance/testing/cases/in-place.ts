/** Images changed in place: what the server takes, and what a kubelet then does to the containers and says of them. */
import { expect } from '@jest/globals';
import {
  at,
  type Bed,
  type Case,
  idlePod,
  type Json,
  make,
  metaOf,
  type Program,
  READY_FILE,
  read,
  STRATEGIC,
} from '../bed.js';
import {
  condition,
  container,
  isReady,
  type PodStatus,
  reaches,
  ready,
  statusIn,
  statusNow,
  waitsFor,
} from '../running-pods.js';

type PodSpec = Partial<Record<'containers' | 'initContainers', readonly Json[]>> & Json;

function pod(spec: PodSpec): Json {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a' },
    spec: { terminationGracePeriodSeconds: 4, ...spec },
  };
}

/** Creates the pod `a`, waits until it is ready, and returns its status. */
async function running(bed: Bed, spec: PodSpec): Promise<PodStatus> {
  await make(bed, 'pods', pod(spec));
  return ready(bed);
}

function patch(bed: Bed, spec: Json, metadata: Json = {}) {
  return bed.request('PATCH', at(bed, 'pods', 'a'), { contentType: STRATEGIC, body: { metadata, spec } });
}

/** Changes the image of `main`, or of another container. */
async function change(bed: Bed, program: Program, name = 'main', list = 'containers'): Promise<void> {
  const answer = await patch(bed, { [list]: [{ name, image: bed.program(program).image }] });
  expect(answer.status).toBe(200);
}

export const inPlace: readonly Case[] = [
  {
    id: 'in-place-patch',
    title: 'one patch changes images, labels and annotations of the pod it means, in the version it means',
    needs: 'api',
    run: async (bed) => {
      const initContainers = [{ name: 'side', image: 'busybox:v1', restartPolicy: 'Always' }];
      const made = metaOf(await make(bed, 'pods', idlePod('a', { spec: { initContainers } })));
      const metadata = {
        uid: made.uid,
        resourceVersion: made.resourceVersion,
        labels: { revision: '2' },
        annotations: { note: 'x' },
      };
      const spec = {
        containers: [{ name: 'main', image: 'busybox:v2' }],
        initContainers: [{ name: 'side', image: 'busybox:v3' }],
      };
      const answer = await patch(bed, spec, metadata);
      expect(answer).toMatchObject({
        status: 200,
        body: { metadata: { generation: 2, labels: { revision: '2' }, annotations: { note: 'x' } }, spec },
      });
      const again = await patch(bed, { containers: [{ name: 'main', image: 'busybox:v3' }] }, metadata);
      expect(again).toMatchObject({ status: 409, body: { reason: 'Conflict', details: { name: 'a', kind: 'pods' } } });
      const { resourceVersion } = metaOf(answer.body);
      const other = await patch(bed, spec, { uid: 'other', resourceVersion });
      expect(other).toMatchObject({ status: 422, body: { details: { causes: [{ field: 'metadata.uid' }, {}] } } });
    },
  },
  {
    id: 'in-place-image-invalid',
    title: 'an image may not be emptied or begin with a space',
    needs: 'api',
    run: async (bed) => {
      await make(bed, 'pods', idlePod('a'));
      const message = async (image: string | null) =>
        (await patch(bed, { containers: [{ name: 'main', image }] })).body['message'];
      const required = 'Pod "a" is invalid: spec.containers[0].image: Required value';
      expect(await message('')).toBe(required);
      expect(await message(null)).toBe(required);
      expect(await message(' x')).toBe(
        'Pod "a" is invalid: spec.containers[0].image: Invalid value: " x": must not have leading or trailing whitespace',
      );
    },
  },
  {
    id: 'kubelet-image-in-place',
    title: 'an image changed in place restarts that container alone, in the same pod, with another imageID',
    needs: 'nodes',
    run: async (bed) => {
      const containers = ['main', 'side'].map((name) => ({ name, ...bed.program('steady') }));
      const made = await make(bed, 'pods', pod({ containers }));
      const before = await ready(bed);
      const { image } = bed.program('steady v2');
      const patched = await patch(bed, { containers: [{ name: 'main', image }] });
      expect(metaOf(patched.body).generation).toBe(2);
      const after = await reaches(bed, 'the restart', (now) => {
        const main = now.containerStatuses?.find(({ name }) => name === 'main');
        return main?.restartCount === 1 && main.ready && condition(now, 'Ready')?.status === 'True';
      });
      expect(container(after).imageID).not.toBe(container(before).imageID);
      expect(container(after).lastState.terminated).toBeDefined();
      expect(container(after, 'side')).toMatchObject({ restartCount: 0, imageID: container(before, 'side').imageID });
      expect(metaOf(await read(bed, 'pods', 'a')).uid).toBe(metaOf(made).uid);
    },
  },
  {
    id: 'kubelet-in-place-quiet',
    title: 'while the old container ends the pod looks as before, Ready too, with the new generation observed already',
    needs: 'nodes',
    run: async (bed) => {
      const before = await running(bed, { containers: [{ name: 'main', ...bed.program('stubborn') }] });
      await change(bed, 'steady v2');
      const meanwhile = await reaches(bed, 'the generation observed', (now) => now.observedGeneration === 2, 10_000);
      expect(meanwhile.containerStatuses).toEqual(before.containerStatuses);
      expect(condition(meanwhile, 'Ready')).toEqual({ ...condition(before, 'Ready'), observedGeneration: 2 });
      await bed.pause(1500);
      expect((await statusNow(bed)).containerStatuses).toEqual(before.containerStatuses);
      const after = await reaches(bed, 'the restart', (now) => container(now).restartCount === 1);
      const old = container(before);
      const now = container(after);
      expect(now.lastState.terminated).toMatchObject({ exitCode: 137, containerID: old.containerID });
      expect(now.imageID).not.toBe(old.imageID);
      expect(now.containerID).not.toBe(old.containerID);
    },
  },
  {
    id: 'kubelet-in-place-pull',
    title: 'while the new image is pulled nothing runs and nothing says so, but a probe that finds nobody',
    needs: 'nodes',
    run: async (bed) => {
      const probe = { periodSeconds: 1, failureThreshold: 1 };
      const http = { ...probe, httpGet: { port: 8080 } };
      const exec = { ...probe, exec: { command: ['true'] } };
      const serving = bed.program('serving');
      await running(bed, { containers: [{ name: 'main', ...serving, readinessProbe: http }] });
      await make(bed, 'pods', {
        ...pod({ containers: [{ name: 'main', ...serving, readinessProbe: exec }] }),
        metadata: { name: 'b' },
      });
      const other = () => statusNow(bed, 'b');
      await bed.eventually('the other ready', async () => (isReady(await other()) ? true : undefined));
      const { image } = bed.program('missing slowly');
      const body = { spec: { containers: [{ name: 'main', image }] } };
      await bed.request('PATCH', at(bed, 'pods', 'b'), { contentType: STRATEGIC, body });
      await change(bed, 'missing slowly');
      const closed = await reaches(bed, 'not ready', (now) => !isReady(now));
      expect(container(closed)).toMatchObject({ ready: false, started: true, state: { running: expect.anything() } });
      expect(container(await other())).toMatchObject({ ready: true, state: { running: expect.anything() } });
      await reaches(bed, 'the pull over', (now) => waitsFor(now) !== undefined);
      await bed.eventually('the other not ready', async () => (isReady(await other()) ? undefined : true));
    },
  },
  {
    id: 'kubelet-in-place-delete',
    title: 'a deletion does not interrupt a replacement: the new container starts before the pod goes',
    needs: 'nodes',
    run: async (bed) => {
      await running(bed, { containers: [{ name: 'main', ...bed.program('stubborn') }] });
      await change(bed, 'steady v2');
      await reaches(bed, 'the generation observed', (now) => now.observedGeneration === 2);
      const { resourceVersion } = metaOf(await read(bed, 'pods', 'a'));
      const watching = bed.watch(at(bed, 'pods'), { resourceVersion });
      await bed.request('DELETE', at(bed, 'pods', 'a'));
      await bed.eventually('the pod gone', () => watching.events.find(({ type }) => type === 'DELETED'), 60_000);
      const seen = watching.events.map((event) => container(statusIn(event)));
      expect(seen.filter((one) => one.restartCount === 1 && one.state.running)).not.toEqual([]);
    },
  },
  {
    id: 'kubelet-in-place-twice',
    title: 'a second change waits for the first: it is observed while the first image runs',
    needs: 'nodes',
    run: async (bed) => {
      await running(bed, { containers: [{ name: 'main', ...bed.program('stubborn') }] });
      await change(bed, 'steady v2');
      await reaches(bed, 'the generation observed', (now) => now.observedGeneration === 2);
      await change(bed, 'changing unready');
      const first = await reaches(bed, 'the first restart', (now) => container(now).restartCount === 1);
      expect(first.observedGeneration).toBe(3);
      const second = await reaches(bed, 'the second restart', (now) => container(now).restartCount === 2);
      expect(container(second).imageID).not.toBe(container(first).imageID);
    },
  },
  {
    id: 'kubelet-in-place-ready',
    title: 'with a readiness probe the pod is not Ready from the new container on until its probe passes',
    needs: 'nodes',
    run: async (bed) => {
      const readinessProbe = { ...READY_FILE, initialDelaySeconds: 2 };
      const before = await running(bed, { containers: [{ name: 'main', ...bed.program('steady'), readinessProbe }] });
      await bed.pause(1000);
      await change(bed, 'steady v2');
      const closed = await reaches(bed, 'not ready', (now) => !isReady(now));
      expect(condition(closed, 'Ready')).toMatchObject({ status: 'False', reason: 'ContainersNotReady' });
      const after = await reaches(bed, 'ready again', isReady);
      expect(container(after)).toMatchObject({ restartCount: 1, ready: true, started: true });
      expect(condition(after, 'Ready')?.lastTransitionTime).not.toBe(condition(before, 'Ready')?.lastTransitionTime);
    },
  },
  {
    id: 'kubelet-in-place-both',
    title: 'two images changed in one patch restart their containers once each, whatever the restart policy',
    needs: 'nodes',
    run: async (bed) => {
      const containers = ['main', 'side', 'rest'].map((name) => ({ name, ...bed.program('steady') }));
      await running(bed, { containers, restartPolicy: 'Never' });
      const { image } = bed.program('steady v2');
      await patch(bed, { containers: ['main', 'side'].map((name) => ({ name, image })) });
      const after = await reaches(
        bed,
        'both restarted',
        (now) => ['main', 'side'].every((name) => container(now, name).restartCount === 1) && isReady(now),
      );
      expect(container(after, 'rest').restartCount).toBe(0);
      expect(after.phase).toBe('Running');
    },
  },
  {
    id: 'kubelet-in-place-alias',
    title: 'another name of the same image restarts the container, and its imageID stays',
    needs: 'nodes',
    run: async (bed) => {
      const before = await running(bed, { containers: [{ name: 'main', ...bed.program('steady') }] });
      await change(bed, 'steady alias');
      const after = await reaches(bed, 'the restart', (now) => container(now).restartCount === 1 && isReady(now));
      expect(container(after).imageID).toBe(container(before).imageID);
      expect(container(after).containerID).not.toBe(container(before).containerID);
    },
  },
  {
    id: 'kubelet-in-place-missing',
    title:
      'the old container ends before the new image is pulled: one that is nowhere leaves none, and the old image heals it',
    needs: 'nodes',
    run: async (bed) => {
      const before = await running(bed, { containers: [{ name: 'main', ...bed.program('steady') }] });
      await change(bed, 'missing');
      await reaches(bed, 'ErrImagePull', (now) => /^ErrImagePull$|^ImagePullBackOff$/.test(waitsFor(now) ?? ''));
      const stuck = await reaches(bed, 'ImagePullBackOff', (now) => waitsFor(now) === 'ImagePullBackOff');
      const { image, imageID, containerID } = container(before);
      expect(container(stuck)).toMatchObject({
        ready: false,
        started: false,
        restartCount: 0,
        image,
        imageID,
        containerID,
        lastState: { terminated: { exitCode: 0, containerID } },
      });
      expect(stuck.phase).toBe('Running');
      expect(stuck.observedGeneration).toBe(2);
      expect(condition(stuck, 'Ready')).toMatchObject({ status: 'False', reason: 'ContainersNotReady' });
      await change(bed, 'steady');
      const healed = await reaches(bed, 'ready again', isReady);
      expect(container(healed)).toMatchObject({ restartCount: 1, imageID });
    },
  },
  {
    id: 'kubelet-in-place-crash',
    title: 'an image that crashes is a crash loop in the same pod, and the old image starts at once, backoff or not',
    needs: 'nodes',
    run: async (bed) => {
      await running(bed, { containers: [{ name: 'main', ...bed.program('changing'), readinessProbe: READY_FILE }] });
      await change(bed, 'changing crashes');
      const looping = await reaches(bed, 'a second restart in a wait', (now) => {
        return container(now).restartCount >= 3 && waitsFor(now) === 'CrashLoopBackOff';
      });
      expect(container(looping)).toMatchObject({ ready: false, lastState: { terminated: { exitCode: 3 } } });
      expect(looping.phase).toBe('Running');
      const count = container(looping).restartCount;
      await change(bed, 'changing');
      const healed = await reaches(bed, 'ready again', isReady, 8000);
      expect(container(healed)).toMatchObject({ restartCount: count + 1 });
    },
  },
  {
    id: 'kubelet-in-place-unready',
    title: 'an image whose probe never passes runs and is never ready',
    needs: 'nodes',
    run: async (bed) => {
      await running(bed, { containers: [{ name: 'main', ...bed.program('changing'), readinessProbe: READY_FILE }] });
      await change(bed, 'changing unready');
      const after = await reaches(bed, 'the restart', (now) => container(now).restartCount === 1);
      expect(container(after)).toMatchObject({ ready: false, started: true, state: { running: expect.anything() } });
      await bed.pause(4000);
      expect(condition(await statusNow(bed), 'Ready')).toMatchObject({ status: 'False', reason: 'ContainersNotReady' });
    },
  },
  {
    id: 'kubelet-in-place-init',
    title: 'the image of an init container that is through may change, and nothing starts again',
    needs: 'nodes',
    run: async (bed) => {
      const before = await running(bed, {
        initContainers: [{ name: 'init', ...bed.program('finishing') }],
        containers: [{ name: 'main', ...bed.program('steady') }],
      });
      await change(bed, 'steady v2', 'init', 'initContainers');
      const seen = await reaches(bed, 'the generation observed', (now) => now.observedGeneration === 2);
      await bed.pause(3000);
      for (const now of [seen, await statusNow(bed)]) {
        expect(now.initContainerStatuses).toEqual(before.initContainerStatuses);
        expect(now.containerStatuses).toEqual(before.containerStatuses);
      }
    },
  },
  {
    id: 'kubelet-sidecar',
    title: 'an init container that is always restarted starts first, runs on, counts for Ready, and is replaced alone',
    needs: 'nodes',
    run: async (bed) => {
      const sidecar = { name: 'side', ...bed.program('steady'), restartPolicy: 'Always' };
      const made = await make(
        bed,
        'pods',
        pod({ initContainers: [sidecar], containers: [{ name: 'main', ...bed.program('steady') }] }),
      );
      const watching = bed.watch(at(bed, 'pods'), { resourceVersion: metaOf(made).resourceVersion });
      const before = await reaches(bed, 'the pod ready', isReady);
      const alone = watching.events
        .map(statusIn)
        .filter((one) => one.initContainerStatuses?.[0]?.state.running && !one.containerStatuses?.[0]?.state.running);
      expect(alone.map((one) => waitsFor(one))).toContain('PodInitializing');
      expect(container(before, 'side')).toMatchObject({ ready: true, started: true, restartCount: 0 });
      await change(bed, 'steady v2', 'side', 'initContainers');
      const after = await reaches(
        bed,
        'the restart',
        (now) => container(now, 'side').restartCount === 1 && isReady(now),
      );
      expect(container(after, 'side').imageID).not.toBe(container(before, 'side').imageID);
      expect(container(after)).toEqual(container(before));
      await change(bed, 'missing', 'side', 'initContainers');
      const stuck = await reaches(bed, 'not ready', (now) => !isReady(now));
      expect(condition(stuck, 'Ready')).toMatchObject({ reason: 'ContainersNotReady' });
      expect(condition(stuck, 'Initialized')?.status).toBe('True');
      expect(stuck.phase).toBe('Running');
      expect(container(stuck).ready).toBe(true);
    },
  },
];
