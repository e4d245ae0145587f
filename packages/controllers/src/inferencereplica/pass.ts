/**
 * One pass of one replica: observe, plan, prepare, persist, act. Everything between two requests is pure; everything that
 * goes wrong ends in a fresh look, now or later.
 */
import {
  type Condition,
  chosenEncoding,
  type DecodedStatus,
  type EncodeOptions,
  type Index,
  type Sec,
  type StatusEncoding,
  statusBytes,
} from '@omenative/api';
import type { Effect, EffectKey, EventIntent, Outcome, Plan, Snapshot, TemplateCheck } from '@omenative/engine';
import { type Client, classify, type Runtime } from '@omenative/kube';
import type { Caches } from '../caches.js';
import type { OperatorSettings } from '../config/settings.js';
import { asRecord, asText } from '../shared/json.js';
import type { Limiter } from '../shared/limiter.js';
import type { ActContext } from './act/context.js';
import { isDone, type Result, wordsOf } from './act/outcome.js';
import { UnroutedGuard } from './act/unrouted.js';
import { type ActReport, act, type Slice, send } from './act.js';
import type { Inbox } from './inbox.js';
import type { ReplicaMetrics } from './metrics.js';
import { type Observation, observe, type ReplicaWorld, routingServices } from './observe.js';
import type { OwnWrites } from './own-writes.js';
import {
  nameTaken,
  notPermitted,
  revisionTaken,
  rollbackIgnored,
  specRefused,
  statusConverted,
  statusTooLarge,
  statusUnreadable,
  templateRefused,
} from './pass-events.js';
import { type Persisted, persistStatus } from './persist.js';
import { readPods } from './reads.js';
import type { ReplicaRecord } from './replica-record.js';
import { type SpecView, specViewOf, teardownViewOf } from './spec-view.js';
import type { Teller } from './tell.js';
import type { TemplateChecks } from './template-check.js';
import { worldOf } from './world.js';

export interface PassDeps {
  /** Its writes are refused, unsent, once the lease is not held. */
  readonly client: Client;
  readonly runtime: Runtime;
  readonly caches: Caches;
  readonly settings: () => OperatorSettings;
  readonly planner: (snapshot: Snapshot) => Plan;
  readonly ownWrites: OwnWrites;
  readonly inbox: Inbox;
  readonly limiter: Limiter;
  readonly slice: Slice;
  readonly teller: Teller;
  readonly templateChecks: TemplateChecks;
  readonly metrics: ReplicaMetrics;
  /** How rows are stored. Read at the start only: a cache that reads fewer rows than are written would lose them. */
  readonly statusEncoding: EncodeOptions;
  /** Monotonic milliseconds of the last status write of each replica, by UID. */
  readonly writtenAtMs: Map<string, number>;
}

/** When to come again, if nothing else wakes us before. */
export interface PassEnd {
  readonly again: 'now' | 'backoff' | 'whenWoken';
  /** Wall-clock milliseconds of the earliest wake of all holds. */
  readonly wakeAtMs?: number;
}

const settled: PassEnd = { again: 'whenWoken' };
const later: PassEnd = { again: 'backoff' };

/** Tries of one pass to plan on a version that nobody else moves meanwhile. */
const maxLooks = 4;
/** Rounds of live reads that one pass may make. */
const maxReadRounds = 3;
/** Milliseconds between two writes of a status in which only counters move. */
const counterSpacingMs = 1000;

/**
 * Runs a pass over the replica `key`, `namespace/name`.
 *
 * @throws ApiError or TransportError when the server refuses a status, or a live read fails.
 */
export async function runPass(deps: PassDeps, key: string): Promise<PassEnd> {
  const first = deps.caches.replicas.store.get(key);
  if (first === undefined) return settled;
  await deps.ownWrites.settle(deps.client, first.meta.uid);
  for (let look = 1; look <= maxLooks; look++) {
    const replica = deps.caches.replicas.store.get(key);
    if (replica === undefined || replica.meta.uid !== first.meta.uid) return settled;
    const end = await new Pass(deps, replica).run();
    if (end !== 'lookAgain') return end;
  }
  return later;
}

class Pass {
  readonly #deps: PassDeps;
  readonly #replica: ReplicaRecord;
  readonly #settings: OperatorSettings;
  readonly #readIndices: Set<Index> = new Set();
  #templateCheck: TemplateCheck | undefined;

