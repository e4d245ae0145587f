/** The frame of a suite on real nodes: a namespace and a manager of its own, and what to show when a test fails. */
import { afterAll, beforeAll, describe, it, jest } from '@jest/globals';
import { teardownFinalizer } from '@omenative/api';
import { type ResourceType, removeFinalizer, sleep } from '@omenative/kube';
import { Api } from './api.js';
import { PodHistory } from './history.js';
import { ManagerProcess } from './manager-process.js';
import { conditionOf, inferenceReplicas, inferenceServices, namespaces, nodes, serviceAccounts } from './objects.js';
import { pictureOf } from './picture.js';
import { Prober } from './prober.js';
import { serviceUrl } from './steps.js';

const testTimeoutMs = 180_000;
const cleanUpWithinMs = 45_000;

export interface SuiteOptions {
  /** Begins the names of the namespace and of the manager's log. */
  readonly name: string;
  /** `off`: the manager does not ask for the Lease, and so writes nothing of its own accord. */
  readonly leaderElection?: 'on' | 'off';
}

/** What a suite has to work with. `api` exists from `beforeAll` on. */
export class Bed {
  readonly #options: SuiteOptions;
  readonly #kubeconfig: string;
  readonly #managers: ManagerProcess[] = [];
  readonly #probers: Prober[] = [];
  readonly #histories: PodHistory[] = [];
  #api: Api | undefined;

  constructor(options: SuiteOptions, kubeconfig: string) {
    this.#options = options;
    this.#kubeconfig = kubeconfig;
  }

  get api(): Api {
    if (this.#api === undefined) throw new Error('the suite has not begun');
    return this.#api;
  }

  /** Every manager that was started, those that have ended too. */
  get managers(): readonly ManagerProcess[] {
    return this.#managers;
  }

  /** The manager that was started last. */
  get manager(): ManagerProcess {
    const last = this.#managers.at(-1);
    if (last === undefined) throw new Error('the suite has no manager');
    return last;
  }

  /** Starts a manager beside those that run, and waits until it is ready. */
  async startManager(): Promise<ManagerProcess> {
    const { name, leaderElection = 'on' } = this.#options;
    const manager = ManagerProcess.start({
      name: `${name}-${this.#managers.length + 1}`,
      kubeconfig: this.#kubeconfig,
      namespace: this.api.namespace,
      leaderElection,
      // The definitions are the same for all.
      installation: this.#managers.length === 0 ? 'apply' : 'leave',
      runtime: this.api.runtime,
    });
    this.#managers.push(manager);
    await manager.whenReady();
    return manager;
  }

  /** Sends requests to a Service, port 8080, from when it answers steadily until `stop`, or the end of the suite. */
  async probe(service: string): Promise<Prober> {
    const prober = await Prober.start(await serviceUrl(this.api, service), this.api.runtime);
    this.#probers.push(prober);
    return prober;
  }

  /** Follows the pods that a selector finds until the end of the suite. */
  async watchPods(labelSelector: string): Promise<PodHistory> {
    const history = await PodHistory.of(this.api, labelSelector);
    this.#histories.push(history);
    return history;
  }

  /** The body of a test; what it fails with then shows the namespace and the manager's log too. */
  explained(body: () => Promise<void>): () => Promise<void> {
    return async () => {
      try {
        await body();
      } catch (error) {
        if (error instanceof Error) error.message += `\n\n${await this.#explanation()}`;
        throw error;
      }
    };
  }

  async start(): Promise<void> {
    const { name } = this.#options;
    this.#api = await Api.connect(this.#kubeconfig, `e2e-${name}-${process.pid}`);
    await this.#requireNodes();
    await this.api.client.create(namespaces, { metadata: { name: this.api.namespace } });
    await this.api.waitFor('the default service account', 20_000, () => this.api.find(serviceAccounts, 'default'));
    await this.startManager();
  }

  /** Leaves nothing: deletes what the suite made while a manager runs, and its finalizers when that does not help. */
  async stop(): Promise<void> {
    if (this.#api === undefined) return;
    for (const prober of this.#probers) await prober.stop();
    for (const history of this.#histories) history.close();
    try {
      await this.#cleanUp();
    } finally {
      for (const manager of this.#managers) await manager.stop();
      await this.api.client.delete(namespaces, { name: this.api.namespace });
      this.api.close();
    }
  }

  async #cleanUp(): Promise<void> {
    for (const type of [inferenceServices, inferenceReplicas]) {
      for (const { metadata } of await this.api.list<typeof type extends ResourceType<infer T> ? T : never>(type)) {
        await this.api.delete(type, metadata.name);
      }
    }
    if (!this.#managers.some((manager) => manager.isRunning)) await this.startManager();
    const deadlineMs = this.api.runtime.monotonicMs() + cleanUpWithinMs;
    while ((await this.api.list(inferenceReplicas)).length > 0) {
      if (this.api.runtime.monotonicMs() > deadlineMs) return this.#strip();
      await sleep(this.api.runtime, 200);
    }
  }

  async #strip(): Promise<void> {
    const { api } = this;
    for (const replica of await api.list(inferenceReplicas)) {
      const { name } = replica.metadata;
      const patch = removeFinalizer(replica, teardownFinalizer);
      if (patch !== undefined) await api.client.patch(inferenceReplicas, { namespace: api.namespace, name }, patch);
    }
    throw new Error(`replicas were not torn down within ${cleanUpWithinMs / 1000} s\n${await this.#explanation()}`);
  }

  async #requireNodes(): Promise<void> {
    const ready = (await this.api.client.list(nodes)).items.filter(
      (node) => conditionOf(node, 'Ready')?.status === 'True',
    );
    if (ready.length < 2) throw new Error(`these suites need two nodes that are Ready, and there are ${ready.length}`);
  }

  async #explanation(): Promise<string> {
    const tails = this.#managers.slice(-2).map((manager) => manager.logTail());
    return [await pictureOf(this.api), ...tails].join('\n\n');
  }
}

/**
 * A suite that needs real nodes: OME_E2E_NODES=1 says that there are some, and OME_E2E_KUBECONFIG names their cluster.
 * Without them it fails in CI and is skipped, with a reason, elsewhere.
 */
export function describeOnNodes(title: string, options: SuiteOptions, suite: (bed: Bed) => void): void {
  const kubeconfig = process.env['OME_E2E_KUBECONFIG'] ?? '';
  describe(title, () => {
    if (process.env['OME_E2E_NODES'] === '1' && kubeconfig !== '') {
      jest.setTimeout(testTimeoutMs);
      const bed = new Bed(options, kubeconfig);
      beforeAll(() => bed.start());
      suite(bed);
      afterAll(() => bed.stop());
    } else if (process.env['CI'] === 'true') {
      it('has real nodes to run on', () => {
        throw new Error('OME_E2E_NODES=1 and OME_E2E_KUBECONFIG are not set; in CI this suite must run');
      });
    } else {
      const why = 'needs real nodes: set OME_E2E_NODES=1, and OME_E2E_KUBECONFIG to the kubeconfig of their cluster';
      process.stderr.write(`${title}: skipped, ${why}\n`);
      it.skip(why, () => {});
    }
  });
}
