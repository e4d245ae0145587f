/**
 * Users who do not wait: a few random changes to a service, one soon after the other, in any weather. Whatever happened on the
 * way, the end is that of a service made from the last spec alone.
 */
import { outcomeOf } from './outcome.js';
import { world } from './scenario.js';
import { Seeded } from './seeded.js';
import { Simulation } from './simulation.js';
import { Storm, weatherOf } from './storm.js';
import { Failure } from './story.js';
import { difference } from './sweep.js';
import { type ServiceManifest, service, type User } from './user.js';

/** What the user wants at some moment. */
interface Wish {
  readonly manifest: ServiceManifest;
  readonly pause: 'true' | 'freeze' | null;
  /** All Instances go back to the oldest revision that is stored. */
  readonly rollback: 'oldest' | 'none';
}

interface Change {
  readonly afterMs: number;
  readonly what: string;
  readonly wish: Wish;
}

export interface Sequence {
  readonly first: Wish;
  readonly changes: readonly Change[];
}

type Strategy = NonNullable<ServiceManifest['strategy']>;

const strategies: readonly Strategy[] = ['SurgeThenDrain', 'RecreatePod', 'InPlaceIfPossible', 'InPlaceOnly'];

/** Images that a user may ask for on the way: some work, and some do not. */
const images = ['v1', 'v2', 'v2', 'v3', 'v3', 'bad', 'dark', 'crash'] as const;

/** Milliseconds without a write after which an attempt that the storm has cost has been made again. */
const quietMs = 200_000;
/** Milliseconds of faults after the last change. */
const stormMs = 20_000;

/** Draws what users ask for. The last wish can be fulfilled, and says all by itself where the service is to end. */
export function sequenceOf(seed: number): Sequence {
  const draw = new Seeded(seed * 31 + 7);
  // In some sequences nothing but surges, so that no request may fail.
  const mayChoose = draw.below(5) < 3 ? strategies : (['SurgeThenDrain'] as const);
  const manifest: ServiceManifest = {
    replicas: 1 + draw.below(3),
    image: 'v1',
    strategy: draw.pick(mayChoose),
    maxSurge: 1 + draw.below(2),
    maxUnavailable: 1 + draw.below(2),
    partition: 0,
    args: [],
    instanceReadyTimeout: '2m',
    ...(draw.below(3) === 0 ? { workers: 1 } : {}),
  };
  const first: Wish = { manifest, pause: null, rollback: 'none' };
  const changes: Change[] = [];
  let wish = first;
  for (let left = 1 + draw.below(4); left > 0; left -= 1) {
    const { what, wish: next } = drawChange(draw, wish, mayChoose);
    wish = next;
    changes.push({ afterMs: draw.pick([0, 300, 1200, 3000, 6000, 15_000, 90_000]), what, wish });
  }
  const last = fulfillable(draw, wish);
  changes.push({ afterMs: draw.pick([300, 1200, 3000, 6000, 15_000]), what: 'the last word', wish: last });
  return { first, changes };
}

function drawChange(draw: Seeded, wish: Wish, mayChoose: readonly Strategy[]): Pick<Change, 'what' | 'wish'> {
  const set = (what: string, more: Partial<ServiceManifest>): Pick<Change, 'what' | 'wish'> => ({
    what,
    wish: { ...wish, manifest: { ...wish.manifest, ...more } },
  });
  switch (draw.below(13)) {
    case 0:
    case 1:
    case 2:
    case 3: {
      const image = draw.pick(images);
      return set(`image ${image}`, { image });
    }
    case 4: {
      const args = draw.pick([[], ['--fast'], ['--slow']]);
      return set(`args [${args.join()}]`, { args });
    }
    case 5:
    case 6: {
      const strategy = draw.pick(mayChoose);
      return set(strategy, { strategy });
    }
    case 7: {
      const maxSurge = draw.below(3);
      return set(`maxSurge ${maxSurge}`, { maxSurge });
    }
    case 8: {
      const maxUnavailable = draw.below(3);
      return set(`maxUnavailable ${maxUnavailable}`, { maxUnavailable });
    }
    case 9: {
      const partition = draw.below(3);
      return set(`partition ${partition}`, { partition });
    }
    case 10: {
      const pause = draw.pick(['true', 'freeze', null] as const);
      return { what: `pause ${pause}`, wish: { ...wish, pause } };
    }
    case 11: {
      const rollback = draw.pick(['oldest', 'none'] as const);
      return { what: `rollback ${rollback}`, wish: { ...wish, rollback } };
    }
    default: {
      const replicas = 1 + draw.below(4);
      return set(`${replicas} replicas`, { replicas });
    }
  }
}

