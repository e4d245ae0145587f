/** A small world for tests: a replica, its rows and its pods, with the least said for each test to read at a glance. */
import {
  type Component,
  type DecodedStatus,
  emptyStatus,
  type Index,
  type InstanceRow,
  newRowBase,
  podName,
  type Rev,
  type RowBase,
  type Runner,
  revisionHashOf,
} from '@omenative/api';
import { specRevisionName } from '../revision.js';
import type {
  GateView,
  LifecycleConfig,
  PlanSpec,
  PodView,
  ReplicaHead,
  RunnerSpec,
  Snapshot,
  StoredRevision,
} from '../snapshot.js';

export const owner = 'chat';
export const component: Component = 'engine';
/** The `now` of a world that does not say otherwise. */
export const noon = 1_000_000;

/** The chart's values, in seconds. */
export const chartConfig: LifecycleConfig = {
  stuckPodGraceSec: 60,
  unschedulableGraceSec: 900,
  abandonedReplacementGraceSec: 30,
  scaleUpPodBatch: 100,
  scaleDownPodBatch: 100,
  scaleDownRequeueSec: 5,
  revisionHistoryLimit: 10,
  updateRetry: { maxAttempts: 3, initialDelaySec: 60, maxDelaySec: 1800, multiplier: 2 },
  teardownDeadlineSec: 1800,
  requeue: { operationSec: 5, gateSec: 3 },
};

export const single: readonly RunnerSpec[] = [{ name: 'default', size: 1 }];

export function gang(workers: number): readonly RunnerSpec[] {
  return [
    { name: 'leader', size: 1 },
    { name: 'worker', size: workers },
  ];
}

export function payload(image: string, runners: readonly RunnerSpec[] = single): PlanSpec['payload'] {
  return {
    runners: runners.map(({ name, size }) => ({
      name,
      size,
      template: { spec: { containers: [{ name: 'ome-container', image }] } },
    })),
  };
}

export interface WorldOptions {
  readonly now?: number;
  readonly spec?: Partial<PlanSpec>;
  readonly config?: LifecycleConfig;
  readonly replica?: Partial<ReplicaHead>;
  readonly rows?: readonly InstanceRow[];
  readonly status?: Partial<DecodedStatus>;
  readonly pods?: readonly PodView[];
  readonly strays?: readonly PodView[];
  /** Images of older revisions that are still stored. */
  readonly olderImages?: readonly string[];
  readonly blind?: readonly Index[];
  /** `all` (the default): every absence is proved. */
  readonly proofs?: 'all' | 'none' | Snapshot['proofs'];
  readonly rotation?: 'observed' | 'unknown';
  readonly inbox?: Snapshot['inbox'];
  readonly templateCheck?: Snapshot['templateCheck'];
  readonly headlessService?: Snapshot['headlessService'];
  readonly cordoned?: readonly string[];
}

/** The revision of a template with `image`, as the hash names it. */
export function revisionOf(image: string, runners: readonly RunnerSpec[] = single): Rev {
  return specRevisionName(specOf({ runners, payload: payload(image, runners) }), 0);
}

function specOf(overrides: Partial<PlanSpec>): PlanSpec {
  const runners = overrides.runners ?? single;
  return {
    component,
    owner,
    replicas: 1,
    minReadySeconds: 0,
    runners,
    restartPolicy: runners.length > 1 ? 'RecreateInstanceOnPodRestart' : 'None',
    update: { type: 'SurgeThenDrain', partition: 0, inPlace: 'markNotReady' },
    instanceReadyTimeoutSec: 1800,
    pause: 'running',
    payload: payload('v1', runners),
    ...overrides,
  };
}

