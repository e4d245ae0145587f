/**
 * Stories of what users do. Each is a list of steps; after each step the world settles, and where it settles is the same
 * whatever is killed, lost or late on the way. The last step of a story is the one that its name is about.
 */
import type { Cluster } from '@omenative/sim';
import { rowsOf, servingCount, statusOf } from './replica-view.js';
import { rollouts } from './rollouts.js';
import type { Scenario, Step } from './scenario.js';
import { type ServiceManifest, service, standalone } from './user.js';

const chat = 'lab/chat-engine';

const create = (replicas: number, image = 'v1', instanceReadyTimeout = '10m'): Step => ({
  name: `create ${replicas} at ${image}`,
  act: (user) => user.create(service({ replicas, image, instanceReadyTimeout })),
});

const createGang = (replicas: number, workers: number, more: Partial<ServiceManifest> = {}): Step => ({
  name: `create ${replicas} gangs of ${workers + 1}`,
  act: (user) => user.create(service({ replicas, image: 'v1', workers, instanceReadyTimeout: '10m', ...more })),
});

/** Instances that are updated by taking each out of service. */
const createFor = (replicas: number, strategy: NonNullable<ServiceManifest['strategy']>): Step => ({
  name: `create ${replicas} for ${strategy}`,
  act: (user) => user.create(service({ replicas, image: 'v1', strategy, instanceReadyTimeout: '10m' })),
});

const scale = (replicas: number): Step => ({ name: `scale to ${replicas}`, act: (user) => user.scale(replicas) });
const image = (to: string): Step => ({ name: `image ${to}`, act: (user) => user.setImage(to) });
const deleteService: Step = { name: 'delete', act: (user) => user.deleteService() };

/** Milliseconds without a write after which a revision has had its last attempt. */
const ladderMs = 200_000;
/** Milliseconds without a write after which an Instance that no node has room for has been given up and tried again. */
const roomMs = 1_200_000;

/** The surge waits, in words, and the old Instances serve. */
function isWithoutRoom(cluster: Cluster): string | undefined {
  const waiting = rowsOf(cluster).flatMap((row) => (row.kind === 'updating' ? [row.op.waiting] : []));
  const told = `${servingCount(cluster)} serve, and one waits for ${waiting.join()}`;
  return told === '3 serve, and one waits for Unschedulable' ? undefined : told;
}

/** Both failed in the first wave, and that cost the revision one of its three attempts. */
function isHeldInTime(cluster: Cluster): string | undefined {
  const { state, attempts, firstFailureAt = 0, lastFailureAt = 0 } = statusOf(cluster).blocks[0] ?? {};
  const sec = lastFailureAt - firstFailureAt;
  return state === 'Held' && attempts === 3 && sec >= 300 ? undefined : `${state} after ${attempts} in ${sec} s`;
}

/** Nothing moves, and the status says why. */
function isRefused(cluster: Cluster): string | undefined {
  const { gate = 'nothing', reason = '' } = statusOf(cluster).rolloutHold ?? {};
  const isTold = gate === 'Plan' && reason.includes('InPlaceOnly') && servingCount(cluster) === 2;
  return isTold ? undefined : `the rollout is held by ${gate}: ${reason}`;
}

