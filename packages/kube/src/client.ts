/** The verbs of the Kubernetes API, typed, over any transport. */
import { ApiError, type RequestSubject } from './errors.js';
import { type Fence, fencedTransport } from './fence.js';
import { type Patch, patchContentType } from './patches.js';
import {
  apiVersionOf,
  collectionPath,
  type KubeObject,
  type ObjectName,
  objectKey,
  objectPath,
  type ResourceType,
} from './resources.js';
import { defaultRetry, type RetryOptions, requestWithRetry } from './retry.js';
import type { Runtime } from './runtime.js';
import { type ApiRequest, type ApiResponse, type Json, type Transport, TransportError } from './transport.js';

export interface ClientOptions {
  readonly transport: Transport;
  readonly runtime: Runtime;
  /** Names us in `metadata.managedFields`; the server derives one from the User-Agent when it is absent. */
  readonly fieldManager?: string;
  readonly retry?: RetryOptions;
}

export interface GetOptions {
  readonly subresource?: string;
  /** Absent: the newest state. `'0'`: any state that the server has at hand. */
  readonly resourceVersion?: string;
  readonly deadlineMs?: number;
}

export interface ListOptions {
  /** Absent: all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Objects a page. */
  readonly limit?: number;
  /** `ListPage.continueToken` of the page before. */
  readonly continueToken?: string;
  readonly resourceVersion?: string;
  readonly resourceVersionMatch?: 'NotOlderThan' | 'Exact';
  readonly deadlineMs?: number;
}

export interface ListPage<T> {
  readonly items: readonly T[];
  /** The state of the whole collection that this page shows: the head of its stream. */
  readonly resourceVersion: string;
  /** Present when there are more pages. */
  readonly continueToken?: string;
}

export interface WriteOptions {
  readonly subresource?: string;
  /** `All`: the server checks everything and stores nothing. */
  readonly dryRun?: 'All';
  readonly deadlineMs?: number;
}

export interface DeleteOptions {
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  /** Seconds; absent: the object's own. */
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: 'Orphan' | 'Background' | 'Foreground';
  readonly dryRun?: 'All';
  readonly deadlineMs?: number;
}

/**
 * A delete answers with the object when that lives on for a while (grace, finalizers), and else with a Status. Pods always
 * come as an object: one that vanishes at once comes in its last state, at the version of its deletion.
 */
export type DeleteReply<T> = { readonly how: 'terminating'; readonly object: T } | { readonly how: 'deleted' };

/**
 * Every method rejects with `ApiError` when the server refuses, with `TransportError` when there is no answer; see
 * `classify`. What is repeated, and what never, is said at `requestWithRetry`.
 */
