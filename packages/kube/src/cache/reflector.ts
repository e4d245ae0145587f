/**
 * Keeps one collection in step with an API server: a complete list first, then every change, for ever, whatever breaks.
 * Lists come as a stream where the server offers it, and else in pages.
 */
import { Backoff } from '../backoff.js';
import { retryAfterMs } from '../errors.js';
import { isNewer, newest } from '../resource-version.js';
import type { KubeObject } from '../resources.js';
import type { Runtime, Timer } from '../runtime.js';
import type { ApiRequest, ApiResponse, Transport, WatchEnd, WatchEvent } from '../transport.js';
import { type ListTarget, PagedList } from './paged-list.js';
import { Silence } from './silence.js';
import type { Replacement, StreamSink } from './stream.js';

export interface ReflectorOptions extends ListTarget {
  readonly transport: Transport;
  readonly runtime: Runtime;
  readonly sink: StreamSink;
  /** A stream without a line for so long is dead, whatever its socket says. Must be above the server's bookmark period. */
  readonly silenceMs: number;
  /** Told of everything that made the stream stop; it is on its way again when this is called. */
  readonly report: (problem: StreamProblem) => void;
}

export interface StreamProblem {
  readonly kind: 'expired' | 'refused' | 'broken' | 'silent' | 'older';
  /** For people: what happened, and when the next try is. */
  readonly message: string;
}

/** Counted since the start. */
export interface StreamCounters {
  /** Complete lists that were asked for, the first included. */
  readonly lists: number;
  /** Streams that were opened again at the position where the last one ended. */
  readonly resumes: number;
  /** Lists refused because they were older than what is known. */
  readonly olderLists: number;
  /** Streams that were torn down because nothing came. */
  readonly silences: number;
}

const backoffRange = { minMs: 800, maxMs: 30_000 };
/** The server ends a stream after a time drawn from here, so that load spreads over its copies. */
const streamSeconds = { min: 300, max: 600 };
/** A stream that lasted so long was a good one: the next pause starts small again. */
const healthyStreamMs = 10_000;
/** A stream that brought nothing and that a server ends sooner than this, without fault, is a refusal in disguise. */
const shortestCleanStreamMs = 1_000;
const initialEventsEnd = 'k8s.io/initial-events-end';

