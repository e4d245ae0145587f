/** One watch: a request whose answer is a stream of JSON lines. */
import type { IncomingMessage } from 'node:http';
import type { Runtime, Timer } from '../runtime.js';
import { TransportError, type WatchEnd, type WatchEvent, type WatchHandle, type WatchSink } from '../transport.js';
import { keepProbing } from './http-agents.js';
import {
  type Exchange,
  faultOf,
  type Outgoing,
  readBody,
  startExchange,
  timeoutFault,
  toApiResponse,
} from './http-exchange.js';
import { LineSplitter } from './line-splitter.js';

/** Bytes that are read in one go, about ten milliseconds of work; then everybody else has a turn. */
const breathBytes = 256 * 1024;

export class HttpWatch implements WatchHandle {
  readonly #runtime: Runtime;
  readonly #what: string;
  /** For the head of the answer, or a whole refusal. A stream that has begun is watched over by its reader. */
  readonly #deadlineMs: number;
  readonly #sink: WatchSink;
  #over = false;
  #exchange: Exchange | undefined;
  #deadline: Timer | undefined;

  constructor(runtime: Runtime, what: string, deadlineMs: number, sink: WatchSink) {
    this.#runtime = runtime;
    this.#what = what;
    this.#deadlineMs = deadlineMs;
    this.#sink = sink;
  }

  start(prepare: () => Promise<Outgoing>, onUnauthorized: () => void): void {
    prepare()
      .then((outgoing) => this.#send(outgoing, onUnauthorized))
      .catch((error: unknown) => this.#break(error as Error));
  }

  close(): void {
    this.#over = true;
    this.#deadline?.cancel();
    this.#exchange?.request.destroy();
  }

  #send(outgoing: Outgoing, onUnauthorized: () => void): void {
    if (this.#over) return;
    const exchange = startExchange(outgoing);
    this.#exchange = exchange;
    this.#deadline = this.#runtime.setTimer(this.#deadlineMs, () => {
      this.#break(timeoutFault(this.#what, this.#deadlineMs, exchange.sent()));
    });
    exchange.request.once('socket', keepProbing);
    exchange.request.on('error', (error) => this.#break(error));
    exchange.request.once('response', (response) => {
      if (response.statusCode === 200) this.#stream(response);
      else this.#refuse(response, onUnauthorized).catch((error: unknown) => this.#break(error as Error));
    });
  }

  async #refuse(response: IncomingMessage, onUnauthorized: () => void): Promise<void> {
    const answer = toApiResponse(response, await readBody(response), this.#what);
    if (answer.status === 401) onUnauthorized();
    this.#end({ how: 'response', response: answer });
  }

  #stream(response: IncomingMessage): void {
    this.#deadline?.cancel();
    if (this.#over) return;
    this.#sink.onOpen();
    const lines = new LineSplitter();
    let unbroken = 0;
    response.on('data', (chunk: Buffer) => {
      lines.push(chunk, (line) => this.#onLine(line));
      unbroken += chunk.length;
      if (unbroken < breathBytes) return;
      unbroken = 0;
      response.pause();
      this.#runtime.setTimer(0, () => response.resume());
    });
    response.once('error', (error) => this.#break(error));
    response.once('end', () => {
      if (lines.isMidLine || !response.complete) this.#break(new Error('the stream was cut off'));
      else this.#end({ how: 'closed' });
    });
  }

  #onLine(line: string): void {
    if (this.#over || line === '') return;
    const event = parseEvent(line);
    if (event !== undefined) this.#sink.onEvent(event);
    else this.#break(new TransportError(`${this.#what}: a line is no watch event`, 'malformed', 'maybe'));
  }

  #break(error: Error): void {
    this.#end({ how: 'broken', error: faultOf(error, this.#what, this.#exchange?.sent() ?? 'no') });
  }

  #end(end: WatchEnd): void {
    if (this.#over) return;
    this.close();
    this.#sink.onEnd(end);
  }
}

/** Undefined for what is no event: a proxy's page, or an object that some server sends without the frame of an event. */
function parseEvent(line: string): WatchEvent | undefined {
  try {
    const parsed = JSON.parse(line) as Partial<WatchEvent> | null;
    return typeof parsed?.type === 'string' ? (parsed as WatchEvent) : undefined;
  } catch {
    return undefined;
  }
}
