/**
 * One look at a cluster: reads what the controllers would have in their caches about one InferenceService or one replica,
 * and puts it into caches of the same kind, that are never started and so never change.
 */
import { components, label, managedByValue, replicaName } from '@omenative/api';
import {
  asRecord,
  asText,
  baseModelType,
  type Caches,
  clusterBaseModelType,
  clusterServingRuntimeType,
  controllerRevisionType,
  createCaches,
  endpointSliceType,
  inferenceReplicaType,
  inferenceServiceType,
  type JsonRecord,
  nodeType,
  podType,
  serviceType,
  servingRuntimeType,
} from '@omenative/controllers/observe';
import {
  type Client,
  classify,
  type Informer,
  labelQuery,
  type ResourceType,
  type Runtime,
  type Transport,
} from '@omenative/kube';
import { Problem, type Remark } from './problem.js';
import type { Target } from './target.js';

export interface Reach {
  readonly transport: Transport;
  readonly client: Client;
  readonly runtime: Runtime;
  readonly namespace: string;
  /** Where the manager and its settings are. */
  readonly omeNamespace: string;
}

export interface Look {
  readonly caches: Caches;
  readonly remarks: readonly Remark[];
  /** Resources that were read, for the report. */
  readonly sources: readonly string[];
  /** Milliseconds since the epoch, when the reading had ended. */
  readonly atMs: number;
}

/** Objects a page. */
const pageSize = 500;

/**
 * Reads everything about the owner of names `owner`: an InferenceService, or a standalone replica. `planned` is the object
 * as it shall be, when that may name another runtime or model.
 *
 * @throws Problem when a read that nothing can do without is refused; TransportError when there is no answer.
 */
export async function lookAround(reach: Reach, owner: string, planned: JsonRecord = {}): Promise<Look> {
  const caches = createCaches({
    transport: reach.transport,
    runtime: reach.runtime,
    configNamespace: reach.omeNamespace,
    report: () => {},
  });
  const look = new Reading(reach, caches);
  const owned = { [label.inferenceService]: owner, [label.managedBy]: managedByValue };
  const managed = { [label.managedBy]: managedByValue };
  await Promise.all([
    look.one(caches.inferenceServices, inferenceServiceType, owner),
    look.list(caches.replicas, inferenceReplicaType, { [label.inferenceService]: owner }),
    // A replica of that name may be another's, or stand alone.
    ...[owner, ...components.map((component) => replicaName(owner, component))].map((name) =>
      look.one(caches.replicas, inferenceReplicaType, name),
    ),
    look.list(caches.pods, podType, owned),
    look.list(caches.revisions, controllerRevisionType, owned),
    look.list(caches.services, serviceType, managed),
    look.list(caches.slices, endpointSliceType, managed),
    look.nodes(),
  ]);
  const stored = asRecord(caches.inferenceServices.store.get(`${reach.namespace}/${owner}`)?.raw['spec']);
  const specs = [stored, asRecord(planned['spec'])];
  await look.catalog(new Set(specs.map(runtimeOf)), new Set(specs.map(modelOf)));
  return { caches, remarks: look.remarks, sources: [...look.sources].toSorted(), atMs: reach.runtime.nowMs() };
}

/** Reads the object that a person named. @throws Problem when there is none. */
export async function readTarget(reach: Reach, type: ResourceType, target: Target): Promise<JsonRecord> {
  const { client, namespace } = reach;
  try {
    return asRecord(await client.get(type, { namespace, name: target.name }));
  } catch (error) {
    if (classify(error) !== 'notFound') throw refusal(error);
    throw new Problem(`${target.kind} ${namespace}/${target.name} does not exist`);
  }
}

/** The server's own words where it refused, so that a person reads them and not a stack. */
export function refusal(error: unknown): unknown {
  return classify(error) === 'local' || !(error instanceof Error)
    ? error
    : new Problem(error.message, 1, { cause: error });
}

class Reading {
  readonly remarks: Remark[] = [];
  readonly sources: Set<string> = new Set();
  readonly #reach: Reach;
  readonly #caches: Caches;

  constructor(reach: Reach, caches: Caches) {
    this.#reach = reach;
    this.#caches = caches;
  }

  /** One object, if there is one. */
  async one<T>(into: Informer<T>, type: ResourceType, name: string): Promise<void> {
    const { client, namespace } = this.#reach;
    if (name === '') return;
    this.sources.add(type.plural);
    try {
      into.takeIn(await client.get(type, type.namespaced ? { namespace, name } : { name }));
    } catch (error) {
      if (classify(error) !== 'notFound') throw refusal(error);
    }
  }

  /** All objects of the namespace, or of the cluster, with these labels. */
  async list<T>(into: Informer<T>, type: ResourceType, labels: Readonly<Record<string, string>>): Promise<void> {
    this.sources.add(type.plural);
    try {
      await this.#pages(into, type, labels);
    } catch (error) {
      throw refusal(error);
    }
  }

  /** Nodes only decide which Instance leaves first: one can do without them. */
  async nodes(): Promise<void> {
    try {
      await this.#pages(this.#caches.nodes, nodeType, {});
      this.sources.add(nodeType.plural);
    } catch (error) {
      if (classify(error) !== 'notPermitted' && classify(error) !== 'forbidden') throw refusal(error);
      this.remarks.push({
        code: 'NodesUnreadable',
        message: 'nodes may not be listed: which nodes are cordoned is not taken into account',
      });
    }
  }

  /** Runtimes and models, of the namespace or of the cluster. */
  async catalog(runtimes: ReadonlySet<string>, models: ReadonlySet<string>): Promise<void> {
    const caches = this.#caches;
    await Promise.all([
      ...[...runtimes].flatMap((name) => [
        this.one(caches.servingRuntimes, servingRuntimeType, name),
        this.one(caches.clusterServingRuntimes, clusterServingRuntimeType, name),
      ]),
      ...[...models].flatMap((name) => [
        this.one(caches.baseModels, baseModelType, name),
        this.one(caches.clusterBaseModels, clusterBaseModelType, name),
      ]),
    ]);
  }

  async #pages<T>(into: Informer<T>, type: ResourceType, labels: Readonly<Record<string, string>>): Promise<void> {
    const { client, namespace } = this.#reach;
    const scope = type.namespaced ? { namespace } : {};
    const selector = Object.keys(labels).length === 0 ? {} : { labelSelector: labelQuery(labels) };
    let continueToken: string | undefined;
    do {
      const from = continueToken === undefined ? {} : { continueToken };
      const page = await client.list(type, { ...scope, ...selector, ...from, limit: pageSize });
      for (const raw of page.items) into.takeIn(raw);
      continueToken = page.continueToken;
    } while (continueToken !== undefined);
  }
}

function runtimeOf(spec: JsonRecord): string {
  return asText(asRecord(spec['runtime'])['name']);
}

function modelOf(spec: JsonRecord): string {
  return asText(asRecord(spec['model'])['name']);
}
