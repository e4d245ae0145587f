/**
 * How one request reaches an API server. `HttpTransport` speaks HTTP over keep-alive sockets; the simulation answers the
 * same interface in-process. Bodies are JSON values, never text, so that neither side serializes twice.
 */

/** A JSON value as it came from, or goes to, the wire. */
export type Json = unknown;

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Absolute path without query: `/api/v1/namespaces/default/pods`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Json;
  /** Defaults to `application/json`; a PATCH names its patch type. */
  readonly contentType?: string;
  /** `Accept` header; defaults to `application/json`. */
  readonly accept?: string;
  /** Milliseconds after which the request is given up and its connection destroyed. Default 30,000. */
  readonly deadlineMs?: number;
}

export interface ApiResponse {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Json;
}

export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: Json;
}

/** Why a watch ended. `response` carries an HTTP answer other than 200; `broken` a connection fault. */
export type WatchEnd =
  | { readonly how: 'closed' }
  | { readonly how: 'response'; readonly response: ApiResponse }
  | { readonly how: 'broken'; readonly error: Error };

export interface WatchSink {
  /** The server answered 200 and the stream is open. */
  onOpen(): void;
  onEvent(event: WatchEvent): void;
  /** Called exactly once, last; not called after `close()`. */
  onEnd(end: WatchEnd): void;
}

export interface WatchHandle {
  /** Ends the stream; no callback comes after it returns. */
  close(): void;
}

export interface Transport {
  /**
   * Resolves with whatever the server answered, whatever its status. Rejects with a `TransportError` when no answer came.
   */
  request(request: ApiRequest): Promise<ApiResponse>;
  watch(request: ApiRequest, sink: WatchSink): WatchHandle;
}

/** No answer came. `sent` says whether the server may have acted on the request. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly sent: 'no' | 'maybe';
  readonly kind: 'timeout' | 'refused' | 'reset' | 'malformed' | 'fenced';

  constructor(message: string, kind: TransportError['kind'], sent: TransportError['sent'], options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
    this.sent = sent;
  }
}