export class Reflector {
  readonly #options: ReflectorOptions;
  readonly #backoff: Backoff;
  readonly #silence: Silence;
  #running = false;
  /** Whether a list has to come before the next stream. */
  #mustList = true;
  #canStreamLists = true;
  /** A list must be at least this new. Empty: the newest there is, by the server's word. */
  #floor = '';
  /** Grows with each attempt; what belongs to an earlier one is not listened to. */
  #attempt = 0;
  #endAttempt: () => void = () => {};
  #pause: Timer | undefined;
  #counters: { -readonly [K in keyof StreamCounters]: StreamCounters[K] } = {
    lists: 0,
    resumes: 0,
    olderLists: 0,
    silences: 0,
  };

  constructor(options: ReflectorOptions) {
    this.#options = options;
    this.#backoff = new Backoff(options.runtime, backoffRange);
    this.#silence = new Silence(options.runtime, options.silenceMs, () => this.#onSilence());
  }

  get counters(): StreamCounters {
    return { ...this.#counters };
  }

  /** Milliseconds since the stream last said anything, an event, a bookmark or its opening. */
  get lastActivityAgeMs(): number {
    return this.#silence.ageMs;
  }

  start(): void {
    if (this.#running) return;
    this.#running = true;
    this.#begin();
  }

  /** Closes the connection. The sink hears nothing after this returns. */
  stop(): void {
    this.#running = false;
    this.#leaveAttempt();
  }

  /** Lists again, at a state that is at least this new. Calls that come together make one list. */
  relistNotOlderThan(resourceVersion: string): void {
    const isListing = this.#mustList && this.#pause === undefined && this.#floor !== '';
    if (isListing && !isNewer(resourceVersion, this.#floor)) return;
    this.#floor = newest(this.#floor, resourceVersion);
    this.#mustList = true;
    if (!this.#running || this.#pause !== undefined) return;
    this.#leaveAttempt();
    this.#pause = this.#options.runtime.setTimer(0, () => this.#begin());
  }

  #begin(): void {
    this.#pause = undefined;
    if (!this.#mustList) this.#resume();
    else if (this.#canStreamLists) this.#streamList();
    else this.#pageList();
  }

  #leaveAttempt(): void {
    this.#attempt++;
    this.#pause?.cancel();
    this.#pause = undefined;
    this.#silence.disarm();
    this.#endAttempt();
    this.#endAttempt = () => {};
  }

  #streamList(): void {
    this.#counters.lists++;
    const atLeast: Record<string, string> = this.#floor === '' ? {} : { resourceVersion: this.#floor };
    const query = { sendInitialEvents: 'true', resourceVersionMatch: 'NotOlderThan', ...atLeast };
    this.#open(query, this.#options.sink.beginReplacement());
  }

  #resume(): void {
    this.#open({ resourceVersion: this.#options.sink.position }, undefined);
  }

  #open(query: Readonly<Record<string, string>>, replacement: Replacement | undefined): void {
    const { transport, runtime, path, selectors } = this.#options;
    const attempt = ++this.#attempt;
    const stream: Stream = { replacement, broughtNews: false, openedAtMs: runtime.monotonicMs() };
    const timeoutSeconds = streamSeconds.min + Math.floor(runtime.random() * (streamSeconds.max - streamSeconds.min));
    const request: ApiRequest = {
      method: 'GET',
      path,
      query: {
        watch: 'true',
        allowWatchBookmarks: 'true',
        timeoutSeconds: String(timeoutSeconds),
        ...selectors,
        ...query,
      },
    };
    this.#silence.arm();
    const handle = transport.watch(request, {
      onOpen: () => {
        if (attempt === this.#attempt) this.#silence.heard();
      },
      onEvent: (event) => {
        if (attempt !== this.#attempt) return;
        this.#silence.heard();
        this.#onEvent(event, stream);
      },
      onEnd: (end) => {
        if (attempt === this.#attempt) this.#onEnd(end, stream);
      },
    });
    // A transport that answers before it returns may have ended the attempt already.
    if (attempt === this.#attempt) this.#endAttempt = () => handle.close();
    else handle.close();
  }

  #onEvent(event: WatchEvent, stream: Stream): void {
    switch (event.type) {
      case 'ADDED':
      case 'MODIFIED':
      case 'DELETED':
        stream.broughtNews = true;
        (stream.replacement ?? this.#sinkOfEvents).apply(event.type, event.object);
        return;
      case 'BOOKMARK':
        this.#onBookmark(event.object as KubeObject, stream);
        return;
      case 'ERROR':
        this.#onRefusal(statusResponse(event.object), stream);
        return;
    }
  }

  readonly #sinkOfEvents: Pick<Replacement, 'apply'> = {
    apply: (type, raw) => this.#options.sink.applyEvent(type, raw),
  };

  #onBookmark(bookmark: KubeObject, stream: Stream): void {
    const { resourceVersion = '', annotations } = bookmark.metadata ?? {};
    if (stream.replacement === undefined) {
      this.#options.sink.bookmark(resourceVersion);
    } else if (annotations?.[initialEventsEnd] === 'true') {
      if (this.#commit(stream.replacement, resourceVersion, stream)) stream.replacement = undefined;
    } else {
      // A server that does not know `sendInitialEvents` starts a plain stream, whose first events are not a whole list.
      this.#canStreamLists = false;
      this.#leaveAttempt();
      this.#begin();
    }
  }

  #pageList(): void {
    this.#counters.lists++;
    const attempt = ++this.#attempt;
    const replacement = this.#options.sink.beginReplacement();
    const startedAtMs = this.#options.runtime.monotonicMs();
    this.#silence.arm();
    const list = new PagedList(this.#options, this.#floor, replacement, {
      onPage: () => this.#silence.heard(),
      onComplete: (resourceVersion) => {
        if (attempt !== this.#attempt) return;
        if (this.#commit(replacement, resourceVersion, undefined)) this.#resume();
      },
      onEnd: (end) => {
        if (attempt === this.#attempt) this.#onEnd(end, { replacement, broughtNews: false, openedAtMs: startedAtMs });
      },
    });
    this.#endAttempt = () => list.cancel();
    list.start();
  }

  /** Whether the new state is in. When it is refused, the attempt is over and the next one is due. */
  #commit(replacement: Replacement, resourceVersion: string, stream: Stream | undefined): boolean {
    const attempt = this.#attempt;
    const outcome = replacement.commit(resourceVersion);
    // A listener that heard of the new state may have stopped us, or asked for another list.
    if (attempt !== this.#attempt) return false;
    if (outcome === 'committed') {
      this.#mustList = false;
      this.#floor = '';
      return true;
    }
    this.#counters.olderLists++;
    const { position } = this.#options.sink;
    this.#floor = newest(this.#floor, position);
    const why =
      `a list at resourceVersion ${resourceVersion} is older than ${position}, which was seen before, and is not believed; ` +
      'if the cluster was restored from a backup, restart this process';
    this.#retryLater('older', why, stream, undefined);
    return false;
  }

  #onEnd(end: WatchEnd, stream: Stream): void {
    switch (end.how) {
      case 'closed':
        this.#onCleanEnd(stream);
        return;
      case 'response':
        this.#onRefusal(end.response, stream);
        return;
      case 'broken':
        this.#retryLater('broken', `the connection broke: ${end.error.message}`, stream, undefined);
        return;
    }
  }

  #onCleanEnd(stream: Stream): void {
    const livedMs = this.#options.runtime.monotonicMs() - stream.openedAtMs;
    if (stream.replacement !== undefined) {
      this.#retryLater('broken', 'the stream ended before the list was complete', stream, undefined);
    } else if (livedMs < shortestCleanStreamMs && !stream.broughtNews) {
      this.#retryLater('broken', `the server ended the stream after ${Math.round(livedMs)} ms`, stream, undefined);
    } else {
      if (livedMs >= healthyStreamMs) this.#backoff.reset();
      this.#leaveAttempt();
      this.#counters.resumes++;
      this.#resume();
    }
  }

  #onRefusal(response: ApiResponse, stream: Stream): void {
    const { status } = response;
    const said = (response.body as { readonly message?: string } | null | undefined)?.message ?? '';
    const isRequestRefused = status === 400 || status === 422;
    if (isRequestRefused && this.#mustList && this.#canStreamLists) {
      // The gate is shut, or the server is too old.
      this.#canStreamLists = false;
      this.#leaveAttempt();
      this.#begin();
      return;
    }
    if (status === 410 || isRequestRefused) this.#mustList = true;
    const kind = status === 410 ? 'expired' : 'refused';
    this.#retryLater(kind, `the server answered ${status} ${said}`.trimEnd(), stream, retryAfterMs(response));
  }

  #onSilence(): void {
    this.#counters.silences++;
    const seconds = Math.round(this.#options.silenceMs / 1000);
    this.#retryLater(
      'silent',
      `nothing came for ${seconds} s, not even a bookmark; the connection is given up`,
      undefined,
      undefined,
    );
  }

  #retryLater(kind: StreamProblem['kind'], why: string, stream: Stream | undefined, askedMs: number | undefined): void {
    const { runtime, kind: resource } = this.#options;
    if (stream !== undefined && runtime.monotonicMs() - stream.openedAtMs >= healthyStreamMs) this.#backoff.reset();
    this.#leaveAttempt();
    // What a server asks for is scattered upwards only.
    const pauseMs = askedMs === undefined ? this.#backoff.nextMs() : askedMs * (1 + 0.2 * runtime.random());
    if (!this.#mustList) this.#counters.resumes++;
    this.#pause = runtime.setTimer(pauseMs, () => this.#begin());
    const next = this.#mustList ? 'listing again' : 'watching again';
    this.#options.report({ kind, message: `${resource}: ${why}; ${next} in ${(pauseMs / 1000).toFixed(1)} s` });
  }
}

interface Stream {
  /** Present until the initial list is complete. */
  replacement: Replacement | undefined;
  /** Whether it got anywhere: a busy server cuts off who does not take in events as fast as they come. */
  broughtNews: boolean;
  readonly openedAtMs: number;
}

/** An ERROR event carries in its Status what a response would carry in its head. */
function statusResponse(object: unknown): ApiResponse {
  const code = (object as { readonly code?: unknown } | null)?.code;
  return { status: typeof code === 'number' ? code : 500, headers: {}, body: object };
}
