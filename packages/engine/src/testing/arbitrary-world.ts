/** Random worlds: random rows × random pods × random specs, legal or not, for the properties of a plan. */
import { annotation, type RetryBlock, type Rev } from '@omenative/api';
import fc from 'fast-check';
import { keyOfCreate } from '../keys.js';
import type { GateView, LifecycleConfig, PodView, RunnerSpec, Snapshot, StoredRevision } from '../snapshot.js';
import { arbitraryRows, index, time } from './arbitrary-rows.js';
import {
  chartConfig,
  gang,
  noon,
  type PodHealth,
  type PodOptions,
  payload,
  pod,
  revisionOf,
  single,
  type WorldOptions,
  world,
} from './world.js';

const images = ['v0', 'v1', 'v2'] as const;
const image = fc.constantFrom(...images);
const past = fc.integer({ min: noon - 4000, max: noon });
const pairOf = gang(2);

/** How the revisions of a component look: alike, or, after its runners were changed, some of each kind. */
type Shape = 'single' | 'gang' | 'mixed';

/** Random snapshots. */
export const arbitraryWorld: fc.Arbitrary<Snapshot> = fc
  .record({
    shape: fc.constantFrom<Shape>('single', 'single', 'single', 'gang', 'gang', 'gang', 'mixed'),
    wanted: fc.constantFrom(single, pairOf),
  })
  .chain(({ shape, wanted }) => {
    const shapes = shape === 'mixed' ? [single, pairOf] : [shape === 'single' ? single : pairOf];
    const runners = shape === 'mixed' ? wanted : (shapes[0] ?? single);
    const revision = fc.tuple(image, fc.constantFrom(...shapes)).map(([name, of]) => revisionOf(name, of));
    const maybeRevision: fc.Arbitrary<Rev | ''> = fc.oneof(
      { weight: 3, arbitrary: revision },
      { weight: 1, arbitrary: fc.constant<Rev | ''>('') },
    );
    return fc
      .record({
        now: fc.constant(noon),
        spec: arbitrarySpec(runners),
        config: fc.constantFrom<LifecycleConfig>(chartConfig, chartConfig, {}),
        rows: arbitraryRows(maybeRevision, singlesOf(shape, maybeRevision)),
        status: fc.record({ blocks: arbitraryBlocks(revision) }),
        pods: arbitraryPods(shapes),
        proofs: fc.constantFrom('all', 'none' as const),
        rotation: fc.constantFrom('observed', 'unknown' as const),
        blind: fc.uniqueArray(index, { maxLength: 1 }),
        replica: fc.record(
          { deletingSince: time, generation: fc.integer({ min: 1, max: 3 }), annotations: arbitraryMail(revision) },
          { requiredKeys: ['generation', 'annotations'] },
        ),
        headlessService: fc.constantFrom('present', 'absent' as const),
        cordoned: fc.constantFrom<readonly string[]>([], [], ['node-1']),
        inbox: arbitraryInbox,
        check: fc.constantFrom('none', 'none', 'none', 'accepted', 'unknown', 'refused' as const),
      })
      .map(({ check, ...options }) => withRevisions(world(options as WorldOptions), shapes, check));
  });

/** The revisions of one pod that a component of this shape has. */
function singlesOf(shape: Shape, revision: fc.Arbitrary<Rev | ''>): fc.Arbitrary<Rev | ''> | undefined {
  switch (shape) {
    case 'single':
      return revision;
    case 'mixed':
      return image.map((name) => revisionOf(name, single));
    case 'gang':
      return undefined;
  }
}

