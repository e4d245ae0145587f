/** Objects as an API server sends them, for tests. */
import { headlessServiceName, label, podName, type Runner, selectorLabels, stableServiceName } from '@omenative/api';
import type { JsonRecord } from '../../shared/json.js';

export const namespace = 'team-a';
export const replicaUid = 'replica-uid';
export const parentUid = 'parent-uid';

/** A template with one container. */
export function template(image = 'registry/engine:1', more: JsonRecord = {}): JsonRecord {
  return { spec: { containers: [{ name: 'main', image }], ...more } };
}

export interface RawReplica {
  readonly spec?: JsonRecord;
  readonly status?: JsonRecord;
  readonly metadata?: JsonRecord;
  readonly resourceVersion?: string;
}

/** `chat-engine` of the InferenceService `chat`, with its finalizer. */
export function rawReplica(options: RawReplica = {}): JsonRecord {
  return {
    apiVersion: 'ome.io/v1beta1',
    kind: 'InferenceReplica',
    metadata: {
      name: 'chat-engine',
      namespace,
      uid: replicaUid,
      resourceVersion: options.resourceVersion ?? '100',
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
      finalizers: ['ome.io/ir-teardown'],
      labels: selectorLabels('chat', 'engine'),
      ownerReferences: [{ kind: 'InferenceService', name: 'chat', uid: parentUid, controller: true }],
      ...options.metadata,
    },
    spec: {
      component: 'engine',
      parentRef: { name: 'chat' },
      replicas: 1,
      runners: [{ name: 'default', size: 1, template: template() }],
      ...options.spec,
    },
    status: options.status ?? {},
  };
}

export interface RawPod {
  readonly index?: number;
  readonly ordinal?: number;
  readonly runner?: Runner;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly hash?: string;
  readonly labels?: JsonRecord;
  readonly metadata?: JsonRecord;
  readonly spec?: JsonRecord;
  readonly status?: JsonRecord;
  readonly owner?: string;
}

export function rawPod(options: RawPod = {}): JsonRecord {
  const { index = 0, ordinal = 0, runner = 'default', hash = '0a1b2c3d' } = options;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: podName('chat', 'engine', index, runner, ordinal),
      namespace,
      uid: options.uid ?? `pod-uid-${index}-${runner}-${ordinal}`,
      resourceVersion: options.resourceVersion ?? '50',
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: {
        ...selectorLabels('chat', 'engine'),
        [label.instanceIndex]: String(index),
        [label.incarnation]: '1',
        [label.runner]: runner,
        [label.podOrdinal]: String(ordinal),
        [label.revisionHash]: hash,
        ...options.labels,
      },
      ownerReferences: [
        { kind: 'InferenceReplica', name: 'chat-engine', uid: options.owner ?? replicaUid, controller: true },
      ],
      ...options.metadata,
    },
    spec: { containers: [{ name: 'main', image: 'registry/engine:1' }], ...options.spec },
    status: { phase: 'Running', ...options.status },
  };
}

/** Conditions of a pod in rotation. */
export function servingConditions(since = '2026-01-01T00:01:00Z'): readonly JsonRecord[] {
  return [
    { type: 'ContainersReady', status: 'True', lastTransitionTime: since },
    { type: 'Ready', status: 'True', lastTransitionTime: since },
    { type: 'ome.io/serving', status: 'True', reason: 'Serving', message: '[]', lastTransitionTime: since },
  ];
}

/** A condition `ome.io/serving` with these holds, `[writer, key]` each. */
export function gateCondition(status: 'True' | 'False', holds: readonly (readonly [string, string])[]): JsonRecord {
  return {
    type: 'ome.io/serving',
    status,
    reason: status === 'True' ? 'Serving' : 'NotReady',
    message: JSON.stringify(holds.map(([userAgent, key]) => ({ userAgent, key }))),
    lastTransitionTime: '2026-01-01T00:01:00Z',
  };
}

export interface RawService {
  readonly name?: string;
  readonly selector?: JsonRecord;
  readonly spec?: JsonRecord;
  readonly owner?: string;
  readonly metadata?: JsonRecord;
}

/** The stable Service. */
export function rawService(options: RawService = {}): JsonRecord {
  const name = options.name ?? stableServiceName('chat', 'engine');
  return {
    metadata: {
      name,
      namespace,
      uid: `service-uid-${name}`,
      resourceVersion: '40',
      labels: selectorLabels('chat', 'engine'),
      ownerReferences: [{ kind: 'Some', name: 'chat', uid: options.owner ?? parentUid, controller: true }],
      ...options.metadata,
    },
    spec: { clusterIP: '10.0.0.1', selector: options.selector ?? selectorLabels('chat', 'engine'), ...options.spec },
  };
}

/** The port of the headless Service. */
export const discard = { name: 'discard', port: 9, protocol: 'TCP', targetPort: 9 } as const;

export function rawHeadless(options: RawService = {}): JsonRecord {
  return rawService({
    name: headlessServiceName('chat', 'engine'),
    owner: replicaUid,
    ...options,
    spec: { clusterIP: 'None', publishNotReadyAddresses: true, ports: [discard], ...options.spec },
  });
}

export interface RawEndpoint {
  readonly pod: string;
  readonly uid?: string;
  readonly conditions?: JsonRecord;
}

/** A slice of `service` with these endpoints. */
export function rawSlice(
  service: string,
  endpoints: readonly RawEndpoint[],
  options: { readonly name?: string; readonly labels?: JsonRecord } = {},
): JsonRecord {
  return {
    metadata: {
      name: options.name ?? `${service}-x1`,
      namespace,
      uid: `slice-uid-${options.name ?? service}`,
      resourceVersion: '45',
      labels: { ...selectorLabels('chat', 'engine'), [label.serviceName]: service, ...options.labels },
    },
    endpoints: endpoints.map(({ pod, uid, conditions }) => ({
      addresses: ['10.1.0.1'],
      targetRef: { kind: 'Pod', name: pod, namespace, ...(uid === undefined ? {} : { uid }) },
      ...(conditions === undefined ? {} : { conditions }),
    })),
  };
}
