/** Where an API server is and how to prove who we are: from inside a pod, or from values at hand. */
import { existsSync, readFileSync } from 'node:fs';
import type { Runtime } from '../runtime.js';

/** PEM text and checks for TLS; an absent CA means the ones that Node trusts. */
export interface TlsMaterial {
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
  /** Name that the server's certificate must carry, when it is not the host's. */
  readonly serverName?: string;
  /** `insecure` accepts any certificate. */
  readonly verification: 'strict' | 'insecure';
}

/** What a request needs to be let in. */
export interface Credentials {
  /** Value of the `Authorization` header. */
  readonly authorization?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly tls: TlsMaterial;
}

export interface Connection {
  /** Base URL. */
  readonly server: string;
  /** Namespace of our own pod, or of the kubeconfig's context. */
  readonly namespace: string;
  /** Asked before each request, and again after an answer 401 with `refresh`; answers from memory while that is fresh. */
  credentials(freshness: 'cached' | 'refresh'): Promise<Credentials>;
}

/** Files that credentials come from are rotated under us: what was read is believed for a minute. */
const freshMs = 60_000;

/** Calls `load` at most once a minute, or when asked to refresh; what it rejects with is not remembered. */
export function cachedCredentials(runtime: Runtime, load: () => Promise<Credentials>): Connection['credentials'] {
  let held: { readonly credentials: Promise<Credentials>; readonly atMs: number } | undefined;
  return (freshness) => {
    const nowMs = runtime.monotonicMs();
    if (held === undefined || freshness === 'refresh' || nowMs - held.atMs >= freshMs) {
      const fresh = { credentials: load(), atMs: nowMs };
      held = fresh;
      fresh.credentials.catch(() => {
        if (held === fresh) held = undefined;
      });
    }
    return held.credentials;
  };
}

const serviceAccountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';

export interface InClusterOptions {
  readonly runtime: Runtime;
  /** Default: the process's. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Where the service account is mounted. */
  readonly folder?: string;
}

/** Whether this process seems to run in a pod with a service account. */
export function isInCluster(options: Omit<InClusterOptions, 'runtime'> = {}): boolean {
  const { env = process.env, folder = serviceAccountFolder } = options;
  return env['KUBERNETES_SERVICE_HOST'] !== undefined && existsSync(`${folder}/token`);
}

/**
 * The API server of the cluster that this pod runs in, as its service account. The token file is read again each minute.
 *
 * @throws Error when this is no pod with a service account.
 */
export function connectionFromCluster(options: InClusterOptions): Connection {
  const { runtime, env = process.env, folder = serviceAccountFolder } = options;
  const host = env['KUBERNETES_SERVICE_HOST'];
  const port = env['KUBERNETES_SERVICE_PORT'] ?? '443';
  if (host === undefined || !isInCluster(options)) {
    throw new Error(`not in a cluster: KUBERNETES_SERVICE_HOST is not set or ${folder}/token does not exist`);
  }
  const load = async (): Promise<Credentials> => ({
    authorization: `Bearer ${readFileSync(`${folder}/token`, 'utf8').trim()}`,
    tls: { ca: readFileSync(`${folder}/ca.crt`, 'utf8'), verification: 'strict' },
  });
  const namespaceFile = `${folder}/namespace`;
  return {
    server: `https://${host.includes(':') ? `[${host}]` : host}:${port}`,
    namespace: existsSync(namespaceFile) ? readFileSync(namespaceFile, 'utf8').trim() : 'default',
    credentials: cachedCredentials(runtime, load),
  };
}

/** A connection with credentials that never change, for tests and for servers that ask for none. */
export function fixedConnection(server: string, credentials: Partial<Credentials> = {}): Connection {
  const complete: Credentials = { tls: { verification: 'strict' }, ...credentials };
  return { server, namespace: 'default', credentials: async () => complete };
}
