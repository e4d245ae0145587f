/** Small HTTP servers for probes and scrapes. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

/** What a path answers; a path without one answers 404. */
export type Routes = Readonly<Record<string, () => Answer | Promise<Answer>>>;

export interface Endpoint {
  /** `host:port` as bound. */
  readonly address: string;
  close(): Promise<void>;
}

/**
 * Serves `routes` on an address such as `:8080` or `127.0.0.1:0`; `0` serves nothing.
 *
 * @throws Error when the address is malformed or can't be bound.
 */
export async function serve(address: string, routes: Routes): Promise<Endpoint | undefined> {
  if (address === '0' || address === '') return undefined;
  const [, host = '', port = ''] = /^(.*):(\d{1,5})$/.exec(address) ?? [];
  if (port === '') throw new Error(`${address}: write host:port or :port, or 0 for none`);
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://localhost').pathname;
    void respond(routes[path], response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(new Error(`${address} can't be served: ${reasonOf(error)}`)));
    // Without a host, all addresses of both families.
    const bare = host.replace(/^\[(.*)\]$/, '$1');
    server.listen({ port: Number(port), ...(bare === '' ? {} : { host: bare }) }, resolve);
  });
  const bound = server.address() as AddressInfo;
  return {
    address: bound.family === 'IPv6' ? `[${bound.address}]:${bound.port}` : `${bound.address}:${bound.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function reasonOf(error: NodeJS.ErrnoException): string {
  if (error.code !== 'EADDRINUSE') return error.message;
  return 'it is taken, probably by a manager that is running already: end that one, or choose another address';
}

async function respond(route: Routes[string] | undefined, response: ServerResponse): Promise<void> {
  const answer = await answerOf(route);
  response.writeHead(answer.status, { 'content-type': answer.contentType }).end(answer.body);
}

async function answerOf(route: Routes[string] | undefined): Promise<Answer> {
  if (route === undefined) return text(404, 'not found');
  try {
    return await route();
  } catch (error) {
    return text(500, error instanceof Error ? error.message : String(error));
  }
}

export function text(status: number, body: string): Answer {
  return { status, contentType: 'text/plain; charset=utf-8', body: `${body}\n` };
}
