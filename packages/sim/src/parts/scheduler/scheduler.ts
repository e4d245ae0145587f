/** The scheduler: one pod at a time, or all members of a PodGroup or none. */

import { boundTo } from '../../api/binding.js';
import { equal } from '../../base/json.js';
import { type KubeObject, keyOf, objectKey } from '../../base/object.js';
import type { Change } from '../../base/store.js';
import { rfc3339 } from '../../base/time.js';
import type { Part, World } from '../../base/world.js';
import { store, withCondition } from '../act.js';
import { recordEvent } from '../events.js';
import { isTerminal, type Node, type Pod } from '../model.js';
import { fullness, misfit, type Placement } from './fit.js';

const ME = 'default-scheduler';
export const POD_GROUPS = 'podgroups.scheduling.x-k8s.io';
export const POD_GROUP_LABEL = 'scheduling.x-k8s.io/pod-group';
const RETRY_NOTE = 'scheduler/retry';

export const scheduler: Part = {
  handlers: {
    'scheduler.pod': (world: World, args: { readonly key: string }) => {
      const pod = world.store.get('pods', args.key) as Pod | undefined;
      if (pod !== undefined && isPending(world, pod)) attempt(world, pod);
    },
    'scheduler.retry': (world: World) => {
      world.notes.delete(RETRY_NOTE);
      const waiting = ([...world.store.list('pods')] as Pod[]).filter((pod) => isPending(world, pod));
      waiting.sort((a, b) => Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion));
      for (const pod of waiting) {
        const now = world.store.get('pods', keyOf(pod)) as Pod | undefined;
        if (now !== undefined && isPending(world, now)) attempt(world, now);
      }
    },
  },

  onChange(world: World, change: Change): void {
    if (change.resource === 'pods') podChanged(world, change);
    else if (change.resource === 'nodes' ? nodeFreed(change) : change.resource === POD_GROUPS) retryAll(world);
  },
};

function podChanged(world: World, change: Change): void {
  const pod = change.object as Pod;
  if (change.type === 'DELETED' || isTerminal(pod)) {
    if (pod.spec.nodeName !== undefined && !isTerminal((change.previous ?? pod) as Pod)) retryAll(world);
    else if (change.type === 'DELETED' && pod.spec.nodeName !== undefined) retryAll(world);
    return;
  }
  if (!isPending(world, pod)) return;
  const before = change.previous as Pod | undefined;
  if (before !== undefined && isPending(world, before) && equal(before.spec, pod.spec)) return;
  world.after(world.options.schedulerLagMs, 'scheduler.pod', { key: keyOf(pod) });
}

function nodeFreed(change: Change): boolean {
  const node = change.object as Node;
  const before = change.previous as Node | undefined;
  if (change.type === 'DELETED') return false;
  return (
    before === undefined ||
    !equal(before.spec, node.spec) ||
    !equal(before.metadata.labels, node.metadata.labels) ||
    !equal(before.status.allocatable, node.status.allocatable)
  );
}

function retryAll(world: World): void {
  if (world.notes.has(RETRY_NOTE)) return;
  world.notes.set(RETRY_NOTE, true);
  world.after(world.options.schedulerLagMs, 'scheduler.retry', {});
}

function isPending(world: World, pod: Pod): boolean {
  return (
    pod.spec.nodeName === undefined &&
    pod.metadata.deletionTimestamp === undefined &&
    !isTerminal(pod) &&
    (pod.spec.schedulingGates ?? []).length === 0 &&
    world.options.schedulerNames.includes(pod.spec.schedulerName ?? ME)
  );
}

function attempt(world: World, pod: Pod): void {
  const group = groupOf(world, pod);
  if (group === undefined) {
    const placement = placementOf(world, []);
    const node = choose(world, pod, placement);
    if (node === undefined) refuse(world, pod, failureText(pod, placement));
    else bind(world, pod, node);
    return;
  }
  attemptGang(world, pod, group);
}

function groupOf(world: World, pod: Pod): KubeObject | undefined {
  const name = pod.metadata.labels?.[POD_GROUP_LABEL];
  if (name === undefined || !world.options.gangSchedulerNames.includes(pod.spec.schedulerName ?? ME)) return undefined;
  return world.store.get(POD_GROUPS, objectKey(pod.metadata.namespace, name));
}

