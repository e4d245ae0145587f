/** Caches to snapshot: one picture of a replica and its world, taken without I/O. */
import {
  type DecodedStatus,
  type EncodeOptions,
  headlessServiceName,
  type Index,
  podName,
  type Rev,
  type Runner,
} from '@omenative/api';
import {
  type EffectKey,
  type LifecycleConfig,
  type Outcome,
  type PlanSpec,
  type PodView,
  type Proofs,
  type Snapshot,
  type StoredRevision,
  specRevisionName,
  type TemplateCheck,
} from '@omenative/engine';
import { isWanted } from './headless.js';
import { type PodRecord, strayIndex } from './pod-view.js';
import { headOf, type ReplicaRecord } from './replica-record.js';
import { type RevisionRecord, samePayload } from './revision-object.js';
import { storedRevisions, storedTwin } from './revision-twin.js';
import { discoverableOf, type RoutingService, rotationOf, type ServiceRecord, type SliceRecord } from './routing.js';
import type { LiveTemplate } from './spec-view.js';

/** The cached objects that concern one replica. */
export interface ReplicaWorld {
  readonly replica: ReplicaRecord;
  /** Pods that the replica controls, by its UID, in the order of their names. */
  readonly pods: readonly PodRecord[];
  /** Services that may select its pods, the headless one among them. */
  readonly services: readonly ServiceRecord[];
  slicesOf(service: string): readonly SliceRecord[];
  /** ControllerRevisions that the replica controls, by its UID. */
  readonly revisions: readonly RevisionRecord[];
  /** Whether the node takes no new pods; a node that is not in the cache is taken to. */
  isCordoned(node: string): boolean;
  /** Whether this process saw a dying pod of that name go, and no later one. */
  wasSeenDeleted(pod: string): boolean;
}

/** What a pass knows beside the caches. */
export interface PassContext {
  readonly nowMs: number;
  readonly status: DecodedStatus;
  readonly spec: PlanSpec;
  readonly live: LiveTemplate;
  readonly config: LifecycleConfig;
  readonly statusEncoding?: EncodeOptions;
  readonly inbox: ReadonlyMap<EffectKey, Outcome>;
  readonly blind: ReadonlySet<Index>;
  /** Indices read live in this pass: what the cache holds for them is all there is. */
  readonly readIndices: ReadonlySet<Index>;
  /** What the API server says about pods of the target; absent: nothing has to move to it, or nobody has asked yet. */
  readonly templateCheck?: TemplateCheck;
}

export interface Observation {
  readonly snapshot: Snapshot;
  readonly live: LiveTemplate;
  /** `revision` of the next ControllerRevision. */
  readonly nextRevisionNumber: number;
  /** A stored revision has the name that the spec's would get, and another content. */
  readonly collision: 'none' | 'name';
}

/** Takes the picture. Pure: the same world and context give the same snapshot. */
export function observe(world: ReplicaWorld, context: PassContext): Observation {
  const { status, spec } = context;
  const stored = storedRevisions(world.revisions, world.pods, status, spec);
  const specRevision = storedTwin(spec, status, stored) ?? specRevisionName(spec, status.collisionCount);
  const target = spec.rollbackTo ?? specRevision;
  const headless = headlessServiceName(spec.owner, spec.component);
  const pods = podsByIndex(world.pods);
  const snapshot: Snapshot = {
    now: Math.floor(context.nowMs / 1000),
    replica: headOf(world.replica),
    spec,
    config: context.config,
    status,
    ...(context.statusEncoding === undefined ? {} : { statusEncoding: context.statusEncoding }),
    specRevision,
    target,
    revisions: revisionsOf(status, stored, [specRevision, target]),
    pods: pods.indexed,
    strays: pods.strays,
    rotation: rotationOf(world.pods, routingServices(world, spec)),
    discoverable: discoverableOf(world.pods, world.slicesOf(headless)),
    cordoned: new Set(world.pods.map((pod) => pod.view.node).filter((node) => node !== '' && world.isCordoned(node))),
    headlessService: headlessState(world, headless, spec),
    inbox: context.inbox,
    blind: context.blind,
    proofs: proofsOf(world, context, stored),
    ...(context.templateCheck?.of === target ? { templateCheck: context.templateCheck } : {}),
  };
  const sameName = stored.get(specRevision);
  return {
    snapshot,
    live: context.live,
    nextRevisionNumber: Math.max(0, ...[...stored.values()].map((revision) => revision.number)) + 1,
    collision: sameName !== undefined && !samePayload(sameName.payload, spec.payload) ? 'name' : 'none',
  };
}

