/**
 * The shapes a Kubernetes client of this repository expects of its transport and its clock, written down again here so
 * that the simulator depends on no client. TypeScript compares them by structure where the two meet.
 */

export interface ClientRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly contentType?: string;
  readonly accept?: string;
  /** Milliseconds after which the client gives up. Default 30,000. */
  readonly deadlineMs?: number;
}

export interface ClientResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export interface ClientWatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: unknown;
}

export type ClientWatchEnd =
  | { readonly how: 'closed' }
  | { readonly how: 'response'; readonly response: ClientResponse }
  | { readonly how: 'broken'; readonly error: Error };

export interface ClientWatchSink {
  onOpen(): void;
  onEvent(event: ClientWatchEvent): void;
  /** Called exactly once, last; not called after `close()`. */
  onEnd(end: ClientWatchEnd): void;
}

export interface ClientWatchHandle {
  close(): void;
}

export interface ClientRuntime {
  nowMs(): number;
  monotonicMs(): number;
  setTimer(delayMs: number, fire: () => void): { cancel(): void };
  random(): number;
}

/** Makes the error a client rejects with when no answer came. */
export type MakeError = (message: string, kind: 'timeout' | 'refused' | 'reset', sent: 'no' | 'maybe') => Error;

/** The error used when a client brings no constructor of its own. */
export class SimTransportError extends Error {
  override readonly name = 'TransportError';
  readonly kind: 'timeout' | 'refused' | 'reset';
  readonly sent: 'no' | 'maybe';

  constructor(message: string, kind: 'timeout' | 'refused' | 'reset', sent: 'no' | 'maybe') {
    super(message);
    this.kind = kind;
    this.sent = sent;
  }
}