function attemptGang(world: World, pod: Pod, group: KubeObject): void {
  const spec = group['spec'] as { readonly minMember?: number } | undefined;
  const minMember = spec?.minMember ?? 1;
  const members = ([...world.store.list('pods')] as Pod[]).filter(
    (other) => isMember(other, group) && !isTerminal(other),
  );
  const bound = members.filter((other) => other.spec.nodeName !== undefined).length;
  if (members.length < minMember) {
    const text = `pre-filter pod ${pod.metadata.name} cannot find enough sibling pods, current pods number: ${members.length}, minMember of group: ${minMember}`;
    refuse(world, pod, text);
    return;
  }
  const placed: { readonly pod: Pod; readonly node: Node }[] = [];
  const waiting = members.filter((other) => isPending(world, other)).toSorted(byName);
  for (const other of waiting) {
    const node = choose(world, other, placementOf(world, placed));
    if (node !== undefined) placed.push({ pod: other, node });
  }
  if (bound + placed.length >= minMember) {
    for (const { pod: other, node } of placed) bind(world, other, node);
    return;
  }
  const text = failureText(pod, placementOf(world, placed));
  for (const other of waiting)
    refuse(world, other, `${text} (PodGroup ${group.metadata.name} needs ${minMember} members at once)`);
}

function isMember(pod: Pod, group: KubeObject): boolean {
  return (
    pod.metadata.namespace === group.metadata.namespace &&
    pod.metadata.labels?.[POD_GROUP_LABEL] === group.metadata.name &&
    pod.metadata.deletionTimestamp === undefined
  );
}

function byName(a: Pod, b: Pod): number {
  return a.metadata.name < b.metadata.name ? -1 : 1;
}

function placementOf(world: World, assumed: readonly { readonly pod: Pod; readonly node: Node }[]): Placement {
  const podsOn = new Map<string, Pod[]>();
  const add = (name: string, pod: Pod): void => {
    const list = podsOn.get(name);
    if (list === undefined) podsOn.set(name, [pod]);
    else list.push(pod);
  };
  for (const pod of world.store.list('pods') as Iterable<Pod>) {
    if (pod.spec.nodeName !== undefined && !isTerminal(pod)) add(pod.spec.nodeName, pod);
  }
  for (const { pod, node } of assumed) add(node.metadata.name, pod);
  const nodes = ([...world.store.list('nodes')] as Node[]).toSorted((a, b) =>
    a.metadata.name < b.metadata.name ? -1 : 1,
  );
  return { nodes, podsOn };
}

/** The emptiest node that fits; among equals the seed decides. */
function choose(world: World, pod: Pod, placement: Placement): Node | undefined {
  let best: Node | undefined;
  let bestScore = Number.POSITIVE_INFINITY;
  for (const node of placement.nodes) {
    if (misfit(pod, node, placement) !== undefined) continue;
    const score = fullness(pod, node, placement) + world.random.fraction() / 1e6;
    if (score < bestScore) {
      best = node;
      bestScore = score;
    }
  }
  return best;
}

function failureText(pod: Pod, placement: Placement): string {
  const total = placement.nodes.length;
  if (total === 0) return 'no nodes available to schedule pods';
  const misfits = placement.nodes.flatMap((node) => misfit(pod, node, placement) ?? []);
  const reasons = counted(misfits.flatMap((one) => one.reasons));
  const victims = counted(
    misfits.map(({ preemption }) =>
      preemption === 'might help'
        ? 'No preemption victims found for incoming pod'
        : 'Preemption is not helpful for scheduling',
    ),
  );
  const none = `0/${total} nodes are available`;
  return `${none}: ${reasons}. no new claims to deallocate, preemption: ${none}: ${victims}.`;
}

/** `2 Insufficient cpu, 1 Too many pods`, in alphabetical order. */
function counted(texts: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts]
    .map(([text, count]) => `${count} ${text}`)
    .toSorted()
    .join(', ');
}

function bind(world: World, pod: Pod, node: Node): void {
  world.commit('pods', boundTo(pod, node.metadata.name, world.nowMs), pod, ME);
  const message = `Successfully assigned ${keyOf(pod)} to ${node.metadata.name}`;
  recordEvent(world, pod, { type: 'Normal', reason: 'Scheduled', message, component: ME });
}

function refuse(world: World, pod: Pod, message: string): void {
  const { generation } = pod.metadata;
  const observed = generation === undefined ? {} : { observedGeneration: generation };
  const condition = { type: 'PodScheduled', ...observed, status: 'False', reason: 'Unschedulable', message };
  const conditions = withCondition(pod.status.conditions, condition, rfc3339(world.nowMs));
  store(world, 'pods', { ...pod, status: { ...pod.status, conditions } }, pod, ME);
  recordEvent(world, pod, { type: 'Warning', reason: 'FailedScheduling', message, component: ME });
}
