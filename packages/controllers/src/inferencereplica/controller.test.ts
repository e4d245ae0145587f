import { describe, expect, it } from '@jest/globals';
import type { Plan, Snapshot } from '@omenative/engine';
import { type ApiRequest, testing } from '@omenative/kube';
import type { JsonRecord } from '../shared/json.js';
import { InferenceReplicaController } from './controller.js';
import { chainOf, coveredStatus, deleteEffect } from './testing/effects.js';
import { at, Harness, head, settle } from './testing/harness.js';
import { rawHeadless, rawPod, rawReplica, rawService, rawSlice, servingConditions } from './testing/objects.js';
import { idle } from './testing/passes.js';

const { ok, listOf } = testing;
const revision: JsonRecord = {
  metadata: {
    name: 'chat-engine-0a1b2c3d',
    namespace: 'team-a',
    uid: 'rev',
    resourceVersion: '60',
    labels: { 'ome.io/inferenceservice': 'chat', 'ome.io/managed-by': 'OMENative' },
  },
  data: {},
};

interface World {
  readonly harness: Harness;
  readonly controller: InferenceReplicaController;
  /** Snapshots planned on, oldest first. */
  readonly seen: Snapshot[];
  /** Passes since the last call, after everything due has run. */
  readonly passes: (ms?: number) => Promise<number>;
}

async function world(
  planner: (snapshot: Snapshot, call: number) => Plan = () => idle,
  more: Readonly<Record<string, readonly JsonRecord[]>> = {},
  options: { readonly safetyPollMs?: number; readonly headVersion?: string } = {},
): Promise<World> {
  const objects = {
    inferencereplicas: [rawReplica()],
    pods: [rawPod()],
    services: [rawService(), rawHeadless()],
    endpointslices: [rawSlice('chat-engine', [])],
    controllerrevisions: [revision],
    ...more,
  };
  const harness = await new Harness(objects).sync();
  harness.answer((request) => answer(request, options.headVersion ?? head));
  const seen: Snapshot[] = [];
  const controller = new InferenceReplicaController({
    runtime: harness.runtime,
    client: harness.client,
    caches: harness.caches,
    config: harness.config,
    events: { record: (event) => harness.recorded.push(event) },
    log: (_level, message) => harness.logged.push(message),
    planner: (snapshot) => {
      seen.push(snapshot);
      return planner(snapshot, seen.length);
    },
    ...(options.safetyPollMs === undefined ? {} : { safetyPollMs: options.safetyPollMs }),
  });
  controller.start();
  let counted = 0;
  const passes = async (ms = 1000): Promise<number> => {
    await settle();
    await harness.runtime.advance(ms);
    await settle();
    const fresh = seen.length - counted;
    counted = seen.length;
    return fresh;
  };
  return { harness, controller, seen, passes };
}

function answer({ method, body }: ApiRequest, headVersion: string) {
  if (method === 'GET') return listOf([], headVersion);
  return method === 'DELETE' ? ok({ kind: 'Status', status: 'Success' }) : ok(at(body as JsonRecord, '250'));
}

