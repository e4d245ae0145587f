/**
 * The cluster over HTTP, for kubectl, helm and people: virtual time follows the wall clock. The only file of the package
 * that knows real time, and only through what it is given.
 */

import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { SimRequest } from '../api/call.js';
import { ApiError } from '../api/errors.js';
import { isWatch, refusal } from '../api/handle.js';
import { SimWatch } from '../api/watch.js';
import { asObject, type JsonObject } from '../base/json.js';
import type { Cluster } from '../cluster.js';
import { fromProtobuf, OPENAPI_V2, OPENAPI_V2_TYPE, PROTOBUF_TYPE } from './protobuf.js';

/** The clock and the timers the server runs by. */
export interface ServerRuntime {
  nowMs(): number;
  setTimer(delayMs: number, fire: () => void): { cancel(): void };
}

export interface ServerOptions {
  readonly cluster: Cluster;
  readonly runtime: ServerRuntime;
  /** Default 0: any free port. */
  readonly port?: number;
  /** Virtual milliseconds for each real one. Default 1. */
  readonly speed?: number;
}

/** How often virtual time catches up with the wall clock. */
const PUMP_MS = 20;
const BOOKMARK_MS = 60_000;
const LONGEST_BODY = 64 * 1024 * 1024;

export class SimServer {
  readonly #cluster: Cluster;
  readonly #runtime: ServerRuntime;
  readonly #speed: number;
  readonly #port: number;
  readonly #server: http.Server;
  readonly #streams = new Set<() => void>();
  #originMs = 0;
  #virtualOriginMs = 0;
  #pump: { cancel(): void } | undefined;

  constructor(options: ServerOptions) {
    this.#cluster = options.cluster;
    this.#runtime = options.runtime;
    this.#speed = options.speed ?? 1;
    this.#port = options.port ?? 0;
    this.#server = http.createServer((request, response) => this.#receive(request, response));
    this.#server.requestTimeout = 0;
  }

  /** Starts to listen on 127.0.0.1 and lets time run. Resolves with the address: `http://127.0.0.1:40123`. */
  async start(): Promise<string> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(this.#port, '127.0.0.1', resolve);
    });
    this.#originMs = this.#runtime.nowMs();
    this.#virtualOriginMs = this.#cluster.nowMs;
    this.#cluster.onApplied(() => this.#flush());
    this.#tick();
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}`;
  }

  /** Stops time, ends every stream and closes the port. */
  async stop(): Promise<void> {
    this.#pump?.cancel();
    this.#streams.clear();
    this.#server.closeAllConnections();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }

  #tick(): void {
    this.#catchUp();
    this.#pump = this.#runtime.setTimer(PUMP_MS, () => this.#tick());
  }

  #catchUp(): void {
    this.#cluster.runUntil(this.#virtualOriginMs + (this.#runtime.nowMs() - this.#originMs) * this.#speed);
  }

  #flush(): void {
    for (const flush of this.#streams) flush();
  }

  #receive(request: http.IncomingMessage, response: http.ServerResponse): void {
    const chunks: Buffer[] = [];
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > LONGEST_BODY) request.destroy();
      else chunks.push(chunk);
    });
    request.on('end', () => this.#answerSafely(request, Buffer.concat(chunks), response));
    request.on('error', () => response.destroy());
  }

  // A fault of the simulator is an answer like any other: one request fails, not the cluster.
  #answerSafely(message: http.IncomingMessage, bytes: Buffer, response: http.ServerResponse): void {
    try {
      this.#answer(message, bytes, response);
    } catch (cause) {
      const what = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
      send(response, refusal(new ApiError(500, 'InternalError', `simulated: the simulator failed: ${what}`)));
    }
  }

  #answer(message: http.IncomingMessage, bytes: Buffer, response: http.ServerResponse): void {
    this.#catchUp();
    const parsed = parseBody(bytes, message.headers['content-type'] ?? '');
    if (parsed === 'unreadable') {
      const text = 'simulated: the body is neither JSON nor the protobuf of a kind that is known here';
      send(response, refusal(new ApiError(415, 'UnsupportedMediaType', text)));
      return;
    }
    const request = toRequest(message, parsed.body);
    if (request.path === '/openapi/v2') {
      response.writeHead(200, { 'content-type': OPENAPI_V2_TYPE });
      response.end(OPENAPI_V2);
      return;
    }
    if (!isWatch(request)) {
      send(response, this.#cluster.handle(request));
      return;
    }
    const opened = this.#cluster.openWatch(request);
    if (opened instanceof SimWatch) this.#stream(opened, response);
    else send(response, opened);
  }

  #stream(watch: SimWatch, response: http.ServerResponse): void {
    response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-cache, private' });
    response.flushHeaders();
    const write = (event: JsonObject): void => {
      response.write(`${JSON.stringify(event)}\n`);
    };
    const flush = (): void => {
      for (let event = watch.next(); event !== undefined; event = watch.next()) {
        write({ ...event });
        if (event.type === 'ERROR') {
          response.end();
          return;
        }
      }
    };
    const timers: { cancel(): void }[] = [];
    const remind = (): void => {
      flush();
      watch.skipTo(this.#cluster.resourceVersion);
      write({ ...watch.bookmark() });
      timers[0] = this.#runtime.setTimer(BOOKMARK_MS, remind);
    };
    if (watch.bookmarks === 'wanted') timers[0] = this.#runtime.setTimer(BOOKMARK_MS, remind);
    if (watch.timeoutMs !== undefined) timers[1] = this.#runtime.setTimer(watch.timeoutMs, () => response.end());
    this.#streams.add(flush);
    response.on('close', () => {
      this.#streams.delete(flush);
      for (const timer of timers) timer?.cancel();
    });
    flush();
  }
}

function parseBody(bytes: Buffer, contentType: string): { readonly body: unknown } | 'unreadable' {
  if (bytes.length === 0) return { body: undefined };
  if (contentType.startsWith(PROTOBUF_TYPE)) {
    const body = fromProtobuf(bytes);
    return body === undefined ? 'unreadable' : { body };
  }
  try {
    return { body: JSON.parse(bytes.toString()) };
  } catch {
    return 'unreadable';
  }
}

function toRequest(message: http.IncomingMessage, body: unknown): SimRequest {
  const url = new URL(message.url ?? '/', 'http://127.0.0.1');
  const { accept, 'content-type': contentType, 'user-agent': agent } = message.headers;
  const [user = 'anonymous'] = (agent ?? 'anonymous').split('/');
  return {
    method: message.method ?? 'GET',
    path: url.pathname,
    query: Object.fromEntries(url.searchParams),
    body,
    user,
    ...(contentType === undefined || contentType.startsWith(PROTOBUF_TYPE) ? {} : { contentType }),
    ...(accept === undefined ? {} : { accept }),
  };
}

function send(
  response: http.ServerResponse,
  answer: { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: unknown },
): void {
  const text = typeof answer.body === 'string' ? answer.body : `${JSON.stringify(asObject(answer.body))}\n`;
  response.writeHead(answer.status, { ...answer.headers, 'content-length': Buffer.byteLength(text) });
  response.end(text);
}
