import { describe, expect, it } from '@jest/globals';
import { plan } from '../plan.js';
import { holdOf, wishes } from '../testing/read.js';
import { pod, readyRow, world } from '../testing/world.js';

const steady = { rows: [readyRow(0)], pods: [pod()] };

describe('the headless Service', () => {
  it('is made when it is missing [B95]', () => {
    expect(wishes(plan(world({ ...steady, headlessService: 'absent' })))).toEqual(['ensureHeadless']);
    expect(wishes(plan(world(steady)))).toEqual([]);
  });

  it.each([
    ['foreign', 'Service chat-engine-headless exists and is not of this replica: delete or rename it'],
    ['terminating', 'Service chat-engine-headless is being deleted and is made again when it is gone'],
  ] as const)('that is %s is never touched, and named [B50] [B105]', (headlessService, text) => {
    const made = plan(world({ ...steady, headlessService }));
    expect(wishes(made)).toEqual([]);
    expect(holdOf(made, 'NameTaken')).toMatchObject({ text, wake: [{ on: 'service', key: 'chat-engine-headless' }] });
  });

  it('of somebody else outlives the replica [B105]', () => {
    const made = plan(world({ replica: { deletingSince: 1 }, headlessService: 'foreign', config: {} }));
    expect(wishes(made)).toEqual(['finalizer remove']);
  });
});

describe('the revision of the spec', () => {
  it('is stored before the status names it', () => {
    expect(plan(world({ olderImages: [] })).prepare).toMatchObject([
      { do: 'createRevision', rev: world().specRevision },
    ]);
    expect(plan(world()).prepare).toEqual([]);
  });
});
