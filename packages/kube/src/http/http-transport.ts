/** `Transport` over HTTP/1.1: a bounded pool of keep-alive sockets, a deadline for every request, a socket per watch. */
import type { Runtime } from '../runtime.js';
import { TokenBucket } from '../token-bucket.js';
import {
  type ApiRequest,
  type ApiResponse,
  type Transport,
  TransportError,
  type WatchHandle,
  type WatchSink,
} from '../transport.js';
import type { Connection, Credentials, TlsMaterial } from './connection.js';
import { type Agents, createAgents, openSockets, sameTls } from './http-agents.js';
import {
  type Exchange,
  faultOf,
  type Outgoing,
  readBody,
  startExchange,
  timeoutFault,
  toApiResponse,
} from './http-exchange.js';
import { HttpWatch } from './http-watch.js';

export interface HttpTransportOptions {
  readonly connection: Connection;
  readonly runtime: Runtime;
  /** `User-Agent` header: program and version. */
  readonly userAgent: string;
  /** Requests in flight; more wait for a socket within their deadline. Default 32. */
  readonly maxInFlight?: number;
  /** Requests a second, and how many may come at once. Absent: no limit but the server's own. Watches are not counted. */
  readonly rate?: { readonly qps: number; readonly burst: number };
  readonly metrics?: HttpMetrics;
}

export interface HttpMetrics {
  /** `outcome`: the status, or the kind of the `TransportError`. */
  answered(request: ApiRequest, outcome: string, durationMs: number): void;
  /** Our own rate limit held a request back for so long. */
  delayed(request: ApiRequest, waitedMs: number): void;
}

const defaultDeadlineMs = 30_000;

export class HttpTransport implements Transport {
  readonly #options: HttpTransportOptions;
  readonly #bucket: TokenBucket | undefined;
  readonly #base: URL;
  #agents: (Agents & { readonly tls: TlsMaterial }) | undefined;

  /** @throws TypeError when the connection's server is no URL. */
  constructor(options: HttpTransportOptions) {
    this.#options = options;
    this.#base = new URL(options.connection.server);
    const { rate, runtime } = options;
    this.#bucket =
      rate === undefined ? undefined : new TokenBucket(runtime, { burst: rate.burst, refillMs: 1000 / rate.qps });
  }

  /** Sockets that are open now, idle ones included. */
  get openSockets(): number {
    return this.#agents === undefined ? 0 : openSockets(this.#agents);
  }

  /** Closes every socket; what is in flight ends with a `TransportError`. */
  close(): void {
    this.#agents?.requests.destroy();
    this.#agents?.watches.destroy();
  }

  async request(request: ApiRequest): Promise<ApiResponse> {
    const { runtime, metrics } = this.#options;
    const askedAtMs = runtime.monotonicMs();
    await this.#bucket?.take();
    const startedAtMs = runtime.monotonicMs();
    if (this.#bucket !== undefined) metrics?.delayed(request, startedAtMs - askedAtMs);
    try {
      const response = await this.#send(request);
      metrics?.answered(request, String(response.status), runtime.monotonicMs() - startedAtMs);
      return response;
    } catch (error) {
      const kind = error instanceof TransportError ? error.kind : 'error';
      metrics?.answered(request, kind, runtime.monotonicMs() - startedAtMs);
      throw error;
    }
  }

  watch(request: ApiRequest, sink: WatchSink): WatchHandle {
    const prepare = async (): Promise<Outgoing> => {
      const credentials = await this.#credentials(request, 'cached');
      return this.#outgoing(request, credentials, this.#agentsFor(credentials.tls).watches);
    };
    const what = `watch ${request.path}`;
    const watch = new HttpWatch(this.#options.runtime, what, request.deadlineMs ?? defaultDeadlineMs, sink);
    watch.start(prepare, () => this.#forgetCredentials());
    return watch;
  }

  async #send(request: ApiRequest): Promise<ApiResponse> {
    const credentials = await this.#credentials(request, 'cached');
    const outgoing = this.#outgoing(request, credentials, this.#agentsFor(credentials.tls).requests);
    const deadlineMs = request.deadlineMs ?? defaultDeadlineMs;
    let exchange = startExchange(outgoing);
    let response: ApiResponse;
    try {
      response = await this.#answer(exchange, request, deadlineMs);
    } catch (error) {
      // The server closed an idle socket while we were taking it. A write is not repeated: it may have been carried out.
      const isStaleSocket = error instanceof TransportError && error.kind === 'reset' && exchange.isOnUsedSocket();
      if (!isStaleSocket || request.method !== 'GET') throw error;
      exchange = startExchange(outgoing);
      response = await this.#answer(exchange, request, deadlineMs);
    }
    if (response.status === 401) this.#forgetCredentials();
    return response;
  }

  #answer(exchange: Exchange, { method, path }: ApiRequest, deadlineMs: number): Promise<ApiResponse> {
    const what = `${method} ${path}`;
    return new Promise((resolve, reject) => {
      const fail = (error: Error): void => {
        deadline.cancel();
        reject(faultOf(error, what, exchange.sent()));
        exchange.request.destroy();
      };
      const deadline = this.#options.runtime.setTimer(deadlineMs, () =>
        fail(timeoutFault(what, deadlineMs, exchange.sent())),
      );
      exchange.request.on('error', fail);
      exchange.request.once('response', (response) => {
        const finish = (body: Buffer): void => {
          deadline.cancel();
          resolve(toApiResponse(response, body, what));
        };
        readBody(response).then(finish).catch(fail);
      });
    });
  }

  /** @throws TransportError when there are none to be had: nothing was sent. */
  async #credentials(request: ApiRequest, freshness: 'cached' | 'refresh'): Promise<Credentials> {
    try {
      return await this.#options.connection.credentials(freshness);
    } catch (error) {
      const words = error instanceof Error ? error.message : String(error);
      const message = `${request.method} ${request.path}: no credentials: ${words}`;
      throw new TransportError(message, 'refused', 'no', { cause: error });
    }
  }

  /** The server no longer takes them: the next request reads them anew. */
  #forgetCredentials(): void {
    this.#options.connection.credentials('refresh').catch(() => {
      // The next request asks again, and reports.
    });
  }

  /** Certificates that were rotated need new sockets. Old ones end with their requests, or idle out. */
  #agentsFor(tls: TlsMaterial): Agents {
    if (this.#agents === undefined || !sameTls(this.#agents.tls, tls)) {
      const agents = createAgents(this.#base.protocol, tls, this.#options.maxInFlight ?? 32);
      this.#agents = { ...agents, tls };
    }
    return this.#agents;
  }

  #outgoing(request: ApiRequest, credentials: Credentials, agent: Outgoing['agent']): Outgoing {
    const url = new URL(this.#base);
    url.pathname = `${this.#base.pathname.replace(/\/$/, '')}${request.path}`;
    url.search = request.query === undefined ? '' : new URLSearchParams(request.query).toString();
    const headers: Record<string, string> = {
      accept: request.accept ?? 'application/json',
      'user-agent': this.#options.userAgent,
      ...credentials.headers,
    };
    if (credentials.authorization !== undefined) headers['authorization'] = credentials.authorization;
    const body = request.body === undefined ? undefined : JSON.stringify(request.body);
    if (body !== undefined) {
      headers['content-type'] = request.contentType ?? 'application/json';
      headers['content-length'] = String(Buffer.byteLength(body));
    }
    return { url, method: request.method, headers, body, agent };
  }
}
