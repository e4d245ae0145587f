/** A simulated cluster on loopback and the real manager against it, in this process, over HTTP. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Log } from '@omenative/controllers';
import { fixedConnection, HttpTransport, type Runtime, sleep } from '@omenative/kube';
import { defaultOptions, Manager } from '@omenative/manager';
import { Cluster, type ProbeResult, SimServer } from '@omenative/sim';
import { stringify } from 'yaml';
import { namespace } from './manifests.js';
import { nodes, world } from './world.js';

export interface EmbeddedClusterOptions {
  readonly runtime: Runtime;
  /** Where the kubeconfig is written; must exist. */
  readonly folder: string;
  /** Of the manager. */
  readonly log: Log;
}

export class EmbeddedCluster {
  /** Path of a kubeconfig for it. */
  readonly kubeconfig: string;
  readonly #runtime: Runtime;
  readonly #cluster: Cluster;
  readonly #server: SimServer;
  readonly #transports: HttpTransport[] = [];
  readonly #log: Log;
  #url = '';
  #manager: Manager | undefined;

  constructor({ runtime, folder, log }: EmbeddedClusterOptions) {
    const startMs = runtime.nowMs();
    this.kubeconfig = path.join(folder, 'kubeconfig');
    this.#runtime = runtime;
    this.#log = log;
    this.#cluster = new Cluster({ seed: startMs % 2 ** 31, startMs, options: world });
    for (const name of nodes) this.#cluster.addNode({ name, cpu: 32 });
    this.#server = new SimServer({ cluster: this.#cluster, runtime });
  }

  /**
   * Resolves once the manager has installed its CustomResourceDefinitions and works.
   *
   * @throws Error when the manager can't start.
   */
  async start(): Promise<void> {
    this.#url = await this.#server.start();
    writeFileSync(this.kubeconfig, kubeconfigOf(this.#url));
    const manager = new Manager({
      runtime: this.#runtime,
      transport: this.connect('omenative-manager'),
      identity: 'demo',
      options: { ...defaultOptions, installation: 'apply' },
      log: this.#log,
      onLost: () => {},
    });
    this.#manager = manager;
    await manager.start();
    while (!manager.isLeading) await sleep(this.#runtime, 10);
  }

  /** A connection of its own to the API server, closed with the cluster. */
  connect(userAgent: string): HttpTransport {
    const connection = fixedConnection(this.#url);
    const transport = new HttpTransport({ connection, runtime: this.#runtime, userAgent });
    this.#transports.push(transport);
    return transport;
  }

  /** Sends one request of simulated traffic to a Service of the demo's namespace. */
  send(service: string): ProbeResult {
    return this.#cluster.probe(`${namespace}/${service}`);
  }

  /** Ends the manager in good order, and then everything else. */
  async stop(): Promise<void> {
    await this.#manager?.stop();
    for (const transport of this.#transports) transport.close();
    await this.#server.stop();
  }
}

function kubeconfigOf(server: string): string {
  const name = 'ome-demo';
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [{ name, cluster: { server } }],
    users: [{ name, user: {} }],
    contexts: [{ name, context: { cluster: name, user: name, namespace } }],
  });
}
