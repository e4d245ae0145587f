/** What the demo keeps of the objects it watches. */
import { decodeStatus, type InstanceRow, label, phaseOf, servingCondition } from '@omenative/api';
import type { KubeObject } from '@omenative/kube';

export interface PodSeen {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** The InferenceReplica that owns it. */
  readonly replica: string;
  /** `{replica}/{index}`. */
  readonly instance: string;
  /** `leader`, `worker`, or `default` for the pod of a single-pod Instance. */
  readonly runner: string;
  readonly image: string;
  /** Empty until it is scheduled. */
  readonly node: string;
  readonly containers: 'ready' | 'not ready';
  /** The serving gate: requests may come while it is open. */
  readonly gate: 'open' | 'shut';
  readonly stage: 'live' | 'terminating' | 'ended';
}

interface ConditionWire {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
}

interface PodWire extends KubeObject {
  readonly spec: { readonly nodeName?: string; readonly containers: readonly { readonly image?: string }[] };
  readonly status?: { readonly phase?: string; readonly conditions?: readonly ConditionWire[] };
}

interface OwnedMetadata {
  readonly ownerReferences?: readonly { readonly name: string; readonly controller?: boolean }[];
}

export function podSeen(raw: KubeObject): PodSeen {
  const { metadata = {}, spec, status = {} } = raw as PodWire;
  const { labels = {}, ownerReferences } = metadata as typeof metadata & OwnedMetadata;
  const replica = ownerReferences?.find((owner) => owner.controller === true)?.name ?? '';
  const isTrue = (type: string): boolean =>
    status.conditions?.some((condition) => condition.type === type && condition.status === 'True') === true;
  return {
    name: metadata.name ?? '',
    uid: metadata.uid ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    replica,
    instance: `${replica}/${labels[label.instanceIndex]}`,
    runner: labels[label.runner] ?? '',
    image: spec.containers[0]?.image ?? '',
    node: spec.nodeName ?? '',
    containers: isTrue('ContainersReady') ? 'ready' : 'not ready',
    gate: isTrue(servingCondition) ? 'open' : 'shut',
    stage: stageOf(status.phase, metadata.deletionTimestamp),
  };
}

function stageOf(phase: string | undefined, deletionTimestamp: string | undefined): PodSeen['stage'] {
  if (phase === 'Succeeded' || phase === 'Failed') return 'ended';
  return deletionTimestamp === undefined ? 'live' : 'terminating';
}

export interface ReplicaSeen {
  readonly name: string;
  /** What each Instance is at, by index: `Ready`, `Updating (SurgeDrain)`. */
  readonly instances: ReadonlyMap<number, string>;
  /** The whole status, to tell a write of it from any other write. */
  readonly statusText: string;
}

interface StatusWire extends KubeObject {
  readonly status?: unknown;
}

/** @throws Error when the status can't be decoded. */
export function replicaSeen(raw: KubeObject): ReplicaSeen {
  const { metadata, status } = raw as StatusWire;
  const decoded = decodeStatus(status);
  if (!decoded.ok) throw new Error(decoded.message);
  const rows = [...decoded.status.rows.values()].toSorted((a, b) => a.index - b.index);
  return {
    name: metadata?.name ?? '',
    instances: new Map(rows.map((row) => [row.index, stateOf(row)])),
    statusText: JSON.stringify(status ?? null),
  };
}

/** The phase, and the step where a phase has several. */
function stateOf(row: InstanceRow): string {
  return row.kind === 'updating' ? `${phaseOf(row)} (${row.op.step})` : phaseOf(row);
}

export interface ServiceSeen {
  readonly name: string;
  readonly ready: string;
  readonly reason: string;
}

interface ConditionsWire extends KubeObject {
  readonly status?: { readonly conditions?: readonly ConditionWire[] };
}

/** An InferenceService. */
export function serviceSeen(raw: KubeObject): ServiceSeen {
  const { metadata, status } = raw as ConditionsWire;
  const ready = status?.conditions?.find((condition) => condition.type === 'Ready');
  return { name: metadata?.name ?? '', ready: ready?.status ?? '', reason: ready?.reason ?? '' };
}

export interface SliceSeen {
  readonly name: string;
  /** The Service that the slice belongs to. */
  readonly service: string;
  readonly resourceVersion: string;
  /** Pods that requests are sent to. */
  readonly ready: readonly { readonly pod: string; readonly uid: string }[];
}

interface SliceWire extends KubeObject {
  readonly endpoints?: readonly {
    readonly conditions?: { readonly ready?: boolean };
    readonly targetRef?: { readonly name?: string; readonly uid?: string };
  }[];
}

export function sliceSeen(raw: KubeObject): SliceSeen {
  const { metadata = {}, endpoints } = raw as SliceWire;
  return {
    name: metadata.name ?? '',
    service: metadata.labels?.[label.serviceName] ?? '',
    resourceVersion: metadata.resourceVersion ?? '',
    ready: (endpoints ?? [])
      .filter(({ conditions }) => conditions?.ready !== false)
      .map(({ targetRef }) => ({ pod: targetRef?.name ?? '', uid: targetRef?.uid ?? '' })),
  };
}

export interface EventSeen {
  /** Who reports it. */
  readonly component: string;
  /** Name of the object that it is about. */
  readonly about: string;
  readonly reason: string;
  readonly message: string;
}

interface EventWire extends KubeObject {
  readonly involvedObject?: { readonly name?: string };
  readonly reason?: string;
  readonly message?: string;
  readonly source?: { readonly component?: string };
  readonly reportingComponent?: string;
}

export function eventSeen(raw: KubeObject): EventSeen {
  const { involvedObject, reason = '', message = '', source, reportingComponent = '' } = raw as EventWire;
  return {
    component: source?.component ?? reportingComponent,
    about: involvedObject?.name ?? '',
    reason,
    message,
  };
}

/** An object of which only the existence matters. */
export interface ObjectSeen {
  readonly name: string;
}

export function objectSeen(raw: KubeObject): ObjectSeen {
  return { name: raw.metadata?.name ?? '' };
}