/** Nothing holds it back, and its pods can start. */
function fulfillable(draw: Seeded, { manifest }: Wish): Wish {
  const { image, strategy, maxSurge, maxUnavailable } = manifest;
  const isGood = /^v[0-9]$/.test(image);
  return {
    manifest: {
      ...manifest,
      image: isGood ? image : draw.pick(['v1', 'v2', 'v3']),
      // A change that no running pod can follow would be refused.
      strategy: strategy === 'InPlaceOnly' ? 'InPlaceIfPossible' : (strategy ?? 'SurgeThenDrain'),
      maxSurge: maxSurge === 0 ? 1 : (maxSurge ?? 1),
      maxUnavailable: maxUnavailable === 0 ? 1 : (maxUnavailable ?? 1),
      partition: 0,
    },
    pause: null,
    rollback: 'none',
  };
}

/** Where a service ends that is made like this and left alone. */
async function outcomeAlone({ manifest }: Wish): Promise<string> {
  const simulation = new Simulation({ seed: 1, world });
  simulation.startManager();
  simulation.user.create(service(manifest));
  await simulation.settle();
  return outcomeOf(simulation.cluster, 'in some life');
}

/** @throws Failure that tells what was asked for, and in which weather. */
export async function endureSequence(seed: number): Promise<void> {
  const weather = weatherOf(seed);
  const { first, changes } = sequenceOf(seed);
  const told = changes.map(({ afterMs, what }) => `${afterMs} ms, ${what}`).join('; ');
  const isSurgeOnly = [first, ...changes.map(({ wish }) => wish)].every(
    ({ manifest }) => manifest.strategy === 'SurgeThenDrain',
  );
  const traffic = isSurgeOnly ? { traffic: ['lab/chat-engine'] } : {};
  const simulation = new Simulation({ seed, world, ...traffic });
  const { cluster, user, invariants, probes } = simulation;
  try {
    simulation.startManager();
    user.create(service(first.manifest));
    await simulation.settle();
    simulation.startTraffic();
    const storm = new Storm(simulation, weather, seed);
    storm.rise();
    let last = first;
    for (const { afterMs, what, wish } of changes) {
      await storm.run(afterMs);
      cluster.note(what);
      ask(user, last, wish, () => oldestRevision(simulation));
      last = wish;
    }
    await storm.run(stormMs);
    await storm.calm();
    await simulation.settle(quietMs);
    const broken = invariants.violations[0];
    if (broken !== undefined) throw new Failure(broken.message);
    if (probes.failed > 0)
      throw new Failure(`${probes.failed} of ${probes.sent} requests failed: ${probes.failures[0]}`);
    const [alone, ended] = [await outcomeAlone(last), outcomeOf(cluster, 'in some life')];
    if (ended !== alone) throw new Failure(`it ended elsewhere than the last spec alone:\n${difference(alone, ended)}`);
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    const start = JSON.stringify(first.manifest);
    throw new Failure(
      `seed ${seed}, weather ${JSON.stringify(weather)}\n${start}; then after ${told}\n${text}\n${simulation.tail(150)}`,
    );
  }
}

function oldestRevision({ cluster }: Simulation): string {
  const revisions = cluster.objects('controllerrevisions.apps');
  return revisions.toSorted((a, b) => Number(a['revision']) - Number(b['revision']))[0]?.metadata.name ?? '';
}

/** What of a wish is new is asked for. */
function ask(user: User, last: Wish, wish: Wish, oldest: () => string): void {
  const { spec } = service(wish.manifest) as { readonly spec: Readonly<Record<string, unknown>> };
  user.patchService({ spec });
  if (wish.pause !== last.pause) user.pause(wish.pause);
  if (wish.rollback !== last.rollback) user.rollBack(wish.rollback === 'none' ? null : oldest());
}
