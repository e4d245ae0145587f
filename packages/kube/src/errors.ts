/** Refusals of an API server, and the one place that knows what each means for the caller. */
import { type ApiResponse, TransportError } from './transport.js';

/** One `details.causes` entry of a Status. */
export interface StatusCause {
  readonly reason: string;
  readonly message: string;
  /** The field that is at fault, when it is one. */
  readonly field: string;
}

/** What a request was about, for people: `update`, `Pod`, `team-a/chat-engine-0-0`. */
export interface RequestSubject {
  readonly verb: string;
  readonly kind: string;
  /** Key of the object; absent for a list. */
  readonly key?: string;
}

/** The API server answered and refused. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** HTTP status. */
  readonly status: number;
  /** The Status's reason, such as `AlreadyExists`; empty when the answer was no Status. */
  readonly reason: string;
  /** The server's own words. */
  readonly detail: string;
  readonly causes: readonly StatusCause[];
  /** Milliseconds that the server asked us to wait. */
  readonly retryAfterMs: number | undefined;
  readonly subject: RequestSubject;

  constructor(response: ApiResponse, subject: RequestSubject) {
    const status = readStatus(response);
    const about = subject.key === undefined ? subject.kind : `${subject.kind} ${subject.key}`;
    super(`${subject.verb} ${about}: ${response.status} ${status.reason}: ${status.message}`);
    this.status = response.status;
    this.reason = status.reason;
    this.detail = status.message;
    this.causes = status.causes;
    this.retryAfterMs = retryAfterMs(response);
    this.subject = subject;
  }
}

/**
 * What an error means for the caller.
 *
 * - `conflict`: the object has moved on, or is another one of the same name. Read it live and plan again.
 * - `alreadyExists`, `notFound`: as they say.
 * - `expired`: the resourceVersion or continue token is too old (410). List again.
 * - `quota`: refused by a ResourceQuota. Passes when usage falls.
 * - `namespaceTerminating`: nothing can be created in this namespace any more.
 * - `notPermitted`: our account lacks a permission. Says nothing about the object, and passes when the permission is given.
 * - `unauthorized`, `forbidden`, `invalid`, `badRequest`, `unsupported`: the request will not pass as it is.
 * - `tooLarge`: the object does not fit into storage or into a request.
 * - `throttled`: the server asks to wait; nothing was done.
 * - `admissionUnavailable`: a webhook could not be asked; nothing was done.
 * - `unavailable`: no connection could be made; nothing was done.
 * - `fenced`: our lease is not held; nothing was sent.
 * - `serverError`: any other 5xx. A write may have been applied.
 * - `unknown`: no answer to a request that was sent. A write may have been applied.
 * - `local`: not an answer and not the lack of one, but a fault of our own.
 */
export type ErrorClass =
  | 'conflict'
  | 'alreadyExists'
  | 'notFound'
  | 'expired'
  | 'quota'
  | 'namespaceTerminating'
  | 'notPermitted'
  | 'unauthorized'
  | 'forbidden'
  | 'invalid'
  | 'badRequest'
  | 'unsupported'
  | 'tooLarge'
  | 'throttled'
  | 'admissionUnavailable'
  | 'unavailable'
  | 'fenced'
  | 'serverError'
  | 'unknown'
  | 'local';

/** Sorts whatever a `Client` call threw. */
export function classify(error: unknown): ErrorClass {
  if (error instanceof TransportError) {
    if (error.kind === 'fenced') return 'fenced';
    return error.sent === 'no' ? 'unavailable' : 'unknown';
  }
  return error instanceof ApiError ? classifyAnswer(error) : 'local';
}

/** Whether a write that ended with this error may still have been, or yet be, carried out. */
export function mayHaveBeenApplied(error: unknown): boolean {
  const as = classify(error);
  return as === 'unknown' || as === 'serverError';
}

/** Milliseconds of a `Retry-After` header or of a Status's `details.retryAfterSeconds`; undefined when there is neither. */
export function retryAfterMs(response: ApiResponse): number | undefined {
  const header = response.headers['retry-after'];
  // The API server sends seconds; the date form of the header is only known from proxies and is not honoured.
  const seconds = header === undefined ? Number.NaN : Number(header);
  if (Number.isFinite(seconds) && seconds >= 0) return seconds * 1000;
  const inBody = readStatus(response).retryAfterSeconds;
  return inBody > 0 ? inBody * 1000 : undefined;
}

function classifyAnswer(error: ApiError): ErrorClass {
  switch (error.status) {
    case 400:
      return 'badRequest';
    case 401:
      return 'unauthorized';
    case 403:
      return classifyForbidden(error);
    case 404:
      return 'notFound';
    case 405:
    case 406:
    case 415:
      return 'unsupported';
    case 409:
      return error.reason === 'AlreadyExists' ? 'alreadyExists' : 'conflict';
    case 410:
      return 'expired';
    case 413:
      return 'tooLarge';
    case 422:
      return isLostRace(error) ? 'conflict' : 'invalid';
    case 429:
      return 'throttled';
    default:
      if (error.status >= 500) return classifyServerError(error);
      return 'badRequest';
  }
}

function classifyForbidden(error: ApiError): ErrorClass {
  const terminating =
    error.causes.some((cause) => cause.reason === 'NamespaceTerminating') ||
    error.detail.includes('because it is being terminated');
  if (terminating) return 'namespaceTerminating';
  // The second form is a quota whose usage has not been counted yet: like the first, it passes by itself.
  if (error.detail.includes('exceeded quota') || error.detail.includes('status unknown for quota')) return 'quota';
  return authorizerWords.test(error.detail) ? 'notPermitted' : 'forbidden';
}

/** How the authorizers refuse; admission, which speaks of the object, uses other words. */
const authorizerWords: RegExp = /is forbidden: User ".*" cannot [a-z]+ resource "/;

function classifyServerError(error: ApiError): ErrorClass {
  if (error.detail.includes('failed calling webhook')) return 'admissionUnavailable';
  if (error.detail.includes('request is too large') || error.detail.includes('message larger than max')) {
    return 'tooLarge';
  }
  return error.status === 503 && error.retryAfterMs !== undefined ? 'throttled' : 'serverError';
}

/**
 * Lost races that the server calls invalid: a JSON Patch whose `test` failed, or whose path is gone, which it refuses with
 * these words and no cause; and a merge patch that names the uid of another object.
 */
function isLostRace(error: ApiError): boolean {
  const isPatchThatDoesNotFit =
    error.causes.length === 0 && error.detail === 'the server rejected our request due to an error in our request';
  return isPatchThatDoesNotFit || error.causes.some(({ field }) => field === 'metadata.uid');
}

interface StatusBody {
  readonly reason: string;
  readonly message: string;
  readonly causes: readonly StatusCause[];
  readonly retryAfterSeconds: number;
}

/** Total: a proxy's HTML page, or no body at all, reads as a Status without reason. */
function readStatus(response: ApiResponse): StatusBody {
  const body = asRecord(response.body);
  const details = asRecord(body['details']);
  const causes = Array.isArray(details['causes']) ? details['causes'].map(asRecord) : [];
  const fallback = typeof response.body === 'string' ? response.body.trim().slice(0, 200) : '';
  return {
    reason: asText(body['reason']),
    message: asText(body['message']) || fallback || 'the server gave no reason',
    causes: causes.map((cause) => ({
      reason: asText(cause['reason']),
      message: asText(cause['message']),
      field: asText(cause['field']),
    })),
    retryAfterSeconds: typeof details['retryAfterSeconds'] === 'number' ? details['retryAfterSeconds'] : 0,
  };
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
