/**
 * What may happen to an update, told for each way to update: the same stories, so that no strategy is left without one. A
 * scenario is named after its way and its story.
 */
import { annotation } from '@omenative/api';
import type { Cluster } from '@omenative/sim';
import { isInRotation } from './pods.js';
import { imageOf, type Moment, podsOf, servingCount, statusOf } from './replica-view.js';
import type { Scenario, Step } from './scenario.js';
import { type ServiceManifest, service, type User } from './user.js';

/** Members of an update strategy. */
type StrategyPatch = Parameters<User['setStrategy']>[0];

/** A way to update. */
interface Way {
  readonly name: string;
  readonly manifest: ServiceManifest;
  /** Live pods that there may be at most while nobody scales. */
  readonly cap: number;
  /** Another way, to change to in mid-rollout. */
  readonly other: NonNullable<ServiceManifest['strategy']>;
}

const two: ServiceManifest = { replicas: 2, image: 'v1', instanceReadyTimeout: '10m' };
const twoGangs: ServiceManifest = { ...two, workers: 1 };

const ways: readonly Way[] = [
  { name: 'surge', manifest: { ...two, strategy: 'SurgeThenDrain' }, cap: 3, other: 'RecreatePod' },
  { name: 'gang-surge', manifest: { ...twoGangs, strategy: 'SurgeThenDrain' }, cap: 6, other: 'RecreatePod' },
  { name: 'recreate', manifest: { ...two, strategy: 'RecreatePod' }, cap: 2, other: 'InPlaceIfPossible' },
  { name: 'gang-recreate', manifest: { ...twoGangs, strategy: 'RecreatePod' }, cap: 4, other: 'SurgeThenDrain' },
  { name: 'in-place', manifest: { ...two, strategy: 'InPlaceIfPossible' }, cap: 2, other: 'SurgeThenDrain' },
];

const chat = 'lab/chat-engine';

/** Milliseconds in which a crash loop meets a pause of two minutes. */
const crashingMs = 400_000;

/**
 * Milliseconds without a write after which a revision has had its last attempt. A gang that was recreated in vain counts its
 * own tries, also those before a release, and waits up to eight minutes.
 */
function ladderMs({ name }: Way): number {
  return name === 'gang-recreate' ? 600_000 : 200_000;
}

function shapeOf({ manifest }: Way): 'pods' | 'gangs' {
  return manifest.workers === undefined ? 'pods' : 'gangs';
}

function perGang({ manifest }: Way): number {
  return (manifest.workers ?? 0) + 1;
}

function create(way: Way, more: Partial<ServiceManifest> = {}): Step {
  const manifest = { ...way.manifest, ...more };
  return { name: `create ${manifest.replicas}`, act: (user) => user.create(service(manifest)) };
}

function image(way: Way, to: string, more: Partial<Step> = {}): Step {
  return { name: `image ${to}`, act: (user) => user.setImage(to, shapeOf(way)), ...more };
}

/** A step that begins with image v2 and goes on with something else at some moment of that update. */
function inMid(way: Way, moment: Moment, name: string, act: (user: User) => void, more: Partial<Step> = {}): Step {
  return image(way, 'v2', {
    name: `image v2 and, when ${moment}, ${name}`,
    meanwhile: [{ once: moment, act }],
    ...more,
  });
}

function told(way: Way, story: string, steps: readonly Step[], more: Partial<Scenario> = {}): Scenario {
  const name = story === '' ? way.name : `${way.name}-${story}`;
  return { name, steps, caps: { 'chat-engine': way.cap }, traffic: chat, ...more };
}

/** All Instances serve, with this image. */
function serves(count: number, to: string): (cluster: Cluster) => string | undefined {
  return (cluster) => {
    const images = [...new Set(podsOf(cluster).map(imageOf))].join();
    const serving = servingCount(cluster);
    return serving === count && images === to ? undefined : `${serving} of ${count} serve, with ${images} for ${to}`;
  };
}

/** Seconds between the first failure of a revision and its third: two pauses, and twice the grace of a stuck pod. */
const laddersSec = 60 + 60 + 120 + 60;

/** The target is held after three attempts with their pauses, and `serving` Instances still serve. */
function isHeld(serving: number): (cluster: Cluster) => string | undefined {
  return (cluster) => {
    const { blocks, update, rolloutHold } = statusOf(cluster);
    const block = blocks.find(({ target }) => target === update);
    const state = `${block?.state} after ${block?.attempts}, ${rolloutHold?.gate}, ${servingCount(cluster)} serving`;
    const { firstFailureAt = 0, lastFailureAt = 0 } = block ?? {};
    const isPaced = lastFailureAt - firstFailureAt >= laddersSec;
    const isRight = state === `Held after 3, Held, ${serving} serving` && isPaced;
    return isRight
      ? undefined
      : `the bad revision is ${state}, ${lastFailureAt - firstFailureAt} s after it first failed`;
  };
}

