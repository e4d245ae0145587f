/** The life of nodes: heartbeats that stop, the taint that follows, evictions, and a node that goes for good. */

import { asObject } from '../base/json.js';
import type { KubeObject } from '../base/object.js';
import type { Change } from '../base/store.js';
import { rfc3339 } from '../base/time.js';
import type { Part, World } from '../base/world.js';
import { deleteObject, store, withCondition } from './act.js';
import { resume } from './kubelet/kubelet.js';
import { allRuns, dropRun, saveRun } from './kubelet/run.js';
import { type Condition, conditionOf, isTerminal, type Node, type Pod, type Taint } from './model.js';
import { nodeState, setNodeState } from './node-state.js';
import { covers } from './scheduler/fit.js';

const ME = 'node-controller';
/** From a node's absence to the removal of its pods: a sweep each 20 s, and 40 s in which the node may come back. */
const COLLECT_MS = [40_000, 62_000] as const;
const UNREACHABLE = 'node.kubernetes.io/unreachable';
const NOT_READY = 'node.kubernetes.io/not-ready';

interface Named {
  readonly name: string;
}

export const nodes: Part = {
  handlers: {
    /** The kubelet goes silent; its containers run on. */
    nodeStop: (world: World, { name }: Named) => {
      setNodeState(world, name, 'silent');
      world.after([world.options.nodeGraceMs, world.options.nodeGraceMs + 5000], 'nodes.lost', { name });
    },
    /** The machine goes down with every container on it. */
    nodeCrash: (world: World, { name }: Named) => {
      setNodeState(world, name, 'crashed');
      killAll(world, name);
      world.after([world.options.nodeGraceMs, world.options.nodeGraceMs + 5000], 'nodes.lost', { name });
    },
    /** The kubelet is back. */
    nodeStart: (world: World, { name }: Named) => {
      setNodeState(world, name, 'up');
      resume(world, name);
      world.after([500, 5000], 'nodes.heard', { name });
    },
    'nodes.lost': (world: World, { name }: Named) => {
      if (nodeState(world, name) !== 'up') lost(world, name);
    },
    'nodes.heard': (world: World, { name }: Named) => {
      if (nodeState(world, name) === 'up') heard(world, name);
    },
    'nodes.evict': (world: World, args: { readonly key: string; readonly uid: string; readonly node: string }) =>
      evict(world, args),
    'nodes.collect': (world: World, { name }: Named) => collect(world, name),
  },

  onChange(world: World, change: Change): void {
    if (change.resource === 'pods') {
      podBound(world, change);
      return;
    }
    if (change.resource !== 'nodes') return;
    const { name } = change.object.metadata;
    if (change.type === 'ADDED') world.after([0, 1000], 'nodes.heard', { name });
    else if (change.type === 'DELETED') world.after(COLLECT_MS, 'nodes.collect', { name });
    else planEvictions(world, change.object as Node);
  },
};

function nodeOf(world: World, name: string): Node | undefined {
  return world.store.get('nodes', name) as Node | undefined;
}

function killAll(world: World, name: string): void {
  for (const run of allRuns(world)) {
    if (run.node !== name) continue;
    const containers = run.containers.map((one) => {
      if (one.state.is !== 'running') return { ...one, epoch: one.epoch + 1 };
      const { startedMs, id } = one.state;
      const end = { exitCode: 255, reason: 'Unknown', startedMs, finishedMs: world.nowMs, id };
      return { ...one, state: { is: 'ended', end } as const, lastEnd: end, ready: false, epoch: one.epoch + 1 };
    });
    saveRun(world, { ...run, containers });
  }
}

const PRESSURES = ['MemoryPressure', 'DiskPressure', 'PIDPressure'];

function withReady(world: World, node: Node, status: string, reason: string, message: string): readonly Condition[] {
  const time = rfc3339(world.nowMs);
  let conditions = node.status.conditions;
  const other = status === 'True' ? 'False' : status;
  for (const type of PRESSURES) conditions = withCondition(conditions, { type, status: other, reason, message }, time);
  return withCondition(conditions, { type: 'Ready', status, reason, message }, time);
}

function writeNode(world: World, node: Node, conditions: readonly Condition[], taints: readonly Taint[]): void {
  const { taints: _old, ...spec } = node.spec;
  const next = {
    ...node,
    spec: taints.length === 0 ? spec : { ...spec, taints },
    status: { ...node.status, conditions },
  };
  store(world, 'nodes', next, node, ME);
}

