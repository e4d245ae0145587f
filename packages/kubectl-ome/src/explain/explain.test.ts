import { describe, expect, it } from '@jest/globals';
import type { CreateOp, InstanceRow, SurgeOp } from '@omenative/api';
import type { HandMade } from '../testing/hand-made.js';
import { clusterOf, now, pod, readyRow, replica, revisionOf } from '../testing/objects.js';
import { withSettings } from '../testing/views.js';
import { type ExplainReport, explain } from './explain.js';
import { explanationLines } from './print.js';
import type { ReplicaExplanation } from './replica.js';

const target = { kind: 'InferenceReplica', name: 'chat-engine' } as const;

function report(cluster: HandMade, instance?: number): Promise<ExplainReport> {
  const options = { target, quotaResources: 'all' as const };
  return explain(cluster.reach(), instance === undefined ? options : { ...options, instance });
}

async function explained(cluster: HandMade): Promise<ReplicaExplanation> {
  const [only] = (await report(withSettings(cluster))).content.replicas;
  if (only === undefined) throw new Error('no replica is explained');
  return only;
}

const status = (rev: string) => ({ current: rev, update: rev });
const atRest = (): HandMade => clusterOf(replica({ rows: [readyRow(0)], status: status(revisionOf('v1')) }), [pod()]);

function surging(is: 'starting' | 'crashing'): HandMade {
  const op: SurgeOp = {
    type: 'Update',
    step: 'Surge',
    id: 'update-0',
    startedAt: now - 40,
    lastProgressAt: now - 40,
    deadline: now + 560,
    retryCount: 0,
    target: revisionOf('v2'),
    reason: 'revision v1 -> v2',
    waiting: '',
    strategy: 'SurgeThenDrain',
    carry: {},
  };
  const row: InstanceRow = { ...readyRow(0), kind: 'updating', target: op.target, op };
  const object = replica({ replicas: 2, image: 'v2', rows: [row, readyRow(1)], status: { update: op.target } });
  return clusterOf(object, [pod(), pod({ ordinal: 1, image: 'v2', is }), pod({ index: 1 })]);
}

const event = (name: string, uid: string, at: string, type = 'Warning') => ({
  metadata: { name, namespace: 'prod' },
  type,
  reason: 'Waiting',
  message: name,
  count: 2,
  lastTimestamp: at,
  involvedObject: { uid },
});

