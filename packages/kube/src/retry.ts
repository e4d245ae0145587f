/** Repeats a request where a repeat can do no harm, and nowhere else. */
import { retryAfterMs } from './errors.js';
import { type Runtime, sleep } from './runtime.js';
import { type ApiRequest, type ApiResponse, type Transport, TransportError } from './transport.js';

export interface RetryOptions {
  /** How often one request is sent at most. */
  readonly maxAttempts: number;
  /** Longest wait, in milliseconds, between two attempts. A server that asks for more gets the caller's patience instead. */
  readonly maxWaitMs: number;
}

export const defaultRetry: RetryOptions = { maxAttempts: 4, maxWaitMs: 10_000 };

const firstPauseMs = 100;

/**
 * Sends until there is an answer to keep:
 *
 * - 429 is repeated for every verb, since the server did nothing;
 * - a read is repeated on a 5xx with Retry-After, and on any fault of the connection;
 * - a write whose outcome is unknown is never repeated: the caller must see it.
 *
 * Rejects as the transport rejects.
 */
export async function requestWithRetry(
  transport: Transport,
  runtime: Runtime,
  request: ApiRequest,
  options: RetryOptions,
): Promise<ApiResponse> {
  for (let attempt = 1; ; attempt++) {
    let pauseMs: number | undefined;
    let outcome: { readonly response: ApiResponse } | { readonly error: unknown };
    try {
      const response = await transport.request(request);
      outcome = { response };
      pauseMs = pauseAfterAnswer(request, response, attempt);
    } catch (error) {
      outcome = { error };
      pauseMs = isWorthRepeating(request, error) ? exponentialMs(attempt) : undefined;
    }
    if (pauseMs === undefined || pauseMs > options.maxWaitMs || attempt >= options.maxAttempts) {
      if ('error' in outcome) throw outcome.error;
      return outcome.response;
    }
    // A fifth of jitter, upwards only, so that those who were refused together do not return together.
    await sleep(runtime, pauseMs * (1 + 0.2 * runtime.random()));
  }
}

function pauseAfterAnswer(request: ApiRequest, response: ApiResponse, attempt: number): number | undefined {
  const askedMs = retryAfterMs(response);
  if (response.status === 429) return askedMs ?? exponentialMs(attempt);
  return request.method === 'GET' && response.status >= 500 ? askedMs : undefined;
}

function isWorthRepeating(request: ApiRequest, error: unknown): boolean {
  return request.method === 'GET' && error instanceof TransportError;
}

function exponentialMs(attempt: number): number {
  return firstPauseMs * 2 ** (attempt - 1);
}
