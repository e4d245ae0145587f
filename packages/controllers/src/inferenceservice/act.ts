/** Carries a plan out: replicas first, then the Services in front of them, then what is no longer declared. */
import { type Component, components } from '@omenative/api';
import type { Client, KubeObject, ObjectName, Patch, ResourceType, Runtime } from '@omenative/kube';
import type { Caches } from '../caches.js';
import type { ReplicaRecord } from '../inferencereplica/replica-record.js';
import { asRecord, type JsonRecord } from '../shared/json.js';
import { metaOf, type ObjectMeta } from '../shared/meta.js';
import { inferenceReplicaType, inferenceServiceType, serviceType } from '../shared/resources.js';
import { countReset } from './count.js';
import type { NameHolds } from './name-holds.js';
import type { ComponentPlan, ServicePlan, ServiceWorld } from './render.js';
import { type DesiredReplica, newReplica, replicaPatch } from './replica.js';
import { planRouting, type StandingReplica } from './routing-plan.js';
import { type DesiredService, newService, servicePatch } from './services.js';
import type { PassOutcome } from './status.js';
import { type Write, write } from './write.js';

export interface ActDeps {
  /** Its writes are refused, unsent, once the lease is not held. */
  readonly client: Client;
  readonly runtime: Runtime;
  readonly caches: Pick<Caches, 'replicas' | 'services'>;
  readonly nameHolds: NameHolds;
}

export interface ActReport extends PassOutcome {
  /** The components as planned, with their replicas as they are now. */
  readonly components: readonly ComponentPlan[];
  /** What is to be said of counts that did not stay. */
  readonly countResets: readonly string[];
  /** Something was not done that may work soon. */
  readonly isDisturbed: boolean;
}

type Failure = { readonly reason: string; readonly message: string };

/** Never rejects for what the server answers; see the report. */
export async function act(deps: ActDeps, world: ServiceWorld, plan: ServicePlan): Promise<ActReport> {
  return new Actor(deps, world, plan).run();
}

class Actor {
  readonly #deps: ActDeps;
  readonly #world: ServiceWorld;
  readonly #plan: ServicePlan;
  readonly #standing: Map<Component, StandingReplica> = new Map();
  readonly #failed: Map<Component, Failure> = new Map();
  readonly #countResets: string[] = [];
  #entryFailed: Failure | undefined;
  #isDisturbed = false;

  constructor(deps: ActDeps, world: ServiceWorld, plan: ServicePlan) {
    this.#deps = deps;
    this.#world = world;
    this.#plan = plan;
  }

  async run(): Promise<ActReport> {
    for (const component of this.#plan.components) await this.#reconcileReplica(component);
    for (const replica of this.#plan.removed) this.#noteStanding(replica.spec['component'], replica.meta, replica.spec);
    const routing = planRouting(this.#world, this.#plan, this.#standing);
    for (const service of routing.wanted) await this.#reconcileService(service);
    for (const service of routing.surplus) await this.#deleteObject(serviceType, service.meta, 'services');
    await this.#deleteRemoved();
    return {
      failed: this.#failed,
      ...(this.#entryFailed === undefined ? {} : { entryFailed: this.#entryFailed }),
      services: routing.wanted,
      components: this.#plan.components.map((component) => this.#asOfNow(component)),
      countResets: this.#countResets,
      isDisturbed: this.#isDisturbed,
    };
  }

  /** With the replica that the cache holds after our own writes, so that one pass tells the whole story. */
  #asOfNow(plan: ComponentPlan): ComponentPlan {
    const standing = this.#standing.get(plan.component);
    const stored = standing === undefined ? undefined : this.#world.replicaNamed(standing.name);
    return stored === undefined || stored.meta.uid !== standing?.uid ? plan : { ...plan, stored };
  }

  async #reconcileReplica(plan: ComponentPlan): Promise<void> {
    const { stored, component } = plan;
    if (stored !== undefined) this.#noteStanding(component, stored.meta, stored.spec);
    if (plan.as !== 'projected') return;
    const result =
      stored === undefined ? await this.#createReplica(plan.desired) : await this.#patchReplica(plan.desired, stored);
    if (result === undefined) return;
    if (result.is === 'done') {
      this.#deps.caches.replicas.takeIn(result.value);
      const object = asRecord(result.value);
      this.#noteStanding(component, metaOf(object), asRecord(object['spec']));
      return;
    }
    if (result.is === 'refused')
      this.#failed.set(component, { reason: 'ComponentReconcileError', message: result.message });
    this.#isDisturbed ||= result.is !== 'over';
  }

  async #createReplica(desired: DesiredReplica): Promise<Write<KubeObject> | undefined> {
    const { client, nameHolds } = this.#deps;
    const key = `${inferenceReplicaType.kind}/${desired.namespace}/${desired.name}`;
    const standing = nameHolds.message(key);
    if (standing !== undefined) {
      this.#failed.set(desired.component, { reason: 'ReplicaNameTaken', message: standing });
      return undefined;
    }
    const result = await write(() => client.create(inferenceReplicaType, newReplica(desired)));
    if (result.is !== 'exists') return result;
    // The cache does not show it yet: it may be ours all the same.
    const found = await this.#readLive(inferenceReplicaType, desired);
    if (found === undefined || metaOf(asRecord(found)).controller.uid === this.#world.service.meta.uid) {
      if (found !== undefined) this.#deps.caches.replicas.takeIn(found);
      return { is: 'again' };
    }
    const message = `the name is taken: InferenceReplica "${desired.name}" is not ours; delete it, or rename the InferenceService`;
    nameHolds.hold(key, message);
    this.#failed.set(desired.component, { reason: 'ReplicaNameTaken', message });
    return undefined;
  }

  async #patchReplica(desired: DesiredReplica, stored: ReplicaRecord): Promise<Write<KubeObject> | undefined> {
    const body = replicaPatch(desired, stored);
    if (body === undefined) return undefined;
    const result = await write(() => this.#deps.client.patch(inferenceReplicaType, nameOf(desired), merge(body)));
    const reset = countReset(desired, stored);
    if (result.is === 'done' && reset !== undefined) this.#countResets.push(reset);
    return result;
  }

  async #reconcileService(desired: DesiredService): Promise<void> {
    const { client, caches, nameHolds } = this.#deps;
    const stored = this.#world.services.find((service) => service.meta.name === desired.name);
    const body = stored === undefined ? undefined : servicePatch(desired, stored);
    if (stored !== undefined) {
      if (stored.meta.controller.uid !== this.#world.service.meta.uid)
        return this.#failService(desired, serviceTaken(desired));
      if (stored.meta.deletionAt !== undefined || body === undefined) return;
    }
    const key = `${serviceType.kind}/${desired.namespace}/${desired.name}`;
    const standing = stored === undefined ? nameHolds.message(key) : undefined;
    if (standing !== undefined) return this.#failService(desired, { reason: 'ServiceNameTaken', message: standing });
    const result = await write(() =>
      body === undefined
        ? client.create(serviceType, newService(desired))
        : client.patch(serviceType, nameOf(desired), merge(body)),
    );
    switch (result.is) {
      case 'done':
        caches.services.takeIn(result.value);
        return;
      case 'exists':
        return this.#takeOverService(desired, key);
      case 'refused':
        this.#isDisturbed = true;
        return this.#failService(desired, { reason: 'ServiceRefused', message: result.message });
      case 'gone':
      case 'again':
        this.#isDisturbed = true;
        return;
      case 'over':
        return;
    }
  }

  /** A Service of that name exists and carries no label of ours: it is an older one of this InferenceService, or foreign. */
  async #takeOverService(desired: DesiredService, key: string): Promise<void> {
    const { caches, client, nameHolds } = this.#deps;
    const found = await this.#readLive(serviceType, desired);
    this.#isDisturbed = true;
    if (found === undefined) return;
    const meta = metaOf(asRecord(found));
    if (meta.controller.uid !== this.#world.service.meta.uid) {
      const problem = serviceTaken(desired);
      nameHolds.hold(key, problem.message);
      this.#isDisturbed = false;
      return this.#failService(desired, problem);
    }
    // With our labels it enters the cache, where the rest of its drift is seen and put right.
    const { uid, resourceVersion } = meta;
    const body = { metadata: { labels: desired.labels, uid, resourceVersion } };
    const result = await write(() => client.patch(serviceType, nameOf(desired), merge(body)));
    if (result.is === 'done') caches.services.takeIn(result.value);
  }

