/**
 * A plan against what then happens: the plugin foretells a change, the change is made, the real controllers carry it out,
 * and the two stories are compared.
 */
import { type DecodedStatus, decodeStatus, emptyStatus, label } from '@omenative/api';
import type { PodView } from '@omenative/engine';
import { Client, type Runtime, type Transport } from '@omenative/kube';
import {
  type Cost,
  Gauge,
  type Moment,
  type PlanReport,
  Problem,
  planChange,
  type Step,
  StepRecorder,
} from '@omenative/kubectl-ome';
import type { Cluster, KubeObject } from '@omenative/sim';
import { drawChange, drawStart, type Start } from './plan-changes.js';
import { isReady } from './pods.js';
import { configNamespace } from './process.js';
import { Seeded } from './seeded.js';
import { Simulation } from './simulation.js';
import { difference } from './sweep.js';
import { namespace, service } from './user.js';

const replica = 'chat-engine';
const replicas = 'inferencereplicas.ome.io';

/** Every delay is the same each time, so that pods which start together are ready together, as in a plan. */
const steady = {
  imageScripts: {
    '*': { pullMs: [200, 200], startMs: [100, 100], readyMs: [300, 300], termMs: [50, 50] },
  },
  kubeletLagMs: [100, 100],
  statusLagMs: [20, 20],
  schedulerLagMs: [10, 10],
  endpointsLagMs: [50, 50],
} as const;

type Told = Pick<Step, 'wave' | 'operation' | 'method' | 'instance' | 'replacement' | 'from' | 'to' | 'ended'>;

/** What a plan says, or what has happened. */
interface Story {
  readonly steps: readonly Told[];
  readonly costs: ReadonlyMap<number, Cost>;
  /** Lines about the end: who stays behind, and what holds the rollout. */
  readonly end: readonly string[];
}

/**
 * Draws a service from `seed` and `changes` changes to it.
 *
 * @throws Error that names the seed, the change and the difference.
 */
export async function foretell(seed: number, changes: number): Promise<void> {
  const draw = new Seeded(seed);
  const start = drawStart(draw);
  const simulation = new Simulation({ seed, world: steady });
  simulation.user.create(service({ ...start, image: 'v1', maxSurge: 1 + draw.below(2), instanceReadyTimeout: '10m' }));
  simulation.startManager();
  await simulation.settle();
  const told: string[] = [];
  for (let number = 1; number <= changes; number += 1) {
    const isUnsettled = draw.below(4) === 0;
    if (isUnsettled) told.push(await unsettle(simulation, draw, start));
    const { what, patch } = drawChange(draw, start);
    told.push(what);
    const expected = await toldBefore(simulation.cluster, patch);
    const happened = await toldAfter(simulation, start, patch);
    const text = isUnsettled ? outline : inFull;
    if (text(expected) === text(happened) || isSplitOf(expected, happened)) continue;
    throw new Error(
      [
        `seed ${seed}, change ${number} of ${JSON.stringify(start)}: ${told.join('; ')}`,
        'planned and not done (-), done and not planned (+):',
        difference(text(expected), text(happened)),
        'planned:',
        inFull(expected),
        simulation.tail(80),
      ].join('\n'),
    );
  }
}

/** A change whose steps are still under way when the next one is planned. */
async function unsettle(simulation: Simulation, draw: Seeded, start: Start): Promise<string> {
  const { what, patch } = drawChange(draw, start);
  const afterMs = draw.pick([300, 900, 1700, 2600]);
  try {
    simulation.user.patchService(patch);
  } catch {
    return `${what} (refused)`;
  }
  await simulation.run(afterMs);
  return `${what}, and ${afterMs} ms later`;
}

/** A change that the API server refuses in a plan, it refuses in earnest: that is a story, too. */
function refusalOf(error: unknown): Story {
  const text = error instanceof Error ? error.message : String(error);
  const [, words = text] = /is invalid: (.*)/s.exec(text) ?? [];
  return { steps: [], costs: new Map(), end: [`refused: ${words.slice(0, 60)}`] };
}

