/** Kubelets: what a pod goes through on a node, up, in trouble, changed in place, and out. */
import { expect } from '@jest/globals';
import type { WatchEvent } from '@omenative/kube';
import {
  at,
  type Bed,
  type Case,
  type Json,
  make,
  metaOf,
  type Program,
  READY_FILE,
  read,
  STRATEGIC,
  type Watching,
} from '../bed.js';

interface Terminated {
  readonly exitCode: number;
  readonly reason: string;
}

interface Status {
  readonly phase: string;
  readonly podIP?: string;
  readonly observedGeneration?: number;
  readonly conditions?: readonly {
    readonly type: string;
    readonly status: string;
    readonly reason?: string;
    readonly message?: string;
  }[];
  readonly containerStatuses?: readonly {
    readonly name: string;
    readonly ready: boolean;
    readonly restartCount: number;
    readonly image: string;
    readonly imageID: string;
    readonly state: {
      readonly waiting?: { readonly reason: string; readonly message?: string };
      readonly running?: Json;
      readonly terminated?: Terminated;
    };
    readonly lastState: { readonly terminated?: Terminated };
  }[];
}

function pod(bed: Bed, program: Program, spec: Json = {}): Json {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a' },
    spec: { terminationGracePeriodSeconds: 5, containers: [{ name: 'main', ...bed.program(program) }], ...spec },
  };
}

async function status(bed: Bed): Promise<Status> {
  return (await read(bed, 'pods', 'a'))['status'] as Status;
}

function container(of: Status, name: string) {
  return of.containerStatuses?.find((one) => one.name === name);
}

function condition(of: Status, type: string) {
  return of.conditions?.find((one) => one.type === type);
}

/** Waits until the status of the pod is as wanted, and returns it. */
function reaches(bed: Bed, what: string, wanted: (status: Status) => boolean, withinMs = 120_000): Promise<Status> {
  const probe = async () => {
    const now = await status(bed);
    return wanted(now) ? now : undefined;
  };
  return bed.eventually(what, probe, withinMs);
}

function ready(bed: Bed): Promise<Status> {
  return reaches(bed, 'the pod ready', (now) => condition(now, 'Ready')?.status === 'True');
}

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

/** Deletes the pod and waits until the stream has seen it go. */
async function endOf(bed: Bed): Promise<readonly WatchEvent[]> {
  const { resourceVersion } = metaOf(await read(bed, 'pods', 'a'));
  const watching: Watching = bed.watch(at(bed, 'pods'), { resourceVersion });
  await bed.request('DELETE', at(bed, 'pods', 'a'));
  await bed.eventually('the pod gone', () => watching.events.find(({ type }) => type === 'DELETED'), 60_000);
  return watching.events;
}

function statusOf(event: WatchEvent): Status {
  return (event.object as { readonly status: Status }).status;
}

/** What the first container of a pod waits for. */
function waitingReason(of: Status): string | undefined {
  return of.containerStatuses?.[0]?.state.waiting?.reason;
}

function phases(events: readonly WatchEvent[]): readonly string[] {
  const all = events.map((event) => statusOf(event).phase);
  return all.filter((phase, i) => phase !== all[i - 1]);
}

function lastTermination(events: readonly WatchEvent[]): Terminated | undefined {
  const last = events.at(-1);
  return last === undefined ? undefined : statusOf(last).containerStatuses?.[0]?.state.terminated;
}

