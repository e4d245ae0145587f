/** What the cache keeps of a pod: the fields a decision may look at, and nothing else. */
import { annotation, label, parseTime, type Runner, type Sec, servingCondition } from '@omenative/api';
import type { ContainerView, PodView, TerminatedState } from '@omenative/engine';
import { asInteger, asRecord, asRecords, asText, type JsonRecord, parseCount } from '../shared/json.js';
import { metaOf, type ObjectMeta } from '../shared/meta.js';
import { gateOf } from './gate.js';
import { inPlaceMarkerOf } from './in-place-marker.js';
import { podCountVariable } from './render-env.js';

/** The index of a pod whose label is missing or unusable: a stray. */
export const strayIndex = -1;

/** A pod in the cache. */
export interface PodRecord {
  readonly meta: ObjectMeta;
  readonly view: PodView;
  /** `status.conditions` of the serving gate alone, as on the wire: what a gate write starts from. */
  readonly gateConditions: readonly JsonRecord[];
  /** Pods of its Instance as the pod was told when it was made; absent outside gangs. */
  readonly instanceSize?: number;
}

const phases = ['Pending', 'Running', 'Succeeded', 'Failed'] as const;

/** Projects a pod as the API server sent it. */
export function podRecordOf(raw: unknown): PodRecord {
  const pod = asRecord(raw);
  const meta = metaOf(pod);
  const spec = asRecord(pod['spec']);
  const status = asRecord(pod['status']);
  const metadata = asRecord(pod['metadata']);
  const conditions = asRecords(status['conditions']);
  const ready = conditions.find((item) => item['type'] === 'Ready');
  const readyChangedAt = parseTime(asText(ready?.['lastTransitionTime']));
  const incarnation = parseCount(meta.labels[label.incarnation]);
  const runner = runnerOf(meta.labels[label.runner]);
  const unschedulable = unschedulableOf(conditions);
  const inPlace = inPlaceMarkerOf(meta.annotations[annotation.inPlaceTransition]);
  const view: PodView = {
    name: meta.name,
    uid: meta.uid,
    resourceVersion: meta.resourceVersion,
    createdAt: meta.createdAt,
    index: parseCount(meta.labels[label.instanceIndex]) ?? strayIndex,
    ...(incarnation === undefined ? {} : { incarnation }),
    ...(runner === undefined ? {} : { runner }),
    revisionHash: meta.labels[label.revisionHash] ?? '',
    node: asText(spec['nodeName']),
    phase: phases.find((phase) => phase === status['phase']) ?? 'Unknown',
    statusReason: asText(status['reason']),
    statusMessage: asText(status['message']),
    ...(meta.deletionAt === undefined ? {} : { deletionAt: meta.deletionAt }),
    finalizers: meta.finalizers,
    gated: asRecords(spec['schedulingGates']).length > 0,
    ...(unschedulable === undefined ? {} : { unschedulable }),
    containersReady: conditions.some((item) => item['type'] === 'ContainersReady' && item['status'] === 'True'),
    ready: ready?.['status'] === 'True',
    ...(readyChangedAt === undefined ? {} : { readyChangedAt }),
    gate: gateOf(conditions),
    ...(inPlace === undefined ? {} : { inPlace }),
    ...(isUnobserved(metadata, status) ? { isUnobserved: true } : {}),
    containers: [
      ...containersOf('init', asRecords(spec['initContainers']), asRecords(status['initContainerStatuses'])),
      ...containersOf('regular', asRecords(spec['containers']), asRecords(status['containerStatuses'])),
    ],
  };
  const instanceSize = instanceSizeOf(asRecords(spec['containers']));
  return {
    meta,
    view,
    gateConditions: gateConditionsOf(raw),
    ...(instanceSize === undefined ? {} : { instanceSize }),
  };
}

function instanceSizeOf(containers: readonly JsonRecord[]): number | undefined {
  const variables = containers.flatMap((container) => asRecords(container['env']));
  return parseCount(asText(variables.find((variable) => variable['name'] === podCountVariable)?.['value']));
}

/** Kubelets that don't say which generation they report on are taken at their word. */
function isUnobserved(metadata: JsonRecord, status: JsonRecord): boolean {
  const observed = asInteger(status['observedGeneration']);
  return observed !== undefined && observed < (asInteger(metadata['generation']) ?? 0);
}

/** The serving gate's conditions of a pod as the API server sent it: one, or none. */
export function gateConditionsOf(raw: unknown): readonly JsonRecord[] {
  return asRecords(asRecord(asRecord(raw)['status'])['conditions']).filter((item) => item['type'] === servingCondition);
}

/**
 * A pod whose DELETED event proves that it is gone: it was being deleted, or its processes had ended. Anything else may be
 * a label that left the watch's selector.
 */
export function isProofOfDeletion(raw: unknown): boolean {
  const pod = asRecord(raw);
  const phase = asRecord(pod['status'])['phase'];
  return asText(asRecord(pod['metadata'])['deletionTimestamp']) !== '' || phase === 'Succeeded' || phase === 'Failed';
}

function runnerOf(value: string | undefined): Runner | undefined {
  return value === 'default' || value === 'leader' || value === 'worker' ? value : undefined;
}

function unschedulableOf(conditions: readonly JsonRecord[]): PodView['unschedulable'] {
  const scheduled = conditions.find((item) => item['type'] === 'PodScheduled');
  if (scheduled?.['status'] !== 'False' || scheduled['reason'] !== 'Unschedulable') return undefined;
  const since = parseTime(asText(scheduled['lastTransitionTime']));
  return { ...(since === undefined ? {} : { since }), message: asText(scheduled['message']) };
}

function containersOf(
  kind: ContainerView['kind'],
  specs: readonly JsonRecord[],
  statuses: readonly JsonRecord[],
): readonly ContainerView[] {
  const byName = new Map(statuses.map((status) => [asText(status['name']), status]));
  return specs.map((spec) => {
    const name = asText(spec['name']);
    const status = byName.get(name) ?? {};
    const state = asRecord(status['state']);
    const waiting = state['waiting'] === undefined ? undefined : asRecord(state['waiting']);
    const terminated = terminatedOf(state['terminated']);
    const lastTerminated = terminatedOf(asRecord(status['lastState'])['terminated']);
    return {
      name,
      kind,
      ready: status['ready'] === true,
      restartCount: asInteger(status['restartCount']) ?? 0,
      image: asText(spec['image']),
      imageID: asText(status['imageID']),
      // Once a container waits or has ended, the kubelet may name the image that it is about to run.
      runningImage: asRecord(state['running'])['startedAt'] === undefined ? '' : asText(status['image']),
      ...(waiting === undefined
        ? {}
        : { waiting: { reason: asText(waiting['reason']), message: asText(waiting['message']) } }),
      ...(terminated === undefined ? {} : { terminated }),
      ...(lastTerminated === undefined ? {} : { lastTerminated }),
    };
  });
}

function terminatedOf(value: unknown): TerminatedState | undefined {
  if (value === undefined || value === null) return undefined;
  const state = asRecord(value);
  const finishedAt: Sec | undefined = parseTime(asText(state['finishedAt']));
  return {
    reason: asText(state['reason']),
    exitCode: asInteger(state['exitCode']) ?? 0,
    message: asText(state['message']),
    ...(finishedAt === undefined ? {} : { finishedAt }),
  };
}