/** The request has been taken off the replica, and the bad revision is held as before. */
function isActedOn(key: string, serving: number): (cluster: Cluster) => string | undefined {
  return (cluster) => {
    const replica = cluster.objects('inferencereplicas.ome.io').find(({ metadata }) => metadata.name === 'chat-engine');
    const isThere = replica?.metadata.annotations?.[key] !== undefined;
    return isThere ? `${key} is still there` : isHeld(serving)(cluster);
  };
}

/** Without a surge one Instance is lost to a revision that can't start. */
function leftBy(way: Way): number {
  return way.manifest.strategy === 'SurgeThenDrain' ? way.manifest.replicas : way.manifest.replicas - 1;
}

function budget(way: Way, value: number): StrategyPatch {
  return {
    rollingUpdate: way.manifest.strategy === 'SurgeThenDrain' ? { maxSurge: value } : { maxUnavailable: value },
  };
}

/** `behind` Instances stay on the prior revision, and the replica says so. */
function isStaged(behind: number): (cluster: Cluster) => string | undefined {
  return (cluster) => {
    const { rows, update, conditions } = statusOf(cluster);
    const left = [...rows.values()].filter((row) => row.running !== update).length;
    const ready = conditions.find(({ type }) => type === 'Ready');
    const state = `${left} behind, ${ready?.status}/${ready?.reason}: ${ready?.message}`;
    const updated = rows.size - behind;
    const wanted = `${behind} behind, True/Staged: Staged at partition ${behind}: ${updated}/${rows.size} Instances on ${update}, ${behind} held on the prior revision`;
    return state === wanted ? undefined : state;
  };
}

/** A budget of nothing moves nothing, and the status says why. */
function isOutOfBudget(cluster: Cluster): string | undefined {
  const { gate, reason, target, since } = statusOf(cluster).rolloutHold ?? {};
  const isTold = gate === 'Budget' && target === statusOf(cluster).update && since !== undefined;
  const isExplained = /^per-Component (surge|unavailability) budget 0 exhausted \(would become 1\)$/.test(reason ?? '');
  return isTold && isExplained ? serves(2, 'v1')(cluster) : `the rollout is held by ${gate}: ${reason}`;
}

const retargets: readonly Moment[] = ['opened', 'made', 'draining', 'half'];

function changesOfMind(way: Way): readonly Scenario[] {
  return retargets.flatMap((moment) => [
    told(way, `retarget-${moment}`, [
      create(way),
      inMid(way, moment, 'image v3', (user) => user.setImage('v3', shapeOf(way)), {
        ends: 'in some life',
        proves: serves(2, 'v3'),
      }),
    ]),
    told(way, `regret-${moment}`, [
      create(way),
      inMid(way, moment, 'back to v1', (user) => user.setImage('v1', shapeOf(way)), {
        ends: 'in some life',
        proves: serves(2, 'v1'),
      }),
    ]),
    told(way, `pause-${moment}`, [
      create(way),
      inMid(way, moment, 'paused', (user) => user.pause('true'), { ends: 'by timing' }),
      { name: 'resume', act: (user) => user.pause(null), proves: serves(2, 'v2') },
    ]),
  ]);
}

function releaseTarget(user: User, cluster: Cluster): void {
  user.annotateReplica({ [annotation.releaseHeldRevision]: statusOf(cluster).update });
}

function failures(way: Way): readonly Scenario[] {
  const bad = image(way, 'bad', { quietMs: ladderMs(way), proves: isHeld(leftBy(way)) });
  const corrected = image(way, 'v2', { proves: serves(2, 'v2') });
  return [
    told(way, 'bad-image', [create(way), bad, corrected], { ids: '[E152]' }),
    told(
      way,
      'release',
      [
        create(way),
        bad,
        {
          name: 'release',
          act: releaseTarget,
          quietMs: ladderMs(way),
          proves: isActedOn(annotation.releaseHeldRevision, leftBy(way)),
        },
        corrected,
      ],
      { ids: '[A9]' },
    ),
    told(way, 'reset', [
      create(way),
      bad,
      {
        name: 'reset all',
        act: (user) => user.annotateReplica({ [annotation.resetInstances]: 'all' }),
        proves: isActedOn(annotation.resetInstances, leftBy(way)),
      },
      corrected,
    ]),
    told(way, 'crash-loop', [
      create(way),
      image(way, 'crash', {
        meanwhile: [{ afterMs: crashingMs, act: (user) => user.setImage('v2', shapeOf(way)) }],
        ends: 'in some life',
        proves: serves(2, 'v2'),
      }),
    ]),
  ];
}

