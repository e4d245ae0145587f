/**
 * One watch as the server sees it: a cursor over the log of a resource. It holds no events; whoever reads it decides
 * when, and so how far a client lags.
 */

import { asObject, type JsonObject } from '../base/json.js';
import type { KubeObject } from '../base/object.js';
import type { Change } from '../base/store.js';
import type { World } from '../base/world.js';
import type { Call } from './call.js';
import { type ApiError, expired, invalid } from './errors.js';
import { asVersion, parseVersion, select } from './list.js';
import { render } from './render.js';
import { apiVersionOf, type Resource } from './resource.js';
import { type Matcher, queryMatcher } from './selectors.js';

export interface SimWatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: JsonObject;
}

export class SimWatch {
  readonly resource: Resource;
  readonly namespace: string | undefined;
  /** The server ends the stream after this long, if asked to. */
  readonly timeoutMs: number | undefined;
  readonly bookmarks: 'wanted' | 'not wanted';
  readonly #call: Call;
  readonly #world: World;
  readonly #matches: Matcher | undefined;
  readonly #initial: SimWatchEvent[] = [];
  #position: number;

  /**
   * Throws 400 and 422 for bad parameters. A version that is gone answers 200 and an ERROR event, as the server does.
   * `asOfRv` is what the server has seen: below the head of the log for one that lags.
   */
  constructor(call: Call, asOfRv: number = call.world.store.rv) {
    const { world, resource, query } = call;
    this.#call = call;
    this.#world = world;
    this.resource = resource;
    this.namespace = call.namespace;
    this.bookmarks = query['allowWatchBookmarks'] === 'true' ? 'wanted' : 'not wanted';
    const seconds = Number(query['timeoutSeconds'] ?? 0);
    this.timeoutMs = seconds > 0 ? seconds * 1000 : undefined;
    this.#matches = withName(call, queryMatcher(resource, query));
    const asked = query['resourceVersion'] ?? '';
    this.#position = asOfRv;
    const streamed = query['sendInitialEvents'] === 'true';
    checkInitialEvents(query);
    if (streamed || ((asked === '' || asked === '0') && query['sendInitialEvents'] !== 'false')) {
      this.#sendState(call, asOfRv, streamed);
    } else if (asked !== '' && asked !== '0') {
      this.#position = parseVersion(asked);
      this.#checkPosition();
    }
  }

  /** The version up to which the stream has been read. */
  get position(): number {
    return this.#position;
  }

  /** True for a change this stream will have something to say about, or that at least moves it. */
  concerns(change: Change): boolean {
    return change.resource === this.resource.id && this.#translate(change) !== undefined;
  }

  /**
   * The next event, up to and including a version; undefined when there is none yet. A stream whose next event has been
   * forgotten in the meantime is told so by an ERROR event with code 410.
   */
  next(limitRv: number = Number.POSITIVE_INFINITY): SimWatchEvent | undefined {
    const first = this.#initial.shift();
    if (first !== undefined) return this.#render(first);
    if (this.#world.store.hasForgotten(this.resource.id, this.#position)) {
      const ending = this.expire();
      this.#position = this.#world.store.rv;
      return ending;
    }
    for (;;) {
      const change = this.#world.store.nextChange(this.resource.id, this.#position);
      if (change === undefined || change.rv > limitRv) return undefined;
      this.#position = change.rv;
      const event = this.#translate(change);
      if (event !== undefined) return this.#render(event);
    }
  }

  /** A bookmark of where the stream is; it is at the head of the log when everything has been read. */
  bookmark(): SimWatchEvent {
    return bookmark(this.resource, this.#position, {});
  }

  /** Moves an idle stream to a version; everything up to it must have been read. */
  skipTo(rv: number): void {
    this.#position = Math.max(this.#position, rv);
  }

  /** The event by which the server ends a stream it can't continue. */
  expire(): SimWatchEvent {
    const message = `too old resource version: ${this.#position} (${this.#world.store.rv})`;
    return { type: 'ERROR', object: expired(message).status() };
  }

  #sendState(call: Call, rv: number, streamed: boolean): void {
    const plain: Call = this.#matches === undefined ? call : { ...call, query: {} };
    for (const object of select(plain, rv)) {
      if (this.#matches?.(object) ?? true) this.#initial.push(changed('ADDED', this.resource, object));
    }
    if (streamed && this.bookmarks === 'wanted') {
      this.#initial.push(bookmark(this.resource, rv, { 'k8s.io/initial-events-end': 'true' }));
    }
  }

  #checkPosition(): void {
    if (this.#world.store.changesSince(this.resource.id, this.#position) !== undefined) return;
    this.#initial.push(this.expire());
  }

  // A change across the edge of a selector looks like a creation or a deletion; a deletion carries the state before.
  #translate(change: Change): SimWatchEvent | undefined {
    const { object, previous } = change;
    const after = change.type !== 'DELETED' && this.#sees(object);
    const before = previous !== undefined && this.#sees(previous);
    if (after) return changed(before ? 'MODIFIED' : 'ADDED', this.resource, object);
    if (!before || previous === undefined) return undefined;
    const last = { ...previous, metadata: { ...previous.metadata, resourceVersion: String(change.rv) } };
    return changed('DELETED', this.resource, last);
  }

  #render(event: SimWatchEvent): SimWatchEvent {
    if (event.type === 'BOOKMARK' || event.type === 'ERROR') return event;
    return { type: event.type, object: render(this.#call, event.object) };
  }

  #sees(object: KubeObject): boolean {
    if (this.namespace !== undefined && object.metadata.namespace !== this.namespace) return false;
    return this.#matches?.(object) ?? true;
  }
}

function withName(call: Call, matches: Matcher | undefined): Matcher | undefined {
  const { name } = call;
  if (name === undefined) return matches;
  return (object) => object.metadata.name === name && (matches?.(object) ?? true);
}

function checkInitialEvents(query: Readonly<Record<string, string>>): void {
  const given = query['sendInitialEvents'] !== undefined;
  const match = query['resourceVersionMatch'];
  if (given && match !== 'NotOlderThan') {
    throw watchInvalid(
      'resourceVersionMatch',
      'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
    );
  }
  if (!given && match !== undefined) {
    throw watchInvalid(
      'resourceVersionMatch',
      'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
    );
  }
}

function watchInvalid(field: string, detail: string): ApiError {
  return invalid('meta.k8s.io', 'ListOptions', '', [{ field, type: 'Forbidden', detail }]);
}

function changed(type: 'ADDED' | 'MODIFIED' | 'DELETED', resource: Resource, object: KubeObject): SimWatchEvent {
  return { type, object: resource.custom === undefined ? asObject(object) : asVersion(resource, object) };
}

function bookmark(resource: Resource, rv: number, annotations: Readonly<Record<string, string>>): SimWatchEvent {
  const metadata = {
    resourceVersion: String(rv),
    creationTimestamp: null,
    ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
  };
  return { type: 'BOOKMARK', object: { kind: resource.kind, apiVersion: apiVersionOf(resource), metadata } };
}