function arbitrarySpec(runners: readonly RunnerSpec[]): fc.Arbitrary<NonNullable<WorldOptions['spec']>> {
  return image.chain((name) =>
    fc.record({
      runners: fc.constant(runners),
      payload: fc.constant(payload(name, runners)),
      replicas: fc.integer({ min: 1, max: 4 }),
      minReadySeconds: fc.constantFrom(0, 30),
      pause: fc.constantFrom('running', 'running', 'running', 'recover', 'freeze' as const),
      restartPolicy: fc.constantFrom('None', 'RecreateInstanceOnPodRestart' as const),
      update: fc.record(
        {
          type: fc.constantFrom('SurgeThenDrain', 'RecreatePod', 'InPlaceIfPossible', 'InPlaceOnly' as const),
          partition: fc.constantFrom(0, 0, 1, 2),
          maxSurge: fc.constantFrom(0, 1, 2, '25%', '100%'),
          maxUnavailable: fc.constantFrom(0, 1, 2, '25%', '100%'),
          inPlace: fc.constantFrom('markNotReady', 'keepReady' as const),
        },
        { requiredKeys: ['type', 'partition', 'inPlace'] },
      ),
    }),
  );
}

/** The revisions of every shape are stored, and what a dry run said of the target is known or not. */
function withRevisions(
  snapshot: Snapshot,
  shapes: readonly (readonly RunnerSpec[])[],
  check: 'none' | 'accepted' | 'unknown' | 'refused',
): Snapshot {
  const revisions = new Map(snapshot.revisions);
  for (const runners of shapes) {
    for (const name of images) {
      const rev = revisionOf(name, runners);
      const number = revisions.size + 1;
      const stored: StoredRevision = {
        name: rev,
        uid: `rev-${number}`,
        hash: rev.slice(-8),
        number,
        payload: payload(name, runners),
      };
      if (!revisions.has(rev)) revisions.set(rev, stored);
    }
  }
  const of = snapshot.target;
  switch (check) {
    case 'none':
      return { ...snapshot, revisions };
    case 'accepted':
      return { ...snapshot, revisions, templateCheck: { of, is: 'accepted' } };
    case 'unknown':
      return { ...snapshot, revisions, templateCheck: { of, is: 'unknown', retryAt: snapshot.now + 5 } };
    case 'refused':
      return { ...snapshot, revisions, templateCheck: { of, is: 'refused', message: 'no such field' } };
  }
}

/** Blocks of one or two revisions, in any state. */
function arbitraryBlocks(revision: fc.Arbitrary<Rev>): fc.Arbitrary<readonly RetryBlock[]> {
  const block = fc
    .record({
      target: revision,
      state: fc.constantFrom<RetryBlock['state']>('Backoff', 'Held', 'RetryInProgress'),
      attempts: fc.integer({ min: 0, max: 3 }),
      nextRetryAt: time,
      lastFailureAt: past,
    })
    .map(
      ({ nextRetryAt, ...rest }): RetryBlock => ({
        ...rest,
        firstFailureAt: rest.lastFailureAt - 10,
        reason: 'ImagePullBackOff',
        carry: {},
        ...(rest.state === 'Backoff' ? { nextRetryAt } : {}),
      }),
    );
  return fc.uniqueArray(block, { selector: ({ target }) => target, maxLength: 2 });
}

/** What users have asked for, sense or nonsense. */
function arbitraryMail(revision: fc.Arbitrary<Rev>): fc.Arbitrary<Readonly<Record<string, string>>> {
  return fc.oneof(
    { weight: 4, arbitrary: fc.constant({}) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('all', '0,2', '1', 'none').map((value) => ({ [annotation.resetInstances]: value })),
    },
    { weight: 1, arbitrary: revision.map((value) => ({ [annotation.releaseHeldRevision]: value })) },
  );
}

/** What came of creating a pod, a moment ago. */
const arbitraryInbox: fc.Arbitrary<Snapshot['inbox']> = fc
  .array(
    fc.record({
      of: index,
      pod: fc.constantFrom('default-0', 'default-1', 'leader-0', 'worker-1'),
      as: fc.constantFrom('quota', 'invalid', 'admissionUnavailable', 'transient', 'ok' as const),
      at: fc.integer({ min: noon - 90, max: noon }),
    }),
    { maxLength: 2 },
  )
  .map(
    (outcomes) =>
      new Map(
        outcomes.map(({ of, pod: slot, as, at }) => [
          keyOfCreate(`chat-engine-${of}-${slot}`, `op-${of}`),
          { as, at, detail: 'said the API server' },
        ]),
      ),
  );