function limits(way: Way): readonly Scenario[] {
  return [
    told(way, 'min-ready', [create(way, { minReadySeconds: 3 }), image(way, 'v2', { proves: serves(2, 'v2') })]),
    told(
      way,
      'partition',
      [
        create(way),
        { name: 'partition 1', act: (user) => user.setStrategy({ rollingUpdate: { partition: 1 } }) },
        image(way, 'v2', { proves: isStaged(1) }),
        {
          name: 'partition 0',
          act: (user) => user.setStrategy({ rollingUpdate: { partition: 0 } }),
          proves: serves(2, 'v2'),
        },
      ],
      { ids: '[A4]' },
    ),
    told(
      way,
      'budget',
      [
        create(way),
        { name: 'budget 0', act: (user) => user.setStrategy(budget(way, 0)) },
        image(way, 'v2', { proves: isOutOfBudget }),
        { name: 'budget 1', act: (user) => user.setStrategy(budget(way, 1)), proves: serves(2, 'v2') },
      ],
      { ids: '[A5]' },
    ),
  ];
}

function otherChanges(way: Way): readonly Scenario[] {
  const wide = way.cap + perGang(way);
  return [
    told(
      way,
      'strategy',
      [
        create(way),
        inMid(way, 'made', way.other, (user) => user.setStrategy(strategyPatch(way.other)), {
          ends: 'in some life',
          proves: serves(2, 'v2'),
        }),
      ],
      { caps: { 'chat-engine': Math.max(way.cap, 3 * perGang(way)) } },
    ),
    told(
      way,
      'scale-up',
      [create(way), inMid(way, 'made', 'up to 3', (user) => user.scale(3), { proves: serves(3, 'v2') })],
      {
        caps: { 'chat-engine': wide },
      },
    ),
    // Who leaves, and so how often those that stay were made, depends on who was on his way just then.
    told(
      way,
      'scale-down',
      [
        create(way, { replicas: 3 }),
        inMid(way, 'made', 'down to 2', (user) => user.scale(2), { ends: 'in some life', proves: serves(2, 'v2') }),
      ],
      { caps: { 'chat-engine': wide } },
    ),
    told(way, 'rollback', [
      create(way),
      image(way, 'v2', { proves: serves(2, 'v2') }),
      { name: 'roll back', act: (user, cluster) => user.rollBack(firstRevisionOf(cluster)), proves: serves(2, 'v1') },
      { name: 'no rollback any more', act: (user) => user.rollBack(null), proves: serves(2, 'v2') },
    ]),
  ];
}

function firstRevisionOf(cluster: Cluster): string {
  const revisions = cluster.objects('controllerrevisions.apps');
  return revisions.toSorted((a, b) => Number(a['revision']) - Number(b['revision']))[0]?.metadata.name ?? '';
}

function strategyPatch(type: Way['other']): StrategyPatch {
  return { type, rollingUpdate: { maxSurge: 1, maxUnavailable: 1 } };
}

function losses(way: Way): readonly Scenario[] {
  const untended = { podChaos: true } as const;
  const lose = (name: string, isMeant: Parameters<User['deleteSomePod']>[0]): Step =>
    inMid(way, 'made', name, (user) => user.deleteSomePod(isMeant), { ends: 'in some life', proves: serves(2, 'v2') });
  const remove = (moment: Moment): Step => inMid(way, moment, 'deleted', (user) => user.deleteService());
  const stories = [
    told(way, 'lost-old', [create(way), lose('an old pod is lost', isInRotation)], untended),
    told(way, 'lost-new', [create(way), lose('a new pod is lost', (pod) => imageOf(pod) === 'v2')], untended),
    told(way, 'delete-made', [create(way), remove('made')], { ends: 'empty' }),
    told(way, 'delete-draining', [create(way), remove('draining')], { ends: 'empty' }),
  ];
  // Requests may fail while pods are lost, and when nothing is left.
  return stories.map(({ traffic: _traffic, ...story }) => story);
}

/** One Instance alone: short enough for a crash at each of its writes. */
function alone(way: Way): readonly Scenario[] {
  const lone: Way = {
    ...way,
    name: `lone-${way.name}`,
    manifest: { ...way.manifest, replicas: 1 },
    cap: way.cap - perGang(way),
  };
  const stories = [
    told(lone, '', [create(lone), image(lone, 'v2', { proves: serves(1, 'v2') })]),
    told(lone, 'retarget', [
      create(lone),
      inMid(lone, 'made', 'image v3', (user) => user.setImage('v3', shapeOf(lone)), {
        ends: 'in some life',
        proves: serves(1, 'v3'),
      }),
    ]),
  ];
  // Where the only Instance is taken out of service, requests fail.
  return way.manifest.strategy === 'SurgeThenDrain' ? stories : stories.map(({ traffic: _traffic, ...story }) => story);
}

/** Every story of every way. */
export const rollouts: readonly Scenario[] = ways.flatMap((way) => [
  told(way, '', [create(way), image(way, 'v2', { proves: serves(2, 'v2') })]),
  ...changesOfMind(way),
  ...failures(way),
  ...limits(way),
  ...otherChanges(way),
  ...losses(way),
  ...alone(way),
]);