describe('explain', () => {
  it('says plainly that nothing is waiting', async () => {
    const first = await report(withSettings(atRest()));
    // Counters and conditions of a status made by hand are put right in the next pass; nothing else is.
    expect(first.content.replicas[0]).toMatchObject({ holds: [], due: [], instances: [{ phase: 'Ready' }] });
    expect(first.content.waiting).toBe(false);
    expect(explanationLines(first, 'table')[0]).toBe('irep/chat-engine: nothing is waiting');
    expect(first).toMatchObject({ apiVersion: 'cli.ome.io/v1alpha1', kind: 'ExplainReport', warnings: [] });
  });

  it('names each wait with its beginning, its end, what follows, and the pod that is the evidence', async () => {
    const { holds, instances } = await explained(surging('crashing'));
    expect(holds).toMatchObject([
      { reason: 'Budget', next: 'the next Instances are moved to the target' },
      {
        reason: 'Starting',
        instance: 0,
        since: '2026-05-31T23:59:20Z',
        wakes: [{ on: 'pod' }, { on: 'time', at: '2026-06-01T00:09:20Z' }],
        next: 'when the new pod serves, the old one leaves rotation',
      },
    ]);
    expect(instances[0]).toMatchObject({
      phase: 'Updating',
      operation: { step: 'Update/Surge', target: revisionOf('v2'), deadline: '2026-06-01T00:09:20Z' },
    });
    expect(instances[0]?.pods[1]).toMatchObject({
      pod: 'chat-engine-0-default-1',
      rotation: 'out',
      restarts: 4,
      findings: ['container ome-container: CrashLoopBackOff: back-off 40s'],
    });
  });

  it('prints waits before evidence, in words', async () => {
    const lines = explanationLines(await report(withSettings(surging('starting'))), 'table');
    expect(lines.slice(0, 12)).toEqual([
      `irep/chat-engine: 2 wanted, 2 ready, 2 serving, 0 updated; revision - -> ${revisionOf('v2').slice(-8)}`,
      '',
      'replica: Budget',
      '  per-Component surge budget 1 exhausted (would become 2)',
      '  ends when: a pod changes; or you change the spec',
      '  next: the next Instances are moved to the target',
      '',
      'Instance 0: Starting, for 40s',
      '  replacement chat-engine-0-default-1 of Instance 0 does not serve yet',
      '  ends when: a pod of Instance 0 changes; or in 9m20s (2026-06-01T00:09:20Z)',
      '  next: when the new pod serves, the old one leaves rotation',
      '',
    ]);
    expect(lines.join('\n')).toMatch(/^0 +Updating +Update\/Surge +\w{8} > \w{8} +40s +in 9m20s/m);
    expect(lines.join('\n')).not.toContain('chat-engine-1-default-0');
  });

  it('tells of one Instance alone, and of one that there is not', async () => {
    const { content } = await report(withSettings(surging('starting')), 1);
    expect(content.replicas[0]?.instances.map(({ instance }) => instance)).toEqual([1]);
    expect(content.replicas[0]?.holds.map(({ reason }) => reason)).toEqual(['Budget']);
    await expect(report(surging('starting'), 7)).rejects.toThrow('irep/chat-engine has no Instance 7');
  });

  it('tells why an Instance failed and what became of it', async () => {
    const lastFailure = {
      podName: 'chat-engine-0-default-0',
      containerName: 'ome-container',
      reason: 'CrashLoopBackOff',
      exitCode: 1,
      message: 'back-off',
      time: now - 90,
    };
    const row: InstanceRow = { ...readyRow(0), kind: 'failed', running: '', target: revisionOf('v1'), lastFailure };
    const found = await explained(clusterOf(replica({ rows: [row] }), [pod({ is: 'crashing' })]));
    expect(found.holds).toMatchObject([{ reason: 'Failed', instance: 0, since: '2026-05-31T23:58:30Z' }]);
    expect(found.instances[0]?.lastFailure).toMatchObject({ container: 'ome-container', exitCode: 1 });
  });

  it('shows retry blocks, the hold of the rollout and bad conditions', async () => {
    const rev = revisionOf('v2');
    const object = replica({
      rows: [readyRow(0)],
      status: {
        ...status(revisionOf('v1')),
        blocks: [
          { target: rev, state: 'Held', attempts: 3, lastFailureAt: now - 9, reason: 'ImagePullBackOff', carry: {} },
        ],
        conditions: [
          { type: 'RolloutStalled', status: 'True', reason: 'InstancesFailing', message: 'm', lastTransitionTime: now },
          { type: 'DrainOverdue', status: 'False', reason: 'R', message: '', lastTransitionTime: now },
        ],
      },
    });
    const found = await explained(clusterOf(object, [pod()]));
    expect(found.retryBlocks).toMatchObject([{ revision: rev, state: 'Held', attempts: 3 }]);
    expect(found.conditions.map(({ type }) => type)).toEqual(['RolloutStalled']);
  });

  it('says what a manager that is not there leaves undone', async () => {
    const op: CreateOp = {
      type: 'Create',
      step: 'CreatePods',
      id: 'create-0',
      startedAt: now - 500,
      retryCount: 0,
      target: revisionOf('v1'),
      reason: 'scale up',
      waiting: '',
      carry: {},
    };
    const row: InstanceRow = { ...readyRow(0), kind: 'creating', running: '', target: op.target, op };
    const { due } = await explained(clusterOf(replica({ rows: [row] }), []));
    expect(due).toEqual([`create pod chat-engine-0-default-0 at revision ${op.target.slice(-8)}`]);
  });

  it('explains a replica of which nothing can be run, or whose status nobody can read', async () => {
    const empty = await explained(clusterOf(replica({ spec: { runners: [] } }), []));
    expect(empty.blocked).toMatchObject({ reason: 'TemplateSourceMissing' });
    const broken = { ...replica(), status: { instanceStatuses: 'three' } };
    expect((await explained(clusterOf(broken, []))).blocked).toMatchObject({ reason: 'InstanceStatusDecodeFailed' });
  });

  it('does without what may not be read where it can, and says so', async () => {
    const cluster = atRest();
    for (const plural of ['nodes', 'events', 'configmaps']) cluster.forbidden.add(plural);
    const codes = (await report(cluster)).warnings.map(({ code }) => code);
    expect(codes.toSorted()).toEqual(['ConfigUnreadable', 'EventsUnreadable', 'NodesUnreadable']);
    cluster.forbidden.add('pods');
    await expect(report(cluster)).rejects.toThrow(/pods is forbidden/);
  });

  it('shows the Warnings of the last hour, of the service too', async () => {
    const cluster = withSettings(atRest()).put(
      '/api/v1/namespaces/prod/events',
      event('fresh', 'ir', '2026-05-31T23:50:00Z'),
      event('old', 'ir', '2026-05-31T20:50:00Z'),
      event('normal', 'ir', '2026-05-31T23:50:00Z', 'Normal'),
      event('other', 'somebody', '2026-05-31T23:50:00Z'),
    );
    expect((await report(cluster)).content.events).toEqual([
      { reason: 'Waiting', message: 'fresh', count: 2, at: '2026-05-31T23:50:00Z' },
    ]);
  });

  it('refuses what does not exist, in words', async () => {
    const unknown = { target: { ...target, name: 'none' }, quotaResources: 'all' as const };
    await expect(explain(atRest().reach(), unknown)).rejects.toThrow('InferenceReplica prod/none does not exist');
  });

  it('does not take a service that no manager has seen for one at rest', async () => {
    const cluster = withSettings(atRest())
      .put('/apis/ome.io/v1beta1/clusterservingruntimes', {
        metadata: { name: 'echo', uid: 'runtime', resourceVersion: '1' },
        spec: { engineConfig: { runner: { name: 'ome-container', image: 'v1' } } },
      })
      .put('/apis/ome.io/v1beta1/namespaces/prod/inferenceservices', {
        metadata: { name: 'talk', namespace: 'prod', uid: 'talk', resourceVersion: '1', generation: 1 },
        spec: { deploymentMode: 'OMENative', runtime: { name: 'echo' }, engine: {} },
      });
    const service = { kind: 'InferenceService', name: 'talk' } as const;
    const found = await explain(cluster.reach(), { target: service, quotaResources: 'all' });
    expect(found.content).toMatchObject({ waiting: true, components: [{ state: 'projected', due: 'create' }] });
    expect(explanationLines(found, 'table')[0]).toMatch(/^engine: its InferenceReplica is yet to be made/);
  });

  it('explains a service by what holds its components', async () => {
    const cluster = withSettings(atRest()).put('/apis/ome.io/v1beta1/namespaces/prod/inferenceservices', {
      metadata: { name: 'chat', namespace: 'prod', uid: 'service', resourceVersion: '1', generation: 2 },
      spec: { deploymentMode: 'OMENative', runtime: { name: 'missing' }, engine: {} },
      status: {
        observedGeneration: 1,
        conditions: [
          { type: 'Ready', status: 'False', reason: 'RuntimeNotFound', message: 'm', lastTransitionTime: '' },
        ],
      },
    });
    const service = { kind: 'InferenceService', name: 'chat' } as const;
    const found = await explain(cluster.reach(), { target: service, quotaResources: 'all' });
    expect(found.content.waiting).toBe(true);
    expect(found.content.components).toMatchObject([{ component: 'engine', state: 'held' }]);
    expect(found.content.conditions).toMatchObject([{ type: 'Ready', reason: 'RuntimeNotFound' }]);
    expect(found.content.replicas.map((one) => one.replica)).toEqual(['chat-engine']);
    expect(found.warnings.map(({ code }) => code)).toEqual(['StatusStale']);
    expect(explanationLines(found, 'table').join('\n')).toMatch(/^engine: held, /m);
  });
});