export class Client {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /** The same client, whose writes are refused, unsent, while the fence is shut. */
  fenced(fence: Fence): Client {
    return new Client({ ...this.#options, transport: fencedTransport(this.#options.transport, fence) });
  }

  /** The same client with other limits on what it repeats. */
  withRetry(retry: RetryOptions): Client {
    return new Client({ ...this.#options, retry });
  }

  async get<T extends KubeObject>(type: ResourceType<T>, name: ObjectName, options: GetOptions = {}): Promise<T> {
    const query = compact({ resourceVersion: options.resourceVersion });
    const request: ApiRequest = { method: 'GET', path: objectPath(type, name, options.subresource), query };
    return this.#send(request, options.deadlineMs, subjectOf('get', type, name));
  }

  /** One page of a list. */
  async list<T extends KubeObject>(type: ResourceType<T>, options: ListOptions = {}): Promise<ListPage<T>> {
    const query = compact({
      labelSelector: options.labelSelector,
      fieldSelector: options.fieldSelector,
      limit: options.limit === undefined ? undefined : String(options.limit),
      continue: options.continueToken,
      resourceVersion: options.resourceVersion,
      resourceVersionMatch: options.resourceVersionMatch,
    });
    const request: ApiRequest = { method: 'GET', path: collectionPath(type, options.namespace), query };
    const page = readListPage(await this.#send(request, options.deadlineMs, { verb: 'list', kind: type.kind }));
    return page as ListPage<T>;
  }

  /**
   * Creates `object` in the namespace of its metadata. With `subresource`, such as `eviction` or `token`, `object` is
   * posted to that of the object that its metadata names.
   */
  async create<T extends KubeObject>(type: ResourceType<T>, object: T, options: WriteOptions = {}): Promise<T> {
    const { namespace, name } = object.metadata ?? {};
    if (type.namespaced && (namespace === undefined || namespace === '')) {
      throw new TypeError(`create ${type.kind} ${name ?? ''}: metadata.namespace is missing`);
    }
    const path =
      options.subresource === undefined
        ? collectionPath(type, namespace)
        : objectPath(type, nameOf(type, object), options.subresource);
    // A subresource takes a kind of its own, which the caller has set.
    const body =
      options.subresource === undefined ? { apiVersion: apiVersionOf(type), kind: type.kind, ...object } : object;
    const request: ApiRequest = { method: 'POST', path, query: this.#writeQuery(options), body };
    return this.#send(request, options.deadlineMs, createSubject(type, object));
  }

  /** PUT. The object's resourceVersion, when it carries one, is the precondition. */
  async replace<T extends KubeObject>(type: ResourceType<T>, object: T, options: WriteOptions = {}): Promise<T> {
    const name = nameOf(type, object);
    const path = objectPath(type, name, options.subresource);
    const body = { apiVersion: apiVersionOf(type), kind: type.kind, ...object };
    const request: ApiRequest = { method: 'PUT', path, query: this.#writeQuery(options), body };
    return this.#send(request, options.deadlineMs, subjectOf('update', type, name, options.subresource));
  }

  /** PUT of the status subresource. */
  replaceStatus<T extends KubeObject>(type: ResourceType<T>, object: T, options: WriteOptions = {}): Promise<T> {
    return this.replace(type, object, { ...options, subresource: 'status' });
  }

  async patch<T extends KubeObject>(
    type: ResourceType<T>,
    name: ObjectName,
    patch: Patch,
    options: WriteOptions = {},
  ): Promise<T> {
    const force = patch.kind === 'apply' ? { force: String(patch.force === 'takeOver') } : {};
    const manager = patch.kind === 'apply' ? { fieldManager: patch.fieldManager } : {};
    const request: ApiRequest = {
      method: 'PATCH',
      path: objectPath(type, name, options.subresource),
      query: { ...this.#writeQuery(options), ...manager, ...force },
      body: patch.body,
      contentType: patchContentType(patch),
    };
    return this.#send(request, options.deadlineMs, subjectOf('patch', type, name, options.subresource));
  }

  async delete<T extends KubeObject>(
    type: ResourceType<T>,
    name: ObjectName,
    options: DeleteOptions = {},
  ): Promise<DeleteReply<T>> {
    const body = {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      ...compact({
        preconditions: options.preconditions,
        gracePeriodSeconds: options.gracePeriodSeconds,
        propagationPolicy: options.propagationPolicy,
        dryRun: options.dryRun === undefined ? undefined : [options.dryRun],
      }),
    };
    const request: ApiRequest = { method: 'DELETE', path: objectPath(type, name), body };
    const reply = await this.#send<T & KubeObject>(request, options.deadlineMs, subjectOf('delete', type, name));
    return reply.kind === 'Status' ? { how: 'deleted' } : { how: 'terminating', object: reply };
  }

  /** Any request, such as discovery or `/readyz`, with the same retries; resolves with the body of a 2xx. */
  async raw(request: ApiRequest): Promise<Json> {
    return (await this.#answer(request, { verb: request.method.toLowerCase(), kind: request.path })).body;
  }

  #writeQuery(options: WriteOptions): Readonly<Record<string, string>> {
    return compact({ dryRun: options.dryRun, fieldManager: this.#options.fieldManager });
  }

  async #send<T>(request: ApiRequest, deadlineMs: number | undefined, subject: RequestSubject): Promise<T> {
    const full = deadlineMs === undefined ? request : { ...request, deadlineMs };
    return objectOf(await this.#answer(full, subject), subject) as T;
  }

  async #answer(request: ApiRequest, subject: RequestSubject): Promise<ApiResponse> {
    const { transport, runtime, retry = defaultRetry } = this.#options;
    const response = await requestWithRetry(transport, runtime, request, retry);
    if (response.status < 200 || response.status > 299) throw new ApiError(response, subject);
    return response;
  }
}

/** Reads an answer to a list request. */
export function readListPage(body: Json): ListPage<Json> {
  const list = body as {
    readonly items?: readonly Json[] | null;
    readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
  };
  const continueToken = list.metadata?.continue;
  return {
    items: list.items ?? [],
    resourceVersion: list.metadata?.resourceVersion ?? '',
    ...(continueToken === undefined || continueToken === '' ? {} : { continueToken }),
  };
}

function objectOf(response: ApiResponse, subject: RequestSubject): object {
  if (typeof response.body !== 'object' || response.body === null) {
    const what = `${subject.verb} ${subject.kind} ${subject.key ?? ''}`.trim();
    throw new TransportError(`${what}: the answer ${response.status} is not a JSON object`, 'malformed', 'maybe');
  }
  return response.body;
}

function nameOf(type: ResourceType, object: KubeObject): ObjectName {
  const { name, namespace } = object.metadata ?? {};
  if (name === undefined || name === '') throw new TypeError(`${type.kind}: metadata.name is missing`);
  return namespace === undefined ? { name } : { namespace, name };
}

function subjectOf(verb: string, type: ResourceType, name: ObjectName, subresource?: string): RequestSubject {
  const kind = subresource === undefined ? type.kind : `${type.kind}/${subresource}`;
  return { verb, kind, key: objectKey(name) };
}

/** An object that is yet to be named by the server goes by its namespace. */
function createSubject(type: ResourceType, object: KubeObject): RequestSubject {
  const { namespace, name = '' } = object.metadata ?? {};
  return subjectOf('create', type, namespace === undefined ? { name } : { namespace, name });
}

/** The entries that are present. */
function compact<V>(entries: Readonly<Record<string, V | undefined>>): Readonly<Record<string, V>> {
  const kept: Record<string, V> = {};
  for (const [key, value] of Object.entries(entries)) if (value !== undefined) kept[key] = value;
  return kept;
}
