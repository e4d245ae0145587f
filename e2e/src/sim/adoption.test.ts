/** What happens to a cluster that another version has run, when this one begins to work on it: nothing to its pods. */
import { describe, expect, it } from '@jest/globals';
import { Simulation } from './simulation.js';
import { type Found, fillIn, leave, nameOf, openDefinitions, patchStatus, revisionName } from './testing/adopted.js';
import { namespace } from './user.js';

const minute = 60_000;
const replicas = 'inferencereplicas.ome.io';

const alone: Found = {
  owner: 'pool',
  kind: 'standalone',
  replicas: 2,
  encoding: 'DenseV1',
  revisions: [
    { hash: '0badcafe', number: 1, image: 'v0' },
    { hash: '7e57ed01', number: 2, image: 'v1' },
  ],
  running: '7e57ed01',
  image: 'v1',
};
const projected: Found = { ...alone, owner: 'chat', kind: 'projected' };

/** What may be written: statuses, and the metadata by which objects are found. */
const isHarmless = /^MODIFIED (inferencereplicas|inferenceservices|services)\b/;

/** The spec of a Service as it is kept; a headless one without ports is given its port, and nothing else is changed. */
function kept(spec: unknown): unknown {
  const { clusterIP, ports } = spec as { readonly clusterIP?: string; readonly ports?: readonly unknown[] };
  if (clusterIP !== 'None' || ports !== undefined) return spec;
  return { ...(spec as object), ports: [{ name: 'discard', port: 9, protocol: 'TCP', targetPort: 9 }] };
}

interface Watched {
  readonly simulation: Simulation;
  readonly pods: () => readonly string[];
  /** The specs of the Services: what they select and how. */
  readonly services: () => readonly unknown[];
  readonly status: () => Readonly<Record<string, unknown>>;
  /** Writes of managers so far, those of Events aside, as `VERB resource`. */
  readonly writes: () => readonly string[];
}

