/** One HTTP request on a socket of an agent, up to the head of its answer; and the bodies that answers carry. */
import http from 'node:http';
import https from 'node:https';
import { type ApiResponse, type Json, TransportError } from '../transport.js';
import { whenSendable } from './http-agents.js';

export interface Outgoing {
  readonly url: URL;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly agent: http.Agent;
}

/** A request under way. */
export interface Exchange {
  readonly request: http.ClientRequest;
  /** Whether the server may have seen it. */
  sent(): TransportError['sent'];
  /** Whether it went out on a socket that had served before: then a reset may only mean that the server had closed it. */
  isOnUsedSocket(): boolean;
}

/** Starts a request. The caller listens to `response` and `error` on it. */
export function startExchange(outgoing: Outgoing): Exchange {
  const { url, method, headers, body, agent } = outgoing;
  const request = (url.protocol === 'http:' ? http : https).request(url, { method, headers, agent });
  let sent: TransportError['sent'] = 'no';
  request.once('socket', (socket) => {
    whenSendable(socket, () => {
      sent = 'maybe';
    });
  });
  request.end(body);
  return { request, sent: () => sent, isOnUsedSocket: () => request.reusedSocket };
}

/** What an error of the socket means for the caller, given how far the request had come. */
export function faultOf(error: Error, what: string, sent: TransportError['sent']): TransportError {
  if (error instanceof TransportError) return error;
  const words = error.message === '' ? ((error as NodeJS.ErrnoException).code ?? error.name) : error.message;
  return sent === 'no'
    ? new TransportError(`${what}: no connection: ${words}`, 'refused', sent, { cause: error })
    : new TransportError(`${what}: the connection broke: ${words}`, 'reset', sent, { cause: error });
}

export function timeoutFault(what: string, deadlineMs: number, sent: TransportError['sent']): TransportError {
  return new TransportError(`${what}: no answer within ${deadlineMs / 1000} s`, 'timeout', sent);
}

/** Reads a body to its end. Rejects with the socket's error when it ends early. */
export function readBody(response: http.IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.once('end', () => {
      if (response.complete) resolve(Buffer.concat(chunks));
      else reject(new Error('the answer was cut off'));
    });
    response.once('error', reject);
  });
}

/**
 * The answer as JSON; text of another type as a string, since proxies answer in HTML.
 *
 * @throws TransportError of kind `malformed` for a body that claims to be JSON and is not.
 */
export function toApiResponse(response: http.IncomingMessage, body: Buffer, what: string): ApiResponse {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(response.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return { status: response.statusCode ?? 0, headers, body: parseBody(headers['content-type'] ?? '', body, what) };
}

function parseBody(contentType: string, body: Buffer, what: string): Json {
  if (body.length === 0) return undefined;
  const text = body.toString('utf8');
  if (!contentType.includes('json')) return text;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new TransportError(`${what}: the answer is not valid JSON`, 'malformed', 'maybe', { cause: error });
  }
}