export const kubelets: readonly Case[] = [
  {
    id: 'kubelet-up',
    title: 'a pod gets an address and conditions; without a probe it is ready as soon as it runs',
    needs: 'nodes',
    run: async (bed) => {
      const made = await make(bed, 'pods', pod(bed, 'steady'));
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
      const waiting = watching.events.map((event) => waitingReason(statusOf(event)));
      expect(waiting).toContain('ContainerCreating');
    },
  },
  {
    id: 'kubelet-gate',
    title: 'Ready follows the readiness gate, and only the kubelet writes it',
    needs: 'nodes',
    run: async (bed) => {
      await make(bed, 'pods', pod(bed, 'steady', { readinessGates: [{ conditionType: 'ome.io/serving' }] }));
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
      expect(condition(patched.body['status'] as Status, 'Ready')?.status).toBe('False');
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
      const made = await make(bed, 'pods', pod(bed, 'missing'));
      const watching = bed.watch(at(bed, 'pods'), { resourceVersion: metaOf(made).resourceVersion });
      const stuck = await reaches(bed, 'ImagePullBackOff', (now) => waitingReason(now) === 'ImagePullBackOff');
      expect(stuck.phase).toBe('Pending');
      expect(condition(stuck, 'Ready')).toMatchObject({ status: 'False', reason: 'ContainersNotReady' });
      const seen = await bed.eventually('the events', () => {
        const reasons = watching.events.map((event) => waitingReason(statusOf(event)));
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
      await make(bed, 'pods', pod(bed, 'missing'));
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
      await make(bed, 'pods', pod(bed, 'failing'));
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
      const made = metaOf(await make(bed, 'pods', pod(bed, 'failing')));
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
      const made = await make(bed, 'pods', pod(bed, 'missing'));
      const watching = bed.watch(at(bed, 'pods'), { resourceVersion: metaOf(made).resourceVersion });
      const begun: number[] = [];
      await bed.eventually(
        'a third attempt',
        async () => {
          const reasons = watching.events.map((event) => waitingReason(statusOf(event)));
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
      const made = await make(bed, 'pods', pod(bed, 'steady'));
      const watching = bed.watch(at(bed, 'pods'), { resourceVersion: metaOf(made).resourceVersion });
      const now = await ready(bed);
      const waiting = watching.events.map((event) => statusOf(event)).find((one) => waitingReason(one) !== undefined);
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
      await make(bed, 'pods', pod(bed, 'fading', { containers }));
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
      await make(bed, 'pods', pod(bed, 'failing', { restartPolicy: 'Never' }));
      const now = await reaches(bed, 'Failed', (one) => one.phase === 'Failed');
      expect(now.containerStatuses?.[0]).toMatchObject({
        restartCount: 0,
        state: { terminated: { exitCode: 3, reason: 'Error' } },
      });
      expect(condition(now, 'Ready')).toMatchObject({ status: 'False', reason: 'PodFailed' });
    },
  },
  {
    id: 'kubelet-image-in-place',
    title: 'an image changed in place restarts that container alone, in the same pod, with another imageID',
    needs: 'nodes',
    run: async (bed) => {
      const containers = ['main', 'side'].map((name) => ({ name, ...bed.program('steady') }));
      const made = await make(bed, 'pods', pod(bed, 'steady', { containers }));
      const before = await ready(bed);
      const { image } = bed.program('steady v2');
      const patched = await setImage(bed, { name: 'main', image });
      expect(metaOf(patched.body).generation).toBe(2);
      const after = await reaches(bed, 'the restart', (now) => {
        const main = now.containerStatuses?.find(({ name }) => name === 'main');
        return main?.restartCount === 1 && main.ready && condition(now, 'Ready')?.status === 'True';
      });
      expect(container(after, 'main')?.imageID).not.toBe(container(before, 'main')?.imageID);
      expect(container(after, 'main')?.lastState.terminated).toBeDefined();
      expect(container(after, 'side')).toMatchObject({ restartCount: 0, imageID: container(before, 'side')?.imageID });
      expect(metaOf(await read(bed, 'pods', 'a')).uid).toBe(metaOf(made).uid);
    },
  },
  {
    id: 'kubelet-termination',
    title:
      'a pod that ends on SIGTERM shows its final phase while it terminates, is not ready then, and only then goes',
    needs: 'nodes',
    run: async (bed) => {
      await make(bed, 'pods', pod(bed, 'steady', { terminationGracePeriodSeconds: 30 }));
      await ready(bed);
      const events = await endOf(bed);
      expect(phases(events)).toEqual(['Running', 'Succeeded']);
      expect(lastTermination(events)).toMatchObject({ exitCode: 0, reason: 'Completed' });
      const final = events.find((event) => statusOf(event).phase === 'Succeeded');
      expect(final?.type).toBe('MODIFIED');
      expect(final && condition(statusOf(final), 'Ready')).toMatchObject({
        status: 'False',
        reason: 'PodCompleted',
      });
      const [last, before] = events.toReversed();
      expect(before?.type).toBe('MODIFIED');
      expect(metaOf(before?.object as Json)).toMatchObject({ deletionGracePeriodSeconds: 0 });
      expect(last?.type).toBe('DELETED');
    },
  },
  {
    id: 'kubelet-kill',
    title: 'a pod that ignores SIGTERM is killed at the end of its grace: 137, Failed',
    needs: 'nodes',
    run: async (bed) => {
      await make(bed, 'pods', pod(bed, 'stubborn'));
      await ready(bed);
      const events = await endOf(bed);
      expect(phases(events)).toEqual(['Running', 'Failed']);
      expect(lastTermination(events)).toMatchObject({ exitCode: 137, reason: 'Error' });
    },
  },
  {
    id: 'kubelet-pre-stop',
    title: 'a preStop hook runs before SIGTERM, and the pod stays running meanwhile',
    needs: 'nodes',
    run: async (bed) => {
      const lifecycle = { preStop: { sleep: { seconds: 3 } } };
      const containers = [{ name: 'main', ...bed.program('steady'), lifecycle }];
      await make(bed, 'pods', pod(bed, 'steady', { containers, terminationGracePeriodSeconds: 30 }));
      await ready(bed);
      await bed.request('DELETE', at(bed, 'pods', 'a'));
      await bed.pause(1500);
      const now = await status(bed);
      expect(now.containerStatuses?.[0]?.state.running).toBeDefined();
      expect(condition(now, 'Ready')?.status).toBe('True');
      await bed.eventually(
        'the pod gone',
        async () => ((await bed.request('GET', at(bed, 'pods', 'a'))).status === 404 ? true : undefined),
        60_000,
      );
    },
  },
  {
    id: 'kubelet-pre-stop-long',
    title: 'a preStop hook that outlasts the grace is cut off, and SIGTERM follows all the same',
    needs: 'nodes',
    run: async (bed) => {
      const lifecycle = { preStop: { exec: { command: ['sleep', '60'] } } };
      const containers = [{ name: 'main', ...bed.program('steady'), lifecycle }];
      await make(bed, 'pods', pod(bed, 'steady', { containers, terminationGracePeriodSeconds: 4 }));
      await ready(bed);
      const beginMs = bed.nowMs();
      const events = await endOf(bed);
      expect(bed.nowMs() - beginMs).toBeGreaterThanOrEqual(4000);
      expect(bed.nowMs() - beginMs).toBeLessThan(15_000);
      expect(phases(events)).toEqual(['Running', 'Succeeded']);
      expect(lastTermination(events)).toMatchObject({ exitCode: 0, reason: 'Completed' });
    },
  },
  {
    id: 'kubelet-init',
    title: 'init containers run to their end one by one before the others start',
    needs: 'nodes',
    run: async (bed) => {
      const initContainers = ['one', 'two'].map((name) => ({ name, ...bed.program('finishing') }));
      const made = await make(bed, 'pods', pod(bed, 'steady', { initContainers }));
      const watching = bed.watch(at(bed, 'pods'), { resourceVersion: metaOf(made).resourceVersion });
      await ready(bed);
      const reasons = watching.events.map((event) => waitingReason(statusOf(event)));
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
