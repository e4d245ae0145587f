/**
 * One client of the cluster inside the process: its requests, its streams, its timers. Everything it hears comes from
 * an agenda entry, so nothing happens to it but in `Cluster.step`. Killing it leaves its promises unsettled for ever.
 */

import type { SimRequest, SimResponse } from '../api/call.js';
import { ApiError } from '../api/errors.js';
import { openWatch, refusal } from '../api/handle.js';
import { freeze, wireCopy } from '../base/json.js';
import { Random } from '../base/random.js';
import type { Change } from '../base/store.js';
import type { World } from '../base/world.js';
import { drawFate, type Fate, type Faults, type Hooks } from './faults.js';
import { APPLY, type ApplyArgs, MESSAGE, type Message } from './messages.js';
import type {
  ClientRequest,
  ClientResponse,
  ClientRuntime,
  ClientWatchHandle,
  ClientWatchSink,
  MakeError,
} from './shapes.js';
import { Streams } from './streams.js';

const DEFAULT_DEADLINE_MS = 30_000;
const WRITES = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

interface Pending {
  resolve(response: ClientResponse): void;
  reject(error: Error): void;
}

/** A message without its addressee. */
type Unaddressed = Message extends infer M ? (M extends Message ? Omit<M, 'client'> : never) : never;

export interface ClientParts {
  readonly world: World;
  /** Unique among the clients of a cluster. */
  readonly id: string;
  readonly name: string;
  readonly faults: Faults;
  readonly hooks: Hooks;
  readonly makeError: MakeError;
}

export class Client {
  readonly #parts: ClientParts;
  readonly #random: Random;
  readonly #pending = new Map<number, Pending>();
  readonly #timers = new Map<number, () => void>();
  readonly #streams: Streams;
  #tokens = 0;
  #requests = 0;
  #writes = 0;
  #alive = true;

