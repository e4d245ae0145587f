/**
 * A connection from a kubeconfig file. The one place that touches @kubernetes/client-node, which costs half a second and
 * 80 MB to load: it is loaded when this is called, not before.
 */
import { readFileSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import type { Cluster, KubeConfig, User } from '@kubernetes/client-node';
import type { Runtime } from '../runtime.js';
import { type Connection, type Credentials, cachedCredentials, type TlsMaterial } from './connection.js';
import { kubeconfigFiles } from './kubeconfig-files.js';

export interface KubeconfigOptions {
  readonly runtime: Runtime;
  /** Absent: the files that `KUBECONFIG` lists, or else `~/.kube/config`. */
  readonly path?: string;
  /** Absent: the file's current context. */
  readonly context?: string;
  /** Entries of the file that stand in for those of the context. */
  readonly cluster?: string;
  readonly user?: string;
  /** Default: the process's. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * Certificates, tokens, basic authentication, exec plugins and the other ways that client-node knows are supported;
 * a proxy in the kubeconfig is not. Files that it names are read again each minute.
 *
 * @throws NoClusterError when there is no file; Error that says what else is missing: the context, its cluster or its user.
 */
export async function connectionFromKubeconfig(options: KubeconfigOptions): Promise<Connection> {
  const files = kubeconfigFiles(options.path, options.env ?? process.env);
  const where = files.join(', ');
  const load = await kubeconfigLoader(files, options);
  const config = load();
  const { cluster, user, namespace } = entriesOf(config, where);
  if (cluster.proxyUrl !== undefined) {
    throw new Error(
      `kubeconfig: cluster ${cluster.name} asks for the proxy ${cluster.proxyUrl}, which is not supported`,
    );
  }
  // A plugin's answer is kept in the loaded configuration, so that it runs when it expires and not each minute.
  const isPlugin = user.exec !== undefined || user.authProvider !== undefined;
  const credentials = isPlugin
    ? () => pluginCredentials(config, cluster)
    : async () => {
        const current = entriesOf(load(), where);
        return plainCredentials(current.cluster, current.user);
      };
  return { server: cluster.server, namespace, credentials: cachedCredentials(options.runtime, credentials) };
}

async function kubeconfigLoader(
  [first, ...others]: readonly [string, ...string[]],
  { context, cluster, user }: KubeconfigOptions,
): Promise<() => KubeConfig> {
  const clientNode = await import('@kubernetes/client-node/dist/config.js');
  const read = (file: string): KubeConfig => {
    const config = new clientNode.KubeConfig();
    config.loadFromFile(file);
    return config;
  };
  return () => {
    const config = read(first);
    for (const file of others) config.mergeConfig(read(file));
    if (context !== undefined) config.setCurrentContext(context);
    const overrides = { ...(cluster === undefined ? {} : { cluster }), ...(user === undefined ? {} : { user }) };
    const current = config.getCurrentContext();
    config.contexts = config.contexts.map((entry) => (entry.name === current ? { ...entry, ...overrides } : entry));
    return config;
  };
}

function entriesOf(
  config: KubeConfig,
  where: string,
): { readonly cluster: Cluster; readonly user: User; readonly namespace: string } {
  const context = config.getContextObject(config.getCurrentContext());
  if (!context) throw new Error(`kubeconfig: ${where} has no context "${config.getCurrentContext()}"`);
  const cluster = config.getCluster(context.cluster);
  if (!cluster)
    throw new Error(`kubeconfig: ${where} has no cluster "${context.cluster}", which context "${context.name}" names`);
  const user = config.getUser(context.user);
  if (!user)
    throw new Error(`kubeconfig: ${where} has no user "${context.user}", which context "${context.name}" names`);
  return { cluster, user, namespace: context.namespace ?? 'default' };
}

function plainCredentials(cluster: Cluster, user: User): Credentials {
  const tls = {
    ...clusterTls(cluster),
    ...pemEntry('cert', user.certFile, user.certData),
    ...pemEntry('key', user.keyFile, user.keyData),
  };
  const headers = user.impersonateUser === undefined ? {} : { headers: { 'impersonate-user': user.impersonateUser } };
  if (user.token !== undefined) return { tls, ...headers, authorization: `Bearer ${user.token.trim()}` };
  if (user.username === undefined) return { tls, ...headers };
  const pair = Buffer.from(`${user.username}:${user.password ?? ''}`).toString('base64');
  return { tls, ...headers, authorization: `Basic ${pair}` };
}

async function pluginCredentials(config: KubeConfig, cluster: Cluster): Promise<Credentials> {
  const filled: RequestOptions = {};
  await config.applyToHTTPSOptions(filled);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(filled.headers ?? {})) headers[name.toLowerCase()] = String(value);
  return {
    headers,
    tls: { ...clusterTls(cluster), ...issuedPem('cert', filled.cert), ...issuedPem('key', filled.key) },
  };
}

/** A plugin may issue certificates too; client-node hands them over as text or bytes. */
function issuedPem<K extends 'cert' | 'key'>(name: K, value: unknown): { [P in K]?: string } {
  const entry: { [P in K]?: string } = {};
  if (typeof value === 'string') entry[name] = value;
  else if (Buffer.isBuffer(value)) entry[name] = value.toString('utf8');
  return entry;
}

function clusterTls(cluster: Cluster): TlsMaterial {
  return {
    ...pemEntry('ca', cluster.caFile, cluster.caData),
    ...(cluster.tlsServerName === undefined ? {} : { serverName: cluster.tlsServerName }),
    verification: cluster.skipTLSVerify ? 'insecure' : 'strict',
  };
}

function pemEntry<K extends 'ca' | 'cert' | 'key'>(
  name: K,
  file: string | undefined,
  data: string | undefined,
): { [P in K]?: string } {
  const entry: { [P in K]?: string } = {};
  if (file !== undefined) entry[name] = readFileSync(file, 'utf8');
  else if (data !== undefined) entry[name] = Buffer.from(data, 'base64').toString('utf8');
  return entry;
}
