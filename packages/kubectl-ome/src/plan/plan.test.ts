import { describe, expect, it } from '@jest/globals';
import { testing } from '@omenative/kube';
import type { HandMade } from '../testing/hand-made.js';
import { clusterOf, pod, readyRow, replica, revisionOf } from '../testing/objects.js';
import { withSettings } from '../testing/views.js';
import { type PlanReport, planChange, type ReplicaPlan } from './plan.js';
import { planLines } from './print.js';

const two = [0, 1];

function cluster(): HandMade {
  const rev = revisionOf('v1');
  const object = replica({
    replicas: 2,
    rows: two.map((index) => readyRow(index)),
    status: { current: rev, update: rev },
  });
  return withSettings(
    clusterOf(
      object,
      two.map((index) => pod({ index })),
    ),
  );
}

function planOf(body: object, world: HandMade = cluster()): Promise<PlanReport> {
  const target = { kind: 'InferenceReplica', name: 'chat-engine' } as const;
  const changes = { changes: [{ as: 'patch', target, patch: { kind: 'merge', body } }], remarks: [] } as const;
  return planChange(world.reach(), { changes, quotaResources: 'all' });
}

async function planned(body: object): Promise<ReplicaPlan> {
  const [only] = (await planOf(body)).content.targets.flatMap((target) => target.replicas);
  if (only === undefined) throw new Error('no replica is planned');
  return only;
}

const image = (to: string) => ({
  spec: {
    runners: [{ name: 'default', size: 1, template: { spec: { containers: [{ name: 'ome-container', image: to }] } } }],
  },
});

describe('a plan', () => {
  it('names the waves of an update, with their cost', async () => {
    const [from, to] = [revisionOf('v1'), revisionOf('v2')];
    expect(await planned(image('v2'))).toMatchObject({
      effect: 'steps',
      revision: { before: from, after: to, isNew: false },
      waves: [
        { wave: 1, operation: 'Update', method: 'surge', instances: [0], from, to, surge: 1, outOfService: 0 },
        { wave: 2, operation: 'Update', method: 'surge', instances: [1], from, to, surge: 1, outOfService: 0 },
      ],
      waits: [],
      stays: [],
    });
    expect((await planned(image('v9'))).revision?.isNew).toBe(true);
  });

  it('says that a change outside the revision changes nothing', async () => {
    const report = await planOf({ spec: { lifecycle: { updateStrategy: { rollingUpdate: { maxSurge: 2 } } } } });
    expect(report.content.targets[0]?.replicas[0]).toMatchObject({ effect: 'nothing', waves: [] });
    expect(planLines(report, 'table')).toContain('changes nothing: no Instance is touched');
  });

  it('tells what would stand in the way', async () => {
    const none = { lifecycle: { updateStrategy: { rollingUpdate: { maxSurge: 0 } } } };
    const held = await planned({ spec: { ...image('v2').spec, ...none } });
    expect(held).toMatchObject({ waits: [{ reason: 'Budget', ends: 'never' }], stays: [{ instances: two }] });
    const paused = await planned({ spec: { ...image('v2').spec, paused: true } });
    expect(paused).toMatchObject({ pause: 'recover', waves: [], stays: [{ instances: two }] });
    expect(paused.stays[0]?.because).toMatch(/^Paused: 2 Instance\(s\) wait for the rollout/);
    const partition = { lifecycle: { updateStrategy: { rollingUpdate: { maxSurge: 1, partition: 1 } } } };
    const staged = await planned({ spec: { ...image('v2').spec, ...partition } });
    expect(staged).toMatchObject({
      stays: [{ instances: [0], because: 'partition 1 keeps the lowest where they are' }],
    });
    const blocked = await planned({ spec: { runners: [] } });
    expect(blocked).toMatchObject({ effect: 'blocked', problem: { reason: 'TemplateSourceMissing' } });
  });

  it('prints a table that people read', async () => {
    const [from, to] = [revisionOf('v1').slice(-8), revisionOf('v2').slice(-8)];
    expect(planLines(await planOf({ spec: { ...image('v2').spec, replicas: 3 } }), 'table')).toEqual([
      `irep/chat-engine: 2 -> 3 wanted; revision ${from} -> ${to}`,
      '',
      'WAVE   INSTANCES   STEP             FROM       TO         SURGE   OUT   SERVING',
      `1      0           Update (surge)   ${from}   ${to}   1       0     2`,
      `1      2           Create           -          ${to}   1       0     2`,
      `2      1           Update (surge)   ${from}   ${to}   1       0     3`,
      'then nothing is left to do',
    ]);
  });

  it('folds many waves that are alike', async () => {
    const report = await planOf(image('v2'));
    const [target] = report.content.targets;
    const [plan] = target?.replicas ?? [];
    const [wave] = plan?.waves ?? [];
    if (target === undefined || plan === undefined || wave === undefined) throw new Error('nothing is planned');
    const waves = Array.from({ length: 40 }, (_, at) => ({ ...wave, wave: at + 1, instances: [2 * at, 2 * at + 1] }));
    const long = { ...report, content: { targets: [{ ...target, replicas: [{ ...plan, waves }] }] } };
    expect(planLines(long, 'table').join('\n')).toMatch(/^1-40 +0-79, 2 at a time +Update \(surge\)/m);
    expect(planLines(long, 'wide').filter((line) => line.includes('Update (surge)'))).toHaveLength(40);
  });

  it('writes nothing but a dry run, and gives the refusal of the server back', async () => {
    const world = cluster();
    await planOf(image('v2'), world);
    expect(world.asked.filter((one) => !one.startsWith('GET'))).toEqual([
      'PATCH /apis/ome.io/v1beta1/namespaces/prod/inferencereplicas/chat-engine',
    ]);
    world.refusal = testing.failure(422, 'Invalid', 'spec.replicas: must be at least 0');
    await expect(planOf({ spec: { replicas: -1 } }, world)).rejects.toThrow('spec.replicas: must be at least 0');
  });
});

