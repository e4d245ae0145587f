/** Whether a pod may run on a node, and if not, the words the scheduler uses for it. */

import { podRequests, quantity } from '../../api/kinds/pod-resources.js';
import { type LabelSelector, selectorMatches } from '../../api/selectors.js';
import { compareText } from '../../base/json.js';
import type { Node, NodeSelectorTerm, Pod, PodAffinityTerm, SpreadConstraint, Taint, Toleration } from '../model.js';

/** The nodes, and the pods that are on them or about to be. */
export interface Placement {
  readonly nodes: readonly Node[];
  /** Pods that take room, by the name of their node. */
  readonly podsOn: ReadonlyMap<string, readonly Pod[]>;
}

/** Why a pod may not run on a node. */
export interface Misfit {
  /** One or more phrases of a FailedScheduling message. */
  readonly reasons: readonly string[];
  /** Whether it could if other pods were not there. */
  readonly preemption: 'might help' | 'does not help';
}

function never(reason: string): Misfit {
  return { reasons: [reason], preemption: 'does not help' };
}

function notNow(reason: string): Misfit {
  return { reasons: [reason], preemption: 'might help' };
}

/** Why a pod may not run on a node; undefined when it fits. */
export function misfit(pod: Pod, node: Node, placement: Placement): Misfit | undefined {
  if (node.spec.unschedulable === true && !tolerates(pod, UNSCHEDULABLE)) return never('node(s) were unschedulable');
  if (!matchesSelector(pod, node)) return never("node(s) didn't match Pod's node affinity/selector");
  const taint = (node.spec.taints ?? []).find((one) => one.effect !== 'PreferNoSchedule' && !tolerates(pod, one));
  if (taint !== undefined) return never('node(s) had untolerated taint(s)');
  const short = missingResources(pod, node, placement);
  if (short.length > 0) return { reasons: short, preemption: fitsEmpty(pod, node) ? 'might help' : 'does not help' };
  if (!affinityHolds(pod, node, placement)) return never("node(s) didn't match pod affinity rules");
  if (!antiAffinityHolds(pod, node, placement)) return notNow("node(s) didn't match pod anti-affinity rules");
  const spread = "node(s) didn't match pod topology spread constraints";
  if (hardSpread(pod).some(({ topologyKey }) => node.metadata.labels?.[topologyKey] === undefined))
    return never(`${spread} (missing required label)`);
  if (!spreadHolds(pod, node, placement)) return notNow(spread);
  return undefined;
}

/** How much of its processors, memory or devices a node would have in use with the pod on it, 0 to 1. */
export function fullness(pod: Pod, node: Node, placement: Placement): number {
  const used = usedOn(node, placement);
  let most = 0;
  for (const [name, amount] of podRequests(pod.spec)) {
    const total = quantity(node.status.allocatable?.[name]);
    if (total > 0) most = Math.max(most, ((used.get(name) ?? 0) + amount) / total);
  }
  return most + (placement.podsOn.get(node.metadata.name)?.length ?? 0) / 1000;
}

const UNSCHEDULABLE: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

/** Whether a pod tolerates a taint. */
function tolerates(pod: Pod, taint: Taint): boolean {
  return (pod.spec.tolerations ?? []).some((toleration) => covers(toleration, taint));
}

/** Whether one toleration covers a taint. */
export function covers(toleration: Toleration, taint: Taint): boolean {
  const { key, operator, value, effect } = toleration;
  if (effect !== undefined && effect !== '' && effect !== taint.effect) return false;
  if (key === undefined || key === '') return operator === 'Exists';
  if (key !== taint.key) return false;
  return operator === 'Exists' || (value ?? '') === (taint.value ?? '');
}

function matchesSelector(pod: Pod, node: Node): boolean {
  const labels = node.metadata.labels ?? {};
  const wanted = Object.entries(pod.spec.nodeSelector ?? {});
  if (!wanted.every(([key, value]) => labels[key] === value)) return false;
  const required = pod.spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return required === undefined || required.nodeSelectorTerms.some((term) => termMatches(term, node));
}

function termMatches(term: NodeSelectorTerm, node: Node): boolean {
  const labels = node.metadata.labels ?? {};
  const fields: Readonly<Record<string, string>> = { 'metadata.name': node.metadata.name };
  const expressions = term.matchExpressions ?? [];
  const byField = term.matchFields ?? [];
  if (expressions.length + byField.length === 0) return false;
  return (
    expressions.every((one) => expressionMatches(one, labels)) && byField.every((one) => expressionMatches(one, fields))
  );
}

function expressionMatches(
  expression: { readonly key: string; readonly operator: string; readonly values?: readonly string[] },
  labels: Readonly<Record<string, string>>,
): boolean {
  const value = labels[expression.key];
  const bound = Number(expression.values?.[0]);
  if (expression.operator === 'Gt') return value !== undefined && Number(value) > bound;
  if (expression.operator === 'Lt') return value !== undefined && Number(value) < bound;
  return selectorMatches({ matchExpressions: [expression] }, labels);
}

