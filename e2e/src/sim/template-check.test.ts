/** A template that the API server refuses moves nothing: it is asked before anything is done. */
import { describe, expect, it } from '@jest/globals';
import type { Fate } from '@omenative/sim';
import { isServing } from './pods.js';
import { Simulation } from './simulation.js';
import { namespace, service, standalone } from './user.js';

const minute = 60_000;
const replicas = 'inferencereplicas.ome.io';
const nothing = { volumeMounts: [{ name: 'nothing', mountPath: '/data' }] };
const words = /volumeMounts\[0\]\.name: Not found: "nothing"/;

interface Lab {
  readonly simulation: Simulation;
  readonly servingPods: () => readonly string[];
  readonly status: (name: string) => { readonly rolloutHold?: { readonly reason: string } };
  readonly events: (reason: string) => readonly string[];
  /** Dry runs asked for so far. */
  readonly asked: () => number;
}

/** `fate` decides what becomes of the nth dry run. */
async function labWith(object: object, fate: (n: number) => Fate | undefined = () => undefined): Promise<Lab> {
  const simulation = new Simulation({ seed: 1, manager: { safetyPollMs: 30_000 } });
  const { cluster } = simulation;
  let asked = 0;
  cluster.hooks.onRequest = ({ query }) => {
    if (query?.['dryRun'] === undefined) return undefined;
    asked += 1;
    return fate(asked);
  };
  simulation.startManager();
  simulation.user.create(object as Parameters<typeof simulation.user.create>[0]);
  await simulation.settle();
  const servingPods = (): readonly string[] =>
    cluster
      .objects('pods', namespace)
      .filter(isServing)
      .map(({ metadata }) => metadata.uid);
  const status = (name: string): ReturnType<Lab['status']> =>
    cluster.object(replicas, `${namespace}/${name}`)?.['status'] ?? {};
  const events = (reason: string): readonly string[] =>
    cluster
      .objects('events', namespace)
      .filter((event) => event['reason'] === reason)
      .map((event) => String(event['message']));
  return { simulation, servingPods, status, events, asked: () => asked };
}

describe('an update whose pods the API server refuses', () => {
  it(
    'leaves every Instance as it is, says why once, and goes out once it is corrected',
    async () => {
      const { simulation, servingPods, status, events } = await labWith(service({ replicas: 2, image: 'v1' }));
      const { user } = simulation;
      const before = servingPods();
      const writes = simulation.writes.length;
      user.patchService({ spec: { engine: { runner: { image: 'v2', ...nothing } } } });
      await simulation.run(20 * minute);
      expect(servingPods()).toEqual(before);
      expect(simulation.writes.slice(writes).filter(({ resource }) => resource === 'pods')).toEqual([]);
      expect(status('chat-engine').rolloutHold).toMatchObject({ gate: 'Plan', reason: expect.stringMatching(words) });
      expect(events('PodTemplateInvalid')).toEqual([expect.stringMatching(words)]);
      user.patchService({ spec: { engine: { runner: { volumeMounts: null } } } });
      await simulation.settle();
      expect(servingPods().filter((uid) => before.includes(uid))).toEqual([]);
      expect(servingPods()).toHaveLength(2);
      expect(simulation.invariants.violations).toEqual([]);
    },
    minute,
  );

  it(
    'is found in the workers of a gang before its leader is touched',
    async () => {
      const lab = await labWith(service({ replicas: 1, image: 'v1', workers: 2 }));
      const before = lab.servingPods();
      lab.simulation.user.patchService({ spec: { engine: { worker: { runner: { image: 'v2', ...nothing } } } } });
      await lab.simulation.run(10 * minute);
      expect(lab.servingPods()).toEqual(before);
      expect(lab.events('PodTemplateInvalid')).toEqual([expect.stringMatching(words)]);
    },
    minute,
  );

  it(
    'is not taken for refused while nobody can be asked, and goes out when somebody can',
    async () => {
      const fates: readonly Fate[] = [
        { is: 'refused', status: 429, retryAfterSeconds: 1 },
        { is: 'notApplied' },
        { is: 'refused', status: 500, retryAfterSeconds: 0 },
      ];
      const lab = await labWith(service({ replicas: 2, image: 'v1' }), (n) => fates[n - 1]);
      const before = lab.servingPods();
      lab.simulation.user.setImage('v2');
      await lab.simulation.settle();
      expect(lab.servingPods().filter((uid) => before.includes(uid))).toEqual([]);
      expect(lab.events('PodTemplateInvalid')).toEqual([]);
      expect(lab.asked()).toBe(fates.length + 1);
    },
    minute,
  );

  it(
    'is asked about again every five minutes, for what refuses it may change',
    async () => {
      const lab = await labWith(standalone('pool', 1, 'v1'));
      lab.simulation.cluster.hooks.admit = ({ operation, resource }) => {
        if (operation !== 'CREATE' || resource !== 'pods') return undefined;
        const message = 'no pods on Mondays';
        return { is: 'denied', policy: 'mondays', binding: 'all', reason: 'Forbidden', message };
      };
      const before = lab.servingPods();
      const { spec } = standalone('pool', 1, 'v2');
      lab.simulation.user.patchReplica('pool', { spec });
      await lab.simulation.run(4 * minute);
      expect(lab.servingPods()).toEqual(before);
      expect(lab.status('pool').rolloutHold?.reason).toMatch(/no pods on Mondays/);
      lab.simulation.cluster.hooks.admit = () => undefined;
      await lab.simulation.run(4 * minute);
      expect(lab.servingPods().filter((uid) => before.includes(uid))).toEqual([]);
    },
    minute,
  );

  it(
    'is no update that a quota has no room for yet: one that makes its own room goes out',
    async () => {
      const lab = await labWith(recreated('v1'));
      const { cluster, user } = lab.simulation;
      const body = { metadata: { name: 'full', namespace }, spec: { hard: { pods: '1' } } };
      const path = `/api/v1/namespaces/${namespace}/resourcequotas`;
      expect(cluster.handle({ method: 'POST', path, body, user: 'user' }).status).toBe(201);
      await lab.simulation.run(10_000);
      const before = lab.servingPods();
      user.patchReplica('pool', { spec: recreated('v2').spec });
      await lab.simulation.settle();
      expect(lab.asked()).toBe(1);
      expect(lab.servingPods()).toHaveLength(1);
      expect(lab.servingPods()).not.toEqual(before);
    },
    minute,
  );
});

/** One Instance that is updated by deleting its pod first. */
function recreated(image: string): { readonly spec: Readonly<Record<string, unknown>> } {
  const { spec, ...object } = standalone('pool', 1, image);
  return { ...object, spec: { ...(spec as object), lifecycle: { updateStrategy: { type: 'RecreatePod' } } } };
}
