/** One write of a pass, and what its refusal means: come again, say so, or leave it. */
import { ApiError, classify } from '@omenative/kube';

export type Write<T> =
  | { readonly is: 'done'; readonly value: T }
  /** An object of that name is there. */
  | { readonly is: 'exists' }
  | { readonly is: 'gone' }
  /** The object has moved on, or no answer came: nothing to tell anybody, look again. */
  | { readonly is: 'again' }
  /** Nothing will come of it any more: the namespace is going, or we are no longer the leader. */
  | { readonly is: 'over' }
  /** The server's words, for people. */
  | { readonly is: 'refused'; readonly message: string };

/** Runs one request. Never rejects for an answer of the server, or for the lack of one. */
export async function write<T>(request: () => Promise<T>): Promise<Write<T>> {
  try {
    return { is: 'done', value: await request() };
  } catch (error) {
    switch (classify(error)) {
      case 'alreadyExists':
        return { is: 'exists' };
      case 'notFound':
        return { is: 'gone' };
      case 'conflict':
      case 'expired':
      case 'throttled':
      case 'unavailable':
      case 'unknown':
        return { is: 'again' };
      case 'namespaceTerminating':
      case 'fenced':
        return { is: 'over' };
      case 'quota':
      case 'notPermitted':
      case 'unauthorized':
      case 'forbidden':
      case 'invalid':
      case 'badRequest':
      case 'unsupported':
      case 'tooLarge':
      case 'admissionUnavailable':
      case 'serverError':
        return { is: 'refused', message: error instanceof ApiError ? error.detail : String(error) };
      case 'local':
        throw error;
    }
  }
}
