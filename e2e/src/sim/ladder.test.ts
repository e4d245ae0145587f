/** The retry ladder in time: when a revision that fails is tried again, when no more, and what goes on serving. */

import { describe, expect, it } from '@jest/globals';
import type { RetryBlock } from '@omenative/api';
import { rowsOf, servingCount, statusOf } from './replica-view.js';
import { world } from './scenario.js';
import { Simulation } from './simulation.js';
import { namespace, type ServiceManifest, service } from './user.js';

const minute = 60_000;
const chat = 'lab/chat-engine';

interface Watched {
  readonly simulation: Simulation;
  /** Seconds at which an attempt at the target was opened, one for each operation. */
  readonly starts: readonly number[];
  /** Each state of the target's block that was stored. */
  readonly blocks: readonly RetryBlock[];
  /** The fewest Instances that served after any write. */
  readonly leastServing: () => number;
}

/** A service that serves v1, with traffic, and what becomes of it from here on. */
async function watched(manifest: Partial<ServiceManifest>): Promise<Watched> {
  const simulation = new Simulation({ seed: 1, world, traffic: [chat], manager: { safetyPollMs: 30_000 } });
  const { cluster } = simulation;
  simulation.startManager();
  simulation.user.create(service({ replicas: 3, image: 'v1', instanceReadyTimeout: '10m', ...manifest }));
  await simulation.settle();
  simulation.startTraffic();
  const starts = new Map<string, number>();
  const blocks: RetryBlock[] = [];
  let least = servingCount(cluster);
  cluster.onApplied((write) => {
    if (write.resource === 'pods') least = Math.min(least, servingCount(cluster));
    if (write.resource !== 'inferencereplicas.ome.io') return;
    for (const row of rowsOf(cluster)) {
      const isAttempt = row.kind === 'updating' || (row.kind === 'gangFrom' && row.phase === 'Updating');
      if (isAttempt && !starts.has(row.op.id)) starts.set(row.op.id, row.op.startedAt ?? 0);
    }
    const { blocks: stored, update } = statusOf(cluster);
    const block = stored.find(({ target }) => target === update);
    if (block !== undefined && block.state !== 'RetryInProgress') blocks.push(block);
  });
  return {
    simulation,
    get starts() {
      return [...starts.values()];
    },
    blocks,
    leastServing: () => least,
  };
}

function eventsOf({ cluster }: Simulation, reason: string): readonly string[] {
  return cluster
    .objects('events', namespace)
    .filter((event) => event['reason'] === reason)
    .map((event) => String(event['message']));
}

describe('a revision whose image nobody has', () => {
  it(
    'is tried three times, a minute and two minutes apart, then held and said once, while the old three serve [A7] [E9] [E13] [E152]',
    async () => {
      const lab = await watched({ maxSurge: 1 });
      const { simulation, blocks } = lab;
      simulation.user.setImage('bad');
      await simulation.settle(5 * minute);
      const { update, rolloutHold } = statusOf(simulation.cluster);
      const failures = [...new Set(blocks.map(({ lastFailureAt }) => lastFailureAt ?? 0))];
      expect(blocks.at(-1)).toMatchObject({ state: 'Held', attempts: 3, reason: 'ImagePullBackOff' });
      expect(failures).toHaveLength(3);
      expect(lab.starts).toEqual([expect.any(Number), (failures[0] ?? 0) + 60, (failures[1] ?? 0) + 120]);
      expect(rolloutHold).toMatchObject({ gate: 'Held', target: update });
      expect(eventsOf(simulation, 'RetryHeld')).toEqual([
        `InferenceReplica lab/chat-engine component=engine update to revision ${update} held after 3 failed attempt(s) (last failure: ImagePullBackOff); publish a corrected revision or raise lifecycle.updateRetry limits`,
      ]);
      expect(lab.leastServing()).toBe(3);
      expect([simulation.probes.failed, simulation.invariants.violations]).toEqual([0, []]);
      const before = simulation.writes.length;
      await simulation.run(60 * minute);
      expect(simulation.writes.slice(before).map((write) => `${write.type} ${write.resource}`)).toEqual([]);
    },
    minute,
  );
});

describe('a revision that crashes', () => {
  it.each<[string, Partial<ServiceManifest>]>([
    ['SurgeThenDrain', { strategy: 'SurgeThenDrain' }],
    ['SurgeThenDrain of gangs', { strategy: 'SurgeThenDrain', workers: 1, replicas: 2 }],
    ['RecreatePod', { strategy: 'RecreatePod' }],
    ['RecreatePod of gangs', { strategy: 'RecreatePod', workers: 1, replicas: 2 }],
    ['InPlaceIfPossible', { strategy: 'InPlaceIfPossible' }],
    ['InPlaceOnly', { strategy: 'InPlaceOnly' }],
  ])(
    'is tried for ever with pauses that grow, and never held: %s',
    async (_name, manifest) => {
      const lab = await watched(manifest);
      const { simulation, blocks } = lab;
      simulation.user.setImage('crash', manifest.workers === undefined ? 'pods' : 'gangs');
      await simulation.run(40 * minute);
      const pauses = new Map(blocks.map((block) => [block.lastFailureAt, pauseOf(block)]));
      const grown = [...pauses.values()];
      expect(blocks.filter(({ state, attempts }) => state === 'Held' || attempts > 0)).toEqual([]);
      // How far it comes in that time depends on how long an attempt takes to fail.
      expect(grown).toEqual([60, 120, 240, 480, 960, 1800].slice(0, Math.max(5, grown.length)));
      const isSurge = manifest.strategy === 'SurgeThenDrain';
      expect(lab.leastServing()).toBe((manifest.replicas ?? 3) - (isSurge ? 0 : 1));
      expect([simulation.probes.failed, simulation.invariants.violations]).toEqual([0, []]);
    },
    minute,
  );
});

function pauseOf({ nextRetryAt = 0, lastFailureAt = 0 }: RetryBlock): number {
  return nextRetryAt - lastFailureAt;
}
