import { describe, expect, it } from '@jest/globals';
import { emptyStatus } from '@omenative/api';
import type { Chain, Effect } from '@omenative/engine';
import { type ApiRequest, type ApiResponse, testing } from '@omenative/kube';
import { Limiter } from '../shared/limiter.js';
import type { ActContext } from './act/context.js';
import { type ActReport, act, type Slice } from './act.js';
import { chainOf, contextOf, createEffect, deleteEffect, gateEffect } from './testing/effects.js';
import { at, Harness, settle } from './testing/harness.js';
import { gateCondition, rawPod, rawReplica, rawService, rawSlice } from './testing/objects.js';

const { ok, failure } = testing;

/** The revision of the spec, so that creates can be rendered. */
async function world(
  answer: (request: ApiRequest) => ApiResponse | Error = created,
  replica = rawReplica(),
): Promise<{ readonly harness: Harness; readonly context: ActContext; readonly rev: string }> {
  const pods = [0, 1, 2].map((index) =>
    rawPod({ index, status: { phase: 'Running', conditions: [gateCondition('False', [['DeleteDrain', '0']])] } }),
  );
  const objects = {
    inferencereplicas: [replica],
    pods,
    services: [rawService()],
    endpointslices: [rawSlice('chat-engine', [])],
  };
  const bare = await new Harness(objects).sync();
  const rev = contextOf(bare).observation.snapshot.specRevision;
  const payload = { metadata: { name: rev, namespace: 'team-a', uid: 'rev-uid', resourceVersion: '60' } };
  const owner = { kind: 'InferenceReplica', name: 'chat-engine', uid: 'replica-uid', controller: true };
  const labels = { 'ome.io/managed-by': 'OMENative' };
  const revision = {
    metadata: { ...payload.metadata, labels, ownerReferences: [owner] },
    data: { podSpec: { containers: [{ name: 'main', image: 'registry/engine:1' }] }, podMeta: null },
    revision: 1,
  };
  const harness = await new Harness({ ...objects, controllerrevisions: [revision] }).sync();
  harness.answer(answer);
  return { harness, context: contextOf(harness), rev };
}

let version = 300;
/** Accepts everything. */
function created({ method, body, path }: ApiRequest): ApiResponse {
  version++;
  if (method === 'GET') return testing.listOf([], String(version));
  if (method === 'DELETE') return ok({ kind: 'Status', status: 'Success' });
  const name = path.split('/').at(-1);
  return ok(
    at(
      { metadata: { name, uid: 'u', namespace: 'team-a', ...(body as { metadata?: object }).metadata } },
      String(version),
    ),
    201,
  );
}

function run(
  context: ActContext,
  chains: readonly Chain[],
  options: { readonly limit?: number; readonly slice?: Slice; readonly onResult?: (effect: Effect) => void } = {},
): Promise<ActReport> {
  const { limit = 32, slice = { maxMs: 1000, maxEffects: 500 }, onResult = () => {} } = options;
  return act(chains, { context, limiter: new Limiter(limit), slice, onResult });
}

function outcomes(report: ActReport): Readonly<Record<string, string>> {
  return Object.fromEntries([...report.outcomes].map(([key, outcome]) => [key, outcome.as]));
}

function creates(rev: string, count: number): readonly Chain[] {
  return Array.from({ length: count }, (_, index) => chainOf('create', createEffect(rev, index + 10)));
}

