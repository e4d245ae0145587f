import { describe, expect, it } from '@jest/globals';
import { type DecodedStatus, emptyStatus, type InstanceRow, newRowBase } from '@omenative/api';
import type { TemplateCheck } from '@omenative/engine';
import { type ApiResponse, TransportError, testing } from '@omenative/kube';
import { asRecord, asRecords, type JsonRecord } from '../shared/json.js';
import { Limiter } from '../shared/limiter.js';
import type { Observation } from './observe.js';
import { TemplateChecks } from './template-check.js';
import { contextOf } from './testing/effects.js';
import { Harness } from './testing/harness.js';
import { rawReplica, template } from './testing/objects.js';
import { idle, passesOf } from './testing/passes.js';

const { ok, failure } = testing;
const old = 'chat-engine-0a1b2c3d';
const invalid = failure(422, 'Invalid', 'Pod "chat-engine-1-default-0-dry-run" is invalid: spec.x: no');
const gang = {
  runners: [
    { name: 'leader', size: 1, template: template('leader:1') },
    { name: 'worker', size: 2, template: template('worker:1') },
  ],
};

/** Instances that run `running`, one row for each. */
function statusOf(...running: readonly string[]): DecodedStatus {
  const rows = running.map((rev, index): InstanceRow => ({ ...newRowBase(index), kind: 'ready', running: rev }));
  return { ...emptyStatus, rows: new Map(rows.map((row) => [row.index, row])), order: rows.map(({ index }) => index) };
}

interface Asked {
  readonly harness: Harness;
  readonly checks: TemplateChecks;
  readonly refusals: string[];
  readonly ask: (
    answers?: readonly (ApiResponse | Error)[],
    observation?: Observation,
  ) => Promise<TemplateCheck | undefined>;
  /** The replica as it is now, at this generation. */
  readonly observe: (generation?: number, status?: DecodedStatus) => Observation;
  readonly later: (sec: number) => Promise<void>;
}

async function world(raw: JsonRecord = rawReplica(), status: DecodedStatus = statusOf(old, old)): Promise<Asked> {
  const harness = await new Harness({ inferencereplicas: [raw] }).sync();
  // Hours pass below; nobody has to watch meanwhile.
  harness.stop();
  const { client, runtime } = harness;
  const checks = new TemplateChecks({ client, runtime, limiter: new Limiter(4) });
  const refusals: string[] = [];
  const observe = (generation = 1, persisted = status): Observation => {
    const { observation } = contextOf(harness, { persisted });
    const { snapshot } = observation;
    return { ...observation, snapshot: { ...snapshot, replica: { ...snapshot.replica, generation } } };
  };
  const ask: Asked['ask'] = (answers = [], observation = observe()) => {
    for (const answer of answers) harness.transport.answerNext(answer);
    return checks.of(observation, (message) => refusals.push(message));
  };
  return { harness, checks, refusals, ask, observe, later: (sec) => runtime.advance(sec * 1000) };
}

