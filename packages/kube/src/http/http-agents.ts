/** Sockets to one API server: a bounded pool for requests, kept alive, and one socket for each watch. */
import http from 'node:http';
import https from 'node:https';
import type { Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import type { TlsMaterial } from './connection.js';

/** TCP probes find a peer that vanished without a word. */
const tcpKeepAliveMs = 30_000;
/** Below the idle timeout of API servers and balancers, so that it is we who close. */
const idleMs = 60_000;

export interface Agents {
  readonly requests: http.Agent;
  readonly watches: http.Agent;
}

export function createAgents(protocol: string, tls: TlsMaterial, maxInFlight: number): Agents {
  const kept = { keepAlive: true, keepAliveMsecs: tcpKeepAliveMs, scheduling: 'lifo', timeout: idleMs } as const;
  const pool = { ...kept, maxSockets: maxInFlight, maxFreeSockets: maxInFlight };
  if (protocol === 'http:') return { requests: new http.Agent(pool), watches: new http.Agent() };
  const secure: https.AgentOptions = {
    // One context for all sockets: PEM text in the options would be part of the name under which each socket is pooled.
    secureContext: createSecureContext({ ca: tls.ca, cert: tls.cert, key: tls.key }),
    rejectUnauthorized: tls.verification === 'strict',
    ...(tls.serverName === undefined ? {} : { servername: tls.serverName }),
  };
  return { requests: new https.Agent({ ...pool, ...secure }), watches: new https.Agent(secure) };
}

export function openSockets({ requests, watches }: Agents): number {
  let count = 0;
  for (const pool of [requests.sockets, requests.freeSockets, watches.sockets]) {
    for (const sockets of Object.values(pool)) count += sockets?.length ?? 0;
  }
  return count;
}

/** Calls back once bytes of the request can reach the server: from then on it may have acted. */
export function whenSendable(socket: Socket, callback: () => void): void {
  // A socket of the pool is up, handshake and all; a new one is handed out before it begins to connect.
  if (!socket.connecting) callback();
  else socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', callback);
}

export function keepProbing(socket: Socket): void {
  socket.setKeepAlive(true, tcpKeepAliveMs);
}

export function sameTls(a: TlsMaterial, b: TlsMaterial): boolean {
  return (
    a.ca === b.ca &&
    a.cert === b.cert &&
    a.key === b.key &&
    a.serverName === b.serverName &&
    a.verification === b.verification
  );
}
