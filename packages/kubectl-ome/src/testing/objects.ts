/** Objects of a small replica as an API server would have them: itself, its revisions, its pods, what routes to them. */
import {
  controllerRevisionName,
  type DecodedStatus,
  emptyStatus,
  encodeStatus,
  formatTime,
  headlessServiceName,
  type InstanceRow,
  newRowBase,
  type Rev,
  selectorLabels,
} from '@omenative/api';
import { asRecord, replicaRecordOf, specViewOf } from '@omenative/controllers/observe';
import { revisionContent, revisionName } from '@omenative/engine';
import { HandMade } from './hand-made.js';

type Raw = Readonly<Record<string, unknown>>;

export const now: number = HandMade.nowMs / 1000;
const owner = 'chat';
const labels = selectorLabels(owner, 'engine');
const controller = {
  apiVersion: 'ome.io/v1beta1',
  kind: 'InferenceReplica',
  name: 'chat-engine',
  uid: 'ir',
  controller: true,
};

export interface ReplicaOptions {
  readonly replicas?: number;
  readonly image?: string;
  readonly spec?: Raw;
  readonly rows?: readonly InstanceRow[];
  readonly status?: Partial<DecodedStatus>;
  readonly metadata?: Raw;
}

/** InferenceReplica `prod/chat-engine`. */
export function replica(options: ReplicaOptions = {}): Raw {
  const { replicas = 1, image = 'v1', rows = [], status = {} } = options;
  const decoded: DecodedStatus = {
    ...emptyStatus,
    rows: new Map(rows.map((row) => [row.index, row])),
    observedGeneration: 1,
    ...status,
  };
  return {
    apiVersion: 'ome.io/v1beta1',
    kind: 'InferenceReplica',
    metadata: {
      name: 'chat-engine',
      namespace: 'prod',
      uid: 'ir',
      resourceVersion: '10',
      generation: 1,
      labels,
      finalizers: ['ome.io/ir-teardown'],
      ...options.metadata,
    },
    spec: {
      component: 'engine',
      parentRef: { name: owner },
      replicas,
      lifecycle: { instanceReadyTimeout: '10m', updateStrategy: { rollingUpdate: { maxSurge: 1 } } },
      runners: [{ name: 'default', size: 1, template: { spec: { containers: [{ name: 'ome-container', image }] } } }],
      ...options.spec,
    },
    status: encodeStatus(decoded).status,
  };
}

/** The name of the revision of an image. */
export function revisionOf(image: string): Rev {
  const view = specViewOf(replicaRecordOf(replica({ image })), {}, () => false);
  if (!view.ok) throw new Error(view.message);
  return revisionName(owner, 'engine', view.spec.payload, 0);
}

/** Its ControllerRevision. */
export function revision(image: string, number: number): Raw {
  const view = specViewOf(replicaRecordOf(replica({ image })), {}, () => false);
  if (!view.ok) throw new Error(view.message);
  const name = controllerRevisionName(owner, 'engine', revisionOf(image).slice(-8));
  return {
    apiVersion: 'apps/v1',
    kind: 'ControllerRevision',
    metadata: {
      name,
      namespace: 'prod',
      uid: `rev-${image}`,
      resourceVersion: '5',
      labels,
      ownerReferences: [controller],
    },
    data: revisionContent(view.spec.payload),
    revision: number,
  };
}

/** A row at rest on the revision of an image. */
export function readyRow(index: number, image = 'v1'): InstanceRow {
  return { ...newRowBase(index), kind: 'ready', running: revisionOf(image), readySince: now - 600 };
}

export interface PodOptions {
  readonly index?: number;
  readonly ordinal?: number;
  readonly image?: string;
  readonly is?: 'serving' | 'starting' | 'crashing' | 'unschedulable';
  readonly metadata?: Raw;
}

/** Its pod `chat-engine-{index}-default-{ordinal}`. */
export function pod(options: PodOptions = {}): Raw {
  const { index = 0, ordinal = 0, image = 'v1', is = 'serving' } = options;
  const name = `chat-engine-${index}-default-${ordinal}`;
  const serves = is === 'serving';
  const since = formatTime(now - 300);
  const condition = (type: string, status: boolean, more: Raw = {}): Raw => {
    return { type, status: status ? 'True' : 'False', lastTransitionTime: since, ...more };
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'prod',
      uid: `uid-${name}`,
      resourceVersion: '20',
      creationTimestamp: since,
      labels: {
        ...labels,
        'ome.io/instance-index': String(index),
        'ome.io/instance-incarnation': '1',
        'ome.io/runner': 'default',
        'ome.io/pod-ordinal': String(ordinal),
        'ome.io/revision-hash': revisionOf(image).slice(-8),
      },
      ownerReferences: [controller],
      ...options.metadata,
    },
    spec: { nodeName: is === 'unschedulable' ? '' : 'node-1', containers: [{ name: 'ome-container', image }] },
    status: {
      phase: is === 'starting' || is === 'unschedulable' ? 'Pending' : 'Running',
      conditions: [
        is === 'unschedulable'
          ? condition('PodScheduled', false, { reason: 'Unschedulable', message: '0/3 nodes are available' })
          : condition('PodScheduled', true),
        condition('ContainersReady', serves),
        condition('Ready', serves),
        ...(serves ? [condition('ome.io/serving', true, { reason: 'Serving', message: '[]' })] : []),
      ],
      containerStatuses: [
        {
          name: 'ome-container',
          ready: serves,
          restartCount: is === 'crashing' ? 4 : 0,
          imageID: serves ? image : '',
          ...(is === 'crashing' ? { state: { waiting: { reason: 'CrashLoopBackOff', message: 'back-off 40s' } } } : {}),
        },
      ],
    },
  };
}

/** The cluster of a replica with these pods: revisions of v1 and v2, the headless and the stable Service, their slices. */
export function clusterOf(object: Raw, pods: readonly Raw[]): HandMade {
  const serving = pods.filter((one) => JSON.stringify(one).includes('"ome.io/serving","status":"True"'));
  return new HandMade()
    .put('/apis/ome.io/v1beta1/namespaces/prod/inferencereplicas', object)
    .put('/api/v1/namespaces/prod/pods', ...pods)
    .put('/apis/apps/v1/namespaces/prod/controllerrevisions', revision('v1', 1), revision('v2', 2))
    .put('/api/v1/namespaces/prod/services', headless, stable)
    .put('/apis/discovery.k8s.io/v1/namespaces/prod/endpointslices', slice('chat-engine', serving));
}

const headless: Raw = {
  metadata: {
    name: headlessServiceName(owner, 'engine'),
    namespace: 'prod',
    uid: 'headless',
    resourceVersion: '3',
    labels,
    ownerReferences: [controller],
  },
  spec: { clusterIP: 'None', publishNotReadyAddresses: true, selector: labels, ports: [{ port: 9 }] },
};

const stable: Raw = {
  metadata: { name: 'chat-engine', namespace: 'prod', uid: 'stable', resourceVersion: '4', labels },
  spec: { clusterIP: '10.0.0.1', selector: labels },
};

function slice(service: string, pods: readonly Raw[]): Raw {
  return {
    metadata: {
      name: `${service}-1`,
      namespace: 'prod',
      uid: 'slice',
      resourceVersion: '6',
      labels: { ...labels, 'kubernetes.io/service-name': service },
    },
    endpoints: pods.map((one) => {
      const { name, uid } = asRecord(one['metadata']);
      return { conditions: { ready: true, serving: true }, targetRef: { kind: 'Pod', name, uid } };
    }),
  };
}