async function toldBefore(cluster: Cluster, patch: unknown): Promise<Story> {
  try {
    return storyOf(await planned(cluster, patch));
  } catch (error) {
    if (error instanceof Problem) return refusalOf(error);
    throw error;
  }
}

async function toldAfter(
  simulation: Simulation,
  start: Start,
  patch: Readonly<Record<string, unknown>>,
): Promise<Story> {
  const watched = watch(simulation, start);
  try {
    simulation.user.patchService(patch);
  } catch (error) {
    watched.stop();
    return refusalOf(error);
  }
  await simulation.settle();
  return watched.stop();
}

/** What the plugin says, asked through the API as by anybody. */
async function planned(cluster: Cluster, body: unknown): Promise<PlanReport> {
  const transport: Transport = {
    request: async (request) => cluster.handle({ ...request, user: 'kubectl' }),
    watch: () => {
      throw new Error('a plan watches nothing');
    },
  };
  const runtime: Runtime = {
    nowMs: () => cluster.nowMs,
    monotonicMs: () => cluster.nowMs,
    random: () => 0,
    setTimer: () => {
      throw new Error('a plan waits for nothing');
    },
  };
  const client = new Client({ transport, runtime });
  const before = cluster.resourceVersion;
  const report = await planChange(
    { transport, client, runtime, namespace, omeNamespace: configNamespace },
    {
      changes: {
        changes: [{ as: 'patch', target: { kind: 'InferenceService', name: 'chat' }, patch: { kind: 'merge', body } }],
        remarks: [],
      },
      quotaResources: 'all',
    },
  );
  if (cluster.resourceVersion !== before) throw new Error('a plan has written something');
  return report;
}

/** Follows what the controllers do until `stop`, which tells it. */
function watch({ cluster }: Simulation, start: Start): { stop(): Story } {
  const recorder = new StepRecorder();
  const gauge = new Gauge(1 + (start.workers ?? 0));
  const now = (): number => Math.floor(cluster.nowMs / 1000);
  const measure = (): void => gauge.read(recorder.steps, momentOf(cluster));
  recorder.read(statusOf(cluster), now());
  measure();
  const silence = cluster.onApplied((write) => {
    if (write.resource !== replicas && write.resource !== 'pods') return;
    recorder.read(statusOf(cluster), now());
    measure();
  });
  return {
    stop: () => {
      silence();
      const status = statusOf(cluster);
      const held = status.rolloutHold === undefined ? [] : [`held by ${status.rolloutHold.gate}`];
      return { steps: recorder.steps, costs: gauge.costs, end: [...staying(status), ...held] };
    },
  };
}

/** The same of a plan. */
function storyOf(report: PlanReport): Story {
  const plan = report.content.targets.flatMap((target) => target.replicas).find((one) => one.replica === replica);
  if (plan === undefined) throw new Error(`the plan does not speak of ${replica}`);
  const steps = plan.waves.flatMap(({ wave, operation, method, instances, replacements, from = '', to = '', ends }) =>
    instances.map((instance, at): Told => {
      const replacement = replacements?.[at];
      return {
        wave,
        operation,
        ...(method === undefined ? {} : { method }),
        instance,
        ...(replacement === undefined ? {} : { replacement }),
        from,
        to,
        ended: ends,
      };
    }),
  );
  const held = plan.waits.filter(({ ends, reason }) => ends === 'never' && gates.has(reason));
  const stays = plan.stays.map(({ instances, revision }) => `${instances.join(',')} on ${revision}`);
  return {
    steps,
    costs: new Map(plan.waves.map((wave) => [wave.wave, wave])),
    end: [...stays, ...held.slice(0, 1).map(({ reason }) => `held by ${reason}`)],
  };
}

/** Waits that a status publishes. */
const gates: ReadonlySet<string> = new Set(['Pairing', 'Ratio', 'Sequential', 'Budget', 'RetryBlock', 'Held', 'Plan']);

/** Every step, in the order of waves, and what each wave costs. */
function inFull({ steps, costs, end }: Story): string {
  return [...steps.map(lineOf).toSorted(), ...costLines(costs), ...end].join('\n');
}