  constructor(parts: ClientParts) {
    const { world } = parts;
    this.#parts = parts;
    this.#random = Random.seeded(world.origin.seed, parts.id);
    this.#streams = new Streams({
      faults: parts.faults,
      random: this.#random,
      makeError: parts.makeError,
      nowMs: () => world.nowMs,
      headRv: () => world.store.rv,
      later: (delayMs, stream, message) => this.#later(delayMs, { stream, ...message }),
      openWatch: (request, asOfRv) => openWatch(world, request, asOfRv),
    });
  }

  get id(): string {
    return this.#parts.id;
  }

  get name(): string {
    return this.#parts.name;
  }

  /** What befalls this client's requests and streams. */
  get faults(): Faults {
    return this.#parts.faults;
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
    return this.#streams.behindRv;
  }

  /** Sends a request; settles from the agenda, or never. */
  request(request: ClientRequest): Promise<ClientResponse> {
    return new Promise((resolve, reject) => {
      if (!this.#alive) return;
      const { hooks, faults, name } = this.#parts;
      this.#requests += 1;
      this.#tokens += 1;
      const token = this.#tokens;
      const fate = hooks.onRequest?.(request, this.#requests, name) ?? drawFate(faults, this.#random);
      this.#pending.set(token, { resolve, reject });
      this.#send(request, token, fate);
      const deadlineMs = request.deadlineMs ?? DEFAULT_DEADLINE_MS;
      // An answer that is sure to come in time needs no watch kept over it.
      const [, slowestMs] = faults.latencyMs;
      if (fate.is === 'answered' && 2 * slowestMs < deadlineMs) return;
      this.#later(deadlineMs, { do: 'fail', token, how: 'timeout', sent: 'maybe' });
    });
  }

  /** Opens a stream. */
  watch(request: ClientRequest, sink: ClientWatchSink): ClientWatchHandle {
    this.#tokens += 1;
    const id = this.#tokens;
    if (this.#alive) {
      this.#streams.add(id, sink);
      this.#later(this.#latency(), { do: 'open', stream: id, request: this.#asSent(request) });
    }
    return { close: () => this.#streams.remove(id) };
  }

  /** A clock and timers on the agenda. */
  runtime(): ClientRuntime {
    const { world } = this.#parts;
    const startMs = world.nowMs;
    return {
      nowMs: () => world.nowMs,
      monotonicMs: () => world.nowMs - startMs,
      random: () => this.#random.fraction(),
      setTimer: (delayMs, fire) => {
        this.#tokens += 1;
        const timer = this.#tokens;
        if (this.#alive) {
          this.#timers.set(timer, fire);
          this.#later(Math.ceil(delayMs), { do: 'fire', timer });
        }
        return {
          cancel: () => {
            this.#timers.delete(timer);
          },
        };
      },
    };
  }

  /** Changes the weather from here on; what is under way keeps its fate. */
  setFaults(changes: Partial<Faults>): void {
    Object.assign(this.#parts.faults, changes);
  }

  /** The process is gone: nothing settles, fires or is delivered any more. Requests under way may still be applied. */
  kill(): void {
    this.#alive = false;
    this.#pending.clear();
    this.#timers.clear();
    this.#streams.clear();
  }

  /** Breaks streams: those whose path has `pathPart` in it, or all. */
  cut(pathPart = ''): void {
    this.#streams.cut(pathPart);
  }

  /** Ends streams in good order, as a server does at their timeout. */
  close(pathPart = ''): void {
    this.#streams.close(pathPart);
  }

  /** Ends streams with 410 Expired: the client must list again. */
  expire(pathPart = ''): void {
    this.#streams.expire(pathPart);
  }

  /** Holds events back until a time, without a sign to the client. */
  stall(untilMs: number, pathPart = ''): void {
    this.#streams.stall(pathPart, untilMs);
  }

  /** Until a time the client's API server has seen nothing after `rv` (default: now). Writes are not affected. */
  fallBehind(untilMs: number, rv: number = this.#parts.world.store.rv): void {
    this.#streams.fallBehind(rv);
    this.#later(untilMs - this.#parts.world.nowMs, { do: 'catchUp' });
  }

  /** Hears of a write; what its streams make of it comes later. */
  onChange(change: Change): void {
    this.#streams.onChange(change);
  }

  /** Carries out a message of the agenda. */
  run(message: Message): void {
    switch (message.do) {
      case 'settle':
        this.#take(message.token)?.resolve(message.response);
        return;
      case 'fail':
        this.#take(message.token)?.reject(this.#parts.makeError(FAILURES[message.how], message.how, message.sent));
        return;
      case 'fire':
        this.#fire(message.timer);
        return;
      case 'catchUp':
        this.#streams.catchUp();
        return;
      case 'open':
      case 'deliver':
      case 'bookmark':
      case 'end':
        this.#streams.run(message.stream, message);
        return;
    }
  }

  /** Schedules the answer to a request that was applied. */
  answer(token: number, response: SimResponse): void {
    this.#later(this.#latency(), { do: 'settle', token, response });
  }

  #latency(): number {
    return this.#random.within(this.#parts.faults.latencyMs);
  }

  #later(delayMs: number, message: Unaddressed): void {
    const { world, id } = this.#parts;
    world.schedule(world.nowMs + Math.max(0, delayMs), MESSAGE, { client: id, ...message });
  }

  #asSent(request: ClientRequest): SimRequest {
    const { deadlineMs: _deadline, body, ...plain } = request;
    return freeze({ ...plain, ...(body === undefined ? {} : { body: wireCopy(body) }), user: this.name });
  }

  #send(request: ClientRequest, token: number, fate: Fate): void {
    const { world, id } = this.#parts;
    const sent = this.#asSent(request);
    if (WRITES.has(request.method)) this.#writes += 1;
    const write = WRITES.has(request.method) ? this.#writes : 0;
    const out = this.#latency();
    const applyAfter = (delayMs: number): void => {
      const args: ApplyArgs = { client: id, token, request: sent, write, answered: fate.is === 'answered' };
      world.schedule(world.nowMs + delayMs, APPLY, args);
    };
    switch (fate.is) {
      case 'answered':
        applyAfter(out);
        return;
      case 'appliedAnswerLost':
        applyAfter(out);
        this.#later(out + this.#latency(), { do: 'fail', token, how: 'reset', sent: 'maybe' });
        return;
      case 'notApplied':
        this.#later(out, { do: 'fail', token, how: 'refused', sent: 'no' });
        return;
      case 'appliedLate':
        this.#later(out, { do: 'fail', token, how: 'reset', sent: 'maybe' });
        applyAfter(out + fate.afterMs);
        return;
      case 'refused':
        this.#later(out, { do: 'settle', token, response: refusalOf(fate.status, fate.retryAfterSeconds) });
        return;
      case 'never':
        this.#pending.delete(token);
        return;
    }
  }

  #take(token: number): Pending | undefined {
    const pending = this.#pending.get(token);
    this.#pending.delete(token);
    return pending;
  }

  #fire(timer: number): void {
    const fire = this.#timers.get(timer);
    this.#timers.delete(timer);
    fire?.();
  }
}

const FAILURES = {
  timeout: 'no answer came in time',
  refused: 'the connection was refused',
  reset: 'the connection was reset',
} as const;

const REASONS = { 429: 'TooManyRequests', 500: 'InternalError', 503: 'ServiceUnavailable' } as const;

function refusalOf(status: 429 | 500 | 503, retryAfterSeconds: number): SimResponse {
  const text = 'simulated: the server refused the request';
  return refusal(new ApiError(status, REASONS[status], text, { retryAfterSeconds }));
}
