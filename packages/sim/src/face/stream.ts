/** One stream of events to a client inside the process: in order, late by its own measure. */

import type { SimResponse } from '../api/call.js';
import { SimWatch } from '../api/watch.js';
import type { Change } from '../base/store.js';
import type { ClientWatchEnd, ClientWatchSink } from './shapes.js';

export class Stream {
  readonly #sink: ClientWatchSink;
  #watch: SimWatch | undefined;
  #path = '';
  #lastDeliveryMs = 0;
  #stalledUntilMs = 0;

  constructor(sink: ClientWatchSink) {
    this.#sink = sink;
  }

  /** The path that was asked for; empty until the stream is open. */
  get path(): string {
    return this.#path;
  }

  /** How long the client asked for. */
  get timeoutMs(): number | undefined {
    return this.#watch?.timeoutMs;
  }

  get wantsBookmarks(): boolean {
    return this.#watch?.bookmarks === 'wanted';
  }

  /** Takes the server's answer and tells the client. */
  open(path: string, answer: SimWatch | SimResponse): 'open' | 'refused' {
    this.#path = path;
    if (answer instanceof SimWatch) {
      this.#watch = answer;
      this.#sink.onOpen();
      return 'open';
    }
    this.#sink.onEnd({ how: 'response', response: answer });
    return 'refused';
  }

  /** True for a change that the client is to hear of. */
  concerns(change: Change): boolean {
    return this.#watch?.concerns(change) === true;
  }

  /** When a change of now reaches the client: never before one that came earlier. */
  deliveryTime(nowMs: number, lagMs: number): number {
    this.#lastDeliveryMs = Math.max(this.#lastDeliveryMs, nowMs + lagMs, this.#stalledUntilMs);
    return this.#lastDeliveryMs;
  }

  stallUntil(untilMs: number): void {
    this.#stalledUntilMs = untilMs;
  }

  isStalled(nowMs: number): boolean {
    return nowMs < this.#stalledUntilMs;
  }

  /** Hands over events up to a version. `over` when the server ended the stream with an error event. */
  deliver(limitRv: number, isOpen: () => boolean): 'open' | 'over' {
    for (;;) {
      const event = isOpen() ? this.#watch?.next(limitRv) : undefined;
      if (event === undefined) return 'open';
      this.#sink.onEvent(event);
      if (event.type !== 'ERROR') continue;
      if (isOpen()) this.#sink.onEnd({ how: 'closed' });
      return 'over';
    }
  }

  /** Sends a bookmark at a version up to which everything was delivered. */
  bookmark(rv: number): void {
    const watch = this.#watch;
    if (watch === undefined) return;
    watch.skipTo(rv);
    this.#sink.onEvent(watch.bookmark());
  }

  end(end: ClientWatchEnd): void {
    this.#sink.onEnd(end);
  }

  expire(): void {
    if (this.#watch !== undefined) this.#sink.onEvent(this.#watch.expire());
    this.#sink.onEnd({ how: 'closed' });
  }
}
