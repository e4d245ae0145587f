/** A transport that lets writes through only while the process may write. */
import { type ApiRequest, type ApiResponse, type Transport, TransportError } from './transport.js';

/** Whether this process may write now, and if not, why, for people. */
export type FenceState = { readonly open: true } | { readonly open: false; readonly why: string };

/** Asked before each write, each retry included. */
export type Fence = () => FenceState;

/**
 * Refuses writes with `TransportError` of kind `fenced`, unsent, while the fence is shut. Reads and watches pass: a
 * process without the lease keeps its caches warm.
 */
export function fencedTransport(transport: Transport, fence: Fence): Transport {
  return {
    request(request: ApiRequest): Promise<ApiResponse> {
      if (request.method !== 'GET') {
        const state = fence();
        if (!state.open) {
          const message = `${request.method} ${request.path} was not sent: ${state.why}`;
          return Promise.reject(new TransportError(message, 'fenced', 'no'));
        }
      }
      return transport.request(request);
    },
    watch: (request, sink) => transport.watch(request, sink),
  };
}