/** All stored revisions, and every one that a row, an operation or a block names without its being there. */
function revisionsOf(
  status: DecodedStatus,
  stored: ReadonlyMap<Rev, StoredRevision>,
  wanted: readonly Rev[],
): Snapshot['revisions'] {
  const revisions = new Map<Rev, StoredRevision | 'gone'>(stored);
  const named = [...wanted, status.current, status.update, ...status.blocks.map((block) => block.target)];
  for (const row of status.rows.values()) {
    named.push(row.running, row.target);
    if ('op' in row && row.kind !== 'foreign') named.push(row.op.target);
    if (row.kind === 'failed' && row.kept !== undefined) named.push(row.kept.target);
  }
  for (const name of named) if (name !== '' && !revisions.has(name)) revisions.set(name, 'gone');
  return revisions;
}

function podsByIndex(records: readonly PodRecord[]): {
  readonly indexed: ReadonlyMap<Index, readonly PodView[]>;
  readonly strays: readonly PodView[];
} {
  const indexed = new Map<Index, PodView[]>();
  const strays: PodView[] = [];
  for (const { view } of records) {
    if (view.index === strayIndex) {
      strays.push(view);
      continue;
    }
    const bucket = indexed.get(view.index);
    if (bucket === undefined) indexed.set(view.index, [view]);
    else bucket.push(view);
  }
  return { indexed, strays };
}

/** Services that requests go through. A standalone replica has none of ours, so its headless Service stands in. */
export function routingServices(
  world: ReplicaWorld,
  spec: Pick<PlanSpec, 'owner' | 'component'>,
): readonly RoutingService[] {
  const headless = headlessServiceName(spec.owner, spec.component);
  const isStandalone = world.replica.parentName === '';
  return world.services
    .filter((service) => (service.isHeadless ? isStandalone && service.meta.name === headless : true))
    .map((service) => {
      const slices = world.slicesOf(service.meta.name);
      return {
        name: service.meta.name,
        selector: service.selector,
        ...(slices.length === 0 ? {} : { slices }),
        sign: service.isHeadless ? 'serving' : 'ready',
      };
    });
}

/** A headless Service of ours that has drifted reads as absent: what is wanted is not there. */
function headlessState(world: ReplicaWorld, name: string, spec: PlanSpec): Snapshot['headlessService'] {
  const service = world.services.find((item) => item.meta.name === name);
  if (service === undefined) return 'absent';
  if (service.meta.controller.uid !== world.replica.meta.uid) return 'foreign';
  if (service.meta.deletionAt !== undefined) return 'terminating';
  if (world.replica.meta.deletionAt !== undefined) return 'present';
  return isWanted(service, spec) ? 'present' : 'absent';
}

function proofsOf(world: ReplicaWorld, context: PassContext, stored: ReadonlyMap<Rev, StoredRevision>): Proofs {
  const { owner, component } = context.spec;
  const present = new Set(world.pods.map((pod) => pod.view.name));
  const absentPods = new Set<string>();
  const slots = slotsOf(context.spec, stored);
  for (const index of new Set([...context.status.rows.keys(), ...context.readIndices])) {
    for (const name of slots.map(({ runner, ordinal }) => podName(owner, component, index, runner, ordinal))) {
      if (!present.has(name) && (context.readIndices.has(index) || world.wasSeenDeleted(name))) absentPods.add(name);
    }
  }
  return { absentPods, readIndices: context.readIndices };
}

/** Every slot that an Instance of any known revision may use. */
function slotsOf(spec: PlanSpec, stored: ReadonlyMap<Rev, StoredRevision>): readonly Slot[] {
  const sizes = new Map<Runner, number>();
  for (const runners of [spec.runners, ...[...stored.values()].map((revision) => revision.payload.runners)]) {
    for (const { name, size } of runners) {
      // A single pod's surge alternates between two name slots.
      sizes.set(name, Math.max(sizes.get(name) ?? 0, name === 'default' ? 2 : size));
    }
  }
  return [...sizes].flatMap(([runner, size]) => Array.from({ length: size }, (_, ordinal) => ({ runner, ordinal })));
}

interface Slot {
  readonly runner: Runner;
  readonly ordinal: number;
}
