/**
 * One client of the cluster inside the process: its requests, its streams, its timers. Everything it hears comes from
 * an agenda entry, so nothing happens to it but in `Cluster.step`. Killing it leaves its promises unsettled for ever.
 */

import type { SimRequest, SimResponse } from '../api/call.js';
import { ApiError } from '../api/errors.js';
import { refusal } from '../api/handle.js';
import { freeze, wireCopy } from '../base/json.js';
import { Random } from '../base/random.js';
import type { Change } from '../base/store.js';
import type { World } from '../base/world.js';
import { drawFate, type Fate, type Faults, type Hooks } from './faults.js';
import type {
  ClientRequest,
  ClientResponse,
  ClientRuntime,
  ClientWatchHandle,
  ClientWatchSink,
  MakeError,
} from './shapes.js';
import { Stream } from './stream.js';

const DEFAULT_DEADLINE_MS = 30_000;
/** How long before its end a stream gets its last bookmark. */
const LAST_BOOKMARK_MS = 2000;
const WRITES = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

interface Pending {
  resolve(response: ClientResponse): void;
  reject(error: Error): void;
}

/** Arguments of the entry that carries a request to the server. It outlives the client. */
export interface ApplyArgs {
  readonly client: string;
  readonly token: number;
  readonly request: SimRequest;
  /** The number of the write among those of the client; 0 for a read. */
  readonly write: number;
  readonly answered: boolean;
}

export class Client {
  /** Unique among the clients of a cluster. */
  readonly id: string;
  readonly name: string;
  readonly faults: Faults;
  readonly #world: World;
  readonly #hooks: Hooks;
  readonly #makeError: MakeError;
  readonly #random: Random;
  readonly #pending = new Map<number, Pending>();
  readonly #timers = new Map<number, () => void>();
  readonly #streams = new Map<number, Stream>();
  #tokens = 0;
  #requests = 0;
  #writes = 0;
  #alive = true;
  #behindRv: number | undefined;

  constructor(world: World, id: string, name: string, faults: Faults, hooks: Hooks, makeError: MakeError) {
    this.#world = world;
    this.id = id;
    this.name = name;
    this.faults = faults;
    this.#hooks = hooks;
    this.#makeError = makeError;
    this.#random = Random.seeded(world.origin.seed, id);
  }

  /** False once killed. */
  get alive(): boolean {
    return this.#alive;
  }

  /** Writes sent so far. */
  get writes(): number {
    return this.#writes;
  }

