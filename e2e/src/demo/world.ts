/** How fast the simulated cluster is: slow enough to watch, fast enough for a demo. Milliseconds. */
import type { WorldOptions } from '@omenative/sim';

export const world: Partial<WorldOptions> = {
  // In place of processes: what an image takes to pull, to start, to become ready and to end.
  imageScripts: {
    '*': { pullMs: [300, 600], startMs: [50, 150], readyMs: [500, 800], termMs: [20, 80] },
  },
  kubeletLagMs: [50, 200],
  endpointsLagMs: [20, 150],
  // Requests are sent by what was true this long ago.
  proxyLagMs: [50, 500],
  partEvents: 'recorded',
};

export const nodes: readonly string[] = ['node-1', 'node-2', 'node-3'];
