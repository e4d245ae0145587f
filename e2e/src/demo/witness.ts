/** The demo's own eyes: a watch of each kind, over HTTP, and everything they have told. It asks nobody else. */
import {
  type Change,
  Informer,
  type InformerProblem,
  type KubeObject,
  type ResourceType,
  type Runtime,
  resourceName,
  type Transport,
} from '@omenative/kube';
import { Ledger } from './ledger.js';
import { namespace } from './manifests.js';
import { eventNews, instanceNews, type News, podNews, rotationNews, serviceNews } from './news.js';
import {
  eventSeen,
  type ObjectSeen,
  objectSeen,
  type PodSeen,
  podSeen,
  type ReplicaSeen,
  replicaSeen,
  type ServiceSeen,
  type SliceSeen,
  serviceSeen,
  sliceSeen,
} from './records.js';
import {
  eventType,
  inferenceReplicaType,
  inferenceServiceType,
  podType,
  revisionType,
  serviceType,
  sliceType,
} from './resources.js';

/** Whose Events are told. */
const manager = 'ome-controller-manager';

export interface WitnessOptions {
  readonly transport: Transport;
  readonly runtime: Runtime;
  readonly tell: (news: News) => void;
  /** A watch had trouble and goes on. */
  readonly report: (problem: InformerProblem) => void;
}

export class Witness {
  readonly ledger: Ledger = new Ledger();
  readonly #options: WitnessOptions;
  readonly #services: Informer<ServiceSeen>;
  readonly #replicas: Informer<ReplicaSeen>;
  readonly #pods: Informer<PodSeen>;
  readonly #slices: Informer<SliceSeen>;
  /** What a deletion has to take with it, the kinds above included. */
  readonly #owned: readonly Informer<ObjectSeen>[];
  readonly #all: readonly Informer<unknown>[];
  readonly #rotation = new Map<string, readonly string[]>();

  constructor(options: WitnessOptions) {
    this.#options = options;
    this.#services = this.#watch(inferenceServiceType, serviceSeen, ({ meta, old, now }) =>
      this.#tell('isvc', meta.name, serviceNews(old, now)),
    );
    this.#replicas = this.#watch(inferenceReplicaType, replicaSeen, ({ old, now }) => {
      this.ledger.replica(old, now);
      for (const news of instanceNews(old, now)) options.tell(news);
    });
    this.#pods = this.#watch(podType, podSeen, ({ meta, old, now }) => {
      this.ledger.pod(old, now);
      this.#tell('pod', meta.name, podNews(old, now));
    });
    this.#slices = this.#watch(sliceType, sliceSeen, ({ old, now }) => {
      this.ledger.slice(now);
      this.#tellRotation(now?.service ?? old?.service ?? '');
    });
    const events = this.#watch(eventType, eventSeen, ({ old, now }) => {
      if (old === undefined && now?.component === manager) options.tell(eventNews(now));
    });
    const plain = [serviceType, revisionType].map((type) => this.#watch(type, objectSeen, () => {}));
    this.#owned = [this.#services, this.#replicas, this.#pods, this.#slices, ...plain];
    this.#all = [...this.#owned, events];
  }

  /** Resolves once every watch holds what there is. */
  async start(): Promise<void> {
    for (const informer of this.#all) informer.start();
    await Promise.all(this.#all.map((informer) => informer.whenSynced()));
  }

  stop(): void {
    for (const informer of this.#all) informer.stop();
  }

  /** Pods of an InferenceReplica, those that have ended and are not gone yet included, by name. */
  podsOf(replica: string): readonly PodSeen[] {
    return [...this.#pods.store.values()]
      .filter((pod) => pod.replica === replica)
      .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  }

  replica(name: string): ReplicaSeen | undefined {
    return this.#replicas.store.get(`${namespace}/${name}`);
  }

  service(name: string): ServiceSeen | undefined {
    return this.#services.store.get(`${namespace}/${name}`);
  }

  /** Names of the pods that a Service sends requests to. */
  routedBy(service: string): readonly string[] {
    const slices = [...this.#slices.store.values()].filter((slice) => slice.service === service);
    return slices.flatMap(({ ready }) => ready.map(({ pod }) => pod)).toSorted();
  }

  /** Everything that an InferenceService owns, directly or not: `pods/chat-engine-0-default-0`. */
  leftovers(): readonly string[] {
    return this.#owned.flatMap(({ type, store }) =>
      [...store.values()].map(({ name }) => `${resourceName(type)}/${name}`),
    );
  }

  #tell(topic: News['topic'], name: string, what: string | undefined): void {
    if (what !== undefined) this.#options.tell({ topic, name, what });
  }

  /** Only the Services that people use, named like the InferenceService. */
  #tellRotation(service: string): void {
    if (this.service(service) === undefined && !this.#rotation.has(service)) return;
    const pods = this.routedBy(service);
    const known = this.#rotation.get(service) ?? [];
    if (known.join() === pods.join()) return;
    this.#rotation.set(service, pods);
    this.#tell('endpoints', service, rotationNews(pods));
  }

  #watch<T>(type: ResourceType, project: (raw: KubeObject) => T, onChange: (change: Change<T>) => void): Informer<T> {
    const { transport, runtime, report } = this.#options;
    const informer = new Informer<T>({ transport, runtime, type, namespace, project, report });
    informer.subscribe(onChange);
    return informer;
  }
}
