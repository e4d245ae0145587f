/** Random worlds: random rows × random pods × random specs, legal or not, for the properties of a plan. */
import { type InstanceRow, newRowBase, type Rev } from '@omenative/api';
import fc from 'fast-check';
import type { GateView, LifecycleConfig, PodView, Snapshot } from '../snapshot.js';
import { chartConfig, gang, noon, payload, pod, revisionOf, single, world } from './world.js';

const images = ['v0', 'v1', 'v2'] as const;
const image = fc.constantFrom(...images);
const time = fc.integer({ min: noon - 4000, max: noon + 4000 });
const optionalTime = fc.option(time, { nil: undefined });

/** Random snapshots. Indices stay below six so that rows and pods meet. */
export const arbitraryWorld: fc.Arbitrary<Snapshot> = fc
  .record({ shape: fc.constantFrom('single', 'gang' as const), seed: fc.nat() })
  .chain(({ shape }) => {
    const runners = shape === 'single' ? single : gang(2);
    const revision = image.map((name) => revisionOf(name, runners));
    const maybeRevision: fc.Arbitrary<Rev | ''> = fc.oneof(revision, fc.constant<Rev | ''>(''));
    return fc
      .record({
        now: fc.constant(noon),
        spec: image.chain((name) =>
          fc.record({
            runners: fc.constant(runners),
            payload: fc.constant(payload(name, runners)),
            replicas: fc.integer({ min: 1, max: 4 }),
            minReadySeconds: fc.constantFrom(0, 30),
            pause: fc.constantFrom('running', 'running', 'running', 'recover', 'freeze' as const),
            restartPolicy: fc.constantFrom('None', 'RecreateInstanceOnPodRestart' as const),
            update: fc.record({
              type: fc.constantFrom('SurgeThenDrain', 'SurgeThenDrain', 'RecreatePod' as const),
              partition: fc.constantFrom(0, 0, 1, 2),
              maxSurge: fc.constantFrom(0, 1, 2, '25%', '100%'),
              inPlace: fc.constant('markNotReady' as const),
            }),
          }),
        ),
        config: fc.constantFrom<LifecycleConfig>(chartConfig, {}),
        rows: fc.uniqueArray(arbitraryRow(maybeRevision), { selector: (row) => row.index, maxLength: 5 }),
        pods: fc.uniqueArray(arbitraryPod(runners), { selector: (one) => one.name, maxLength: 10 }),
        proofs: fc.constantFrom('all', 'none' as const),
        rotation: fc.constantFrom('observed', 'unknown' as const),
        blind: fc.uniqueArray(fc.integer({ min: 0, max: 5 }), { maxLength: 1 }),
        replica: fc.record(
          { deletingSince: time, generation: fc.integer({ min: 1, max: 3 }) },
          { requiredKeys: ['generation'] },
        ),
        headlessService: fc.constantFrom('present', 'absent' as const),
      })
      .map((options) => world(options as Parameters<typeof world>[0]));
  });

function arbitraryRow(revision: fc.Arbitrary<Rev | ''>): fc.Arbitrary<InstanceRow> {
  const base = fc
    .record({
      index: fc.integer({ min: 0, max: 5 }),
      incarnation: fc.integer({ min: 1, max: 2 }),
      activeOrdinal: fc.constantFrom(0, 1 as const),
      running: revision,
      target: revision,
      readySince: optionalTime,
      announced: fc.constantFrom<readonly string[]>([], ['DrainOverdue@op-1']),
    })
    .map(({ readySince, ...rest }) => ({
      ...newRowBase(rest.index),
      ...rest,
      ...(readySince === undefined ? {} : { readySince }),
    }));
  const op = fc
    .record({
      startedAt: time,
      deadline: optionalTime,
      target: revision,
      waiting: fc.constantFrom('', 'Paused', 'Odd'),
    })
    .map(({ deadline, ...rest }) => ({
      id: 'op-1',
      lastProgressAt: rest.startedAt,
      retryCount: 0,
      reason: 'test',
      carry: {},
      ...rest,
      ...(deadline === undefined ? {} : { deadline }),
    }));
  return fc.oneof(
    base.map((row): InstanceRow => ({ ...row, kind: 'ready' })),
    base.map((row): InstanceRow => ({ ...row, kind: 'pending' })),
    base.map((row): InstanceRow => ({ ...row, kind: 'failed' })),
    fc.tuple(base, op).map(
      ([row, o]): InstanceRow => ({
        ...row,
        kind: 'creating',
        op: { ...o, type: 'Create', step: 'CreatePods' },
      }),
    ),
    fc
      .tuple(base, op, fc.constantFrom('Surge', 'SurgeDrain', 'SurgeDrainSettle' as const))
      .map(([row, o, step]): InstanceRow => ({ ...row, kind: 'updating', op: { ...o, type: 'Update', step } })),
    fc.tuple(base, op).map(
      ([row, o]): InstanceRow => ({
        ...row,
        kind: 'deleting',
        op: { ...o, type: 'Delete', step: 'Drain' },
      }),
    ),
    fc.tuple(base, op).map(
      ([row, o]): InstanceRow => ({
        ...row,
        kind: 'restarting',
        op: { ...o, type: 'Restart', step: 'Drain' },
      }),
    ),
    base.map((row): InstanceRow => ({ ...row, kind: 'foreign', phase: 'Migrating', readAs: 'migrate' })),
  );
}

function arbitraryPod(runners: typeof single): fc.Arbitrary<PodView> {
  const slot =
    runners.length === 1
      ? fc.record({ runner: fc.constant('default' as const), ordinal: fc.constantFrom(0, 1) })
      : fc.oneof(
          fc.record({ runner: fc.constant('leader' as const), ordinal: fc.constant(0) }),
          fc.record({ runner: fc.constant('worker' as const), ordinal: fc.constantFrom(0, 1) }),
        );
  const gate: fc.Arbitrary<GateView | undefined> = fc.oneof(
    fc.constant(undefined),
    fc.constant<GateView>({ state: 'malformed', message: 'nonsense' }),
    fc.constant<GateView>({ state: 'false', holds: [{ writer: 'Somebody', key: '1' }] }),
    fc.constant<GateView>({ state: 'false', holds: [{ writer: 'UpdateSurgeDrain', key: 'update-surge-drain-0-1' }] }),
  );
  return fc
    .record({
      slot,
      index: fc.integer({ min: 0, max: 5 }),
      image,
      health: fc.constantFrom('starting', 'containersReady', 'serving', 'drained', 'failed', 'crashLoop' as const),
      gate,
      deletionAt: fc.option(fc.integer({ min: noon - 100, max: noon + 100 }), { nil: undefined, freq: 4 }),
      incarnation: fc.constantFrom(1, 1, 1, 2, undefined),
      gated: fc.constantFrom(false, false, true),
      readyFor: fc.constantFrom(60, 5),
    })
    .map(({ slot: place, index, image: name, health, gate: held, deletionAt, incarnation, gated, readyFor }) => {
      const { incarnation: _, ...made } = pod({
        ...place,
        index,
        image: name,
        runners,
        health,
        readyFor,
        ...(held === undefined ? {} : { gate: held }),
      });
      return {
        ...made,
        // Nothing runs before its scheduling gates are gone.
        gated: gated && health === 'starting',
        ...(deletionAt === undefined ? {} : { deletionAt }),
        ...(incarnation === undefined ? {} : { incarnation }),
      };
    });
}
