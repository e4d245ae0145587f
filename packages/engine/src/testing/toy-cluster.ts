/**
 * A cluster small enough to hold in one's head: it persists what a plan decides, carries its effects out at once, and plays
 * kubelet and slice controller one step at a time. What happens between the steps is up to the test.
 */
import { type DecodedStatus, emptyStatus, type Index, type InstanceRow, label, type Rev } from '@omenative/api';
import { changedGate } from '../demand/writers.js';
import type { Effect, EffectKey, EventIntent, GatePod, Outcome, PatchInPlace } from '../effects.js';
import { plan } from '../plan.js';
import type { Plan } from '../plan-types.js';
import type { LifecycleConfig, PlanSpec, PodView, Snapshot, Uid } from '../snapshot.js';
import { isServing } from '../units.js';
import { kinds, shortName } from './read.js';
import { afterKubelet, type Fate } from './toy-kubelet.js';
import { chartConfig, noon, payload, pod, revisionOf, single, world } from './world.js';

export type { Fate } from './toy-kubelet.js';

export interface ToyOptions {
  readonly spec?: Partial<PlanSpec>;
  readonly image?: string;
  readonly config?: LifecycleConfig;
}

export class ToyCluster {
  now: number = noon;
  config: LifecycleConfig;
  status: DecodedStatus = emptyStatus;
  finalizer: 'present' | 'absent' = 'absent';
  headlessService: Snapshot['headlessService'] = 'absent';
  deletingSince: number | undefined;
  /** Instances whose last writes the plan is not shown yet. */
  blind: ReadonlySet<Index> = new Set();
  readonly pods: Map<string, PodView> = new Map();
  /** By short pod name, else by image; `good` where nothing is said. */
  readonly fates: Map<string, Fate> = new Map();
  /** Short names of pods whose kubelet does nothing any more. */
  readonly hung: Set<string> = new Set();
  /** What the API server answers to the creation of pods with this image. */
  readonly refusals: Map<string, Outcome['as']> = new Map();
  /** How many creations it has refused. */
  refused = 0;
  readonly events: EventIntent[] = [];
  /** What users have asked for on the replica. */
  readonly annotations: Map<string, string> = new Map();
  /** Status writes so far. */
  writes = 0;
  /** The fewest Instances that took requests at the end of any second since this was last set. */
  fewestServing: number = Number.POSITIVE_INFINITY;
  /** Pods created and pods asked to go, by name, in order. */
  readonly log: string[] = [];
  #spec: Partial<PlanSpec>;
  #image: string;
  #generation = 1;
  #uids = 0;
  readonly #routed: Set<Uid> = new Set();
  readonly #stored: Map<Rev, PlanSpec['payload']> = new Map();
  readonly #inbox: Map<EffectKey, Outcome> = new Map();

  constructor(options: ToyOptions = {}) {
    this.#spec = options.spec ?? {};
    this.#image = options.image ?? 'v1';
    this.config = options.config ?? chartConfig;
  }

  /** The user changes the spec. */
  edit(change: Partial<PlanSpec> & { readonly image?: string }): void {
    const { image, ...spec } = change;
    this.#image = image ?? this.#image;
    this.#spec = { ...this.#spec, ...spec };
    this.#generation += 1;
  }

  /** The user deletes the replica. */
  delete(): void {
    this.deletingSince = this.now;
  }