describe('TemplateChecks', () => {
  it('asks with a dry run of one pod of each runner, under a name that nobody has', async () => {
    const { harness, ask } = await world(rawReplica({ spec: gang }));
    expect(await ask([ok({}, 201), ok({}, 201)])).toMatchObject({ is: 'accepted' });
    const { requests } = harness.transport;
    expect(requests.map(({ method, path, query }) => `${method} ${path} ${query?.['dryRun']}`)).toEqual([
      'POST /api/v1/namespaces/team-a/pods All',
      'POST /api/v1/namespaces/team-a/pods All',
    ]);
    expect(harness.bodies('POST').map((pod) => asRecord(pod['metadata'])['name'])).toEqual([
      'chat-engine-1-leader-0-dry-run',
      'chat-engine-1-worker-1-dry-run',
    ]);
    const images = harness.bodies('POST').map((pod) => asRecords(asRecord(pod['spec'])['containers'])[0]?.['image']);
    expect(images).toEqual(['leader:1', 'worker:1']);
  });

  it('says of the target what the server said, about the pod by its own name', async () => {
    const { ask, observe, refusals } = await world();
    const message = 'Pod "chat-engine-1-default-0" is invalid: spec.x: no';
    expect(await ask([invalid])).toEqual({ of: observe().snapshot.target, is: 'refused', message });
    expect(refusals).toEqual([message]);
  });

  it('stops at the first runner that is refused', async () => {
    const { harness, ask } = await world(rawReplica({ spec: gang }));
    expect(await ask([invalid])).toMatchObject({ is: 'refused' });
    expect(harness.sent).toHaveLength(1);
  });

  it('asks for nothing when no Instance has to move', async () => {
    const { harness, ask, observe } = await world();
    const { target } = observe().snapshot;
    const deleting = { ...newRowBase(0), kind: 'deleting', running: old } as InstanceRow;
    const leaving = { ...emptyStatus, rows: new Map([[0, deleting]]), order: [0] };
    for (const status of [emptyStatus, statusOf(''), statusOf(target, target), leaving]) {
      expect(await ask([], observe(1, status))).toBeUndefined();
    }
    expect(harness.sent).toEqual([]);
  });

  it.each([
    ['is paused', rawReplica({ spec: { paused: true } })],
    ['is being deleted', rawReplica({ metadata: { deletionTimestamp: '2026-01-01T00:00:00Z' } })],
  ])('asks for nothing while the replica %s', async (_, raw) => {
    const { harness, ask } = await world(raw);
    expect(await ask()).toBeUndefined();
    expect(harness.sent).toEqual([]);
  });

  it.each([
    ['requests above limits', invalid],
    ['Pod Security', failure(403, 'Forbidden', 'pods "x" is forbidden: violates PodSecurity "restricted:latest"')],
    ['a priority class', failure(403, 'Forbidden', 'pods "x" is forbidden: no PriorityClass with name x was found')],
    ['a webhook', failure(400, 'BadRequest', 'admission webhook "w" denied the request: no')],
    ['the size', failure(413, 'RequestEntityTooLarge', 'the request is too large')],
  ])('is refused for %s', async (_, answer) => {
    const { ask } = await world();
    expect(await ask([answer])).toMatchObject({ is: 'refused' });
  });

  it.each([
    [
      'a quota that is full: it is asked last, and what waits for it is the pod',
      'exceeded quota: q, requested: pods=1',
    ],
    ['a quota that has not been counted yet', 'status unknown for quota: q, resources: pods'],
  ])('is accepted before %s', async (_, words) => {
    const { ask } = await world();
    expect(await ask([failure(403, 'Forbidden', words)])).toMatchObject({ is: 'accepted' });
  });

  it('is refused for what a quota demands of the template itself', async () => {
    const { ask } = await world();
    const words = 'pods "x" is forbidden: failed quota: q: must specify limits.cpu for: main';
    expect(await ask([failure(403, 'Forbidden', words)])).toMatchObject({ is: 'refused' });
  });

  it.each([
    ['the name is taken', failure(409, 'AlreadyExists', 'pods "x" already exists')],
    [
      'a webhook can not be asked in this way',
      failure(400, 'BadRequest', 'admission webhook "w" does not support dry run'),
    ],
  ])('is accepted when %s', async (_, answer) => {
    const { ask } = await world();
    expect(await ask([answer])).toMatchObject({ is: 'accepted' });
  });

  it.each([
    ['throttled', failure(429, 'TooManyRequests', 'slow down')],
    ['without a webhook that can be reached', failure(500, 'InternalError', 'failed calling webhook "w": refused')],
    ['without a permission', failure(403, 'Forbidden', 'is forbidden: User "u" cannot create resource "pods" in API')],
    ['without a connection', new TransportError('refused', 'refused', 'no')],
    ['without an answer', new TransportError('timeout', 'timeout', 'maybe')],
    ['without the lease', new TransportError('not leading', 'fenced', 'no')],
  ])('knows nothing %s, says why, and asks again in two seconds', async (_, answer) => {
    const { harness, ask, observe, checks, later, refusals } = await world();
    const { now, target } = observe().snapshot;
    const unknown = {
      of: target,
      is: 'unknown',
      retryAt: now + 2,
      text: expect.stringMatching(/^nobody can say yet .*: \w/),
    };
    expect(await ask([answer])).toEqual(unknown);
    expect(checks.againAt('replica-uid')).toBe(now + 2);
    expect(await ask()).toEqual(unknown);
    expect(harness.sent).toHaveLength(1);
    await later(2);
    expect(await ask([ok({}, 201)])).toMatchObject({ is: 'accepted' });
    expect(checks.againAt('replica-uid')).toBeUndefined();
    expect(refusals).toEqual([]);
  });

  it('asks ever more rarely, once a minute at last, and never before the server wants', async () => {
    const { ask, checks, later, observe } = await world();
    const waits: number[] = [];
    for (let times = 0; times < 7; times++) {
      await ask([new TransportError('refused', 'refused', 'no')]);
      const waitSec = (checks.againAt('replica-uid') ?? 0) - observe().snapshot.now;
      waits.push(waitSec);
      await later(waitSec);
    }
    expect(waits).toEqual([2, 4, 8, 16, 32, 60, 60]);
    await ask([failure(429, 'TooManyRequests', 'slow down', { headers: { 'retry-after': '90' } })]);
    expect((checks.againAt('replica-uid') ?? 0) - observe().snapshot.now).toBe(90);
  });

  it('keeps what was accepted, whatever the spec says beside the template', async () => {
    const { harness, ask, observe, later } = await world();
    await ask([ok({}, 201)]);
    await later(86_400);
    expect(await ask([], observe(7))).toMatchObject({ is: 'accepted' });
    expect(harness.sent).toHaveLength(1);
  });

  it('asks about a refused one again when the spec has changed and every five minutes, and tells of it once', async () => {
    const { harness, ask, observe, later, refusals } = await world();
    await ask([invalid]);
    await later(299);
    await ask();
    expect(harness.sent).toHaveLength(1);
    await later(1);
    expect(await ask([invalid])).toMatchObject({ is: 'refused' });
    expect(harness.sent).toHaveLength(2);
    expect(await ask([invalid], observe(2))).toMatchObject({ is: 'refused' });
    expect(harness.sent).toHaveLength(3);
    expect(refusals).toHaveLength(1);
    await ask([failure(422, 'Invalid', 'another fault')], observe(3));
    expect(refusals).toHaveLength(2);
  });

  it('still takes it to be refused while nobody answers', async () => {
    const { ask, later, checks, observe } = await world();
    await ask([invalid]);
    await later(300);
    expect(await ask([new TransportError('refused', 'refused', 'no')])).toMatchObject({ is: 'refused' });
    expect(checks.againAt('replica-uid')).toBe(observe().snapshot.now + 2);
  });

  it('forgets what nobody has to move to any more', async () => {
    const { harness, ask, observe } = await world();
    await ask([ok({}, 201)]);
    await ask([], observe(1, statusOf(observe().snapshot.target)));
    await ask([ok({}, 201)]);
    expect(harness.sent).toHaveLength(2);
  });

  it('has nothing to ask about a revision that is gone', async () => {
    const { ask, observe } = await world();
    const observation = observe();
    const snapshot = { ...observation.snapshot, target: 'chat-engine-ffffffff' };
    expect(await ask([], { ...observation, snapshot })).toBeUndefined();
  });
});

