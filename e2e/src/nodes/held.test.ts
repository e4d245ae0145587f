/** A revision that can't start: tried as often as the operator allows, then held; and what a user can do about it. */
import { beforeAll, expect, it } from '@jest/globals';
import { annotation, decodeStatus, label } from '@omenative/api';
import type { PodHistory } from './testing/history.js';
import {
  type Event,
  events,
  type InferenceReplica,
  inferenceReplicas,
  inferenceServices,
  servingRuntimes,
} from './testing/objects.js';
import { textOf } from './testing/prober.js';
import { convergedAt, setLifecycle } from './testing/steps.js';
import { describeOnNodes } from './testing/suite.js';
import { bareRuntime, serviceOf, shapeOf, type Workload } from './testing/workload.js';

const stepMs = 90_000;
const isvc = 'held';
const irep = 'held-engine';
/** An image that no node has, and that none can pull. */
const missing = 'busybox:missing';
/** Another one: what was held once is remembered. */
const absent = 'busybox:absent';
const workload: Workload = { name: isvc, replicas: 3, strategy: 'SurgeThenDrain', image: 'busybox:v1' };
/** Seconds: short ones, or the suite would take minutes. */
const delays = { first: 3, second: 6 };

describeOnNodes('a revision that cannot start', { name: 'held' }, (bed) => {
  let history: PodHistory;

  const replica = (): Promise<InferenceReplica> => bed.api.get(inferenceReplicas, irep);
  const setImage = (image: string): Promise<unknown> =>
    bed.api.merge(inferenceServices, isvc, { spec: { engine: shapeOf(workload, image) } });
  const ask = (key: string, value: string): Promise<unknown> =>
    bed.api.merge(inferenceReplicas, irep, { metadata: { annotations: { [key]: value } } });
  const answered = (key: string): Promise<unknown> =>
    bed.api.waitUntil(inferenceReplicas, irep, `has ${key} taken off`, stepMs, ({ metadata }) => {
      return metadata.annotations?.[key] === undefined;
    });
  const told = async (reason: string): Promise<readonly Event[]> => {
    return (await bed.api.list(events)).filter((event) => event.reason === reason);
  };
  const whenTold = (reason: string, text: RegExp): Promise<unknown> =>
    bed.api.waitFor(`an Event ${reason} that says ${text}`, stepMs, async () => {
      return (await told(reason)).some(({ message, note }) => text.test(message ?? note ?? ''));
    });
  const whenHeld = (): Promise<InferenceReplica> =>
    bed.api.waitUntil(inferenceReplicas, irep, 'holds the revision', stepMs, ({ status }) => {
      return status?.rolloutHold?.gate === 'Held' && status.retryBlocks?.some(({ state }) => state === 'Held') === true;
    });

  beforeAll(
    bed.explained(async () => {
      await setLifecycle(bed.api, {
        stuckPodGracePeriod: '3s',
        updateRetry: { maxAttempts: 3, initialDelay: `${delays.first}s`, multiplier: 2, maxDelay: '30s' },
      });
      await bed.api.create(servingRuntimes, bareRuntime);
      history = await bed.watchPods(`${label.inferenceService}=${isvc}`);
      await bed.api.create(inferenceServices, serviceOf(workload));
      await bed.api.waitUntil(inferenceReplicas, irep, 'is converged', stepMs, (found) => convergedAt(found, 3));
    }),
  );

  it(
    'is tried three times with growing pauses and then held, while the old three serve throughout [A7]',
    bed.explained(async () => {
      const old = history.pods.map(({ metadata }) => metadata.uid).toSorted();
      const prober = await bed.probe(irep);
      await setImage(missing);
      const { status } = await whenHeld();
      expect(textOf(await prober.stop())).toMatch(/^0 of /);
      expect(status).toMatchObject({ servingReplicas: 3, rolloutHold: { gate: 'Held' } });
      expect(status?.retryBlocks).toMatchObject([{ attemptsStarted: 3, targetRevision: status?.updateRevision }]);
      expect(await told('RetryHeld')).toHaveLength(1);
      // Each attempt made a pod of its own, and left the old ones alone.
      const made = history.changes.filter(({ type, pod }) => type === 'ADDED' && !old.includes(pod.metadata.uid));
      expect(made).toHaveLength(3);
      const gaps = made.slice(1).map(({ atMs }, at) => (atMs - (made[at]?.atMs ?? 0)) / 1000);
      expect(gaps[0]).toBeGreaterThan(delays.first);
      expect(gaps[1]).toBeGreaterThan(delays.second);
      history.expectAtMost(4);
      expect(history.pods.filter(({ metadata }) => old.includes(metadata.uid))).toHaveLength(3);
    }),
  );

  it(
    'is tried again when a user releases it, and held again [A9]',
    bed.explained(async () => {
      const { status } = await replica();
      const revision = status?.updateRevision ?? '';
      await ask(annotation.releaseHeldRevision, 'no-such-revision');
      await answered(annotation.releaseHeldRevision);
      await whenTold('RetryBlockReleaseSkipped', /"no-such-revision" but no retryBlock exists for it/);
      await ask(annotation.releaseHeldRevision, revision);
      await answered(annotation.releaseHeldRevision);
      await whenTold('RetryBlockReleased', /Held retryBlock for revision .* removed at operator request/);
      await bed.api.waitFor('it is held a second time', stepMs, async () => (await told('RetryHeld')).length === 2);
      await whenHeld();
    }),
  );

  it(
    'gives way to a corrected revision, without a release',
    bed.explained(async () => {
      await setImage('busybox:v2');
      const found = await bed.api.waitUntil(inferenceReplicas, irep, 'is converged', stepMs, (one) => {
        return one.status?.rolloutHold === undefined && convergedAt(one, 3);
      });
      // The block of the revision that was given up is history, and in nobody's way.
      const targets = (found.status?.retryBlocks ?? []).map(({ targetRevision }) => targetRevision);
      expect(targets).not.toContain(found.status?.updateRevision);
    }),
  );

  it(
    'leaves Failed Instances that never ran to a reset, which is answered whatever it asks [A8]',
    bed.explained(async () => {
      await ask(annotation.resetInstances, 'All');
      await answered(annotation.resetInstances);
      await whenTold(
        'InstancesResetRejected',
        /="All" rejected: "All" is not a non-negative instance index; nothing reset/,
      );
      await ask(annotation.resetInstances, '1');
      await answered(annotation.resetInstances);
      await whenTold('InstancesResetSkipped', /reset skipped for instance\(s\) 1 \(still serving\)/);
      // A fourth Instance of a revision that can't start is Failed and has never served.
      await setImage(absent);
      await bed.api.merge(inferenceServices, isvc, { spec: { engine: { minReplicas: 4, maxReplicas: 4 } } });
      await bed.api.waitFor('a fourth Instance is Failed', stepMs, async () => history.pods.some(isFourth));
      await bed.api.waitFor('its row says so', stepMs, async () => {
        const decoded = decodeStatus((await replica()).status ?? {});
        return decoded.ok && decoded.status.rows.get(3)?.kind === 'failed';
      });
      const pod = history.pods.find(isFourth)?.metadata.uid;
      await ask(annotation.resetInstances, '3');
      await answered(annotation.resetInstances);
      await whenTold('InstancesReset', /reset instance\(s\) 3 at operator request/);
      await bed.api.waitFor('its pod is gone', stepMs, async () => {
        return !history.pods.some(({ metadata }) => metadata.uid === pod);
      });
    }),
  );
});

function isFourth({
  metadata,
}: {
  readonly metadata: { readonly labels?: Readonly<Record<string, string>> };
}): boolean {
  return metadata.labels?.[label.instanceIndex] === '3';
}
