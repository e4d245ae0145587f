/** The streams of one client: when each hears of a change, and the faults that befall them. */

import type { SimRequest, SimResponse } from '../api/call.js';
import type { SimWatch } from '../api/watch.js';
import type { Random } from '../base/random.js';
import type { Change } from '../base/store.js';
import type { Faults } from './faults.js';
import type { StreamMessage } from './messages.js';
import type { ClientWatchSink, MakeError } from './shapes.js';
import { Stream } from './stream.js';

/** How long before its end a stream gets its last bookmark. */
const LAST_BOOKMARK_MS = 2000;
const EVERYTHING = Number.MAX_SAFE_INTEGER;

/** What the streams need of the client they belong to. */
export interface StreamHost {
  readonly faults: Faults;
  readonly random: Random;
  readonly makeError: MakeError;
  nowMs(): number;
  headRv(): number;
  /** Puts a message to a stream on the agenda. */
  later(delayMs: number, stream: number, message: StreamMessage): void;
  openWatch(request: SimRequest, asOfRv: number | undefined): SimWatch | SimResponse;
}

export class Streams {
  readonly #host: StreamHost;
  readonly #open = new Map<number, Stream>();
  #behindRv: number | undefined;

  constructor(host: StreamHost) {
    this.#host = host;
  }

  get size(): number {
    return this.#open.size;
  }

  /** The version beyond which the server behind these streams has seen nothing; undefined when it is up to date. */
  get behindRv(): number | undefined {
    return this.#behindRv;
  }

  add(id: number, sink: ClientWatchSink): void {
    this.#open.set(id, new Stream(sink));
  }

  remove(id: number): void {
    this.#open.delete(id);
  }

  clear(): void {
    this.#open.clear();
  }

  /** Carries out a message to one stream; one that is closed by now hears nothing. */
  run(id: number, message: StreamMessage): void {
    const stream = this.#open.get(id);
    if (stream === undefined) return;
    switch (message.do) {
      case 'open':
        this.#start(id, stream, message.request);
        return;
      case 'deliver':
        this.#deliver(id, stream, message.rv);
        return;
      case 'bookmark':
        this.#bookmark(id, stream);
        if (message.again === 'later') this.#host.later(this.#host.faults.bookmarkMs, id, message);
        return;
      case 'end':
        this.#open.delete(id);
        stream.end({ how: 'closed' });
        return;
    }
  }

  /** Tells the streams of a change; each will deliver it in its own time, in order. */
  onChange(change: Change): void {
    for (const [id, stream] of this.#open) {
      if (stream.concerns(change)) this.#deliverLater(id, stream, change.rv);
    }
  }

  /** Breaks the streams whose path has a part in it. */
  cut(pathPart: string): void {
    this.#endThose(pathPart, (stream) => {
      const error = this.#host.makeError('the connection was reset', 'reset', 'maybe');
      stream.end({ how: 'broken', error });
    });
  }

  /** Ends them in good order, as a server does at their timeout. */
  close(pathPart: string): void {
    this.#endThose(pathPart, (stream) => stream.end({ how: 'closed' }));
  }

  /** Ends them with 410 Expired. */
  expire(pathPart: string): void {
    this.#endThose(pathPart, (stream) => stream.expire());
  }

  /** Holds their events back until a time, without a sign. */
  stall(pathPart: string, untilMs: number): void {
    for (const [id, stream] of this.#open) {
      if (!stream.path.includes(pathPart)) continue;
      stream.stallUntil(untilMs);
      this.#host.later(untilMs - this.#host.nowMs(), id, { do: 'deliver', rv: EVERYTHING });
    }
  }

  /** From now on the server behind the streams has seen nothing after a version. */
  fallBehind(rv: number): void {
    this.#behindRv = rv;
  }

  /** The server has caught up. */
  catchUp(): void {
    this.#behindRv = undefined;
    for (const [id, stream] of this.#open) this.#deliver(id, stream, EVERYTHING);
  }

  #start(id: number, stream: Stream, request: SimRequest): void {
    const { faults, random } = this.#host;
    if (stream.open(request.path, this.#host.openWatch(request, this.#behindRv)) === 'refused') {
      this.#open.delete(id);
      return;
    }
    const lifeMs = stream.timeoutMs ?? random.within(faults.streamLifeMs);
    this.#host.later(lifeMs, id, { do: 'end' });
    if (stream.wantsBookmarks) {
      this.#host.later(faults.bookmarkMs, id, { do: 'bookmark', again: 'later' });
      // The last one, shortly before the end, spares the next stream what this one has seen.
      if (lifeMs > LAST_BOOKMARK_MS)
        this.#host.later(lifeMs - LAST_BOOKMARK_MS, id, { do: 'bookmark', again: 'never' });
    }
    this.#deliverLater(id, stream, this.#host.headRv());
  }

  #deliverLater(id: number, stream: Stream, rv: number): void {
    const nowMs = this.#host.nowMs();
    const atMs = stream.deliveryTime(nowMs, this.#host.random.within(this.#host.faults.watchLagMs));
    this.#host.later(atMs - nowMs, id, { do: 'deliver', rv });
  }

  #deliver(id: number, stream: Stream, rv: number): void {
    if (stream.isStalled(this.#host.nowMs())) return;
    const limit = Math.min(rv, this.#behindRv ?? rv);
    if (stream.deliver(limit, () => this.#open.has(id)) === 'over') this.#open.delete(id);
  }

  #bookmark(id: number, stream: Stream): void {
    if (stream.isStalled(this.#host.nowMs())) return;
    const rv = Math.min(this.#host.headRv(), this.#behindRv ?? EVERYTHING);
    this.#deliver(id, stream, rv);
    if (this.#open.has(id)) stream.bookmark(rv);
  }

  #endThose(pathPart: string, end: (stream: Stream) => void): void {
    for (const [id, stream] of this.#open) {
      if (!stream.path.includes(pathPart)) continue;
      this.#open.delete(id);
      end(stream);
    }
  }
}