describe('act', () => {
  it('goes lane by lane: out of rotation first, into rotation last', async () => {
    const { harness, context, rev } = await world();
    const report = await run(context, [
      chainOf('route', gateEffect('remove', 2)),
      chainOf('create', createEffect(rev, 10)),
      chainOf('delete', deleteEffect(1, 'none')),
      chainOf('unroute', { ...gateEffect('add', 0), hold: { writer: 'Operator', key: 'x' } }),
    ]);
    expect(harness.sent.map((line) => line.replace(/\/api.*pods\/?/, ''))).toEqual([
      'PATCH chat-engine-0-default-0/status',
      'DELETE chat-engine-1-default-0',
      'POST ',
      'PATCH chat-engine-2-default-0/status',
    ]);
    expect(new Set(Object.values(outcomes(report)))).toEqual(new Set(['ok']));
    expect(report).toMatchObject({ isCut: false, isDisturbed: false, isRefused: false });
  });

  it('ends a chain at its first failure: no slices are read and nothing is deleted after a failed gate patch [E128]', async () => {
    const { harness, context } = await world(() => failure(500, 'InternalError', 'boom'));
    const unroute = { ...gateEffect('add', 0), hold: { writer: 'Operator', key: 'x' } };
    const report = await run(context, [chainOf('unroute', unroute, deleteEffect(1))]);
    expect(harness.sent).toEqual([expect.stringMatching(/^PATCH .*default-0\/status$/)]);
    expect(outcomes(report)).toEqual({ 'gate/0': 'unknown' });
    expect(report.isDisturbed).toBe(true);
  });

  it('lets no failed delete stop another [E131]', async () => {
    const { context } = await world((request) =>
      request.path.includes('engine-0') ? failure(500, 'InternalError', 'boom') : created(request),
    );
    const report = await run(
      context,
      [0, 1, 2].map((index) => chainOf('delete', deleteEffect(index, 'none'))),
    );
    expect(outcomes(report)).toEqual({ 'delete/0': 'unknown', 'delete/1': 'ok', 'delete/2': 'ok' });
  });

  it('starts creates slowly, and stops them at the first refusal by quota [B93]', async () => {
    let asked = 0;
    const { harness, context, rev } = await world((request) => {
      asked++;
      return asked > 3 ? failure(403, 'Forbidden', 'exceeded quota: q') : created(request);
    });
    const report = await run(context, creates(rev, 100));
    // Waves of 1 and 2 pass; all of the wave of 4 is under way when the first of it is refused.
    expect(harness.sent).toHaveLength(7);
    expect(Object.values(outcomes(report)).filter((as) => as === 'quota')).toHaveLength(4);
    // When to try again is the next plan's to say, so there must be one.
    expect(report).toMatchObject({ isRefused: true, isDisturbed: false });
  });

  it.each([
    { before: ['ok', 'exists'], sent: 64 },
    { before: ['ok', 'quota'], sent: 1 },
    { before: [], sent: 1 },
  ] as const)(
    'after creates that came to $before has sent $sent before the first is answered',
    async ({ before, sent }) => {
      const { harness, context, rev } = await world();
      const inbox = new Map(
        before.map((as, index) => [`createPod/chat-engine-${index}-default-0/op`, { as, detail: '', at: 1 }]),
      );
      const snapshot = { ...context.observation.snapshot, inbox };
      let atFirstAnswer = 0;
      harness.transport.answerAll(async (request) => {
        await settle();
        atFirstAnswer ||= harness.sent.length;
        return created(request);
      });
      await run({ ...context, observation: { ...context.observation, snapshot } }, creates(rev, 100), { limit: 1000 });
      expect(atFirstAnswer).toBe(sent);
    },
  );

  it('keeps at most so many requests in flight', async () => {
    let inFlight = 0;
    let most = 0;
    const { harness, context, rev } = await world();
    harness.transport.answerAll(async (request) => {
      most = Math.max(most, ++inFlight);
      await settle();
      inFlight--;
      return created(request);
    });
    await run(context, creates(rev, 100), { limit: 5 });
    expect(harness.sent).toHaveLength(100);
    expect(most).toBe(5);
  });

  it.each([
    ['effects', { maxMs: 1000, maxEffects: 10 }],
    ['time', { maxMs: 10, maxEffects: 500 }],
  ])('leaves the rest to the next pass when its slice of %s is used up', async (_, slice) => {
    const { harness, context, rev } = await world();
    // Each request takes a millisecond.
    const runtime = { ...context.runtime, nowMs: () => 0, monotonicMs: () => harness.sent.length };
    const report = await run({ ...context, runtime }, creates(rev, 100), { slice });
    expect(report.isCut).toBe(true);
    expect(harness.sent.length).toBeGreaterThanOrEqual(10);
    expect(harness.sent.length).toBeLessThan(30);
  });

  it('is not cut when the slice just suffices', async () => {
    const { context, rev } = await world();
    expect(await run(context, creates(rev, 10), { slice: { maxMs: 1000, maxEffects: 10 } })).toMatchObject({
      isCut: false,
    });
  });
});

/** A status whose row has the operation that covers the effects. */
const covering = {
  instanceStatuses: [
    {
      index: 0,
      phase: 'Creating',
      operation: {
        id: 'op-1',
        type: 'Create',
        step: 'CreatePods',
        startedAt: '2026-01-01T00:00:00Z',
        lastProgressAt: '2026-01-01T00:00:00Z',
      },
    },
  ],
};

describe('the fence of each effect', () => {
  const effects = [chainOf('delete', deleteEffect(0, 'none'))];

  it.each([
    ['the spec has changed', at(rawReplica({ status: covering }), '210', { metadata: { generation: 2 } })],
    [
      'the object is being deleted',
      at(rawReplica({ status: covering }), '210', { metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } }),
    ],
    ['another object has the name', at(rawReplica({ status: covering }), '210', { metadata: { uid: 'another' } })],
    ['the operation is gone from the status', at(rawReplica(), '210')],
  ])('sends nothing when %s', async (_, replica) => {
    const { harness, context } = await world();
    harness.send('inferencereplicas', 'MODIFIED', replica);
    const report = await run(context, effects);
    expect(harness.sent).toEqual([]);
    expect(outcomes(report)).toEqual({ 'delete/0': 'skipped' });
  });

  it('sends nothing that the persisted status does not cover', async () => {
    const { harness, context } = await world();
    await run({ ...context, persisted: emptyStatus }, effects);
    expect(harness.sent).toEqual([]);
  });

  it('goes on when somebody else wrote what does not matter', async () => {
    const { harness, context } = await world();
    harness.send('inferencereplicas', 'MODIFIED', at(rawReplica({ status: covering }), '210'));
    await run(context, effects);
    expect(harness.sent).toEqual([expect.stringMatching(/^DELETE/)]);
  });

  it('checks again before each request of a pass', async () => {
    const { harness, context } = await world();
    const two = [chainOf('unroute', { ...gateEffect('add', 1), hold: { writer: 'W', key: 'x' } }), ...effects];
    await run(context, two, {
      onResult: () => {
        harness.send(
          'inferencereplicas',
          'MODIFIED',
          at(rawReplica({ status: covering }), '210', { metadata: { generation: 2 } }),
        );
      },
    });
    expect(harness.sent).toEqual([expect.stringMatching(/^PATCH/)]);
  });
});