  /** Calls, timers and streams that wait for the agenda. */
  get waiting(): { readonly requests: number; readonly timers: number; readonly streams: number } {
    return { requests: this.#pending.size, timers: this.#timers.size, streams: this.#streams.size };
  }

  /** The version beyond which this client's API server has seen nothing; undefined when it is up to date. */
  get behindRv(): number | undefined {
    return this.#behindRv;
  }

  /** Sends a request; settles from the agenda, or never. */
  request(request: ClientRequest): Promise<ClientResponse> {
    return new Promise((resolve, reject) => {
      if (!this.#alive) return;
      this.#requests += 1;
      this.#tokens += 1;
      const token = this.#tokens;
      const fate = this.#hooks.onRequest?.(request, this.#requests, this.name) ?? drawFate(this.faults, this.#random);
      this.#pending.set(token, { resolve, reject });
      this.#send(request, token, fate);
      const deadlineMs = request.deadlineMs ?? DEFAULT_DEADLINE_MS;
      if (fate.is !== 'answered') this.#later(deadlineMs, 'client.giveUp', { token, kind: 'timeout', sent: 'maybe' });
    });
  }

  /** Opens a stream. */
  watch(request: ClientRequest, sink: ClientWatchSink): ClientWatchHandle {
    this.#tokens += 1;
    const id = this.#tokens;
    if (!this.#alive) return { close: () => {} };
    this.#streams.set(id, new Stream(sink));
    const { deadlineMs: _deadline, ...plain } = request;
    const args = { stream: id, request: freeze({ ...plain, body: undefined, user: this.name }) };
    this.#later(this.#random.within(this.faults.latencyMs), 'client.open', args);
    return {
      close: () => {
        this.#streams.delete(id);
      },
    };
  }

  /** A clock and timers on the agenda. */
  runtime(): ClientRuntime {
    const startMs = this.#world.nowMs;
    return {
      nowMs: () => this.#world.nowMs,
      monotonicMs: () => this.#world.nowMs - startMs,
      random: () => this.#random.fraction(),
      setTimer: (delayMs, fire) => {
        this.#tokens += 1;
        const id = this.#tokens;
        if (this.#alive) {
          this.#timers.set(id, fire);
          this.#later(Math.max(0, Math.ceil(delayMs)), 'client.timer', { timer: id });
        }
        return {
          cancel: () => {
            this.#timers.delete(id);
          },
        };
      },
    };
  }

  /** The process is gone: nothing settles, fires or is delivered any more. Requests under way may still be applied. */
  kill(): void {
    this.#alive = false;
    this.#pending.clear();
    this.#timers.clear();
    this.#streams.clear();
  }

  /** Breaks streams: those of one resource path, or all. */
  cut(pathPart = ''): void {
    this.#endStreams(pathPart, (stream) => {
      stream.end({ how: 'broken', error: this.#makeError('the connection was reset', 'reset', 'maybe') });
    });
  }

  /** Ends streams in good order, as a server does at their timeout. */
  close(pathPart = ''): void {
    this.#endStreams(pathPart, (stream) => stream.end({ how: 'closed' }));
  }

  /** Ends streams with 410 Expired: the client must list again. */
  expire(pathPart = ''): void {
    this.#endStreams(pathPart, (stream) => stream.expire());
  }

  /** Holds events back until a time, without a sign to the client. */
  stall(untilMs: number, pathPart = ''): void {
    for (const [id, stream] of this.#streams) {
      if (!stream.path.includes(pathPart)) continue;
      stream.stallUntil(untilMs);
      this.#later(untilMs - this.#world.nowMs, 'client.deliver', { stream: id, rv: Number.MAX_SAFE_INTEGER });
    }
  }

  /** Until a time the client's API server has seen nothing after `rv` (default: now). Writes are not affected. */
  fallBehind(untilMs: number, rv: number = this.#world.store.rv): void {
    this.#behindRv = rv;
    this.#later(untilMs - this.#world.nowMs, 'client.catchUp', {});
  }

  /** Tells the streams of a change; each will deliver it in its own time. */
  onChange(change: Change): void {
    for (const [id, stream] of this.#streams) {
      if (!stream.concerns(change)) continue;
      const atMs = stream.deliveryTime(this.#world.nowMs, this.#random.within(this.faults.watchLagMs));
      this.#later(atMs - this.#world.nowMs, 'client.deliver', { stream: id, rv: change.rv });
    }
  }

  /** Runs an entry of this client. */
  run(
    kind: string,
    args: Readonly<Record<string, never>>,
    openWatch: (request: SimRequest, asOfRv?: number) => unknown,
  ): void {
    if (!this.#alive) return;
    switch (kind) {
      case 'client.settle':
        this.#settle(args['token'] ?? 0, args['response'] as unknown as ClientResponse);
        return;
      case 'client.giveUp':
        this.#fail(args['token'] ?? 0, args['kind'] ?? 'timeout', args['sent'] ?? 'maybe');
        return;
      case 'client.timer':
        this.#fire(args['timer'] ?? 0);
        return;
      case 'client.open':
        this.#open(args['stream'] ?? 0, args['request'] as unknown as SimRequest, openWatch);
        return;
      case 'client.deliver':
        this.#deliver(args['stream'] ?? 0, args['rv'] ?? 0);
        return;
      case 'client.bookmark':
        this.#bookmark(args['stream'] ?? 0);
        if (args['last'] === undefined)
          this.#later(this.faults.bookmarkMs, 'client.bookmark', { stream: args['stream'] });
        return;
      case 'client.timeout':
        this.#streams.get(args['stream'] ?? 0)?.end({ how: 'closed' });
        this.#streams.delete(args['stream'] ?? 0);
        return;
      case 'client.catchUp':
        this.#behindRv = undefined;
        for (const id of this.#streams.keys()) this.#deliver(id, Number.MAX_SAFE_INTEGER);
        return;
      default:
        throw new Error(`sim: no client knows what to do with an entry of kind ${kind}`);
    }
  }

  /** Schedules the answer to a request that was applied. */
  answer(token: number, response: SimResponse): void {
    this.#later(this.#random.within(this.faults.latencyMs), 'client.settle', { token, response });
  }

  #later(delayMs: number, kind: string, args: object): void {
    this.#world.schedule(this.#world.nowMs + Math.max(0, delayMs), kind, { client: this.id, ...args });
  }

  #send(request: ClientRequest, token: number, fate: Fate): void {
    const { deadlineMs: _deadline, ...plain } = request;
    const sent: SimRequest = freeze({ ...plain, body: wireCopy(request.body), user: this.name });
    const write = WRITES.has(request.method) ? this.#nextWrite() : 0;
    const args: ApplyArgs = { client: this.id, token, request: sent, write, answered: fate.is === 'answered' };
    const out = this.#random.within(this.faults.latencyMs);
    const broken = { token, kind: 'reset', sent: 'maybe' };
    switch (fate.is) {
      case 'answered':
        this.#later(out, 'client.apply', args);
        return;
      case 'appliedAnswerLost':
        this.#later(out, 'client.apply', args);
        this.#later(out + this.#random.within(this.faults.latencyMs), 'client.giveUp', broken);
        return;
      case 'notApplied':
        this.#later(out, 'client.giveUp', { token, kind: 'refused', sent: 'no' });
        return;
      case 'appliedLate':
        this.#later(out, 'client.giveUp', broken);
        this.#later(out + fate.afterMs, 'client.apply', args);
        return;
      case 'refused': {
        const { status, retryAfterSeconds } = fate;
        const reason = status === 429 ? 'TooManyRequests' : status === 503 ? 'ServiceUnavailable' : 'InternalError';
        const error = new ApiError(status, reason, 'simulated: the server refused the request', { retryAfterSeconds });
        this.#later(out, 'client.settle', { token, response: refusal(error) });
        return;
      }
      case 'never':
        this.#pending.delete(token);
        return;
    }
  }

  #nextWrite(): number {
    this.#writes += 1;
    return this.#writes;
  }

  #settle(token: number, response: ClientResponse): void {
    const pending = this.#pending.get(token);
    this.#pending.delete(token);
    pending?.resolve(response);
  }

  #fail(token: number, kind: 'timeout' | 'refused' | 'reset', sent: 'no' | 'maybe'): void {
    const pending = this.#pending.get(token);
    this.#pending.delete(token);
    const texts = {
      timeout: 'no answer in time',
      refused: 'the connection was refused',
      reset: 'the connection was reset',
    };
    pending?.reject(this.#makeError(texts[kind], kind, sent));
  }

  #fire(id: number): void {
    const fire = this.#timers.get(id);
    this.#timers.delete(id);
    fire?.();
  }

  #open(id: number, request: SimRequest, openWatch: (request: SimRequest, asOfRv?: number) => unknown): void {
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    const refused = stream.open(request.path, openWatch(request, this.#behindRv));
    if (refused) {
      this.#streams.delete(id);
      return;
    }
    const lifeMs = stream.timeoutMs ?? this.#random.within(this.faults.streamLifeMs);
    this.#later(lifeMs, 'client.timeout', { stream: id });
    if (stream.wantsBookmarks) {
      this.#later(this.faults.bookmarkMs, 'client.bookmark', { stream: id });
      // The last one, shortly before the end, spares the next stream what this one has seen.
      if (lifeMs > LAST_BOOKMARK_MS)
        this.#later(lifeMs - LAST_BOOKMARK_MS, 'client.bookmark', { stream: id, last: true });
    }
    const atMs = stream.deliveryTime(this.#world.nowMs, this.#random.within(this.faults.watchLagMs));
    this.#later(atMs - this.#world.nowMs, 'client.deliver', { stream: id, rv: this.#world.store.rv });
  }

  #deliver(id: number, rv: number): void {
    const stream = this.#streams.get(id);
    if (stream === undefined || stream.isStalled(this.#world.nowMs)) return;
    const limit = Math.min(rv, this.#behindRv ?? rv);
    if (stream.deliver(limit, () => this.#streams.has(id)) === 'over') this.#streams.delete(id);
  }

  #bookmark(id: number): void {
    const stream = this.#streams.get(id);
    if (stream === undefined) return;
    if (stream.isStalled(this.#world.nowMs)) return;
    const rv = Math.min(this.#world.store.rv, this.#behindRv ?? Number.MAX_SAFE_INTEGER);
    this.#deliver(id, rv);
    stream.bookmark(rv, () => this.#streams.has(id));
  }

  #endStreams(pathPart: string, end: (stream: Stream) => void): void {
    for (const [id, stream] of this.#streams) {
      if (!stream.path.includes(pathPart)) continue;
      this.#streams.delete(id);
      end(stream);
    }
  }
}