const lives: readonly Scenario[] = [
  { name: 'create', steps: [create(2)], caps: { 'chat-engine': 2 } },
  { name: 'create-gang', steps: [createGang(2, 2)], caps: { 'chat-engine': 6 } },
  { name: 'scale-up', steps: [create(1), scale(3)], caps: { 'chat-engine': 3 }, traffic: chat },
  { name: 'scale-down', steps: [create(3), scale(1)], caps: { 'chat-engine': 3 }, traffic: chat },
  {
    name: 'in-place-and-not',
    steps: [
      createFor(2, 'InPlaceIfPossible'),
      image('v2'),
      { name: 'other arguments', act: (user) => user.setArgs(['--fast']) },
    ],
    caps: { 'chat-engine': 2 },
    traffic: chat,
  },
  {
    name: 'in-place-only',
    steps: [
      createFor(2, 'InPlaceOnly'),
      image('v2'),
      {
        name: 'other arguments, which no running pod can follow',
        act: (user) => user.setArgs(['--fast']),
        proves: isRefused,
      },
      { name: 'the old arguments', act: (user) => user.setArgs([]) },
    ],
    caps: { 'chat-engine': 2 },
    traffic: chat,
  },
  {
    name: 'in-place-only-bad-image',
    steps: [createFor(3, 'InPlaceOnly'), image('bad'), image('v2')],
    caps: { 'chat-engine': 3 },
    traffic: chat,
  },
  {
    name: 'in-place-in-rotation',
    steps: [
      {
        name: 'create 2 that stay in rotation while they are updated',
        act: (user) =>
          user.create(service({ replicas: 2, image: 'v1', strategy: 'InPlaceIfPossible', markNotReady: false })),
      },
      image('v2'),
    ],
    caps: { 'chat-engine': 2 },
  },
  {
    name: 'no-room',
    steps: [
      {
        name: 'create 3 that fill a node each',
        act: (user) => user.create(service({ replicas: 3, image: 'v1', cpu: 20, instanceReadyTimeout: '10m' })),
      },
      { name: 'image v2, for which no node has room', act: (user) => user.setImage('v2'), proves: isWithoutRoom },
      {
        name: 'RecreatePod',
        act: (user) => user.setStrategy({ type: 'RecreatePod', rollingUpdate: { maxUnavailable: 1 } }),
        quietMs: roomMs,
        ends: 'in some life',
      },
    ],
    caps: { 'chat-engine': 4 },
    traffic: chat,
  },
  {
    name: 'bad-image-in-waves',
    steps: [
      { name: 'create 2', act: (user) => user.create(service({ replicas: 2, image: 'v1', maxSurge: 2 })) },
      {
        name: 'image bad, on two at a time',
        act: (user) => user.setImage('bad'),
        quietMs: ladderMs,
        proves: isHeldInTime,
      },
    ],
    caps: { 'chat-engine': 4 },
    traffic: chat,
  },
  {
    name: 'never-ready',
    steps: [create(2, 'v1', '60s'), image('dark'), image('v1')],
    caps: { 'chat-engine': 3 },
    traffic: chat,
  },
  {
    name: 'bad-create',
    steps: [{ ...create(2, 'bad'), quietMs: ladderMs, proves: isHeldInTime }, image('v1')],
    caps: { 'chat-engine': 2 },
  },
  {
    name: 'lost-pod',
    steps: [create(2), { name: 'somebody deletes a pod', act: (user) => user.deletePod('chat-engine-0-default-0') }],
    caps: { 'chat-engine': 2 },
    podChaos: true,
  },
  {
    name: 'lost-member',
    steps: [
      createGang(1, 2),
      { name: 'somebody deletes a worker', act: (user) => user.deletePod('chat-engine-0-worker-1') },
    ],
    caps: { 'chat-engine': 3 },
    podChaos: true,
  },
  { name: 'delete', steps: [create(2), deleteService], caps: { 'chat-engine': 2 }, ends: 'empty' },
  { name: 'delete-gang', steps: [createGang(1, 2), deleteService], caps: { 'chat-engine': 3 }, ends: 'empty' },
  {
    name: 'standalone',
    steps: [
      { name: 'create', act: (user) => user.create(standalone('pool', 2, 'v1')) },
      { name: 'scale', act: (user) => user.patchReplica('pool', { spec: { replicas: 3 } }) },
      { name: 'delete', act: (user) => user.deleteReplica('pool') },
    ],
    caps: { pool: 3 },
    ends: 'empty',
  },
];

export const scenarios: readonly Scenario[] = [...lives, ...rollouts];

/** @throws Error naming the known scenarios. */
export function scenarioNamed(name: string): Scenario {
  const found = scenarios.find((scenario) => scenario.name === name);
  if (found === undefined)
    throw new Error(`no scenario ${name}; there are: ${scenarios.map((s) => s.name).join(', ')}`);
  return found;
}