/** The world of `found`, with everybody in it serving. */
async function worldOf(found: Found, prepare: (simulation: Simulation) => void = () => {}): Promise<Watched> {
  const simulation = new Simulation({ seed: 1, manager: { safetyPollMs: 30_000 } });
  prepare(simulation);
  await leave(simulation.cluster, found, (ms) => simulation.run(ms));
  const name = nameOf(found);
  const pods = (): readonly string[] =>
    simulation.cluster.objects('pods', namespace).map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`);
  const services = (): readonly unknown[] =>
    simulation.cluster.objects('services', namespace).map((service) => service['spec']);
  const status = (): Readonly<Record<string, unknown>> =>
    (simulation.cluster.object(replicas, `${namespace}/${name}`)?.['status'] ?? {}) as Record<string, unknown>;
  const writes = (): readonly string[] =>
    simulation.writes.filter(({ resource }) => !resource.startsWith('events')).map((w) => `${w.type} ${w.resource}`);
  return { simulation, pods, services, status, writes };
}

/** Lets a manager work on it for ten minutes. */
async function manage({ simulation }: Watched): Promise<void> {
  simulation.startManager();
  await simulation.run(10 * minute);
  expect(simulation.invariants.violations).toEqual([]);
}

describe('a cluster that another version has run', () => {
  it.each<[string, Found]>([
    ['a replica of its own', alone],
    ['a replica of its own with columnar rows', { ...alone, encoding: 'ColumnarV2' }],
    ['a replica of an InferenceService', projected],
    ['gangs', { ...alone, workers: 2 }],
    ['a replica whose pods have lost the label of their revision', { ...alone, lost: 'revision labels' }],
    ['gangs whose pods have lost the label of their revision', { ...alone, workers: 2, lost: 'revision labels' }],
    ['a replica whose status was lost', { ...alone, lost: 'status' }],
    ['gangs of an InferenceService with columnar rows', { ...projected, workers: 2, encoding: 'ColumnarV2' }],
  ])(
    'keeps every pod of %s as it is, on the revision that it has [B18] [B21]',
    async (_, found) => {
      const world = await worldOf(found);
      const before = { pods: world.pods(), services: world.services().map(kept) };
      expect(before.pods.length).toBe(found.replicas * ((found.workers ?? 0) + 1));
      await manage(world);
      expect({ pods: world.pods(), services: world.services() }).toEqual(before);
      const revision = revisionName(found, found.running);
      expect(world.status()).toMatchObject({ currentRevision: revision, updateRevision: revision, readyReplicas: 2 });
      expect(world.writes().filter((write) => !isHarmless.test(write))).toEqual([]);
      expect(world.writes().length).toBeLessThan(10);
    },
    minute,
  );

  it(
    'takes of two revisions that say the same the one that runs, however new the other is [B18]',
    async () => {
      const twin = { hash: 'feedf00d', number: 9, image: 'v1' };
      const world = await worldOf({ ...alone, revisions: [...alone.revisions, twin] });
      const before = world.pods();
      await manage(world);
      expect(world.pods()).toEqual(before);
      expect(world.status()).toMatchObject({ updateRevision: revisionName(alone, alone.running) });
    },
    minute,
  );

  it(
    'rolls when none says what the spec says',
    async () => {
      const found = { ...alone, image: 'v2' };
      const world = await worldOf(found);
      const before = world.pods();
      await manage(world);
      expect(world.pods().filter((pod) => before.includes(pod))).toEqual([]);
      const { updateRevision, currentRevision, readyReplicas } = world.status();
      expect([currentRevision, readyReplicas]).toEqual([updateRevision, 2]);
      expect(found.revisions.map(({ hash }) => revisionName(found, hash))).not.toContain(updateRevision);
    },
    minute,
  );

  it(
    'goes back under the name that the other version gave it',
    async () => {
      const world = await worldOf({ ...alone, image: 'v0' });
      await manage(world);
      expect(world.status()).toMatchObject({ currentRevision: revisionName(alone, '0badcafe'), readyReplicas: 2 });
    },
    minute,
  );

  it(
    'repairs a gang that does not say how big it is at its old revision, and rolls it when its size is changed [B68]',
    async () => {
      const found: Found = { ...projected, workers: 2 };
      const world = await worldOf(found);
      const { user } = world.simulation;
      await manage(world);
      user.deletePod('chat-engine-0-worker-1');
      await world.simulation.run(10 * minute);
      expect(world.pods()).toHaveLength(6);
      const revision = revisionName(found, found.running);
      expect(world.status()).toMatchObject({ currentRevision: revision, updateRevision: revision, readyReplicas: 2 });
      user.patchService({ spec: { engine: { worker: { size: 3 } } } });
      await world.simulation.run(10 * minute);
      expect(world.pods()).toHaveLength(8);
      const { currentRevision, updateRevision } = world.status();
      expect(updateRevision).not.toBe(revision);
      expect(currentRevision).toBe(updateRevision);
    },
    minute,
  );

  it(
    'is not rolled when the server begins to fill in what the template leaves out, or another client rewrites it [B18]',
    async () => {
      const world = await worldOf(alone);
      await manage(world);
      const before = world.pods();
      fillIn(world.simulation.cluster, alone);
      await world.simulation.run(10 * minute);
      expect(world.pods()).toEqual(before);
      expect(world.status()).toMatchObject({
        observedGeneration: 2,
        updateRevision: revisionName(alone, alone.running),
      });
    },
    minute,
  );

  it(
    'stays untouched by the next manager, and by members that a newer version has written [B23]',
    async () => {
      for (const found of [alone, projected]) {
        const world = await worldOf(found, ({ cluster }) => openDefinitions(cluster));
        await manage(world);
        for (const manager of world.simulation.managers) manager.kill();
        const rows = (world.status()['instanceStatuses'] ?? []) as readonly object[];
        const fromLater = { since: 'v9', list: [1, { a: null }] };
        const instanceStatuses = rows.map((row) => ({ ...row, fromLater }));
        patchStatus(world.simulation.cluster, nameOf(found), { instanceStatuses, fromLater });
        const before = { pods: world.pods(), status: world.status(), writes: world.writes().length };
        expect(before.status).toMatchObject({ fromLater: { since: 'v9' }, instanceStatuses });
        await manage(world);
        expect({ pods: world.pods(), status: world.status(), writes: world.writes().length }).toEqual(before);
      }
    },
    minute,
  );
});
