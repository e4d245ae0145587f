import { describe, expect, it } from '@jest/globals';
import type { InstanceRow, RetryBlock } from '@omenative/api';
import { keptBlocks, prunedRevisions } from './history.js';
import { plan } from './plan.js';
import type { LifecycleConfig, StoredRevision } from './snapshot.js';
import { statusAfter, wishes } from './testing/read.js';
import { failedRow, heldBlock, recreatingRow, retryBlock, surgingRow } from './testing/rows.js';
import { chartConfig, noon, payload, pod, readyRow, revisionOf, type WorldOptions, world } from './testing/world.js';

const images = ['v1', 'v2', 'v3', 'v4', 'v5'];
const { op } = recreatingRow(0, 'v5', 'v1') as InstanceRow & { readonly kind: 'updating' };

/** Images of the revisions that are deleted, in that order, from those of `images`, of which v5 is the spec's. */
function deleted(limit: number | undefined, options: WorldOptions = {}): readonly string[] {
  const { revisionHistoryLimit: _, ...unlimited } = chartConfig;
  const config: LifecycleConfig = limit === undefined ? unlimited : { ...unlimited, revisionHistoryLimit: limit };
  const spec = { payload: payload('v5'), ...options.spec };
  const snapshot = world({ olderImages: images, config, rows: [readyRow(0, 'v5')], ...options, spec });
  return prunedRevisions(snapshot, snapshot.status).map((effect) =>
    effect.do === 'deleteRevision' ? imageOf(effect.rev) : effect.do,
  );
}

function imageOf(rev: string): string {
  return images.find((image) => revisionOf(image) === rev) ?? rev;
}

describe('stored revisions', () => {
  it('that nobody needs go, beyond the limit, and the newest are kept', () => {
    expect(deleted(1)).toEqual(['v3', 'v2', 'v1']);
    expect(deleted(3)).toEqual(['v1']);
    expect(deleted(4)).toEqual([]);
    expect(deleted(0)).toEqual(['v4', 'v3', 'v2', 'v1']);
  });

  it('are all kept without a limit', () => {
    expect(deleted(undefined)).toEqual([]);
  });

  it('go by the limit of the replica where that has one', () => {
    expect(deleted(0, { spec: { revisionHistoryLimit: 3 } })).toEqual(['v1']);
    expect(deleted(undefined, { spec: { revisionHistoryLimit: 0 } })).toHaveLength(4);
  });

  it.each<[string, WorldOptions]>([
    ['an Instance runs', { rows: [readyRow(0, 'v1')] }],
    ['an Instance is on its way to', { rows: [surgingRow(0, 'v5', 'v1')] }],
    ['an Instance failed at', { rows: [failedRow(0, 'v5', 'v1')] }],
    ['a kept operation names', { rows: [{ ...failedRow(0, 'v5', 'v5'), kept: op } as InstanceRow] }],
    ['the rollout began at', { status: { current: revisionOf('v1') } }],
    ['the status still calls the update', { status: { update: revisionOf('v1') } }],
    ['the user rolls back to', { spec: { rollbackTo: revisionOf('v1') } }],
    ['a pod is of, though no row says so', { pods: [pod({ image: 'v1', over: { deletionAt: noon } })] }],
  ])('that %s are never deleted, however old', (_, options) => {
    expect(deleted(0, options)).not.toContain('v1');
    expect(deleted(0, options)).toContain('v2');
  });

  it('are all kept while a row can not be read: it may name any of them', () => {
    const foreign: InstanceRow = { ...readyRow(1, 'v5'), kind: 'foreign', phase: 'Migrating', readAs: 'migrate' };
    expect(deleted(0, { rows: [readyRow(0, 'v5'), foreign] })).toEqual([]);
  });

  it('that are gone already are not deleted again', () => {
    const snapshot = world({
      olderImages: images,
      config: { revisionHistoryLimit: 0 },
      spec: { payload: payload('v5') },
    });
    const revisions = new Map<string, StoredRevision | 'gone'>([...snapshot.revisions, [revisionOf('v1'), 'gone']]);
    expect(prunedRevisions({ ...snapshot, revisions }, snapshot.status)).toHaveLength(3);
  });

  it('are deleted as that very object, by a plan of a replica that lives', () => {
    const options = {
      olderImages: ['v0', 'v1'],
      config: { revisionHistoryLimit: 0 },
      rows: [readyRow(0)],
      pods: [pod()],
    };
    const made = plan(world(options));
    expect(made.chains.flatMap((chain) => chain.effects)).toMatchObject([
      { do: 'deleteRevision', rev: revisionOf('v0'), uid: 'rev-0', covers: { by: 'rule', rule: 'object' } },
    ]);
    expect(wishes(plan(world({ ...options, replica: { deletingSince: noon } })))).not.toContain('deleteRevision');
  });
});

function at(image: string, lastFailureAt: number): RetryBlock {
  return retryBlock(image, { lastFailureAt });
}

/** Images of the blocks that are kept. */
function kept(blocks: readonly RetryBlock[], limit: number | undefined, options: WorldOptions = {}): readonly string[] {
  const config = limit === undefined ? {} : { retryBlockHistoryLimit: limit };
  const status = { blocks, ...options.status };
  const snapshot = world({ config, spec: { payload: payload('v5') }, ...options, status });
  return keptBlocks(snapshot, snapshot.status).map((block) => imageOf(block.target));
}

describe('retry blocks', () => {
  it('of superseded revisions tell a story: the newest few are kept, where they stood', () => {
    const blocks = [at('v1', 3), at('v2', 9), at('v3', 5)];
    expect(kept(blocks, 2)).toEqual(['v2', 'v3']);
    expect(kept(blocks, 0)).toEqual([]);
    expect(kept(blocks, undefined)).toEqual([]);
  });

  it.each<[string, WorldOptions]>([
    ['the spec wants', { spec: { payload: payload('v1') } }],
    ['the rollout began at', { status: { current: revisionOf('v1') } }],
    ['the user rolls back to', { spec: { payload: payload('v5'), rollbackTo: revisionOf('v1') } }],
    ['an operation tries', { rows: [surgingRow(0, 'v5', 'v1')] }],
    ['an Instance failed at', { rows: [failedRow(0, 'v5', 'v1')] }],
  ])('of the revision that %s are kept whatever the limit', (_, options) => {
    expect(kept([heldBlock('v1'), at('v2', 9)], 0, options)).toEqual(['v1']);
  });

  it('are pruned in the pass in which their revision is superseded', () => {
    const options = { rows: [readyRow(0, 'v2')], pods: [pod({ image: 'v2' })], config: {} };
    const after = statusAfter(
      world({ ...options, spec: { payload: payload('v2') }, status: { blocks: [heldBlock('v1')] } }),
    );
    expect(after.blocks).toEqual([]);
  });
});