function usedOn(node: Node, placement: Placement): ReadonlyMap<string, number> {
  const used = new Map<string, number>();
  for (const other of placement.podsOn.get(node.metadata.name) ?? []) {
    for (const [name, amount] of podRequests(other.spec)) used.set(name, (used.get(name) ?? 0) + amount);
  }
  return used;
}

function missingResources(pod: Pod, node: Node, placement: Placement): readonly string[] {
  const used = usedOn(node, placement);
  const allocatable = node.status.allocatable ?? {};
  const short: string[] = [];
  const count = placement.podsOn.get(node.metadata.name)?.length ?? 0;
  if (count + 1 > quantity(allocatable['pods'] ?? '110')) short.push('Too many pods');
  for (const [name, amount] of podRequests(pod.spec)) {
    if (amount > 0 && (used.get(name) ?? 0) + amount > quantity(allocatable[name])) short.push(`Insufficient ${name}`);
  }
  return short.toSorted(compareText);
}

function fitsEmpty(pod: Pod, node: Node): boolean {
  const allocatable = node.status.allocatable ?? {};
  return [...podRequests(pod.spec)].every(([name, amount]) => amount <= quantity(allocatable[name]));
}

function affinityHolds(pod: Pod, node: Node, placement: Placement): boolean {
  const terms = pod.spec.affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  return terms.every((term) => {
    if (domainPods(node, term.topologyKey, placement).some((other) => termSelects(term, pod, other))) return true;
    // The first pod of a group that wants its own kind near has nobody to be near to.
    const anywhere = [...placement.podsOn.values()].flat().some((other) => termSelects(term, pod, other));
    return !anywhere && termSelects(term, pod, pod) && node.metadata.labels?.[term.topologyKey] !== undefined;
  });
}

function antiAffinityHolds(pod: Pod, node: Node, placement: Placement): boolean {
  const own = pod.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  const meets = own.some((term) =>
    domainPods(node, term.topologyKey, placement).some((other) => termSelects(term, pod, other)),
  );
  if (meets) return false;
  for (const others of placement.podsOn.values()) {
    for (const other of others) {
      const theirs = other.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
      const blocked = theirs.some(
        (term) => termSelects(term, other, pod) && domainPods(node, term.topologyKey, placement).includes(other),
      );
      if (blocked) return false;
    }
  }
  return true;
}

function domainPods(node: Node, topologyKey: string, placement: Placement): readonly Pod[] {
  const domain = node.metadata.labels?.[topologyKey];
  if (domain === undefined) return [];
  return placement.nodes
    .filter((other) => other.metadata.labels?.[topologyKey] === domain)
    .flatMap((other) => placement.podsOn.get(other.metadata.name) ?? []);
}

function termSelects(term: PodAffinityTerm, owner: Pod, other: Pod): boolean {
  const namespaces = term.namespaces ?? [owner.metadata.namespace ?? ''];
  const anywhere = term.namespaceSelector !== undefined;
  if (!anywhere && !namespaces.includes(other.metadata.namespace ?? '')) return false;
  return selects(term.labelSelector, other);
}

function selects(selector: LabelSelector | undefined, pod: Pod): boolean {
  return selector !== undefined && selectorMatches(selector, pod.metadata.labels ?? {});
}

function spreadHolds(pod: Pod, node: Node, placement: Placement): boolean {
  return hardSpread(pod).every((constraint) => skewHolds(pod, node, constraint, placement));
}

function hardSpread(pod: Pod): readonly SpreadConstraint[] {
  const constraints = pod.spec.topologySpreadConstraints ?? [];
  return constraints.filter((constraint) => constraint.whenUnsatisfiable === 'DoNotSchedule');
}

function skewHolds(pod: Pod, node: Node, constraint: SpreadConstraint, placement: Placement): boolean {
  const domain = node.metadata.labels?.[constraint.topologyKey];
  if (domain === undefined) return false;
  const counts = new Map<string, number>();
  for (const other of placement.nodes) {
    const name = other.metadata.labels?.[constraint.topologyKey];
    if (name === undefined || !matchesSelector(pod, other)) continue;
    const selected = (placement.podsOn.get(other.metadata.name) ?? []).filter(
      (one) =>
        one.metadata.namespace === pod.metadata.namespace &&
        one.metadata.deletionTimestamp === undefined &&
        selects(constraint.labelSelector, one),
    );
    counts.set(name, (counts.get(name) ?? 0) + selected.length);
  }
  const self = selects(constraint.labelSelector, pod) ? 1 : 0;
  return (counts.get(domain) ?? 0) + self - Math.min(...counts.values()) <= constraint.maxSkew;
}