describe('InferenceReplicaController', () => {
  it('looks at every replica once when it starts, and then rests', async () => {
    const { passes } = await world();
    expect(await passes()).toBe(1);
    expect(await passes(150_000)).toBe(0);
  });

  it.each([
    [
      'the replica',
      'inferencereplicas',
      at(rawReplica(), '210', { spec: { ...(rawReplica()['spec'] as object), replicas: 3 } }),
    ],
    ['a pod', 'pods', at(rawPod({ status: { phase: 'Failed' } }), '210')],
    ['a Service', 'services', at(rawService(), '210')],
    ['the headless Service', 'services', at(rawHeadless(), '210')],
    ['a slice', 'endpointslices', at(rawSlice('chat-engine', [{ pod: 'x' }]), '210')],
    ['a revision', 'controllerrevisions', at(revision, '210')],
  ])('comes when %s changes, and when it goes [B100]', async (_, plural, object) => {
    const { harness, passes } = await world();
    await passes();
    harness.send(plural, 'MODIFIED', object);
    expect(await passes()).toBe(1);
    harness.send(plural, 'DELETED', at(object, '211'));
    expect(await passes()).toBe(plural === 'inferencereplicas' ? 0 : 1);
  });

  it('comes when the settings change', async () => {
    const { harness, passes, seen } = await world();
    await passes();
    harness.config.update({
      omenativeStatus: '{"instanceStatusEncoding":"DenseV1"}',
      lifecycle: '{"stuckPodGracePeriod":"60s"}',
    });
    expect(await passes()).toBe(1);
    expect(seen.at(-1)?.config).toMatchObject({ stuckPodGraceSec: 60 });
  });

  it('does not come for a pod event that changes nothing a plan looks at [B101]', async () => {
    const { harness, passes } = await world();
    await passes();
    harness.send('pods', 'MODIFIED', at(rawPod(), '210', { metadata: { managedFields: [{ manager: 'kubelet' }] } }));
    expect(await passes()).toBe(0);
    harness.send('pods', 'MODIFIED', at(rawPod({ status: { conditions: servingConditions() } }), '211'));
    expect(await passes()).toBe(1);
  });

  it('rests between passes, however many events come', async () => {
    const { harness, passes } = await world();
    await passes();
    for (let version = 210; version < 260; version++) {
      harness.send('services', 'MODIFIED', at(rawService(), String(version)));
      await settle();
    }
    // The first at once, one more for all that came during its rest.
    expect(await passes()).toBe(2);
  });

  it('rests four times as long as it planned', async () => {
    let takes: (() => void) | undefined;
    const { harness, passes } = await world(() => {
      takes?.();
      return idle;
    });
    await passes();
    takes = () => harness.runtime.freeze(500);
    harness.send('services', 'MODIFIED', at(rawService(), '210'));
    expect(await passes(100)).toBe(1);
    harness.send('services', 'MODIFIED', at(rawService(), '211'));
    expect(await passes(1_500)).toBe(0);
    expect(await passes(500)).toBe(1);
  });

  it('does not rest for the time that the API server took', async () => {
    const { harness, passes } = await world((snapshot, call) =>
      call === 1 ? { ...idle, status: { ...snapshot.status, collisionCount: 5 } } : idle,
    );
    harness.answer((request) => {
      if (request.method === 'PUT') harness.runtime.freeze(2_000);
      return answer(request, head);
    });
    // The second, to go on after the write, would else come eight seconds later.
    expect(await passes(100)).toBe(2);
  });

  it('comes when a hold says so [B03]', async () => {
    const { passes } = await world((snapshot, call) => (call === 1 ? { ...idle, wakeAt: snapshot.now + 60 } : idle));
    expect(await passes(59_000)).toBe(1);
    expect(await passes(1_500)).toBe(1);
    expect(await passes(150_000)).toBe(0);
  });

  it('does not spin on a wake that is due already [B101]', async () => {
    const { passes } = await world((snapshot) => ({ ...idle, wakeAt: snapshot.now - 1 }));
    const before = await passes(10_000);
    expect(before).toBeLessThan(15);
  });

  it('comes again after a write, to go on at once', async () => {
    const { passes, seen } = await world((snapshot, call) =>
      call === 1 ? { ...idle, status: { ...snapshot.status, collisionCount: 5 } } : idle,
    );
    expect(await passes()).toBe(2);
    expect(seen[1]?.status.collisionCount).toBe(5);
  });

  it('comes when the pod stream shows what was written, and is blind until then', async () => {
    const dying = at(rawPod(), '230', { metadata: { deletionTimestamp: '2026-01-01T00:01:00Z' } });
    const { harness, passes, seen } = await world((snapshot, call) =>
      call === 1
        ? {
            ...idle,
            status: { ...snapshot.status, ...coveredStatus },
            chains: [chainOf('delete', deleteEffect(0, 'none'))],
          }
        : idle,
    );
    harness.answer((request) => (request.method === 'DELETE' ? ok(dying) : answer(request, head)));
    await passes(500);
    expect([...(seen.at(-1)?.blind ?? [])]).toEqual([0]);
    harness.stream('pods').bookmark('230');
    expect(await passes(500)).toBe(1);
    expect(seen.at(-1)?.blind.size).toBe(0);
  });

  it('starts a pod stream again that does not show what was written [B30]', async () => {
    const dying = at(rawPod(), '230', { metadata: { deletionTimestamp: '2026-01-01T00:01:00Z' } });
    const { harness, passes } = await world((snapshot, call) =>
      call === 1
        ? {
            ...idle,
            status: { ...snapshot.status, ...coveredStatus },
            chains: [chainOf('delete', deleteEffect(0, 'none'))],
          }
        : idle,
    );
    harness.answer((request) => (request.method === 'DELETE' ? ok(dying) : answer(request, head)));
    const podStreams = () => harness.transport.streams.filter((stream) => stream.request.path.endsWith('/pods')).length;
    await passes(9_000);
    expect(podStreams()).toBe(1);
    await passes(15_000);
    expect(podStreams()).toBeGreaterThan(1);
  });

  it('looks again by itself when it is told to', async () => {
    const { passes } = await world(() => idle, {}, { safetyPollMs: 50_000 });
    await passes();
    expect(await passes(160_000)).toBe(3);
  });

  it('works on replicas of one InferenceService one after the other', async () => {
    const decoder = rawReplica({
      metadata: { name: 'chat-decoder', uid: 'decoder-uid' },
      spec: { component: 'decoder' },
    });
    let working = 0;
    let most = 0;
    const { harness, passes } = await world(
      (snapshot, call) => (call <= 2 ? { ...idle, status: { ...snapshot.status, collisionCount: 5 } } : idle),
      { inferencereplicas: [rawReplica(), decoder] },
    );
    harness.transport.answerAll(async (request) => {
      if (request.method !== 'PUT') return answer(request, head);
      most = Math.max(most, ++working);
      await settle();
      working--;
      return answer(request, head);
    });
    expect(await passes()).toBe(4);
    expect(most).toBe(1);
  });

  it('isolates a replica whose status cannot be decoded from its siblings [B24]', async () => {
    const broken = rawReplica({ status: { instanceStatusEncoding: 'Mystery' } });
    const decoder = rawReplica({
      metadata: { name: 'chat-decoder', uid: 'decoder-uid' },
      spec: { component: 'decoder' },
    });
    const { passes, seen } = await world(() => idle, { inferencereplicas: [broken, decoder] });
    expect(await passes()).toBe(1);
    expect(seen[0]?.replica.name).toBe('chat-decoder');
  });

  it('repeats a pass that failed, with growing pauses, and says so', async () => {
    const { harness, passes } = await world(() => {
      throw new Error('a bug');
    });
    const tries = await passes(5_000);
    expect(tries).toBeGreaterThan(3);
    expect(tries).toBeLessThan(15);
    expect(harness.logged).toContain('a pass failed and is repeated: a bug');
  });

  it('begins nothing once it is stopped', async () => {
    const { harness, controller, passes } = await world();
    await passes();
    await controller.stop();
    harness.send('services', 'MODIFIED', at(rawService(), '210'));
    expect(await passes()).toBe(0);
  });

  describe('as a new leader', () => {
    it('makes no pass before every stream has passed the state that it found [B42]', async () => {
      const { harness, passes } = await world(() => idle, {}, { headVersion: '240' });
      const streams = ['inferencereplicas', 'pods', 'services', 'endpointslices', 'controllerrevisions'];
      for (const plural of streams) {
        expect(await passes(100)).toBe(0);
        harness.stream(plural).bookmark('240');
      }
      expect(await passes(100)).toBe(1);
    });

    it('starts a stream again that stays behind [B42]', async () => {
      const { harness, passes } = await world(() => idle, {}, { headVersion: '240' });
      const before = harness.transport.streams.length;
      expect(await passes(5000)).toBe(0);
      expect(harness.transport.streams.length).toBeGreaterThan(before);
    });
  });
});