export function world(options: WorldOptions = {}): Snapshot {
  const spec = specOf(options.spec ?? {});
  const specRevision = specRevisionName(spec, options.status?.collisionCount ?? 0);
  const rows = new Map((options.rows ?? []).map((row) => [row.index, row]));
  const pods = groupPods(options.pods ?? []);
  const all = options.pods ?? [];
  const revisions = new Map<Rev, StoredRevision>();
  const images = [...(options.olderImages ?? ['v0', 'v1', 'v2'])];
  images.forEach((image, at) => {
    const content = payload(image, spec.runners);
    const name = specRevisionName({ ...spec, payload: content }, 0);
    revisions.set(name, { name, uid: `rev-${at}`, hash: revisionHashOf(name), number: at + 1, payload: content });
  });
  const proved = options.proofs ?? 'all';
  const indices = new Set([...rows.keys(), ...pods.keys(), ...Array.from({ length: 64 }, (_, index) => index)]);
  return {
    now: options.now ?? noon,
    replica: {
      namespace: 'prod',
      name: `${owner}-${component}`,
      uid: 'replica-uid',
      resourceVersion: '1',
      generation: 1,
      annotations: {},
      finalizer: 'present',
      parent: { name: owner, uid: 'service-uid' },
      ...options.replica,
    },
    spec,
    config: options.config ?? chartConfig,
    status: { ...emptyStatus, rows, order: [...rows.keys()], update: specRevision, ...options.status },
    specRevision,
    target: spec.rollbackTo ?? specRevision,
    revisions,
    pods,
    strays: options.strays ?? [],
    rotation:
      options.rotation === 'unknown'
        ? new Map()
        : new Map(all.map((one) => [one.uid, one.ready && one.runner !== 'worker' ? 'in' : 'out'])),
    discoverable: new Set(all.map((one) => one.uid)),
    cordoned: new Set(options.cordoned),
    headlessService: options.headlessService ?? 'present',
    inbox: options.inbox ?? new Map(),
    ...(options.templateCheck === undefined ? {} : { templateCheck: options.templateCheck }),
    blind: new Set(options.blind),
    proofs:
      proved === 'all'
        ? { absentPods: new Set(), readIndices: indices }
        : proved === 'none'
          ? { absentPods: new Set(), readIndices: new Set() }
          : proved,
  };
}

function groupPods(pods: readonly PodView[]): ReadonlyMap<Index, readonly PodView[]> {
  const grouped = new Map<Index, PodView[]>();
  for (const one of pods) grouped.set(one.index, [...(grouped.get(one.index) ?? []), one]);
  return grouped;
}

export type PodHealth = 'starting' | 'containersReady' | 'serving' | 'drained' | 'failed' | 'crashLoop';

export interface PodOptions {
  readonly index?: Index;
  readonly runner?: Runner;
  readonly ordinal?: number;
  readonly image?: string;
  readonly runners?: readonly RunnerSpec[];
  readonly health?: PodHealth;
  readonly readyFor?: number;
  readonly now?: number;
  readonly gate?: GateView;
  readonly over?: Partial<PodView>;
}

export function pod(options: PodOptions = {}): PodView {
  const { index = 0, ordinal = 0, health = 'serving', now = noon } = options;
  const runners = options.runners ?? single;
  const runner = options.runner ?? runners[0]?.name ?? 'default';
  const name = podName(owner, component, index, runner, ordinal);
  const containersReady = health === 'containersReady' || health === 'serving' || health === 'drained';
  const ready = health === 'serving';
  const gates: Readonly<Record<PodHealth, GateView>> = {
    starting: { state: 'absent' },
    containersReady: { state: 'absent' },
    serving: { state: 'true' },
    drained: { state: 'false', holds: [{ writer: 'DeleteDrain', key: String(index) }] },
    failed: { state: 'absent' },
    crashLoop: { state: 'absent' },
  };
  return {
    name,
    uid: `uid-${name}`,
    resourceVersion: '1',
    createdAt: now - 100,
    index,
    incarnation: 1,
    runner,
    revisionHash: revisionHashOf(revisionOf(options.image ?? 'v1', runners)),
    node: 'node-1',
    phase: health === 'failed' ? 'Failed' : 'Running',
    statusReason: health === 'failed' ? 'Evicted' : '',
    statusMessage: '',
    finalizers: [],
    gated: false,
    containersReady,
    ready,
    ...(ready ? { readyChangedAt: now - (options.readyFor ?? 60) } : {}),
    gate: options.gate ?? gates[health],
    containers: [
      {
        name: 'ome-container',
        kind: 'regular',
        ready: containersReady,
        restartCount: 0,
        image: options.image ?? 'v1',
        imageID: options.image ?? 'v1',
        runningImage: options.image ?? 'v1',
        ...(health === 'crashLoop' ? { waiting: { reason: 'CrashLoopBackOff', message: 'back-off' } } : {}),
      },
    ],
    ...options.over,
  };
}

/** All pods of one gang. */
export function gangPods(index: Index, workers: number, health: PodHealth, image = 'v1'): readonly PodView[] {
  const runners = gang(workers);
  return [
    pod({ index, runners, runner: 'leader', health, image }),
    ...Array.from({ length: workers }, (_, ordinal) =>
      pod({ index, runners, runner: 'worker', ordinal, health, image }),
    ),
  ];
}

export function readyRow(
  index: Index,
  image = 'v1',
  over: Partial<RowBase> = {},
  runners: readonly RunnerSpec[] = single,
): InstanceRow {
  return { ...newRowBase(index), running: revisionOf(image, runners), readySince: noon - 60, ...over, kind: 'ready' };
}
