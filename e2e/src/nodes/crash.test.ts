/** A roll goes on through the deaths of one manager after the other, each in the middle of something. */
import { beforeAll, expect, it } from '@jest/globals';
import { decodeStatus, label } from '@omenative/api';
import { createAll, example } from './testing/examples.js';
import type { PodChange, PodHistory } from './testing/history.js';
import type { ManagerProcess } from './testing/manager-process.js';
import { inferenceReplicas, inferenceServices, isServing, isTerminating, leases } from './testing/objects.js';
import { textOf } from './testing/prober.js';
import { convergedAt, labScript } from './testing/steps.js';
import { describeOnNodes } from './testing/suite.js';

const isvc = 'http-lab';
const irep = 'http-lab-engine';
const lease = 'ome-controller-manager-leader-lock';
const instances = 4;
const kills = 6;
const stepMs = 60_000;
/** A Lease of 5 s and a try each second, by a process that may have to start first. */
const takeoverMs = 40_000;

/** A change of a pod that a manager has made: created, taken into rotation or out of it, deleted. */
function isOfManager({ type, pod, before }: PodChange): boolean {
  if (type === 'DELETED') return false;
  if (before === undefined) return true;
  return isServing(before) !== isServing(pod) || isTerminating(before) !== isTerminating(pod);
}

describeOnNodes('a manager that is killed', { name: 'crash' }, (bed) => {
  let history: PodHistory;

  beforeAll(
    bed.explained(async () => {
      history = await bed.watchPods(`${label.inferenceService}=${isvc}`);
      await createAll(bed.api, example('busybox-lab'));
      const count = { minReplicas: instances, maxReplicas: instances };
      await bed.api.merge(inferenceServices, isvc, { spec: { engine: count } });
      await bed.api.waitUntil(inferenceReplicas, irep, 'is up', stepMs, (found) => convergedAt(found, instances));
      await bed.startManager();
    }),
  );

  /** The manager that holds the Lease, once it is not `deposed` any more. */
  const leaderAfter = (deposed: ManagerProcess | undefined): Promise<ManagerProcess> => {
    return bed.api.waitFor('another manager holds the Lease', takeoverMs, async () => {
      const holder = (await bed.api.get(leases, lease)).spec?.holderIdentity ?? '';
      const leader = bed.managers.find(({ name }) => holder.startsWith(`${name}_`));
      return leader !== deposed && leader;
    });
  };

  it(
    'six times in one roll of four Instances loses no request, makes no pod too many, and is followed by the next [B33]',
    bed.explained(async () => {
      const prober = await bed.probe(irep);
      const before = await bed.api.get(inferenceReplicas, irep);
      const runner = { name: 'ome-container', args: [labScript('v2')] };
      await bed.api.merge(inferenceServices, isvc, { spec: { engine: { runner } } });
      const standbys: Promise<unknown>[] = [];
      let leader = await leaderAfter(undefined);
      for (let kill = 1; kill <= kills; kill++) {
        // At once after its first step, or after its second: steps differ from kill to kill.
        for (let step = kill % 2; step < 2; step++) {
          await history.next(`step ${step} of ${leader.name}, before kill ${kill}`, stepMs, isOfManager);
        }
        await leader.kill();
        standbys.push(bed.startManager());
        leader = await leaderAfter(leader);
      }
      await Promise.all(standbys);
      const after = await bed.api.waitUntil(inferenceReplicas, irep, 'has rolled', stepMs, (found) => {
        return found.status?.updateRevision !== before.status?.updateRevision && convergedAt(found, instances);
      });
      await bed.api.waitFor('the old pods are gone', stepMs, async () => history.pods.length === instances);
      const report = await prober.stop();
      expect(textOf(report)).toMatch(/^0 of /);
      expect(report.answers.get('hello from OMENative v2')).toBeGreaterThan(0);
      history.expectAtMost(instances + 1);
      history.expectDrainedBeforeDeletion();
      const decoded = decodeStatus(after.status);
      const rows = decoded.ok ? [...decoded.status.rows.values()] : [];
      expect(rows.map(({ index, incarnation }) => [index, incarnation])).toEqual(
        [0, 1, 2, 3].map((index) => [index, 1]),
      );
    }),
  );

  it(
    'and one that is asked to end gives the Lease back before it is gone, so that the next need not wait',
    bed.explained(async () => {
      const leader = await leaderAfter(undefined);
      expect(await leader.stop()).toBe(0);
      const { spec } = await bed.api.get(leases, lease);
      expect(spec?.holderIdentity ?? '').not.toContain(leader.name);
      await leaderAfter(leader);
    }),
  );
});