describe('a pass', () => {
  const rows = { instanceStatuses: [{ index: 0, incarnation: 1, phase: 'Ready', runningRevision: old }] };

  it('plans with the answer, tells of a refusal, and comes again', async () => {
    const harness = await new Harness({ inferencereplicas: [rawReplica({ status: rows })] }).sync();
    harness.answer(() => invalid);
    const passes = passesOf(harness, () => idle);
    const end = await passes.run();
    expect(passes.snapshots).toMatchObject([{ templateCheck: { is: 'refused' } }]);
    expect(harness.recorded).toMatchObject([
      {
        reason: 'PodTemplateInvalid',
        type: 'Warning',
        message: expect.stringMatching(/no Instance is moved to chat-engine-[0-9a-f]{8}, .* spec\.x: no\./),
      },
    ]);
    expect(end).toEqual({ again: 'whenWoken', wakeAtMs: harness.runtime.nowMs() + 300_000 });
  });

  it('asks again after a restart, and is told the same', async () => {
    const harness = await new Harness({ inferencereplicas: [rawReplica({ status: rows })] }).sync();
    harness.answer(() => ok({}, 201));
    await passesOf(harness, () => idle).run();
    const again = passesOf(harness, () => idle);
    await again.run();
    await again.run();
    expect(harness.sent).toHaveLength(2);
    expect(again.snapshots.map((snapshot) => ('templateCheck' in snapshot ? snapshot.templateCheck : ''))).toEqual([
      expect.objectContaining({ is: 'accepted' }),
      expect.objectContaining({ is: 'accepted' }),
    ]);
  });

  it('plans nothing with an answer about another revision than the one that is the target by then', async () => {
    const harness = await new Harness({ inferencereplicas: [rawReplica({ status: rows })] }).sync();
    const twin = 'chat-engine-11111111';
    const stored = {
      metadata: {
        name: twin,
        namespace: 'team-a',
        uid: 'twin-uid',
        resourceVersion: '240',
        labels: { 'ome.io/managed-by': 'OMENative' },
        ownerReferences: [{ kind: 'InferenceReplica', name: 'chat-engine', uid: 'replica-uid', controller: true }],
      },
      revision: 1,
      data: { podSpec: template()['spec'], podMeta: null },
    };
    harness.transport
      .answerNext(() => {
        harness.send('controllerrevisions', 'ADDED', stored);
        return invalid;
      })
      .answerAll(() => ok({}, 201));
    const passes = passesOf(harness, () => idle);
    await passes.run();
    expect(passes.snapshots).toMatchObject([{ target: twin, templateCheck: { of: twin, is: 'accepted' } }]);
  });
});
