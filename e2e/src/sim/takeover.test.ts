import { describe, expect, it } from '@jest/globals';
import { takeovers } from './takeovers.js';

const run = (at: number) => async (): Promise<void> => {
  await expect(takeovers[at]?.run()).resolves.toBeUndefined();
};

describe('a takeover', () => {
  it('deletes no pod while the heir sees them ten seconds late [B28] [B42]', run(0), 60_000);
  it('in the middle of a create doubles no pod that the heir does not see yet [B28] [E211]', run(1), 60_000);
  it('of a leader that cannot renew: it stops before the next one begins [B40]', run(2), 60_000);
});
