/** Five changes on real nodes: each is planned with the plugin, made, and must then be carried out as it was planned. */
import { beforeAll, expect, it } from '@jest/globals';
import { decodeStatus } from '@omenative/api';
import { sleep } from '@omenative/kube';
import { type PlanReport, type Step, StepRecorder } from '@omenative/kubectl-ome';
import { Plugin } from '../demo/testing/plugin.js';
import { createAll, example } from './testing/examples.js';
import { type InferenceReplica, inferenceReplicas, inferenceServices } from './testing/objects.js';
import { labScript } from './testing/steps.js';
import { Stream } from './testing/stream.js';
import { describeOnNodes } from './testing/suite.js';

const isvc = 'http-lab';
const irep = 'http-lab-engine';
const stepMs = 90_000;
/** Milliseconds in which nothing more may begin. */
const quietMs = 6000;

type Told = Pick<Step, 'wave' | 'operation' | 'method' | 'instance' | 'to' | 'ended'>;

function lineOf({ wave, operation, method, instance, to, ended }: Told): string {
  return `wave ${wave}: ${instance} ${operation} ${method ?? ''} > ${to}: ${ended}`;
}

function planned(report: PlanReport): readonly string[] {
  return report.content.targets
    .flatMap(({ replicas }) => replicas)
    .flatMap(({ waves }) => waves)
    .flatMap(({ wave, operation, method, instances, to = '', ends }) =>
      instances.map((instance) => {
        return lineOf({ wave, operation, ...(method === undefined ? {} : { method }), instance, to, ended: ends });
      }),
    )
    .toSorted();
}

const strategy = (updateStrategy: object) => ({ lifecycle: { updateStrategy } });
const script = (version: string) => ({ runner: { name: 'ome-container', args: [labScript(version)] } });

const changes: readonly (readonly [what: string, patch: object])[] = [
  ['another script, one Instance at a time', { spec: { engine: script('v2') } }],
  ['one Instance more', { spec: { engine: { minReplicas: 3, maxReplicas: 3 } } }],
  [
    'a script that a pause holds',
    { metadata: { annotations: { 'ome.io/rollout-paused': 'true' } }, spec: { engine: script('v3') } },
  ],
  [
    'its resumption, by another strategy',
    {
      metadata: { annotations: { 'ome.io/rollout-paused': null } },
      spec: { engine: strategy({ type: 'RecreatePod', rollingUpdate: { maxUnavailable: 1 } }) },
    },
  ],
  ['two Instances less', { spec: { engine: { minReplicas: 1, maxReplicas: 1 } } }],
];

describeOnNodes('the plugin', { name: 'plugin' }, (bed) => {
  let plugin: Plugin;

  beforeAll(async () => {
    const { namespace } = bed.api;
    plugin = new Plugin(process.env['OME_E2E_KUBECONFIG'] ?? '', namespace, namespace);
    await createAll(bed.api, example('busybox-lab'));
    await bed.api.waitUntil(inferenceReplicas, irep, 'has 2 available', stepMs, (found) => {
      return found.status?.availableReplicas === 2;
    });
  });

  it(
    'says that nothing is waiting once nothing is',
    bed.explained(async () => {
      await bed.api.waitFor('nothing is waiting', stepMs, async () => {
        return (await plugin.ok(['explain', `irep/${irep}`])).startsWith(`irep/${irep}: nothing is waiting`);
      });
    }),
  );

  it.each(changes)('foretells %s', (_, patch) =>
    bed.explained(async () => {
      const expected = planned(await plugin.plan(`isvc/${isvc}`, patch));
      const recorder = new StepRecorder();
      const read = ({ status }: InferenceReplica): void => {
        const decoded = decodeStatus(status ?? {});
        if (!decoded.ok) throw new Error(decoded.message);
        recorder.read(decoded.status, Math.floor(bed.api.runtime.nowMs() / 1000));
      };
      const stream = await Stream.open(bed.api, inferenceReplicas, '', (_how, replica) => read(replica));
      await bed.api.merge(inferenceServices, isvc, patch);
      const lines = (): readonly string[] => recorder.steps.map(lineOf).toSorted();
      await bed.api.waitFor('every planned step has ended', stepMs, async () => {
        return recorder.steps.filter(({ ended }) => ended !== 'open').length >= expected.length;
      });
      await sleep(bed.api.runtime, quietMs);
      stream.check();
      stream.close();
      expect(lines()).toEqual(expected);
    })(),
  );
});