/**
 * Where each Instance that is touched gets to. While steps are under way their waves hang on moments that no plan can know: a
 * pod that is ready in the next second is updated, one that is not is made anew.
 */
function outline({ steps, end }: Story): string {
  const last = new Map(steps.map((step) => [step.replacement === undefined ? step.instance : 'a gang', step]));
  const lines = [...last].map(
    ([who, { operation, to }]) => `${who} ${operation === 'Delete' ? 'goes' : `gets to ${to}`}`,
  );
  return [...lines.toSorted(), ...end].join('\n');
}

/**
 * Whether only waves were split: two slots that are freed in one second are given away in one pass or in two, which no plan
 * can know. The order of all steps, how they end and the most that is ever spent are the same.
 */
function isSplitOf(expected: Story, happened: Story): boolean {
  const most = ({ costs }: Story, of: (cost: Cost) => number): number => Math.max(0, ...[...costs.values()].map(of));
  return (
    inSequence(expected) === inSequence(happened) &&
    most(happened, ({ surge }) => surge) <= most(expected, ({ surge }) => surge) &&
    most(happened, ({ outOfService }) => outOfService) <= most(expected, ({ outOfService }) => outOfService)
  );
}

/** Every step in its order, without its wave. */
function inSequence({ steps, end }: Story): string {
  const inOrder = steps.toSorted((a, b) => a.wave - b.wave || a.instance - b.instance);
  return [...inOrder.map((step) => lineOf({ ...step, wave: 0 })), ...end].join('\n');
}

/** Which of two gangs of a wave gets which of two indices is a matter of moments: where they go is told by the wave. */
function lineOf({ wave, operation, method, instance, replacement, from, to, ended }: Told): string {
  const place = replacement === undefined ? instance : `${instance} -> *`;
  return `wave ${wave}: ${place} ${operation} ${method ?? ''} ${from || '-'} > ${to || '-'}: ${ended}`;
}

/** How few serve is told of the whole: whether two of a wave end at one moment is not for a plan to say. */
function costLines(costs: ReadonlyMap<number, Cost>): readonly string[] {
  const lines = [...costs]
    .toSorted(([a], [b]) => a - b)
    .map(([wave, { surge, outOfService }]) => `wave ${wave} costs ${surge} surge, ${outOfService} out`);
  const fewest = Math.min(...[...costs.values()].map(({ fewestServing }) => fewestServing));
  return costs.size === 0 ? [] : [...lines, `${fewest} serve at least`];
}

/** The pods as the API server has them, read without the controllers' eyes. */
function momentOf(cluster: Cluster): Moment {
  const pods = cluster.objects('pods', namespace).map((pod) => {
    const { labels = {}, name, uid, deletionTimestamp } = pod.metadata;
    const isServing = isReady(pod);
    return {
      name,
      uid,
      index: Number(labels[label.instanceIndex]),
      runner: labels[label.runner],
      phase: 'Running',
      ready: isServing,
      gate: { state: isServing ? 'true' : 'absent' },
      ...(deletionTimestamp === undefined ? {} : { deletionAt: 0 }),
    } as PodView;
  });
  return { pods, isRouted: () => true };
}

function staying(status: DecodedStatus): readonly string[] {
  const behind = new Map<string, number[]>();
  for (const row of status.rows.values()) {
    if (row.running === '' || row.running === status.update) continue;
    behind.set(
      row.running,
      [...(behind.get(row.running) ?? []), row.index].toSorted((a, b) => a - b),
    );
  }
  return [...behind].map(([revision, instances]) => `${instances.join(',')} on ${revision}`);
}

function statusOf(cluster: Cluster): DecodedStatus {
  const object: KubeObject | undefined = cluster.object(replicas, `${namespace}/${replica}`);
  if (object?.['status'] === undefined) return emptyStatus;
  const decoded = decodeStatus(object['status']);
  if (!decoded.ok) throw new Error(decoded.message);
  return decoded.status;
}
