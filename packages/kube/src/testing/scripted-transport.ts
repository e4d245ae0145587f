/** A transport that answers as a test says, and remembers what it was asked. */
import {
  type ApiRequest,
  type ApiResponse,
  type Json,
  type Transport,
  TransportError,
  type WatchEnd,
  type WatchEvent,
  type WatchHandle,
  type WatchSink,
} from '../transport.js';

/** What a request comes to. `hang` never settles; an `Error` rejects. */
export type ScriptedAnswer = ApiResponse | Error | 'hang';
export type ScriptedAnswerer = (request: ApiRequest) => ScriptedAnswer | Promise<ScriptedAnswer>;

/** One watch that was opened, to be driven by the test as a server would. */
export class ScriptedStream {
  readonly request: ApiRequest;
  readonly #sink: WatchSink;
  #state: 'live' | 'ended' | 'closed' = 'live';

  constructor(request: ApiRequest, sink: WatchSink) {
    this.request = request;
    this.#sink = sink;
  }

  /** `closed`: by the client. */
  get state(): 'live' | 'ended' | 'closed' {
    return this.#state;
  }

  open(): this {
    if (this.#state === 'live') this.#sink.onOpen();
    return this;
  }

  send(type: WatchEvent['type'], object: Json): this {
    if (this.#state === 'live') this.#sink.onEvent({ type, object });
    return this;
  }

  bookmark(resourceVersion: string, annotations: Readonly<Record<string, string>> = {}): this {
    return this.send('BOOKMARK', { metadata: { resourceVersion, annotations } });
  }

  /** The bookmark after which a streamed list is complete. */
  endOfInitialEvents(resourceVersion: string): this {
    return this.bookmark(resourceVersion, { 'k8s.io/initial-events-end': 'true' });
  }

  end(end: WatchEnd): void {
    if (this.#state !== 'live') return;
    this.#state = 'ended';
    this.#sink.onEnd(end);
  }

  close(): void {
    if (this.#state === 'live') this.#state = 'closed';
  }
}

export class ScriptedTransport implements Transport {
  readonly requests: ApiRequest[] = [];
  readonly streams: ScriptedStream[] = [];
  readonly #answers: ScriptedAnswerer[] = [];
  #otherwise: ScriptedAnswerer;
  #onWatch: (stream: ScriptedStream) => void = () => {};

  /** `otherwise` answers what no `answerNext` is left for. Default: 404. */
  constructor(otherwise: ScriptedAnswerer = () => failure(404, 'NotFound', 'the script has no answer')) {
    this.#otherwise = otherwise;
  }

  /** Queues an answer for the next request that has none yet. */
  answerNext(answer: ScriptedAnswer | ScriptedAnswerer): this {
    this.#answers.push(typeof answer === 'function' ? answer : () => answer);
    return this;
  }

  /** Replaces the answer to all requests that have none queued. */
  answerAll(otherwise: ScriptedAnswerer): this {
    this.#otherwise = otherwise;
    return this;
  }

  /** Called for each watch while it is being opened. */
  onWatch(react: (stream: ScriptedStream) => void): this {
    this.#onWatch = react;
    return this;
  }

  /** The newest stream. */
  get stream(): ScriptedStream {
    const last = this.streams.at(-1);
    if (last === undefined) throw new Error('no watch was opened');
    return last;
  }

  get liveStreams(): number {
    return this.streams.filter((stream) => stream.state === 'live').length;
  }

  async request(request: ApiRequest): Promise<ApiResponse> {
    this.requests.push(request);
    const answerer = this.#answers.shift() ?? this.#otherwise;
    const answer = await answerer(request);
    if (answer === 'hang') return new Promise(() => {});
    if (answer instanceof Error) throw answer;
    return answer;
  }

  watch(request: ApiRequest, sink: WatchSink): WatchHandle {
    const stream = new ScriptedStream(request, sink);
    this.streams.push(stream);
    this.#onWatch(stream);
    return { close: () => stream.close() };
  }
}

export function ok(body: Json, status = 200): ApiResponse {
  return { status, headers: {}, body };
}

/** A list of raw objects. */
export function listOf(items: readonly Json[], resourceVersion: string, continueToken = ''): ApiResponse {
  return ok({ kind: 'List', metadata: { resourceVersion, continue: continueToken }, items });
}

/** A refusal as an API server words it. */
export function failure(
  status: number,
  reason: string,
  message: string,
  more: { readonly headers?: Readonly<Record<string, string>>; readonly details?: Json } = {},
): ApiResponse {
  const body = {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    code: status,
    reason,
    message,
    details: more.details ?? {},
  };
  return { status, headers: more.headers ?? {}, body };
}

/** No answer to a request that the server may have acted on. */
export function noAnswer(message = 'the answer was lost'): TransportError {
  return new TransportError(message, 'reset', 'maybe');
}
