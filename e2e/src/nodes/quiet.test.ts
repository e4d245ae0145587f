/** Where nothing happens, nothing is written: not in a minute, not for a pass, and not by a manager that starts. */
import { beforeAll, expect, it } from '@jest/globals';
import { sleep } from '@omenative/kube';
import { Changes } from './testing/changes.js';
import { createAll, example, renamed } from './testing/examples.js';
import { passesIn, writesIn } from './testing/metrics.js';
import { conditionOf, inferenceReplicas, inferenceServices, servingRuntimes } from './testing/objects.js';
import { convergedAt, setLifecycle } from './testing/steps.js';
import { describeOnNodes } from './testing/suite.js';

const stepMs = 60_000;
const quietMs = 60_000;
/** Without a write for so long, what was begun has ended. */
const settleMs = 3000;

// Without an election every write of the manager is one for its objects.
describeOnNodes('a quiet cluster', { name: 'quiet', leaderElection: 'off' }, (bed) => {
  const writes = async (): Promise<number> => writesIn(await bed.manager.metrics());

  beforeAll(
    bed.explained(async () => {
      // A revision that can't start is held at its first failure, or its retries would be told from writes without a reason.
      const updateRetry = { maxAttempts: 1, initialDelay: '1s', multiplier: 1, maxDelay: '1s' };
      await setLifecycle(bed.api, { updateRetry });
      for (const name of ['busybox-lab', 'busybox-gang', 'standalone']) await createAll(bed.api, example(name));
      // One that can't start, and stays that way.
      const lab = example('busybox-lab').find(({ kind }) => kind === 'InferenceService');
      const refused = renamed(lab, 'refused');
      await bed.api.create(inferenceServices, refused);
      const runner = { name: 'ome-container', volumeMounts: [{ name: 'nothing', mountPath: '/data' }] };
      await bed.api.merge(inferenceServices, 'refused', { spec: { engine: { runner } } });
      const expected = { 'http-lab-engine': 2, 'gang-lab-engine': 2, 'standalone-http': 1 };
      for (const [name, count] of Object.entries(expected)) {
        await bed.api.waitUntil(inferenceReplicas, name, 'is up', stepMs, (found) => convergedAt(found, count));
      }
      await bed.api.waitUntil(inferenceReplicas, 'refused-engine', 'has failed', stepMs, (found) => {
        return conditionOf(found, 'Ready')?.reason === 'InstanceFailed';
      });
      await bed.api.waitFor('nothing is written any more', stepMs, async () => {
        const before = await writes();
        await sleep(bed.api.runtime, settleMs);
        return (await writes()) === before;
      });
    }),
  );

  it(
    'sees no write of ours in a minute, whatever state its objects rest in [E189]',
    bed.explained(async () => {
      const [changes, before] = [await Changes.of(bed.api), await writes()];
      await sleep(bed.api.runtime, quietMs);
      changes.close();
      expect(changes.seen).toEqual([]);
      expect(await writes()).toBe(before);
    }),
  );

  it(
    'sees none for a pass that finds everything as it should be [E189]',
    bed.explained(async () => {
      const changes = await Changes.of(bed.api);
      const [before, passes] = [await writes(), passesIn(await bed.manager.metrics(), 'inferenceservice')];
      await bed.api.merge(servingRuntimes, 'http-echo', { metadata: { annotations: { touched: 'yes' } } });
      await bed.api.waitFor('both services of the runtime have been looked at', stepMs, async () => {
        return passesIn(await bed.manager.metrics(), 'inferenceservice') >= passes + 2;
      });
      await sleep(bed.api.runtime, settleMs);
      changes.close();
      expect(changes.seen).toEqual(['MODIFIED ServingRuntime http-echo']);
      expect(await writes()).toBe(before);
    }),
  );

  it(
    'sees none from a manager that starts [B23]',
    bed.explained(async () => {
      const changes = await Changes.of(bed.api);
      expect(await bed.manager.stop()).toBe(0);
      await bed.startManager();
      await bed.api.waitFor('every object has been looked at', stepMs, async () => {
        const metrics = await bed.manager.metrics();
        return passesIn(metrics, 'inferenceservice') >= 3 && passesIn(metrics, 'inferencereplica') >= 4;
      });
      await sleep(bed.api.runtime, settleMs);
      changes.close();
      expect(changes.seen).toEqual([]);
    }),
  );
});
