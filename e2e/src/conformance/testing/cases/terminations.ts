/** Kubelets: what a pod goes through on its way out. */
import { expect } from '@jest/globals';
import type { WatchEvent } from '@omenative/kube';
import { at, type Bed, type Case, type Json, make, metaOf, read, type Watching } from '../bed.js';
import { condition, phases, podOf, ready, statusIn, statusNow, type Terminated } from '../running-pods.js';

/** Deletes the pod and waits until the stream has seen it go. */
async function endOf(bed: Bed): Promise<readonly WatchEvent[]> {
  const { resourceVersion } = metaOf(await read(bed, 'pods', 'a'));
  const watching: Watching = bed.watch(at(bed, 'pods'), { resourceVersion });
  await bed.request('DELETE', at(bed, 'pods', 'a'));
  await bed.eventually('the pod gone', () => watching.events.find(({ type }) => type === 'DELETED'), 60_000);
  return watching.events;
}

function lastTermination(events: readonly WatchEvent[]): Terminated | undefined {
  const last = events.at(-1);
  return last === undefined ? undefined : statusIn(last).containerStatuses?.[0]?.state.terminated;
}

export const terminations: readonly Case[] = [
  {
    id: 'kubelet-termination',
    title:
      'a pod that ends on SIGTERM shows its final phase while it terminates, is not ready then, and only then goes',
    needs: 'nodes',
    run: async (bed) => {
      await make(bed, 'pods', podOf(bed, 'steady', { terminationGracePeriodSeconds: 30 }));
      await ready(bed);
      const events = await endOf(bed);
      expect(phases(events)).toEqual(['Running', 'Succeeded']);
      expect(lastTermination(events)).toMatchObject({ exitCode: 0, reason: 'Completed' });
      const final = events.find((event) => statusIn(event).phase === 'Succeeded');
      expect(final?.type).toBe('MODIFIED');
      expect(final && condition(statusIn(final), 'Ready')).toMatchObject({
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
      await make(bed, 'pods', podOf(bed, 'stubborn'));
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
      await make(bed, 'pods', podOf(bed, 'steady', { containers, terminationGracePeriodSeconds: 30 }));
      await ready(bed);
      await bed.request('DELETE', at(bed, 'pods', 'a'));
      await bed.pause(1500);
      const now = await statusNow(bed);
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
      await make(bed, 'pods', podOf(bed, 'steady', { containers, terminationGracePeriodSeconds: 4 }));
      await ready(bed);
      const beginMs = bed.nowMs();
      const events = await endOf(bed);
      expect(bed.nowMs() - beginMs).toBeGreaterThanOrEqual(4000);
      expect(bed.nowMs() - beginMs).toBeLessThan(15_000);
      expect(phases(events)).toEqual(['Running', 'Succeeded']);
      expect(lastTermination(events)).toMatchObject({ exitCode: 0, reason: 'Completed' });
    },
  },
];