  #failService(desired: DesiredService, problem: Failure): void {
    if (desired.kind === 'external') this.#entryFailed = problem;
    else this.#failed.set(desired.component, problem);
  }

  /** A replica goes only when the service as it is now, not as the cache holds it, no longer declares its component. */
  async #deleteRemoved(): Promise<void> {
    if (this.#plan.removed.length === 0) return;
    const { service } = this.#world;
    const live = await this.#readLive(inferenceServiceType, service.meta);
    if (live === undefined || metaOf(asRecord(live)).uid !== service.meta.uid) return;
    const spec = asRecord(asRecord(live)['spec']);
    for (const replica of this.#plan.removed) {
      const isDeclared = spec[String(replica.spec['component'])] !== undefined;
      if (!isDeclared && replica.meta.deletionAt === undefined) {
        await this.#deleteObject(inferenceReplicaType, replica.meta, 'replicas');
      }
    }
  }

  async #deleteObject(type: ResourceType, meta: ObjectMeta, cache: 'replicas' | 'services'): Promise<void> {
    const { client, caches } = this.#deps;
    const result = await write(() => client.delete(type, nameOf(meta), { preconditions: { uid: meta.uid } }));
    switch (result.is) {
      case 'done':
        if (result.value.how === 'terminating') caches[cache].takeIn(result.value.object);
        else caches[cache].takeInDeletion(`${meta.namespace}/${meta.name}`, meta.uid);
        return;
      case 'gone':
      case 'over':
        return;
      case 'exists':
      case 'again':
      case 'refused':
        this.#isDisturbed = true;
    }
  }

  async #readLive(
    type: ResourceType,
    of: { readonly namespace: string; readonly name: string },
  ): Promise<KubeObject | undefined> {
    const result = await write(() => this.#deps.client.get(type, nameOf(of)));
    if (result.is === 'done') return result.value;
    this.#isDisturbed ||= result.is !== 'gone';
    return undefined;
  }

  #noteStanding(component: unknown, meta: ObjectMeta, spec: JsonRecord): void {
    const known = components.find((candidate) => candidate === component);
    if (known !== undefined) this.#standing.set(known, { name: meta.name, uid: meta.uid, spec });
  }
}

function serviceTaken(desired: DesiredService): Failure {
  const message = `the name is taken: Service "${desired.name}" is not ours; delete it, or rename the InferenceService`;
  return { reason: 'ServiceNameTaken', message };
}

function nameOf(of: { readonly namespace: string; readonly name: string }): ObjectName {
  return { namespace: of.namespace, name: of.name };
}

function merge(body: JsonRecord): Patch {
  return { kind: 'merge', body };
}