  /** The name of the revision with `image`. */
  revision(image: string): Rev {
    return revisionOf(image, this.#spec.runners ?? single);
  }

  row(index: Index): InstanceRow | undefined {
    return this.status.rows.get(index);
  }

  /** Kind of each row by index, in index order: `0 ready, 1 creating`. */
  rows(): string {
    return kinds(this.status);
  }

  /** Names of all pods without the common prefix, with a mark for those that end: `0-default-0, 0-default-1 (ending)`. */
  podNames(): string {
    return [...this.pods.values()]
      .map((one) => `${shortName(one.name)}${one.deletionAt === undefined ? '' : ' (ending)'}`)
      .toSorted()
      .join(', ');
  }

  /** Short names of the pods that take requests. */
  serving(): string {
    return [...this.pods.values()]
      .filter((one) => one.ready && this.#routed.has(one.uid))
      .map((one) => shortName(one.name))
      .toSorted()
      .join(', ');
  }

  /** How many Instances have a pod that takes requests and will go on to. */
  servingInstances(): number {
    return new Set(
      [...this.pods.values()].filter((one) => isServing(one) && this.#routed.has(one.uid)).map((one) => one.index),
    ).size;
  }

  /** One pass: plan (reading live when asked to), persist, act. */
  pass(): Plan {
    const made = this.#persist();
    for (const chain of made.chains) {
      for (const effect of chain.effects) {
        const outcome = this.#carryOut(effect);
        const before = this.#inbox.get(effect.key);
        const repeats = before?.as === outcome ? (before.repeats ?? 1) + 1 : 1;
        this.#inbox.set(effect.key, { as: outcome, at: this.now, detail: '', repeats });
        if (outcome !== 'ok' && outcome !== 'gone' && outcome !== 'exists') break;
      }
    }
    return made;
  }

  /** A pass that ends with its status write: the controller is killed before it acts, and forgets what came of its effects. */
  crash(): void {
    this.#persist();
    this.#inbox.clear();
  }

  /** Passes until one changes nothing; fails the test when that never comes. */
  passes(): Plan {
    for (let count = 0; count < 50; count++) {
      const before = this.fingerprint();
      const made = this.pass();
      if (this.fingerprint() === before) return made;
    }
    throw new Error(`the plan wants to write for ever: ${this.rows()}; ${this.podNames()}`);
  }

  /** A second goes by; kubelets and slices catch up by one step; then the controller does all it can. */
  step(seconds = 1): Plan {
    this.now += seconds;
    this.kubelets();
    this.slices();
    const made = this.passes();
    this.fewestServing = Math.min(this.fewestServing, this.servingInstances());
    return made;
  }

  steps(count: number, seconds = 1): void {
    for (let done = 0; done < count; done++) this.step(seconds);
  }

  /** Steps until nothing changes any more but time. */
  settle(maxSteps = 60): void {
    for (let count = 0; count < maxSteps; count++) {
      const before = this.fingerprint();
      this.step();
      if (this.fingerprint() === before) return;
    }
    throw new Error(`not settled after ${maxSteps} steps: ${this.rows()}; ${this.podNames()}`);
  }

  /** All of the cluster that can be told apart, without times. */
  fingerprint(): string {
    const status = { ...this.status, rows: [...this.status.rows] };
    return JSON.stringify([status, [...this.pods.values()], [...this.#routed], this.finalizer, this.headlessService]);
  }

  /** Each kubelet does the next thing for each of its pods. */
  kubelets(): void {
    for (const one of Array.from(this.pods.values())) {
      if (this.hung.has(shortName(one.name))) continue;
      if (one.deletionAt !== undefined) {
        this.pods.delete(one.name);
        this.#routed.delete(one.uid);
        continue;
      }
      this.pods.set(one.name, afterKubelet(one, this.#fateOf(one), this.now));
    }
  }

  /** Slices list the pods that are ready now. */
  slices(): void {
    for (const one of this.pods.values()) {
      if (one.ready && one.deletionAt === undefined) this.#routed.add(one.uid);
      else this.#routed.delete(one.uid);
    }
  }

  /** Something outside asks for the end of a pod: a drain, an eviction, a user. */
  evict(name: string): void {
    const one = this.#podNamed(name);
    this.pods.set(one.name, { ...one, deletionAt: this.now + 30 });
  }

  /** A pod vanishes, as with its node. */
  lose(name: string): void {
    const one = this.#podNamed(name);
    this.pods.delete(one.name);
    this.#routed.delete(one.uid);
  }

  /** Changes what is seen of a pod. */
  patch(name: string, change: Partial<PodView>): void {
    const one = this.#podNamed(name);
    this.pods.set(one.name, { ...one, ...change });
  }

  snapshot(readIndices: ReadonlySet<Index>): Snapshot {
    const runners = this.#spec.runners ?? single;
    const pods = [...this.pods.values()];
    const base = world({
      now: this.now,
      spec: { ...this.#spec, payload: payload(this.#image, runners) },
      config: this.config,
      replica: {
        generation: this.#generation,
        finalizer: this.finalizer,
        annotations: Object.fromEntries(this.annotations),
        ...(this.deletingSince === undefined ? {} : { deletingSince: this.deletingSince }),
      },
      status: this.status,
      rows: [...this.status.rows.values()],
      pods,
      proofs: { absentPods: new Set(), readIndices },
      headlessService: this.headlessService,
      inbox: this.#inbox,
      blind: [...this.blind],
    });
    const revisions = new Map(
      [...this.#stored].map(([name, stored], at) => [
        name,
        { name, uid: `rev-${at}`, hash: name.slice(-8), number: at + 1, payload: stored },
      ]),
    );
    return {
      ...base,
      status: this.status,
      revisions,
      rotation: new Map(pods.map((one) => [one.uid, this.#routed.has(one.uid) ? 'in' : 'out'])),
    };
  }

  #persist(): Plan {
    let made = plan(this.snapshot(new Set()));
    if (made.reads.length > 0) made = plan(this.snapshot(new Set(made.reads.map((read) => read.index))));
    for (const effect of made.prepare) this.#carryOut(effect);
    if (made.status !== undefined) {
      this.status = made.status;
      this.writes += 1;
    }
    this.events.push(...made.events);
    return made;
  }

  #podNamed(short: string): PodView {
    const found = [...this.pods.values()].find((one) => shortName(one.name) === short);
    if (found === undefined) throw new Error(`no pod ${short} among ${this.podNames()}`);
    return found;
  }

  #fateOf(one: PodView): Fate {
    return this.fates.get(shortName(one.name)) ?? this.fates.get(one.containers[0]?.image ?? '') ?? 'good';
  }

  #carryOut(effect: Effect): Outcome['as'] {
    switch (effect.do) {
      case 'finalizer':
        this.finalizer = effect.change === 'add' ? 'present' : 'absent';
        return 'ok';
      case 'createRevision':
        this.#stored.set(effect.rev, payload(this.#image, this.#spec.runners ?? single));
        return 'ok';
      case 'deleteRevision':
        this.#stored.delete(effect.rev);
        return 'ok';
      case 'ensureHeadless':
        this.headlessService = 'present';
        return 'ok';
      case 'deleteHeadless':
        this.headlessService = 'absent';
        return 'ok';
      case 'createPod': {
        if (this.pods.has(effect.name)) return 'exists';
        const born = this.#born(effect.name, effect);
        const refusal = this.refusals.get(born.containers[0]?.image ?? '');
        if (refusal !== undefined) {
          this.refused += 1;
          return refusal;
        }
        this.#uids += 1;
        this.pods.set(effect.name, { ...born, uid: `uid-${this.#uids}` });
        this.log.push(`create ${shortName(effect.name)}`);
        return 'ok';
      }
      case 'gate':
        return this.#gate(effect);
      case 'patchInPlace':
        return this.#patchInPlace(effect);
      case 'dropMarker': {
        const one = this.pods.get(effect.pod.name);
        if (one === undefined || one.uid !== effect.pod.uid) return 'gone';
        const { inPlace: _, ...unmarked } = one;
        this.pods.set(one.name, unmarked);
        return 'ok';
      }
      case 'ackMail':
        if (this.annotations.get(effect.annotation) !== effect.value) return 'conflict';
        this.annotations.delete(effect.annotation);
        return 'ok';
      case 'deletePod': {
        const one = this.pods.get(effect.pod.name);
        if (one === undefined || one.uid !== effect.pod.uid) return 'gone';
        if (effect.guard === 'unroutedLive' && this.#routed.has(one.uid)) return 'guardFailed';
        this.pods.set(one.name, { ...one, deletionAt: this.now + (effect.graceSeconds ?? 30) });
        this.log.push(`delete ${shortName(one.name)}`);
        return 'ok';
      }
    }
  }

  #born(name: string, effect: Effect & { readonly do: 'createPod' }): PodView {
    const stored = this.#stored.get(effect.rev)?.runners[0]?.template;
    const image = JSON.stringify(stored).match(/"image":"([^"]+)"/)?.[1] ?? 'unknown';
    return pod({
      index: effect.index,
      runner: effect.runner,
      ordinal: effect.ordinal,
      runners: this.#spec.runners ?? single,
      image,
      health: 'starting',
      now: this.now,
      over: {
        name,
        createdAt: this.now,
        incarnation: effect.incarnation,
        phase: 'Pending',
        revisionHash: effect.rev.slice(-8),
      },
    });
  }

  #patchInPlace(effect: PatchInPlace): Outcome['as'] {
    const one = this.pods.get(effect.pod.name);
    if (one === undefined || one.uid !== effect.pod.uid) return 'gone';
    this.pods.set(one.name, {
      ...one,
      ...(effect.marker === undefined ? {} : { inPlace: effect.marker }),
      revisionHash: effect.labels[label.revisionHash] ?? one.revisionHash,
      containers: one.containers.map((container) => ({
        ...container,
        image: effect.images[container.name] ?? container.image,
      })),
    });
    this.log.push(`patch ${shortName(one.name)}`);
    return 'ok';
  }

  #gate(effect: GatePod): Outcome['as'] {
    const one = this.pods.get(effect.pod.name);
    if (one === undefined || one.uid !== effect.pod.uid) return 'gone';
    this.pods.set(one.name, { ...one, gate: changedGate(one.gate, effect.hold, effect.change) });
    return 'ok';
  }
}
