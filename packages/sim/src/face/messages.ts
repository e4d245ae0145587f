/** What agenda entries tell the clients inside the process. */

import type { SimRequest, SimResponse } from '../api/call.js';

/** The agenda kind of a message to a client; it dies with the client, and is not copied by a fork. */
export const MESSAGE = 'client';

/** The agenda kind of a request on its way to the server; it outlives its client. */
export const APPLY = 'request.apply';

export type Message = { readonly client: string } & (
  | { readonly do: 'settle'; readonly token: number; readonly response: SimResponse }
  | {
      readonly do: 'fail';
      readonly token: number;
      readonly how: 'timeout' | 'refused' | 'reset';
      readonly sent: 'no' | 'maybe';
    }
  | { readonly do: 'fire'; readonly timer: number }
  | { readonly do: 'catchUp' }
  | ({ readonly stream: number } & StreamMessage)
);

export type StreamMessage =
  | { readonly do: 'open'; readonly request: SimRequest }
  /** Events up to a version reach the client. */
  | { readonly do: 'deliver'; readonly rv: number }
  | { readonly do: 'bookmark'; readonly again: 'later' | 'never' }
  | { readonly do: 'end' };

/** A request that is to be carried out. */
export interface ApplyArgs {
  readonly client: string;
  readonly token: number;
  readonly request: SimRequest;
  /** The number of the write among those of the client, from 1; 0 for a read. */
  readonly write: number;
  /** Whether the answer reaches the client. */
  readonly answered: boolean;
}