function lost(world: World, name: string): void {
  const node = nodeOf(world, name);
  if (node === undefined || conditionOf(node.status.conditions, 'Ready')?.status === 'Unknown') return;
  const conditions = withReady(world, node, 'Unknown', 'NodeStatusUnknown', 'Kubelet stopped posting node status.');
  const time = rfc3339(world.nowMs);
  const kept = (node.spec.taints ?? []).filter((taint) => taint.key !== UNREACHABLE && taint.key !== NOT_READY);
  const added: readonly Taint[] = [
    { key: UNREACHABLE, effect: 'NoSchedule', timeAdded: time },
    { key: UNREACHABLE, effect: 'NoExecute', timeAdded: time },
  ];
  writeNode(world, node, conditions, [...kept, ...added]);
  for (const pod of podsOf(world, name)) {
    const ready = conditionOf(pod.status.conditions, 'Ready');
    if (ready === undefined || ready.status === 'False') continue;
    const changed = withCondition(pod.status.conditions, { type: 'Ready', status: 'False' }, time);
    store(world, 'pods', { ...pod, status: { ...pod.status, conditions: changed } }, pod, ME);
  }
}

function heard(world: World, name: string): void {
  const node = nodeOf(world, name);
  if (node === undefined) return;
  const conditions = withReady(world, node, 'True', 'KubeletReady', 'kubelet is posting ready status');
  const taints = (node.spec.taints ?? []).filter((taint) => taint.key !== UNREACHABLE && taint.key !== NOT_READY);
  writeNode(world, node, conditions, taints);
}

function podsOf(world: World, node: string): readonly Pod[] {
  return ([...world.store.list('pods')] as Pod[]).filter((pod) => pod.spec.nodeName === node);
}

/** A pod that comes to a node with NoExecute taints is subject to them from then on. */
function podBound(world: World, change: Change): void {
  const pod = change.object as Pod;
  const before = change.previous as Pod | undefined;
  if (change.type === 'DELETED' || pod.spec.nodeName === undefined || before?.spec.nodeName !== undefined) return;
  const name = pod.spec.nodeName;
  const node = nodeOf(world, name);
  if (node !== undefined) planEviction(world, pod, node);
  else world.after(COLLECT_MS, 'nodes.collect', { name });
}

function planEvictions(world: World, node: Node): void {
  for (const pod of podsOf(world, node.metadata.name)) planEviction(world, pod, node);
}

/** How long a pod bears a node's NoExecute taints: undefined means for ever. */
function toleratedMs(pod: Pod, node: Node): number | undefined {
  let least: number | undefined;
  for (const taint of node.spec.taints ?? []) {
    if (taint.effect !== 'NoExecute') continue;
    const toleration = (pod.spec.tolerations ?? []).find((one) => covers(one, taint));
    if (toleration === undefined) return 0;
    if (toleration.tolerationSeconds === undefined) continue;
    least = Math.min(least ?? Number.POSITIVE_INFINITY, toleration.tolerationSeconds * 1000);
  }
  return least;
}

function planEviction(world: World, pod: Pod, node: Node): void {
  const note = `evict/${pod.metadata.uid}`;
  const waitMs = toleratedMs(pod, node);
  if (waitMs === undefined) {
    world.notes.delete(note);
    return;
  }
  if (world.notes.has(note) || pod.metadata.deletionTimestamp !== undefined) return;
  world.notes.set(note, true);
  const key = `${pod.metadata.namespace ?? ''}/${pod.metadata.name}`;
  world.schedule(world.nowMs + waitMs, 'nodes.evict', { key, uid: pod.metadata.uid, node: node.metadata.name });
}

function evict(world: World, args: { readonly key: string; readonly uid: string; readonly node: string }): void {
  // The note is gone when the taint went in the meantime.
  if (!world.notes.delete(`evict/${args.uid}`)) return;
  const pod = world.store.get('pods', args.key) as Pod | undefined;
  if (pod?.metadata.uid !== args.uid || pod.metadata.deletionTimestamp !== undefined) return;
  const condition = {
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'DeletionByTaintManager',
    message: 'Taint manager: deleting due to NoExecute taint',
  };
  const conditions = withCondition(pod.status.conditions, condition, rfc3339(world.nowMs));
  const marked = store(world, 'pods', { ...pod, status: { ...pod.status, conditions } }, pod, ME);
  deleteObject(world, 'pods', marked, { uid: args.uid, dryRun: 'none' }, 'taint-eviction-controller');
}

/** Pods of a node that does not exist any more are removed by force. */
function collect(world: World, name: string): void {
  if (nodeOf(world, name) !== undefined) return;
  for (const pod of podsOf(world, name)) {
    if (!isTerminal(pod)) {
      const failed = { ...pod, status: { ...asObject(pod.status), phase: 'Failed' } } as KubeObject;
      store(world, 'pods', failed, pod, 'pod-garbage-collector');
    }
    dropRun(world, pod.metadata.uid);
    const now = world.store.get('pods', `${pod.metadata.namespace ?? ''}/${pod.metadata.name}`);
    if (now === undefined) continue;
    deleteObject(
      world,
      'pods',
      now,
      { gracePeriodSeconds: 0, uid: pod.metadata.uid, dryRun: 'none' },
      'pod-garbage-collector',
    );
  }
}
