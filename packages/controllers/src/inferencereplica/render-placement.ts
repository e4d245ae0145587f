/** Where a pod may run: a gang's workers beside their leader, anchors spread over domains, and away from given nodes. */
import { label } from '@omenative/api';
import { asRecord, asRecords, type JsonRecord } from '../shared/json.js';

const hostnameKey = 'kubernetes.io/hostname';

/**
 * Requires the leader that `leaderLabels` select in the same domain of `topologyKey`; a template that already requires
 * something on that key knows better.
 */
export function besideLeader(
  spec: JsonRecord,
  topologyKey: string,
  leaderLabels: Readonly<Record<string, string>>,
): JsonRecord {
  const affinity = asRecord(spec['affinity']);
  const podAffinity = asRecord(affinity['podAffinity']);
  const required = asRecords(podAffinity['requiredDuringSchedulingIgnoredDuringExecution']);
  if (required.some((term) => term['topologyKey'] === topologyKey)) return spec;
  const term = { labelSelector: { matchLabels: leaderLabels }, topologyKey };
  return {
    ...spec,
    affinity: {
      ...affinity,
      podAffinity: { ...podAffinity, requiredDuringSchedulingIgnoredDuringExecution: [...required, term] },
    },
  };
}

/** Spreads the pods that `anchorLabels` select over the domains of `topologyKey`, unless the template has its own rule. */
export function spread(
  spec: JsonRecord,
  strength: 'Preferred' | 'Required',
  topologyKey: string,
  anchorLabels: Readonly<Record<string, string>>,
): JsonRecord {
  const constraints = asRecords(spec['topologySpreadConstraints']);
  if (constraints.some((constraint) => constraint['topologyKey'] === topologyKey)) return spec;
  const constraint = {
    maxSkew: 1,
    topologyKey,
    whenUnsatisfiable: strength === 'Required' ? 'DoNotSchedule' : 'ScheduleAnyway',
    labelSelector: { matchLabels: anchorLabels },
  };
  return { ...spec, topologySpreadConstraints: [...constraints, constraint] };
}

/** Forbids these nodes, by hostname label, in every way the pod could be placed: the terms are alternatives. */
export function awayFrom(spec: JsonRecord, nodes: readonly string[]): JsonRecord {
  if (nodes.length === 0) return spec;
  const affinity = asRecord(spec['affinity']);
  const nodeAffinity = asRecord(affinity['nodeAffinity']);
  const required = asRecord(nodeAffinity['requiredDuringSchedulingIgnoredDuringExecution']);
  const terms = asRecords(required['nodeSelectorTerms']);
  const notIn = { key: hostnameKey, operator: 'NotIn', values: nodes };
  const nodeSelectorTerms = (terms.length === 0 ? [{}] : terms).map((term) => ({
    ...term,
    matchExpressions: [...asRecords(asRecord(term)['matchExpressions']), notIn],
  }));
  return {
    ...spec,
    affinity: {
      ...affinity,
      nodeAffinity: {
        ...nodeAffinity,
        requiredDuringSchedulingIgnoredDuringExecution: { ...required, nodeSelectorTerms },
      },
    },
  };
}

/** The labels that pick one runner of a component out of all pods; `life` narrows it to one life of one Instance. */
export function runnerLabels(
  podLabels: Readonly<Record<string, string>>,
  runner: 'default' | 'leader',
  life: 'component' | 'instance',
): Readonly<Record<string, string>> {
  const keys =
    life === 'component'
      ? [label.component, label.inferenceService]
      : [label.component, label.inferenceService, label.instanceIndex, label.incarnation];
  return { ...Object.fromEntries(keys.map((key) => [key, podLabels[key] ?? ''])), [label.runner]: runner };
}
