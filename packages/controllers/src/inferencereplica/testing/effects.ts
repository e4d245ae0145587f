/** Effects and their context, for tests. */
import { type DecodedStatus, emptyStatus, type InstanceRow, newRowBase, podName } from '@omenative/api';
import type { Chain, CreatePod, DeletePod, Effect, GatePod, Lane } from '@omenative/engine';
import type { ActContext } from '../act/context.js';
import { UnroutedGuard } from '../act/unrouted.js';
import { observe, routingServices } from '../observe.js';
import { OwnWrites } from '../own-writes.js';
import { type ReplicaRecord, replicaRecordOf } from '../replica-record.js';
import { specViewOf } from '../spec-view.js';
import { worldOf } from '../world.js';
import type { Harness } from './harness.js';
import { namespace, rawReplica } from './objects.js';

export const operation = 'op-1';
const covers = { by: 'operation', index: 0, id: operation } as const;

/** A row whose operation covers the effects below. */
export const coveredRow: InstanceRow = {
  ...newRowBase(0),
  kind: 'creating',
  op: {
    type: 'Create',
    step: 'CreatePods',
    id: operation,
    startedAt: 1,
    lastProgressAt: 1,
    retryCount: 0,
    target: '',
    reason: '',
    waiting: '',
    carry: {},
  },
};
export const coveredStatus: DecodedStatus = { ...emptyStatus, rows: new Map([[0, coveredRow]]), order: [0] };

export function createEffect(rev: string, index = 0): CreatePod {
  const name = podName('chat', 'engine', index, 'default', 0);
  return {
    do: 'createPod',
    key: `create/${name}`,
    covers,
    name,
    index,
    incarnation: 1,
    runner: 'default',
    ordinal: 0,
    rev,
    avoidNodes: [],
  };
}

export function deleteEffect(index = 0, guard: DeletePod['guard'] = 'unroutedLive'): DeletePod {
  return { do: 'deletePod', key: `delete/${index}`, covers, pod: refTo(index), guard };
}

export function gateEffect(change: GatePod['change'], index = 0, uid?: string): GatePod {
  const hold = { writer: 'DeleteDrain', key: '0' };
  const pod = uid === undefined ? refTo(index) : { ...refTo(index), uid };
  return { do: 'gate', key: `gate/${index}`, covers, pod, hold, change };
}

function refTo(index: number) {
  const name = podName('chat', 'engine', index, 'default', 0);
  return { name, uid: `pod-uid-${index}-default-0`, resourceVersion: '50' };
}

export function chainOf(lane: Lane, ...effects: readonly Effect[]): Chain {
  return { lane, effects, stopLaneOn: ['throttled', 'quota'] };
}

/** The context of a pass over the harness's `chat-engine`, which must be synced. */
export function contextOf(
  harness: Harness,
  options: { readonly replica?: ReplicaRecord; readonly persisted?: DecodedStatus } = {},
): ActContext {
  const { client, runtime, caches } = harness;
  const replica =
    options.replica ?? caches.replicas.store.get(`${namespace}/chat-engine`) ?? replicaRecordOf(rawReplica());
  const view = specViewOf(replica, {}, () => false);
  if (!view.ok) throw new Error(view.message);
  const persisted = options.persisted ?? coveredStatus;
  const ownWrites = new OwnWrites(runtime, caches.pods);
  const world = worldOf(caches, replica);
  const observation = observe(world, {
    nowMs: runtime.nowMs(),
    status: persisted,
    spec: view.spec,
    live: view.live,
    config: {},
    inbox: new Map(),
    blind: new Set(),
    readIndices: new Set(),
  });
  const services = routingServices(world, view.spec);
  const guard = new UnroutedGuard({ client, namespace, owner: 'chat', services });
  return { client, runtime, caches, ownWrites, observation, replica, persisted, guard };
}