/** Pods one by one, and whole lives of an Instance at once, which chance alone would hardly ever draw. */
function arbitraryPods(shapes: readonly (readonly RunnerSpec[])[]): fc.Arbitrary<readonly PodView[]> {
  const life = fc
    .record({ of: index, runners: fc.constantFrom(...shapes), looks: arbitraryLooks })
    .map(({ of, runners, looks }) =>
      runners.flatMap(({ name: runner, size }) =>
        Array.from({ length: size }, (_, ordinal) => looking(looks, { index: of, runner, ordinal, runners })),
      ),
    );
  const one = fc
    .record({ of: index, runners: fc.constantFrom(...shapes), slot: fc.nat({ max: 9 }), looks: arbitraryLooks })
    .map(({ of, runners, slot, looks }) => {
      const { name: runner, size } = runners[slot % runners.length] ?? { name: 'default' as const, size: 1 };
      const ordinals = runner === 'default' ? 2 : size;
      return [looking(looks, { index: of, runner, ordinal: slot % ordinals, runners })];
    });
  const groups = fc.array(fc.oneof({ weight: 2, arbitrary: one }, { weight: 1, arbitrary: life }), { maxLength: 8 });
  return groups.map((drawn) => [...new Map(drawn.flat().map((each) => [each.name, each])).values()]);
}

interface Looks {
  readonly image: (typeof images)[number];
  readonly health: PodHealth;
  readonly gate: GateView | undefined;
  readonly deletionAt: number | undefined;
  readonly incarnation: number | undefined;
  readonly gated: boolean;
  readonly readyFor: number;
  readonly patch: 'none' | 'marked' | 'patched' | 'running';
}

const arbitraryLooks: fc.Arbitrary<Looks> = fc.record({
  image,
  health: fc.constantFrom('starting', 'containersReady', 'serving', 'serving', 'drained', 'failed', 'crashLoop'),
  gate: fc.constantFrom<GateView | undefined>(
    undefined,
    undefined,
    undefined,
    { state: 'malformed', message: 'nonsense' },
    { state: 'false', holds: [{ writer: 'Somebody', key: '1' }] },
    { state: 'false', holds: [{ writer: 'UpdateSurgeDrain', key: 'update-surge-drain-0-1' }] },
    { state: 'false', holds: [{ writer: 'UpdateSurgeDrain', key: 'gang-surge-source-0' }] },
    { state: 'false', holds: [{ writer: 'UpdateInPlace', key: '0-1' }] },
  ),
  deletionAt: fc.option(fc.integer({ min: noon - 100, max: noon + 100 }), { nil: undefined, freq: 4 }),
  incarnation: fc.constantFrom(1, 1, 1, 2, undefined),
  gated: fc.constantFrom(false, false, true),
  readyFor: fc.constantFrom(60, 5),
  patch: fc.constantFrom('none', 'none', 'none', 'none', 'marked', 'patched', 'running'),
});

/** A pod with these looks. An update in place may be under way in it, to v2. */
function looking(looks: Looks, place: PodOptions): PodView {
  const { image: name, health, gate, deletionAt, gated, readyFor, patch } = looks;
  const { incarnation: _, ...made } = pod({
    ...place,
    image: name,
    health,
    readyFor,
    ...(gate === undefined ? {} : { gate }),
  });
  const next = patch === 'none' || patch === 'marked' ? {} : { image: 'v2' };
  const running = patch === 'running' ? { imageID: 'v2', runningImage: 'v2', restartCount: 1 } : {};
  return {
    ...made,
    // Nothing runs before its scheduling gates are gone.
    gated: gated && health === 'starting',
    ...(deletionAt === undefined ? {} : { deletionAt }),
    ...(looks.incarnation === undefined ? {} : { incarnation: looks.incarnation }),
    containers: made.containers.map((container) => ({ ...container, ...next, ...running })),
    ...(patch === 'none'
      ? {}
      : { inPlace: { targetImages: { 'ome-container': 'v2' }, restartCounts: { 'ome-container': 0 } } }),
  };
}
