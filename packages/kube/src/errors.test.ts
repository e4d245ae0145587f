import { describe, expect, it } from '@jest/globals';
import { ApiError, classify, type ErrorClass, mayHaveBeenApplied, retryAfterMs } from './errors.js';
import { failure } from './testing/scripted-transport.js';
import { type ApiResponse, TransportError } from './transport.js';

const subject = { verb: 'create', kind: 'Pod', key: 'team-a/chat-engine-0-0' };

function refused(response: ApiResponse): ApiError {
  return new ApiError(response, subject);
}

/** Refusals in the words of a real API server. */
const refusals: [string, ErrorClass, ApiResponse][] = [
  [
    'a stale resourceVersion',
    'conflict',
    failure(
      409,
      'Conflict',
      'Operation cannot be fulfilled on pods "p": the object has been modified; please apply your changes to the latest version and try again',
    ),
  ],
  [
    'a uid of another object',
    'conflict',
    failure(
      409,
      'Conflict',
      'Operation cannot be fulfilled on Pod "p": the UID in the precondition (a) does not match the UID in record (b). The object might have been deleted and then recreated',
    ),
  ],
  ['a name that is taken', 'alreadyExists', failure(409, 'AlreadyExists', 'pods "p" already exists')],
  [
    'a failed JSON Patch test',
    'conflict',
    failure(422, 'Invalid', 'the server rejected our request due to an error in our request'),
  ],
  [
    'a merge patch for another object',
    'conflict',
    failure(422, 'Invalid', 'ConfigMap "c" is invalid: metadata.uid: Invalid value: "a": field is immutable', {
      details: { causes: [{ reason: 'FieldValueInvalid', message: 'field is immutable', field: 'metadata.uid' }] },
    }),
  ],
  ['an invalid field', 'invalid', failure(422, 'Invalid', 'Pod "p" is invalid: spec.containers: Required value')],
  ['an object that is gone', 'notFound', failure(404, 'NotFound', 'pods "p" not found')],
  ['an old resourceVersion', 'expired', failure(410, 'Expired', 'too old resource version: 1 (2)')],
  [
    'a quota',
    'quota',
    failure(
      403,
      'Forbidden',
      'pods "p" is forbidden: exceeded quota: q, requested: pods=1, used: pods=12, limited: pods=12',
    ),
  ],
  [
    'a quota that is not counted yet',
    'quota',
    failure(403, 'Forbidden', 'pods "p" is forbidden: status unknown for quota: q, resources: pods'),
  ],
  [
    'a namespace that ends, by its cause',
    'namespaceTerminating',
    failure(403, 'Forbidden', 'pods "p" is forbidden', {
      details: {
        causes: [
          {
            reason: 'NamespaceTerminating',
            message: 'namespace team-a is being terminated',
            field: 'metadata.namespace',
          },
        ],
      },
    }),
  ],
  [
    'a namespace that ends, by its words',
    'namespaceTerminating',
    failure(
      403,
      'Forbidden',
      'pods "p" is forbidden: unable to create new content in namespace team-a because it is being terminated',
    ),
  ],
  [
    'a missing permission',
    'notPermitted',
    failure(403, 'Forbidden', 'pods is forbidden: User "u" cannot create resource "pods"'),
  ],
  [
    'a missing permission on one object',
    'notPermitted',
    failure(
      403,
      'Forbidden',
      'pods "p" is forbidden: User "system:serviceaccount:ome:m" cannot delete resource "pods" in API group "" in the namespace "team-a"',
    ),
  ],
  [
    'an admission that denies the object',
    'forbidden',
    failure(403, 'Forbidden', 'pods "p" is forbidden: violates PodSecurity "restricted:latest": privileged'),
  ],
  ['bad credentials', 'unauthorized', failure(401, 'Unauthorized', 'Unauthorized')],
  ['a malformed request', 'badRequest', failure(400, 'BadRequest', 'invalid character')],
  [
    'a verb that is not there',
    'unsupported',
    failure(405, 'MethodNotAllowed', 'the server does not allow this method'),
  ],
  [
    'a patch type that is not there',
    'unsupported',
    failure(415, 'UnsupportedMediaType', 'the body of the request was in an unknown format'),
  ],
  [
    'too large a request',
    'tooLarge',
    failure(413, 'RequestEntityTooLarge', 'Request entity too large: limit is 3145728'),
  ],
  ['too large for etcd', 'tooLarge', failure(500, 'InternalError', 'etcdserver: request is too large')],
  [
    'too large for gRPC',
    'tooLarge',
    failure(
      500,
      'InternalError',
      'rpc error: code = ResourceExhausted desc = trying to send message larger than max (2100000 vs. 2097152)',
    ),
  ],
  ['flow control', 'throttled', failure(429, 'TooManyRequests', 'Too many requests, please try again later.')],
  [
    'a server that starts',
    'throttled',
    failure(503, 'ServiceUnavailable', 'starting', { headers: { 'retry-after': '1' } }),
  ],
  [
    'a webhook that is down',
    'admissionUnavailable',
    failure(
      500,
      'InternalError',
      'Internal error occurred: failed calling webhook "v.example.com": failed to call webhook: Post "https://v": dial tcp: connect: connection refused',
    ),
  ],
  ['a fault of the server', 'serverError', failure(500, 'InternalError', 'Internal error occurred')],
  ['a server without leader', 'serverError', failure(503, 'ServiceUnavailable', 'etcdserver: no leader')],
  [
    'a timeout inside the server',
    'serverError',
    failure(504, 'Timeout', 'Timeout: request did not complete within the allotted timeout'),
  ],
  ['a page of a proxy', 'serverError', { status: 502, headers: {}, body: '<html>Bad gateway</html>' }],
];

