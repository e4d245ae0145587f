/** Kubelets: what a pod goes through on a node, on its way up and in trouble. */
import { expect } from '@jest/globals';
import { at, type Bed, type Case, type Json, make, metaOf, READY_FILE, read, STRATEGIC } from '../bed.js';
import {
  condition,
  type PodStatus,
  phases,
  podOf,
  reaches,
  ready,
  statusIn,
  type Terminated,
  waitsFor,
} from '../running-pods.js';

function setImage(bed: Bed, change: Json) {
  return bed.request('PATCH', at(bed, 'pods', 'a'), {
    contentType: STRATEGIC,
    body: { spec: { containers: [change] } },
  });
}

function gate(bed: Bed, state: string) {
  const one = { type: 'ome.io/serving', status: state, lastTransitionTime: '2026-01-01T00:00:00Z' };
  return bed.request('PATCH', at(bed, 'pods', 'a', 'status'), {
    contentType: STRATEGIC,
    body: { status: { conditions: [one] } },
  });
}

export const kubelets: readonly Case[] = [
  {
    id: 'kubelet-up',
    title: 'a pod gets an address and conditions; without a probe it is ready as soon as it runs',
    needs: 'nodes',
    run: async (bed) => {
      const made = await make(bed, 'pods', podOf(bed, 'steady'));
      const { resourceVersion } = metaOf(made);
      const watching = bed.watch(at(bed, 'pods'), { resourceVersion });
      const now = await ready(bed);
      expect(now.podIP).toMatch(/^10\./);
      expect(now.observedGeneration).toBe(1);
      expect(now.conditions?.map(({ type, status: state }) => `${type} ${state}`).toSorted()).toEqual([
        'ContainersReady True',
        'Initialized True',
        'PodReadyToStartContainers True',
        'PodScheduled True',
        'Ready True',
      ]);
      expect(phases(watching.events)).toEqual(['Pending', 'Running']);
      const waiting = watching.events.map((event) => waitsFor(statusIn(event)));
      expect(waiting).toContain('ContainerCreating');
    },
  },
  {
    id: 'kubelet-gate',
    title: 'Ready follows the readiness gate, and only the kubelet writes it',
    needs: 'nodes',
    run: async (bed) => {
      await make(bed, 'pods', podOf(bed, 'steady', { readinessGates: [{ conditionType: 'ome.io/serving' }] }));
      const closed = await reaches(
        bed,
        'containers ready',
        (now) => condition(now, 'ContainersReady')?.status === 'True',
      );
      expect(condition(closed, 'Ready')).toMatchObject({
        status: 'False',
        reason: 'ReadinessGatesNotReady',
        message: 'corresponding condition of pod readiness gate "ome.io/serving" does not exist.',
      });
      const patched = await gate(bed, 'True');
      expect(condition(patched.body['status'] as PodStatus, 'Ready')?.status).toBe('False');
      await ready(bed);
      await gate(bed, 'False');
      const open = await reaches(bed, 'not ready', (now) => condition(now, 'Ready')?.status === 'False');
      expect(condition(open, 'Ready')?.message).toBe(
        'the status of pod readiness gate "ome.io/serving" is not "True", but False',
      );
      expect(condition(open, 'ContainersReady')?.status).toBe('True');
    },
  },
  {
    id: 'kubelet-image-missing',
    title: 'an image that can not be pulled is ErrImagePull, then ImagePullBackOff, in phase Pending',
    needs: 'nodes',
    run: async (bed) => {
      const made = await make(bed, 'pods', podOf(bed, 'missing'));
      const watching = bed.watch(at(bed, 'pods'), { resourceVersion: metaOf(made).resourceVersion });
      const stuck = await reaches(bed, 'ImagePullBackOff', (now) => waitsFor(now) === 'ImagePullBackOff');
      expect(stuck.phase).toBe('Pending');
      expect(condition(stuck, 'Ready')).toMatchObject({ status: 'False', reason: 'ContainersNotReady' });
      const seen = await bed.eventually('the events', () => {
        const reasons = watching.events.map((event) => waitsFor(statusIn(event)));
        return reasons.includes('ImagePullBackOff') ? reasons : undefined;
      });
      expect(seen).toContain('ErrImagePull');
      expect(seen.indexOf('ErrImagePull')).toBeLessThan(seen.indexOf('ImagePullBackOff'));
    },
  },
  {
    id: 'kubelet-image-fixed',
    title: 'a pod that waits for an image starts when its image is changed, without a restart counted',
    needs: 'nodes',
    run: async (bed) => {
      await make(bed, 'pods', podOf(bed, 'missing'));
      await reaches(bed, 'stuck', (now) => /ImagePull/.test(now.containerStatuses?.[0]?.state.waiting?.reason ?? ''));
      const { image } = bed.program('steady');
      await setImage(bed, { name: 'main', image });
      const now = await reaches(bed, 'running', (one) => one.phase === 'Running');
      expect(now.containerStatuses?.[0]?.restartCount).toBe(0);
    },
  },
  {
    id: 'kubelet-crash-loop',
    title: 'a container that fails restarts at once, then with growing waits: counter, last end, phase Running',
    needs: 'nodes',
    run: async (bed) => {
      await make(bed, 'pods', podOf(bed, 'failing'));
      const now = await reaches(bed, 'a second restart', (one) => (one.containerStatuses?.[0]?.restartCount ?? 0) >= 2);
      expect(now.phase).toBe('Running');
      const waiting = await reaches(
        bed,
        'CrashLoopBackOff',
        (one) => one.containerStatuses?.[0]?.state.waiting?.reason === 'CrashLoopBackOff',
      );
      expect(waiting.containerStatuses?.[0]).toMatchObject({
        ready: false,
        lastState: { terminated: { exitCode: 3, reason: 'Error' } },
      });
      expect(condition(waiting, 'ContainersReady')).toMatchObject({ status: 'False', reason: 'ContainersNotReady' });
    },
  },
  {
    id: 'kubelet-crash-backoff',
    title: 'the waits between restarts double from ten seconds, and the message tells them',
    needs: 'nodes',
    run: async (bed) => {
      const made = metaOf(await make(bed, 'pods', podOf(bed, 'failing')));
      const says = (wait: string) =>
        `back-off ${wait} restarting failed container=main pod=a_${bed.namespace}(${made.uid})`;
      const waits = async (wait: string) => {
        await reaches(bed, `a wait of ${wait}`, (now) => {
          return now.containerStatuses?.[0]?.state.waiting?.message === says(wait);
        });
      };
      await waits('10s');
      await waits('20s');
      await waits('40s');
    },
  },
  {
    id: 'kubelet-image-backoff',
    title: 'the waits between pulls of an image that is not there grow',
    needs: 'nodes',
    run: async (bed) => {
      const made = await make(bed, 'pods', podOf(bed, 'missing'));
      const watching = bed.watch(at(bed, 'pods'), { resourceVersion: metaOf(made).resourceVersion });
      const begun: number[] = [];
      await bed.eventually(
        'a third attempt',
        async () => {
          const reasons = watching.events.map((event) => waitsFor(statusIn(event)));
          const changes = reasons.filter((reason, i) => reason === 'ErrImagePull' && reasons[i - 1] !== reason).length;
          while (begun.length < changes) begun.push(bed.nowMs());
          return begun.length >= 3 ? true : undefined;
        },
        90_000,
      );
      const [first = 0, second = 0, third = 0] = begun;
      expect(second - first).toBeGreaterThan(8000);
      expect(third - second).toBeGreaterThan(18_000);
    },
  },
  {
    id: 'kubelet-image-name',
    title: 'the status of a container that was created names its image in full, whatever the spec says',
    needs: 'nodes',
    run: async (bed) => {
      const { image } = bed.program('steady');
      const made = await make(bed, 'pods', podOf(bed, 'steady'));
      const watching = bed.watch(at(bed, 'pods'), { resourceVersion: metaOf(made).resourceVersion });
      const now = await ready(bed);
      const waiting = watching.events.map((event) => statusIn(event)).find((one) => waitsFor(one) !== undefined);
      expect(waiting?.containerStatuses?.[0]).toMatchObject({ image, imageID: '' });
      const home = image.includes('/') ? 'docker.io' : 'docker.io/library';
      const tag = image.includes(':') ? '' : ':latest';
      expect(now.containerStatuses?.[0]?.image).toBe(`${home}/${image}${tag}`);
    },
  },
  {
    id: 'kubelet-fading',
    title: 'a container that is ready and fails later is not ready from then on, and ready again after its restart',
    needs: 'nodes',
    run: async (bed) => {
      const containers = [{ name: 'main', ...bed.program('fading'), readinessProbe: READY_FILE }];
      await make(bed, 'pods', podOf(bed, 'fading', { containers }));
      await ready(bed);
      const down = await reaches(bed, 'not ready', (now) => condition(now, 'Ready')?.status === 'False');
      expect(condition(down, 'Ready')).toMatchObject({ reason: 'ContainersNotReady' });
      const again = await ready(bed);
      expect(again.containerStatuses?.[0]).toMatchObject({
        restartCount: 1,
        lastState: { terminated: { exitCode: 3, reason: 'Error' } },
      });
    },
  },
  {
    id: 'kubelet-never-restart',
    title: 'what is not to be restarted ends as Succeeded or Failed by its exit code',
    needs: 'nodes',
    run: async (bed) => {
      await make(bed, 'pods', podOf(bed, 'failing', { restartPolicy: 'Never' }));
      const now = await reaches(bed, 'Failed', (one) => one.phase === 'Failed');
      expect(now.containerStatuses?.[0]).toMatchObject({
        restartCount: 0,
        state: { terminated: { exitCode: 3, reason: 'Error' } },
      });
      expect(condition(now, 'Ready')).toMatchObject({ status: 'False', reason: 'PodFailed' });
    },
  },
  {
    id: 'kubelet-init',
    title: 'init containers run to their end one by one before the others start',
    needs: 'nodes',
    run: async (bed) => {
      const initContainers = ['one', 'two'].map((name) => ({ name, ...bed.program('finishing') }));
      const made = await make(bed, 'pods', podOf(bed, 'steady', { initContainers }));
      const watching = bed.watch(at(bed, 'pods'), { resourceVersion: metaOf(made).resourceVersion });
      await ready(bed);
      const reasons = watching.events.map((event) => waitsFor(statusIn(event)));
      expect(reasons).toContain('PodInitializing');
      const { initContainerStatuses } = (await read(bed, 'pods', 'a'))['status'] as {
        initContainerStatuses: { ready: boolean; state: { terminated: Terminated } }[];
      };
      expect(initContainerStatuses.map(({ ready: done, state }) => [done, state.terminated.exitCode])).toEqual([
        [true, 0],
        [true, 0],
      ]);
    },
  },
];
