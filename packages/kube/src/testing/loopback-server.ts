/** A real HTTP server on 127.0.0.1 that a test scripts, and that counts its connections. */
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';

export interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
  /** For handlers that misbehave on purpose. */
  readonly socket: Socket;
}

export type LoopbackHandler = (request: ReceivedRequest, response: http.ServerResponse) => void;

export class LoopbackServer {
  readonly received: ReceivedRequest[] = [];
  /** Connections accepted since the start. */
  accepted = 0;
  readonly #server: http.Server;
  readonly #sockets: Set<Socket> = new Set();
  handler: LoopbackHandler;

  private constructor(server: http.Server, handler: LoopbackHandler) {
    this.#server = server;
    this.handler = handler;
    server.on('connection', (socket: Socket) => {
      this.accepted++;
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    server.on('request', (request: http.IncomingMessage, response: http.ServerResponse) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.once('end', () => {
        const { method = '', url = '', headers, socket } = request;
        const received = { method, url, headers, socket, body: Buffer.concat(chunks).toString('utf8') };
        this.received.push(received);
        this.handler(received, response);
      });
    });
  }

  static async start(handler: LoopbackHandler, tls?: https.ServerOptions): Promise<LoopbackServer> {
    const server = tls === undefined ? http.createServer() : https.createServer(tls);
    const loopback = new LoopbackServer(server, handler);
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    return loopback;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `${this.#server instanceof https.Server ? 'https' : 'http'}://127.0.0.1:${this.port}`;
  }

  /** Connections that are open now. */
  get connections(): number {
    return this.#sockets.size;
  }

  /** Resets every connection. */
  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }
}

/** Answers with JSON. */
export function sendJson(
  response: http.ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}
