/** The Status bodies an API server answers with when it refuses. */

import type { JsonObject } from '../base/json.js';

export interface StatusCause {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
}

/** Names the kind of thing a refusal is about: `{group: 'ome.io', plural: 'inferenceservices'}`. */
export interface Subject {
  readonly group: string;
  readonly plural: string;
}

/** Thrown inside the API server; answered as its Status. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** HTTP status code. */
  readonly code: number;
  readonly reason: string;
  readonly details: JsonObject | undefined;

  constructor(code: number, reason: string, message: string, details?: JsonObject) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.details = details;
  }

  /** The body of the answer. */
  status(): JsonObject {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: this.message,
      ...(this.reason === '' ? {} : { reason: this.reason }),
      ...(this.details === undefined ? {} : { details: this.details }),
      code: this.code,
    };
  }
}

/** `pods`, `inferenceservices.ome.io`: how messages name a resource. */
export function qualified(subject: Subject): string {
  return subject.group === '' ? subject.plural : `${subject.plural}.${subject.group}`;
}

function detailsOf(subject: Subject, name: string): JsonObject {
  return {
    ...(name === '' ? {} : { name }),
    ...(subject.group === '' ? {} : { group: subject.group }),
    kind: subject.plural,
  };
}

export function notFound(subject: Subject, name: string): ApiError {
  return new ApiError(404, 'NotFound', `${qualified(subject)} "${name}" not found`, detailsOf(subject, name));
}

/** A path that leads to no resource at all. */
export function noSuchPath(): ApiError {
  return new ApiError(404, 'NotFound', 'the server could not find the requested resource', {});
}

export function alreadyExists(subject: Subject, name: string): ApiError {
  const message = `${qualified(subject)} "${name}" already exists`;
  return new ApiError(409, 'AlreadyExists', message, detailsOf(subject, name));
}

export function conflict(subject: Subject, name: string, why: string): ApiError {
  const message = `Operation cannot be fulfilled on ${qualified(subject)} "${name}": ${why}`;
  return new ApiError(409, 'Conflict', message, detailsOf(subject, name));
}

/** The conflict of a write that was computed from an older version. */
export function modifiedConflict(subject: Subject, name: string): ApiError {
  return conflict(
    subject,
    name,
    'the object has been modified; please apply your changes to the latest version and try again',
  );
}

export function badRequest(message: string): ApiError {
  return new ApiError(400, 'BadRequest', message);
}

export function forbidden(subject: Subject, name: string, why: string, causes?: readonly StatusCause[]): ApiError {
  const message = `${qualified(subject)} "${name}" is forbidden: ${why}`;
  const details = detailsOf(subject, name);
  return new ApiError(403, 'Forbidden', message, causes === undefined ? details : { ...details, causes });
}

export function methodNotAllowed(): ApiError {
  return new ApiError(405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource', {});
}

export function expired(message: string): ApiError {
  return new ApiError(410, 'Expired', message);
}

/** A read asked for a version that is not there yet. The real server waits three seconds for it, then says this. */
export function tooNew(asked: number, current: number): ApiError {
  const causes = [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }];
  const message = `Timeout: Too large resource version: ${asked}, current: ${current}`;
  return new ApiError(504, 'Timeout', message, { causes, retryAfterSeconds: 1 });
}

export function tooLarge(message: string): ApiError {
  return new ApiError(413, 'RequestEntityTooLarge', message);
}

/** The most the server's connection to its storage carries in one message. */
const MESSAGE_LIMIT = 2_097_152;

/** A refusal by the storage behind the server: the object as stored would be too large. */
export function storageTooLarge(bytes: number): ApiError {
  const trailing = `trying to send message larger than max (${bytes} vs. ${MESSAGE_LIMIT})`;
  const text =
    bytes > MESSAGE_LIMIT
      ? `rpc error: code = ResourceExhausted desc = ${trailing}`
      : 'etcdserver: request is too large';
  return new ApiError(500, '', text);
}

export function notImplemented(message: string): ApiError {
  return new ApiError(501, 'NotImplemented', message);
}

export function unsupportedMediaType(accepted: readonly string[]): ApiError {
  const list = accepted.join(', ');
  const message = `the body of the request was in an unknown format - accepted media types include: ${list}`;
  return new ApiError(415, 'UnsupportedMediaType', message);
}

/** One broken rule of a field. */
export interface FieldError {
  /** `spec.containers[0].image`. */
  readonly field: string;
  readonly type:
    | 'Required'
    | 'Invalid'
    | 'Duplicate'
    | 'NotFound'
    | 'Unsupported'
    | 'Forbidden'
    | 'TooLong'
    | 'TooMany'
    | 'TypeInvalid';
  /** The text after the type: `Invalid value: "x": must be …`. */
  readonly detail: string;
  /** The offending value, as messages quote it; absent for Required and Forbidden. */
  readonly value?: unknown;
}

const CAUSE_REASONS: Readonly<Record<FieldError['type'], string>> = {
  Required: 'FieldValueRequired',
  Invalid: 'FieldValueInvalid',
  Duplicate: 'FieldValueDuplicate',
  NotFound: 'FieldValueNotFound',
  Unsupported: 'FieldValueNotSupported',
  Forbidden: 'FieldValueForbidden',
  TooLong: 'FieldValueTooLong',
  TooMany: 'FieldValueTooMany',
  TypeInvalid: 'FieldValueTypeInvalid',
};

const TYPE_TEXTS: Readonly<Record<FieldError['type'], string>> = {
  Required: 'Required value',
  Invalid: 'Invalid value',
  Duplicate: 'Duplicate value',
  NotFound: 'Not found',
  Unsupported: 'Unsupported value',
  Forbidden: 'Forbidden',
  TooLong: 'Too long',
  TooMany: 'Too many',
  TypeInvalid: 'Invalid value',
};

/** The text of one field error without its field. */
function fieldErrorBody(error: FieldError): string {
  const head = TYPE_TEXTS[error.type];
  const quoted =
    error.value === undefined || error.type === 'TooLong' || error.type === 'TooMany' ? '' : `: ${quote(error.value)}`;
  return error.detail === '' ? `${head}${quoted}` : `${head}${quoted}: ${error.detail}`;
}

/** 422: the object breaks rules of its fields. A fault found twice is one in the message and two among the causes. */
export function invalid(group: string, kind: string, name: string, errors: readonly FieldError[]): ApiError {
  const texts = [...new Set(errors.map((error) => `${error.field}: ${fieldErrorBody(error)}`))];
  const body = texts.length === 1 ? (texts[0] ?? '') : `[${texts.join(', ')}]`;
  const qualifiedKind = group === '' ? kind : `${kind}.${group}`;
  return new ApiError(422, 'Invalid', `${qualifiedKind} "${name}" is invalid: ${body}`, {
    ...(name === '' ? {} : { name }),
    ...(group === '' ? {} : { group }),
    kind,
    causes: errors.map((error) => ({
      reason: CAUSE_REASONS[error.type],
      message: fieldErrorBody(error),
      field: error.field,
    })),
  });
}

function quote(value: unknown): string {
  return JSON.stringify(value);
}
