/**
 * Stories of what users do. Each is a list of steps; after each step the world settles, and where it settles is the same
 * whatever is killed, lost or late on the way. The last step of a story is the one that its name is about.
 */
import type { WorldOptions } from '@omenative/sim';
import { service, standalone, type User } from './user.js';

export interface Step {
  readonly name: string;
  act(user: User): void;
  /** What follows while the step is under way, after so many milliseconds: a user who does not wait. */
  readonly meanwhile?: readonly { readonly afterMs: number; act(user: User): void }[];
  /** Where the step ends depends on how far things had come; what follows it does not. */
  readonly ends?: 'by timing';
}

export interface Scenario {
  readonly name: string;
  readonly steps: readonly Step[];
  /** Live pods that the replica may have at most, by name. */
  readonly caps: Readonly<Record<string, number>>;
  /** The Service that requests are sent to; no request may fail from the end of the first step on. */
  readonly traffic?: string;
  /** Nothing may be left in the end. */
  readonly ends?: 'empty';
  readonly world?: Partial<WorldOptions>;
  /** Pods fail by themselves or by the user's hand: a request may fail, a replacement may go dark. */
  readonly podChaos?: true;
}

/** An image that can't be pulled, beside ones that can. */
export const world: Partial<WorldOptions> = {
  imageScripts: {
    bad: { pull: 'fail' },
    dark: { readyMs: 'never' },
  },
};

const chat = 'lab/chat-engine';

const create = (replicas: number, image = 'v1', instanceReadyTimeout = '10m'): Step => ({
  name: `create ${replicas} at ${image}`,
  act: (user) => user.create(service({ replicas, image, instanceReadyTimeout })),
});

const createGang = (replicas: number, workers: number): Step => ({
  name: `create ${replicas} gangs of ${workers + 1}`,
  act: (user) => user.create(service({ replicas, image: 'v1', workers, instanceReadyTimeout: '10m' })),
});

const scale = (replicas: number): Step => ({ name: `scale to ${replicas}`, act: (user) => user.scale(replicas) });
const image = (to: string): Step => ({ name: `image ${to}`, act: (user) => user.setImage(to) });
const deleteService: Step = { name: 'delete', act: (user) => user.deleteService() };

export const scenarios: readonly Scenario[] = [
  { name: 'create', steps: [create(2)], caps: { 'chat-engine': 2 } },
  { name: 'create-gang', steps: [createGang(2, 2)], caps: { 'chat-engine': 6 } },
  { name: 'scale-up', steps: [create(1), scale(3)], caps: { 'chat-engine': 3 }, traffic: chat },
  { name: 'scale-down', steps: [create(3), scale(1)], caps: { 'chat-engine': 3 }, traffic: chat },
  { name: 'surge', steps: [create(2), image('v2')], caps: { 'chat-engine': 3 }, traffic: chat },
  {
    name: 'retarget',
    steps: [
      create(2),
      {
        name: 'image v2, and v3 before v2 serves',
        act: (user) => user.setImage('v2'),
        meanwhile: [{ afterMs: 1500, act: (user) => user.setImage('v3') }],
      },
    ],
    caps: { 'chat-engine': 3 },
    traffic: chat,
  },
  {
    name: 'regret',
    steps: [
      create(2),
      {
        name: 'image v2, and back before v2 serves',
        act: (user) => user.setImage('v2'),
        meanwhile: [{ afterMs: 1500, act: (user) => user.setImage('v1') }],
      },
    ],
    caps: { 'chat-engine': 3 },
    traffic: chat,
  },
  { name: 'bad-image', steps: [create(2), image('bad'), image('v2')], caps: { 'chat-engine': 3 }, traffic: chat },
  {
    name: 'never-ready',
    steps: [create(2, 'v1', '60s'), image('dark'), image('v1')],
    caps: { 'chat-engine': 3 },
    traffic: chat,
  },
  {
    name: 'bad-create',
    steps: [create(2, 'bad'), image('v1')],
    caps: { 'chat-engine': 2 },
  },
  {
    name: 'pause',
    steps: [
      create(2),
      {
        name: 'image v2, paused in the middle',
        act: (user) => user.setImage('v2'),
        meanwhile: [{ afterMs: 800, act: (user) => user.pause('true') }],
        ends: 'by timing',
      },
      { name: 'resume', act: (user) => user.pause(null) },
    ],
    caps: { 'chat-engine': 3 },
    traffic: chat,
  },
  {
    name: 'scale-in-surge',
    steps: [
      create(3),
      {
        name: 'image v2, and down to two while it rolls',
        act: (user) => user.setImage('v2'),
        meanwhile: [{ afterMs: 6000, act: (user) => user.scale(2) }],
        // Who leaves depends on who was on his way just then.
        ends: 'by timing',
      },
    ],
    caps: { 'chat-engine': 4 },
    traffic: chat,
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
    name: 'delete-in-surge',
    steps: [
      create(2),
      {
        name: 'image v2, and deleted while it rolls',
        act: (user) => user.setImage('v2'),
        meanwhile: [{ afterMs: 3000, act: (user) => user.deleteService() }],
      },
    ],
    caps: { 'chat-engine': 3 },
    ends: 'empty',
  },
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

/** @throws Error naming the known scenarios. */
export function scenarioNamed(name: string): Scenario {
  const found = scenarios.find((scenario) => scenario.name === name);
  if (found === undefined)
    throw new Error(`no scenario ${name}; there are: ${scenarios.map((s) => s.name).join(', ')}`);
  return found;
}
