/** Objects as every version so far has written them: this one writes them to the byte. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { isServing } from './pods.js';
import { Simulation } from './simulation.js';
import {
  derivedObjects,
  derivedStatuses,
  objectCases,
  statusCases,
  storedObjects,
  storedStatuses,
} from './testing/golden.js';
import { restore } from './testing/restored.js';

const minute = 60_000;

describe('golden files', () => {
  it.each(objectCases)(
    'hold what is made for %s: replicas, revisions under their hashes, and pods [B18]',
    async (name) => {
      const stored = storedObjects(name);
      expect(stored.size).toBeGreaterThan(1);
      expect(Object.fromEntries(await derivedObjects(name))).toEqual(Object.fromEntries(stored));
    },
    minute,
  );

  it.each(objectCases)(
    'hold %s, whose pods are left alone by whoever finds it in a cluster [B18] [B23]',
    async (name) => {
      const simulation = new Simulation({ seed: 1, manager: { safetyPollMs: 30_000 } });
      const { cluster } = simulation;
      const replicas = await restore(cluster, name, (ms) => simulation.run(ms));
      const pods = (): readonly string[] =>
        cluster.objects('pods').map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`);
      const revisions = (): readonly string[] =>
        cluster.objects('controllerrevisions.apps').map(({ metadata }) => metadata.name);
      const before = { pods: pods(), revisions: revisions() };
      expect(before.pods.length).toBeGreaterThanOrEqual(replicas.length);
      expect(cluster.objects('pods').every(isServing)).toBe(true);
      simulation.startManager();
      await simulation.run(10 * minute);
      expect({ pods: pods(), revisions: revisions() }).toEqual(before);
    },
    minute,
  );

  it.each(statusCases)('hold the status %s in both encodings', (name) => {
    const stored = storedStatuses(name);
    expect(stored.size).toBe(2);
    expect(Object.fromEntries(derivedStatuses(name))).toEqual(Object.fromEntries(stored));
  });

  it('are those that were checked in, and no others', () => {
    const tool = fileURLToPath(new URL('../../../tools/golden.mjs', import.meta.url));
    const { status, stderr } = spawnSync(process.execPath, [tool], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  });
});
