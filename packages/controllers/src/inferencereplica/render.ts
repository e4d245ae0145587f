/**
 * A pod manifest from a stored revision. Everything that identifies the pod comes from its place in the replica, everything
 * else from the template as the user wrote it.
 */
import {
  headlessServiceName,
  label,
  mainContainerName,
  podGroupName,
  podName,
  selectorLabels,
  servingCondition,
} from '@omenative/api';
import type { CreatePod, PlanSpec, ReplicaHead, StoredRevision } from '@omenative/engine';
import { asRecord, asRecords, asText, asTextMap, type JsonRecord } from '../shared/json.js';
import { filterKeys, isForPods } from './metadata-rules.js';
import { ownerReference } from './owner.js';
import { isGang, type PodPlace, podCount, withEnvironment } from './render-env.js';
import { awayFrom, besideLeader, runnerLabels, spread } from './render-placement.js';
import type { LiveTemplate } from './spec-view.js';

export interface PodRequest {
  readonly replica: ReplicaHead;
  readonly spec: PlanSpec;
  readonly live: LiveTemplate;
  readonly revision: StoredRevision;
  readonly pod: Pick<CreatePod, 'index' | 'incarnation' | 'runner' | 'ordinal' | 'avoidNodes'>;
}

/**
 * Renders one pod.
 *
 * @throws Error when the revision has no template for the runner: such a pod can't be made from it.
 */
export function renderPod(request: PodRequest): JsonRecord {
  const { replica, revision, pod, spec } = request;
  const { owner, component } = spec;
  const runners = revision.payload.runners;
  const source = runners.find((runner) => runner.name === pod.runner);
  if (source === undefined) throw new Error(`revision ${revision.name} has no ${pod.runner} runner`);
  const template = asRecord(source.template);
  const metadata = asRecord(template['metadata']);
  const place: PodPlace = { owner, component, index: pod.index, runner: pod.runner, ordinal: pod.ordinal, runners };
  const labels = podLabels(request, place, asTextMap(metadata['labels']));
  const annotations = filterKeys(
    { ...request.live.metadata.annotations, ...asTextMap(metadata['annotations']) },
    isForPods,
  );
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: podName(owner, component, pod.index, pod.runner, pod.ordinal),
      namespace: replica.namespace,
      labels,
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
      ownerReferences: [ownerReference(replica)],
    },
    spec: podSpec(request, place, labels, asRecord(template['spec'])),
  };
}

/** The template's labels, with ours on top. */
function podLabels(
  request: PodRequest,
  place: PodPlace,
  stored: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const { revision, live, pod } = request;
  const { owner, component, index } = place;
  const { pairingProtocol } = revision.payload;
  return {
    ...live.metadata.labels,
    ...stored,
    ...selectorLabels(owner, component),
    [label.instanceIndex]: String(index),
    [label.incarnation]: String(pod.incarnation),
    [label.runner]: pod.runner,
    [label.podOrdinal]: String(pod.ordinal),
    [label.revisionHash]: revision.hash,
    ...(pairingProtocol === undefined || component === 'router' ? {} : { [label.pairingProtocol]: pairingProtocol }),
    ...(podCount(place) > 1 ? { [label.podGroup]: podGroupName(owner, component, index) } : {}),
  };
}

function podSpec(
  request: PodRequest,
  place: PodPlace,
  labels: Readonly<Record<string, string>>,
  template: JsonRecord,
): JsonRecord {
  const { spec, pod } = request;
  const { owner, component } = place;
  const gates = asRecords(template['readinessGates']);
  const isGated = gates.some((gate) => gate['conditionType'] === servingCondition);
  const rendered: JsonRecord = {
    ...template,
    containers: asRecords(template['containers']).map((container) =>
      withEnvironment(named(container), place, spec.replicas),
    ),
    hostname: podName(owner, component, pod.index, pod.runner, pod.ordinal),
    subdomain: headlessServiceName(owner, component),
    readinessGates: isGated ? gates : [...gates, { conditionType: servingCondition }],
  };
  return awayFrom(placed(request, place, labels, rendered), pod.avoidNodes);
}

function named(container: JsonRecord): JsonRecord {
  return asText(container['name']) === '' ? { ...container, name: mainContainerName } : container;
}

function placed(
  request: PodRequest,
  place: PodPlace,
  labels: Readonly<Record<string, string>>,
  spec: JsonRecord,
): JsonRecord {
  const { live, revision } = request;
  const { topologyKey } = revision.payload;
  if (place.runner === 'worker') {
    if (topologyKey === undefined || !isGang(place)) return spec;
    return besideLeader(spec, topologyKey, runnerLabels(labels, 'leader', 'instance'));
  }
  if (live.topologySpread === undefined || live.topologySpreadKey === '') return spec;
  return spread(spec, live.topologySpread, live.topologySpreadKey, runnerLabels(labels, place.runner, 'component'));
}
