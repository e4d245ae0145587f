/** From kubectl's connection flags to a way to the API server. */
import { readFileSync } from 'node:fs';
import { parseDurationMs } from '@omenative/controllers/observe';
import {
  Client,
  type Connection,
  type Credentials,
  connectionFromKubeconfig,
  fixedConnection,
  HttpTransport,
  NoClusterError,
  type Runtime,
  type TlsMaterial,
} from '@omenative/kube';
import type { Reach } from '../cluster/look.js';
import { Problem } from '../cluster/problem.js';

/** Flags of every command, by the names of kubectl. */
export interface ConnectionFlags {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly cluster?: string;
  readonly user?: string;
  readonly namespace?: string;
  readonly server?: string;
  readonly token?: string;
  readonly as?: string;
  readonly asUid?: string;
  readonly asGroup?: readonly string[];
  readonly certificateAuthority?: string;
  readonly clientCertificate?: string;
  readonly clientKey?: string;
  readonly tlsServerName?: string;
  readonly insecureSkipTlsVerify?: boolean;
  readonly requestTimeout?: string;
  readonly omeNamespace: string;
}

export interface Connected {
  readonly reach: Reach;
  readonly close: () => void;
}

/**
 * Connects as kubectl would with these flags.
 *
 * @throws Problem that says which file, context or flag can't be used.
 */
export async function connect(flags: ConnectionFlags, runtime: Runtime, userAgent: string): Promise<Connected> {
  const overrides = overridesOf(flags);
  const deadlineMs = timeoutMs(flags.requestTimeout);
  const connection = await connectionOf(flags, runtime);
  const http = new HttpTransport({ connection: overridden(connection, overrides), runtime, userAgent });
  const transport: Reach['transport'] = {
    request: (request) => http.request(deadlineMs === undefined ? request : { ...request, deadlineMs }),
    watch: (request, sink) => http.watch(request, sink),
  };
  const client = new Client({ transport, runtime, fieldManager: 'kubectl-ome' });
  const namespace = flags.namespace ?? connection.namespace;
  return {
    reach: { transport, client, runtime, namespace, omeNamespace: flags.omeNamespace },
    close: () => http.close(),
  };
}

async function connectionOf(flags: ConnectionFlags, runtime: Runtime): Promise<Connection> {
  const { kubeconfig: path, context, cluster, user } = flags;
  try {
    return await connectionFromKubeconfig({
      runtime,
      ...(path === undefined ? {} : { path }),
      ...(context === undefined ? {} : { context }),
      ...(cluster === undefined ? {} : { cluster }),
      ...(user === undefined ? {} : { user }),
    });
  } catch (error) {
    // A server that is named needs no kubeconfig.
    if (error instanceof NoClusterError && flags.server !== undefined) return fixedConnection(flags.server);
    throw new Problem(error instanceof Error ? error.message : String(error), 1, { cause: error });
  }
}

/** What flags say over a kubeconfig. */
interface Overrides {
  readonly server?: string;
  readonly authorization?: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: Partial<TlsMaterial>;
}

function overridesOf(flags: ConnectionFlags): Overrides {
  const { server, token } = flags;
  return {
    ...(server === undefined ? {} : { server }),
    ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    headers: impersonation(flags),
    tls: tlsOf(flags),
  };
}

function overridden(connection: Connection, { server, authorization, headers, tls }: Overrides): Connection {
  return {
    server: server ?? connection.server,
    namespace: connection.namespace,
    credentials: async (freshness) => {
      const base = await connection.credentials(freshness);
      const credentials: Credentials = {
        ...base,
        ...(authorization === undefined ? {} : { authorization }),
        headers: { ...base.headers, ...headers },
        tls: { ...base.tls, ...tls },
      };
      return credentials;
    },
  };
}

function tlsOf(flags: ConnectionFlags): Partial<TlsMaterial> {
  const { certificateAuthority: ca, clientCertificate: cert, clientKey: key, tlsServerName: serverName } = flags;
  return {
    ...(ca === undefined ? {} : { ca: fileOf('--certificate-authority', ca) }),
    ...(cert === undefined ? {} : { cert: fileOf('--client-certificate', cert) }),
    ...(key === undefined ? {} : { key: fileOf('--client-key', key) }),
    ...(serverName === undefined ? {} : { serverName }),
    ...(flags.insecureSkipTlsVerify === true ? { verification: 'insecure' } : {}),
  };
}

function impersonation({ as, asUid, asGroup = [] }: ConnectionFlags): Readonly<Record<string, string>> {
  if (as === undefined && (asUid !== undefined || asGroup.length > 0)) {
    throw new Problem('--as-uid and --as-group say more about --as: name the user with it');
  }
  if (asGroup.length > 1) throw new Problem('--as-group may be given once: a request carries one group here');
  return {
    ...(as === undefined ? {} : { 'impersonate-user': as }),
    ...(asUid === undefined ? {} : { 'impersonate-uid': asUid }),
    ...(asGroup[0] === undefined ? {} : { 'impersonate-group': asGroup[0] }),
  };
}

function fileOf(flag: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Problem(`${flag} ${path} can't be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Undefined for `0`, which asks for no limit but the client's own. */
function timeoutMs(text: string | undefined): number | undefined {
  if (text === undefined || text === '0') return undefined;
  const ms = /^[0-9]+$/.test(text) ? Number(text) * 1000 : parseDurationMs(text);
  if (ms === undefined || ms <= 0) throw new Problem(`--request-timeout ${text}: write a duration such as 30s, or 0`);
  return ms;
}