function applied(object: object, world: HandMade): Promise<PlanReport> {
  const target = { kind: 'InferenceService', name: 'talk' } as const;
  const change = { as: 'apply', target, object: object as Readonly<Record<string, unknown>>, by: 'client' } as const;
  return planChange(world.reach(), { changes: { changes: [change], remarks: [] }, quotaResources: 'all' });
}

describe('the plan of a service', () => {
  const services = '/apis/ome.io/v1beta1/namespaces/prod/inferenceservices';
  const runtime = {
    metadata: { name: 'echo', uid: 'runtime', resourceVersion: '1' },
    spec: { engineConfig: { runner: { name: 'ome-container', image: 'v1' } } },
  };
  const service = {
    apiVersion: 'ome.io/v1beta1',
    kind: 'InferenceService',
    metadata: { name: 'talk', namespace: 'prod' },
    spec: { deploymentMode: 'OMENative', runtime: { name: 'echo' }, engine: { minReplicas: 2 } },
  };

  it('creates what is not there', async () => {
    const world = cluster().put('/apis/ome.io/v1beta1/clusterservingruntimes', runtime);
    const [target] = (await applied(service, world)).content.targets;
    expect(target).toMatchObject({
      target: 'isvc/talk',
      change: 'create',
      replicas: [{ replica: 'talk-engine', waves: [{ operation: 'Create', instances: two }], wanted: { after: 2 } }],
    });
  });

  it('tells of a component that can not be run', async () => {
    const report = await applied(service, cluster());
    expect(report.content.targets[0]?.replicas).toMatchObject([
      { effect: 'held', problem: { reason: 'RuntimeNotFound' } },
    ]);
    expect(planLines(report, 'table')[0]).toBe('irep/talk-engine: is left as it is, RuntimeNotFound');
  });

  it('removes a component that is no longer declared', async () => {
    const labels = { component: 'router', 'ome.io/inferenceservice': 'talk', 'ome.io/managed-by': 'OMENative' };
    const owner = {
      apiVersion: 'ome.io/v1beta1',
      kind: 'InferenceService',
      name: 'talk',
      uid: 'service',
      controller: true,
    };
    const router = replica({ metadata: { name: 'talk-router', uid: 'router', labels, ownerReferences: [owner] } });
    const world = cluster()
      .put('/apis/ome.io/v1beta1/clusterservingruntimes', runtime)
      .put(services, {
        ...service,
        metadata: { ...service.metadata, uid: 'service', resourceVersion: '1', generation: 1 },
      })
      .put('/apis/ome.io/v1beta1/namespaces/prod/inferencereplicas', {
        ...router,
        spec: { ...(router['spec'] as object), component: 'router', parentRef: { name: 'talk' } },
      });
    const [target] = (await applied(service, world)).content.targets;
    expect(target?.replicas.map(({ replica: name, end }) => `${name} ${end}`)).toEqual([
      'talk-engine rest',
      'talk-router gone',
    ]);
  });
});