describe('classify', () => {
  it.each(refusals)('sorts %s as %s', (_, expected, response) => {
    expect(classify(refused(response))).toBe(expected);
  });

  it.each([
    ['fenced', new TransportError('m', 'fenced', 'no')],
    ['unavailable', new TransportError('m', 'refused', 'no')],
    ['unavailable', new TransportError('m', 'timeout', 'no')],
    ['unknown', new TransportError('m', 'timeout', 'maybe')],
    ['unknown', new TransportError('m', 'reset', 'maybe')],
    ['unknown', new TransportError('m', 'malformed', 'maybe')],
    ['local', new TypeError('m')],
    ['local', 'text'],
  ] as [ErrorClass, unknown][])('sorts what is no answer as %s', (expected, error) => {
    expect(classify(error)).toBe(expected);
  });
});

describe('mayHaveBeenApplied', () => {
  it('is true for no answer and for faults of the server, and false for every refusal', () => {
    expect(mayHaveBeenApplied(new TransportError('m', 'reset', 'maybe'))).toBe(true);
    expect(mayHaveBeenApplied(new TransportError('m', 'refused', 'no'))).toBe(false);
    for (const [, as, response] of refusals)
      expect([as, mayHaveBeenApplied(refused(response))]).toEqual([as, as === 'serverError']);
  });
});

describe('ApiError', () => {
  it('tells a person what happened to which object', () => {
    expect(refused(failure(404, 'NotFound', 'pods "p" not found')).message).toBe(
      'create Pod team-a/chat-engine-0-0: 404 NotFound: pods "p" not found',
    );
  });

  it('quotes a body that is no Status, within bounds', () => {
    const error = refused({ status: 502, headers: {}, body: `<html>${'x'.repeat(5000)}` });
    expect(error.detail).toHaveLength(200);
    expect(refused({ status: 500, headers: {}, body: undefined }).detail).toBe('the server gave no reason');
  });

  it('carries the causes', () => {
    const causes = [{ reason: 'FieldValueRequired', message: 'Required value', field: 'spec.containers' }];
    expect(refused(failure(422, 'Invalid', 'm', { details: { causes } })).causes).toEqual(causes);
  });
});

describe('retryAfterMs', () => {
  it.each([
    ['the header', failure(429, 'TooManyRequests', 'm', { headers: { 'retry-after': '2' } }), 2000],
    ['the body', failure(504, 'Timeout', 'm', { details: { retryAfterSeconds: 3 } }), 3000],
    [
      'the header first',
      failure(429, 'm', 'm', { headers: { 'retry-after': '2' }, details: { retryAfterSeconds: 3 } }),
      2000,
    ],
    ['neither', failure(500, 'InternalError', 'm'), undefined],
    [
      'a date, which is ignored',
      failure(503, 'm', 'm', { headers: { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' } }),
      undefined,
    ],
  ] as [string, ApiResponse, number | undefined][])('reads %s', (_, response, expected) => {
    expect(retryAfterMs(response)).toBe(expected);
  });
});
