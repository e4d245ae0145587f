/**
 * The API server as these tests see it: plain HTTP without our own client, so that a fault of the client can't hide a fault
 * of a schema.
 */
import { readFileSync } from 'node:fs';
import https from 'node:https';
import { afterAll, beforeAll, describe, it, jest } from '@jest/globals';
import { crds } from '@omenative/api';
import { parse } from 'yaml';

export type Json = Readonly<Record<string, unknown>>;

export interface Reply {
  readonly status: number;
  /** A Kubernetes object, a list, a table, or a Status that says why not. */
  readonly body: Json;
}

export interface RequestParts {
  readonly body?: unknown;
  readonly query?: Readonly<Record<string, string>>;
  readonly contentType?: string;
  readonly accept?: string;
}

interface Connection {
  readonly server: string;
  readonly tls: https.AgentOptions;
  readonly token?: string;
}

interface Kubeconfig {
  readonly 'current-context': string;
  readonly contexts: readonly {
    readonly name: string;
    readonly context: { readonly cluster: string; readonly user: string };
  }[];
  readonly clusters: readonly { readonly name: string; readonly cluster: Readonly<Record<string, string>> }[];
  readonly users: readonly { readonly name: string; readonly user: Readonly<Record<string, string>> }[];
}

function connectionOf(file: string): Connection {
  const config = parse(readFileSync(file, 'utf8')) as Kubeconfig;
  const { context } = pick(config.contexts, config['current-context']);
  const { cluster } = pick(config.clusters, context.cluster);
  const { user } = pick(config.users, context.user);
  return {
    server: cluster['server'] ?? '',
    tls: {
      ca: content(cluster, 'certificate-authority'),
      cert: content(user, 'client-certificate'),
      key: content(user, 'client-key'),
    },
    ...(user['token'] === undefined ? {} : { token: user['token'] }),
  };
}

/** A certificate or key of a kubeconfig, which is in it or in a file it names. */
function content(from: Readonly<Record<string, string>>, key: string): Buffer | undefined {
  const inline = from[`${key}-data`];
  if (inline !== undefined) return Buffer.from(inline, 'base64');
  return from[key] === undefined ? undefined : readFileSync(from[key]);
}

function pick<T extends { readonly name: string }>(list: readonly T[], name: string): T {
  const found = list.find((one) => one.name === name);
  if (!found) throw new Error(`the kubeconfig has no entry named ${name}`);
  return found;
}

export class ApiServer {
  readonly #connection: Connection;
  readonly #agent: https.Agent;
  /** A namespace of this test file's own. */
  readonly namespace: string = `crds-${process.pid}-${Math.floor(Math.random() * 1e6)}`;

  constructor(kubeconfig: string) {
    this.#connection = connectionOf(kubeconfig);
    this.#agent = new https.Agent({ ...this.#connection.tls, keepAlive: true });
  }

  /** Sends one request and gives the answer, whatever it is. */
  request(method: string, path: string, parts: RequestParts = {}): Promise<Reply> {
    const url = new URL(path, this.#connection.server);
    for (const [key, value] of Object.entries(parts.query ?? {})) url.searchParams.set(key, value);
    const headers = {
      accept: parts.accept ?? 'application/json',
      'content-type': parts.contentType ?? 'application/json',
      ...(this.#connection.token === undefined ? {} : { authorization: `Bearer ${this.#connection.token}` }),
    };
    return new Promise((resolve, reject) => {
      const request = https.request(url, { method, headers, agent: this.#agent }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          resolve({ status: response.statusCode ?? 0, body: JSON.parse(Buffer.concat(chunks).toString()) as Json });
        });
      });
      request.on('error', reject);
      request.end(parts.body === undefined ? undefined : JSON.stringify(parts.body));
    });
  }

  /** Path of an object of ours, or of the collection when there is no name. */
  path(plural: string, name = ''): string {
    const crd = crds.find((one) => one.spec.names.plural === plural);
    const scope = crd?.spec.scope === 'Cluster' ? '' : `/namespaces/${this.namespace}`;
    return `/apis/ome.io/v1beta1${scope}/${plural}${name === '' ? '' : `/${name}`}`;
  }

  /** Creates an object as `kubectl apply --validate=strict` would. */
  create(plural: string, body: unknown): Promise<Reply> {
    return this.request('POST', this.path(plural), { body, query: { fieldValidation: 'Strict' } });
  }

  get(plural: string, name: string): Promise<Reply> {
    return this.request('GET', this.path(plural, name));
  }

  /** Merges `body` into an object, or into its subresource. */
  merge(plural: string, name: string, body: unknown): Promise<Reply> {
    return this.request('PATCH', this.path(plural, name), {
      body,
      query: { fieldValidation: 'Strict' },
      contentType: 'application/merge-patch+json',
    });
  }

  delete(plural: string, name: string): Promise<Reply> {
    return this.request('DELETE', this.path(plural, name));
  }

  /** Applies a CustomResourceDefinition server-side, as it is to be done, and waits until it is served. */
  async applyDefinition(crd: { readonly metadata: { readonly name: string } }): Promise<Json> {
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${crd.metadata.name}`;
    const applied = await this.request('PATCH', path, {
      body: crd,
      query: { fieldManager: 'crds-test', force: 'true', fieldValidation: 'Strict' },
      contentType: 'application/apply-patch+yaml',
    });
    if (applied.status >= 300) throw new Error(`${crd.metadata.name}: ${messageOf(applied)}`);
    for (;;) {
      const { body } = await this.request('GET', path);
      const conditions = (body['status'] as { conditions?: { type: string; status: string }[] }).conditions ?? [];
      if (conditions.some(({ type, status }) => type === 'Established' && status === 'True')) return body;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async start(): Promise<void> {
    for (const crd of crds) await this.applyDefinition(crd);
    const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: this.namespace } };
    const made = await this.request('POST', '/api/v1/namespaces', { body });
    if (made.status !== 201) throw new Error(`namespace ${this.namespace}: ${messageOf(made)}`);
  }

  async stop(): Promise<void> {
    await this.request('DELETE', `/api/v1/namespaces/${this.namespace}`);
    this.#agent.destroy();
  }
}

/** The text of a Status. */
export function messageOf(reply: Reply): string {
  const { message } = reply.body as { readonly message?: string };
  return message ?? '';
}

/**
 * A suite that needs a real API server, named by OME_E2E_KUBECONFIG. Without one it fails in CI and is skipped, with a
 * reason, elsewhere.
 */
export function describeOnApiServer(title: string, suite: (server: ApiServer) => void): void {
  const kubeconfig = process.env['OME_E2E_KUBECONFIG'];
  describe(title, () => {
    if (kubeconfig) {
      jest.setTimeout(60_000);
      const server = new ApiServer(kubeconfig);
      beforeAll(() => server.start());
      suite(server);
      afterAll(() => server.stop());
    } else if (process.env['CI'] === 'true') {
      it('has an API server to run against', () => {
        throw new Error('OME_E2E_KUBECONFIG is not set; in CI this suite must run');
      });
    } else {
      it.skip('needs a real API server: set OME_E2E_KUBECONFIG to a kubeconfig', () => {});
    }
  });
}
