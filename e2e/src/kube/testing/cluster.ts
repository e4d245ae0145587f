/** What the tests of packages/kube need of a real cluster: a client, a namespace of their own, and a bad network. */
import { afterAll, beforeAll, describe, it, jest } from '@jest/globals';
import {
  Client,
  type Connection,
  connectionFromKubeconfig,
  HttpTransport,
  type KubeObject,
  type ResourceType,
  type Runtime,
  sleep,
  systemRuntime,
  testing,
} from '@omenative/kube';

export const namespaces: ResourceType = {
  group: '',
  version: 'v1',
  plural: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
};

export interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

export const configMaps: ResourceType<ConfigMap> = {
  group: '',
  version: 'v1',
  plural: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
};

export const definitions: ResourceType = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
};

export const pods: ResourceType = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true };

/** Far above what anything here takes; a test that waits so long has failed. */
const patienceMs = 30_000;

export class Cluster {
  readonly runtime: Runtime = systemRuntime();
  readonly namespace: string;
  readonly connection: Connection;
  readonly transport: HttpTransport;
  readonly client: Client;
  readonly #transports: HttpTransport[] = [];
  readonly #proxies: testing.TcpProxy[] = [];

  constructor(connection: Connection, namespace: string) {
    this.connection = connection;
    this.namespace = namespace;
    this.transport = this.#transportTo(connection);
    this.client = new Client({ transport: this.transport, runtime: this.runtime });
  }

  /** A ConfigMap of this namespace, not yet created. */
  configMap(
    name: string,
    labels: Readonly<Record<string, string>> = {},
    data: Readonly<Record<string, string>> = {},
  ): ConfigMap {
    return { metadata: { name, namespace: this.namespace, labels }, data };
  }

  /** A transport of its own behind a network that the test can break. */
  async behindProxy(): Promise<{ readonly proxy: testing.TcpProxy; readonly transport: HttpTransport }> {
    const { hostname, port, protocol } = new URL(this.connection.server);
    const target = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || (protocol === 'https:' ? 443 : 80)) };
    const proxy = await testing.TcpProxy.start(this.runtime, target);
    this.#proxies.push(proxy);
    const transport = this.#transportTo({
      ...this.connection,
      server: `${protocol}//127.0.0.1:${proxy.port}`,
      // The server's certificate is for its own address, not for the proxy's.
      credentials: async (freshness) => {
        const credentials = await this.connection.credentials(freshness);
        return { ...credentials, tls: { ...credentials.tls, verification: 'insecure' } };
      },
    });
    return { proxy, transport };
  }

  /** Waits until it is so. Fails when it takes too long, naming what was waited for. */
  async until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
    const startedAtMs = this.runtime.monotonicMs();
    while (!(await isSo())) {
      if (this.runtime.monotonicMs() - startedAtMs > patienceMs)
        throw new Error(`still not so after ${patienceMs / 1000} s: ${what}`);
      await sleep(this.runtime, 20);
    }
  }

  async stop(): Promise<void> {
    for (const transport of this.#transports) transport.close();
    await Promise.all(this.#proxies.map((proxy) => proxy.stop()));
  }

  #transportTo(connection: Connection): HttpTransport {
    const transport = new HttpTransport({ connection, runtime: this.runtime, userAgent: 'kube-e2e/1' });
    this.#transports.push(transport);
    return transport;
  }
}

/**
 * A suite that needs a real cluster, named by OME_E2E_KUBECONFIG. Without one it fails in CI and is skipped, with a reason,
 * elsewhere. The suite has a namespace of its own, which is deleted after it.
 */
export function describeOnCluster(title: string, body: (cluster: () => Cluster) => void): void {
  const path = process.env['OME_E2E_KUBECONFIG'];
  describe(title, () => {
    if (path === undefined || path === '') {
      const isRequired = process.env['CI'] === 'true';
      if (isRequired) {
        it('needs a real cluster', () => {
          throw new Error('OME_E2E_KUBECONFIG is not set; in CI this suite must run');
        });
      } else {
        it.skip('needs a real cluster: set OME_E2E_KUBECONFIG to a kubeconfig', () => {});
      }
      return;
    }
    jest.setTimeout(2 * patienceMs);
    let cluster: Cluster;
    beforeAll(async () => {
      const runtime = systemRuntime();
      const namespace = `kube-e2e-${process.pid}-${Math.floor(runtime.random() * 1e6)}`;
      cluster = new Cluster(await connectionFromKubeconfig({ runtime, path }), namespace);
      await cluster.client.create(namespaces, { metadata: { name: namespace } });
    });
    afterAll(async () => {
      await cluster.client.delete(namespaces, { name: cluster.namespace });
      await cluster.stop();
    });
    body(() => cluster);
  });
}