  constructor(deps: PassDeps, replica: ReplicaRecord) {
    this.#deps = deps;
    this.#replica = replica;
    this.#settings = deps.settings();
  }

  async run(): Promise<PassEnd | 'lookAgain'> {
    const { status } = this.#replica;
    if (!status.ok) {
      this.#deps.metrics.codecFailed(status.reason);
      this.#reportUnreadable(status.message);
      return settled;
    }
    const encoding = chosenEncoding(status.status, this.#deps.statusEncoding);
    if (encoding !== status.status.stored) return this.#convert(status.status, encoding);
    const world = worldOf(this.#deps.caches, this.#replica);
    const view = this.#viewOf(world);
    this.#reportIgnoredRollback(view, world);
    if (!view.ok) return this.#reportSpec(status.status, view);
    const observation = this.#observe(status.status, view);
    const isDying = this.#replica.meta.deletionAt !== undefined;
    if (observation.collision === 'name' && !isDying)
      return this.#bumpCollisionCount(observation, 'its name holds another template');
    const checked = await this.#withTemplateCheck(status.status, view, observation);
    if (checked.snapshot.target !== observation.snapshot.target) return 'lookAgain';
    const plan = await this.#plan(status.status, view, checked);
    return plan === undefined ? later : this.#carryOut(plan.plan, plan.observation);
  }

  /** Writes the same rows in the encoding that they should have, and does nothing else in this pass. */
  async #convert(status: DecodedStatus, to: StatusEncoding): Promise<PassEnd | 'lookAgain'> {
    const end = await this.#write({ ...status, stored: to });
    if (end !== 'written') return end;
    this.#tell(statusConverted(this.#replica, status, to));
    return { again: 'now' };
  }

  /** Plans, reading live what the plan needs to know; undefined when it never has enough. */
  async #plan(
    status: DecodedStatus,
    view: SpecView & { readonly ok: true },
    first: Observation,
  ): Promise<{ readonly plan: Plan; readonly observation: Observation } | undefined> {
    const { planner, client, caches } = this.#deps;
    let observation = first;
    for (let round = 0; round <= maxReadRounds; round++) {
      const plan = planner(observation.snapshot);
      const indices = plan.reads.map((read) => read.index);
      if (indices.length === 0) return { plan, observation };
      await readPods(client, caches, this.#replica, view.spec, indices);
      for (const index of indices) this.#readIndices.add(index);
      observation = this.#observe(status, view);
    }
    return undefined;
  }

  /** Before an Instance may move, the API server is asked what it thinks of the pods that it would get. */
  async #withTemplateCheck(
    status: DecodedStatus,
    view: SpecView & { readonly ok: true },
    first: Observation,
  ): Promise<Observation> {
    const { target } = first.snapshot;
    this.#templateCheck = await this.#deps.templateChecks.of(first, (message) =>
      this.#tell(templateRefused(this.#replica, target, message)),
    );
    return this.#templateCheck === undefined ? first : this.#observe(status, view);
  }

  #observe(status: DecodedStatus, view: SpecView & { readonly ok: true }): Observation {
    const { caches, runtime, inbox, ownWrites } = this.#deps;
    const { uid } = this.#replica.meta;
    return observe(worldOf(caches, this.#replica), {
      nowMs: runtime.nowMs(),
      status,
      spec: view.spec,
      live: view.live,
      config: this.#settings.lifecycle,
      statusEncoding: this.#deps.statusEncoding,
      inbox: inbox.of(uid),
      blind: ownWrites.blind(uid),
      readIndices: this.#readIndices,
      ...(this.#templateCheck === undefined ? {} : { templateCheck: this.#templateCheck }),
    });
  }

  async #carryOut(plan: Plan, observation: Observation): Promise<PassEnd | 'lookAgain'> {
    const before = observation.snapshot.status;
    const prepared = await this.#prepare(plan, observation);
    if (prepared !== 'ready') return prepared;
    const wait = this.#counterWaitMs(plan);
    const next = wait > 0 ? undefined : plan.status;
    const { runtime, teller, writtenAtMs, templateChecks } = this.#deps;
    let replica = this.#replica;
    if (next !== undefined) {
      const persisted = await this.#persist(next);
      if (persisted.is === 'stale') return 'lookAgain';
      if (persisted.is === 'gone') return settled;
      if (persisted.is === 'unreachable') return later;
      replica = persisted.replica;
      if (persisted.is === 'written') writtenAtMs.set(replica.meta.uid, runtime.monotonicMs());
      teller.changes(replica, before, next);
    }
    // What was not written yet is not told yet: it is decided, and told, again.
    if (wait === 0) teller.events(replica, plan.events);
    teller.waits(replica, plan.holds);
    const report = await this.#act(plan, observation, replica, next ?? before);
    const askAgainAt = templateChecks.againAt(replica.meta.uid);
    const wakes = [
      plan.wakeAt === undefined ? [] : [plan.wakeAt * 1000],
      askAgainAt === undefined ? [] : [askAgainAt * 1000],
      wait > 0 ? [runtime.nowMs() + wait] : [],
    ].flat();
    const isMoreToSee = next !== undefined || report.isCut || report.isRefused;
    return {
      again: report.isDisturbed ? 'backoff' : isMoreToSee ? 'now' : 'whenWoken',
      ...(wakes.length === 0 ? {} : { wakeAtMs: Math.min(...wakes) }),
    };
  }

  /** Milliseconds until counters alone may be written again; 0 when this plan's status may be written now. */
  #counterWaitMs(plan: Plan): number {
    if (plan.status === undefined || plan.urgency === 'now') return 0;
    const { writtenAtMs, runtime } = this.#deps;
    const writtenAt = writtenAtMs.get(this.#replica.meta.uid);
    return writtenAt === undefined ? 0 : Math.max(0, writtenAt + counterSpacingMs - runtime.monotonicMs());
  }

  /** Makes what the status is about to name. */
  async #prepare(plan: Plan, observation: Observation): Promise<'ready' | PassEnd | 'lookAgain'> {
    const context = this.#context(observation, this.#replica, observation.snapshot.status);
    for (const effect of plan.prepare) {
      const result = await this.#deps.limiter.run(() => send(context, effect));
      this.#noteResult(effect, result);
      if (result.collision === true) return this.#bumpCollisionCount(observation, result.detail);
      if (!isDone(result)) {
        this.#book(new Map([[effect.key, { ...result, at: observation.snapshot.now }]]));
        return result.as === 'conflict' ? 'lookAgain' : later;
      }
      // The replica's own version has moved on: the status is planned on the new one.
      if (effect.do === 'finalizer') return 'lookAgain';
    }
    return 'ready';
  }

  async #act(
    plan: Plan,
    observation: Observation,
    replica: ReplicaRecord,
    persisted: DecodedStatus,
  ): Promise<ActReport> {
    const { limiter, slice } = this.#deps;
    const report = await act(plan.chains, {
      context: this.#context(observation, replica, persisted),
      limiter,
      slice,
      onResult: (effect, result) => this.#noteResult(effect, result),
    });
    this.#book(report.outcomes);
    return report;
  }

  #context(observation: Observation, replica: ReplicaRecord, persisted: DecodedStatus): ActContext {
    const { client, runtime, caches, ownWrites } = this.#deps;
    const { namespace } = replica.meta;
    const services = routingServices(worldOf(caches, replica), observation.snapshot.spec);
    const guard = new UnroutedGuard({ client, namespace, owner: replica.owner, services });
    return { client, runtime, caches, ownWrites, observation, replica, persisted, guard };
  }

  #viewOf(world: ReplicaWorld): SpecView {
    const names = new Set(world.revisions.flatMap(({ revision }) => (revision === undefined ? [] : [revision.name])));
    const view = specViewOf(this.#replica, this.#settings.lifecycle, (name) => names.has(name));
    // What can't be run can still be taken down.
    return !view.ok && this.#replica.meta.deletionAt !== undefined ? teardownViewOf(this.#replica) : view;
  }

  /** A rollback to what is no revision of this replica is ignored, and the spec's own rolls instead: that has to be told. */
  #reportIgnoredRollback(view: SpecView, world: ReplicaWorld): void {
    const wanted = asText(asRecord(this.#replica.spec['pacing'])['rollbackToRevision']);
    if (wanted === '' || !view.ok || view.spec.rollbackTo !== undefined) return;
    const names = world.revisions.flatMap(({ revision }) => (revision === undefined ? [] : [revision.name]));
    this.#tell(rollbackIgnored(this.#replica, wanted, names));
  }

  /** Two contents under one name: the next name is salted, and that is persisted before it is used. */
  async #bumpCollisionCount(observation: Observation, why: string): Promise<PassEnd | 'lookAgain'> {
    const { status, specRevision } = observation.snapshot;
    const collisionCount = status.collisionCount + 1;
    const end = await this.#write({ ...status, collisionCount });
    if (end === 'written') this.#tell(revisionTaken(this.#replica, specRevision, why, collisionCount));
    // Paced: should names keep being taken, each try costs a write.
    return end === 'written' ? later : end;
  }

  /** A spec that can't be run: said in `Ready` and in an Event; what runs is left alone. */
  async #reportSpec(status: DecodedStatus, view: SpecView & { readonly ok: false }): Promise<PassEnd | 'lookAgain'> {
    const now = Math.floor(this.#deps.runtime.nowMs() / 1000);
    const conditions = withReadyFalse(status.conditions, view, this.#replica.generation, now);
    const end = await this.#write({ ...status, conditions, observedGeneration: this.#replica.generation });
    if (end === 'written') this.#tell(specRefused(this.#replica, view.reason, view.message));
    return end === 'written' ? settled : end;
  }

  /** A status that can't be read is left as it is, and so is everything that it might speak of. */
  #reportUnreadable(message: string): void {
    this.#tellLoudly(statusUnreadable(this.#replica, message));
  }

  async #write(next: DecodedStatus): Promise<'written' | PassEnd | 'lookAgain'> {
    const persisted = await this.#persist(next);
    switch (persisted.is) {
      case 'written':
      case 'unchanged':
        return 'written';
      case 'stale':
        return 'lookAgain';
      case 'gone':
        return settled;
      case 'unreachable':
        return later;
    }
  }

  async #persist(next: DecodedStatus): Promise<Persisted> {
    const { client, caches, metrics, statusEncoding } = this.#deps;
    try {
      const options = { client, replicas: caches.replicas, metrics, statusEncoding };
      return await persistStatus(options, this.#replica, next);
    } catch (error) {
      if (classify(error) === 'tooLarge') {
        const encoding = chosenEncoding(next, statusEncoding);
        const written = { bytes: statusBytes(next, encoding), encoding };
        this.#tell(statusTooLarge(this.#replica, next.rows.size, written, wordsOf(error)));
      }
      throw error;
    }
  }

  #noteResult(effect: Effect, result: Result): void {
    const { metrics, teller } = this.#deps;
    metrics.effectFinished(effect.do, result.as);
    if (result.as === 'invalid' || result.as === 'nameTaken') {
      teller.log('warn', this.#replica, `${effect.key}: ${result.as}: ${result.detail}`);
    }
    if (result.notPermitted === true) this.#tellLoudly(notPermitted(this.#replica, result.detail));
    if (result.as === 'nameTaken' && result.collision === undefined) {
      this.#tell(nameTaken(this.#replica, effect.key, result.detail));
    }
  }

  #book(outcomes: ReadonlyMap<EffectKey, Outcome>): void {
    const { inbox, runtime } = this.#deps;
    inbox.book(this.#replica.meta.uid, outcomes, Math.floor(runtime.nowMs() / 1000));
  }

  #tell(event: EventIntent): void {
    this.#deps.teller.events(this.#replica, [event]);
  }

  /** In the log too, for those who run the manager. */
  #tellLoudly(event: EventIntent): void {
    this.#tell(event);
    this.#deps.teller.log('warn', this.#replica, event.text);
  }
}

/** The conditions with `Ready` False for this reason. */
function withReadyFalse(
  conditions: readonly Condition[],
  view: SpecView & { readonly ok: false },
  generation: number,
  now: Sec,
): readonly Condition[] {
  const before = conditions.find((condition) => condition.type === 'Ready');
  const ready: Condition = {
    ...before,
    type: 'Ready',
    status: 'False',
    reason: view.reason,
    message: view.message,
    observedGeneration: generation,
    lastTransitionTime: before?.status === 'False' ? before.lastTransitionTime : now,
  };
  return before === undefined ? [...conditions, ready] : conditions.map((item) => (item === before ? ready : item));
}
