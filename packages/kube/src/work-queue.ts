/**
 * A queue of keys for workers that reconcile: a key waits once however often it is added, never runs twice at once, and
 * runs again when it was added while running.
 */
import { DueHeap } from './due-heap.js';
import type { Runtime, Timer } from './runtime.js';

/** Observes one queue; the names follow controller-runtime's workqueue metrics. */
export interface WorkQueueMetrics {
  /** `workqueue_adds_total`, and `workqueue_depth` after it. */
  added(depth: number): void;
  /** `workqueue_queue_duration_seconds`: milliseconds from add to start; and the depth after it. */
  started(waitedMs: number, depth: number): void;
  /** `workqueue_work_duration_seconds`, in milliseconds. */
  finished(workMs: number): void;
  /** `workqueue_retries_total`. */
  retried(): void;
}

/** A reading at scrape time. */
export interface WorkQueueGauges {
  readonly depth: number;
  readonly running: number;
  /** Milliseconds that all running keys together have run: `workqueue_unfinished_work_seconds`. */
  readonly unfinishedMs: number;
  /** Milliseconds of the key that has run longest: `workqueue_longest_running_processor_seconds`. */
  readonly longestRunningMs: number;
}

export interface WorkQueueOptions {
  readonly runtime: Runtime;
  /** Told of a worker that threw; its key is then added with backoff. */
  readonly onError: (key: string, error: unknown) => void;
  /** Backoff of a key's first failure; doubles with each. Default 5. */
  readonly firstBackoffMs?: number;
  /** Default 300,000. */
  readonly maxBackoffMs?: number;
  /** Milliseconds that a key rests after a run of `lastRunMs`, however often it is added meanwhile. Default none. */
  readonly restMs?: (key: string, lastRunMs: number) => number;
  readonly metrics?: WorkQueueMetrics;
}

export type Worker = (key: string) => Promise<void>;

interface KeyState {
  phase: 'idle' | 'queued' | 'running';
  /** When the key was first added since its last start; undefined when nothing asks for a run now. */
  addedAtMs: number | undefined;
  /** When a delayed add falls due. */
  dueAtMs: number | undefined;
  /** No start before this. */
  restUntilMs: number;
  startedAtMs: number;
  failures: number;
  /** Whether the current run asked for a retry. */
  retrying: boolean;
}

export class WorkQueue {
  readonly #options: WorkQueueOptions;
  readonly #keys: Map<string, KeyState> = new Map();
  readonly #due: DueHeap = new DueHeap();
  /** Keys in phase `queued`, oldest first. */
  #waiting: string[] = [];
  #waitingHead = 0;
  readonly #running: Map<string, KeyState> = new Map();
  #timer: { readonly atMs: number; readonly timer: Timer } | undefined;
  #worker: Worker | undefined;
  #concurrency = 0;
  #stopped = false;
  #pumpScheduled = false;
  #whenIdle: (() => void)[] = [];

  constructor(options: WorkQueueOptions) {
    this.#options = options;
  }

  /** Asks for a run as soon as a worker is free and the key has rested. */
  add(key: string): void {
    if (this.#stopped) return;
    const state = this.#stateOf(key);
    if (state.addedAtMs !== undefined) return;
    state.addedAtMs = this.#now();
    if (state.phase === 'idle') this.#enqueueUnlessResting(key, state);
    this.#options.metrics?.added(this.#depth());
  }

  /** Asks for a run in `delayMs` milliseconds. Of several, the earliest counts. */
  addAfter(key: string, delayMs: number): void {
    if (delayMs <= 0) {
      this.add(key);
      return;
    }
    if (this.#stopped) return;
    const state = this.#stateOf(key);
    const atMs = this.#now() + delayMs;
    if (state.dueAtMs !== undefined && state.dueAtMs <= atMs) return;
    state.dueAtMs = atMs;
    this.#wakeAt(atMs, key);
  }

  /** Asks for a run after the key's backoff, which doubles until `forget`, or until a run ends well. */
  addRateLimited(key: string): void {
    if (this.#stopped) return;
    const { firstBackoffMs = 5, maxBackoffMs = 300_000 } = this.#options;
    const state = this.#stateOf(key);
    const delayMs = Math.min(maxBackoffMs, firstBackoffMs * 2 ** Math.min(state.failures, 40));
    state.failures++;
    state.retrying = true;
    this.#options.metrics?.retried();
    this.addAfter(key, delayMs);
  }

  /** Ends a key's backoff. */
  forget(key: string): void {
    const state = this.#keys.get(key);
    if (state === undefined) return;
    state.failures = 0;
    this.#dropIfIdle(key, state);
  }

  /** How often the key has been added with backoff since it last ran well. */
  failures(key: string): number {
    return this.#keys.get(key)?.failures ?? 0;
  }

  /** Starts work: at most `concurrency` keys at once. Resolves when the queue was shut down and the last worker is done. */
  run(concurrency: number, worker: Worker): Promise<void> {
    if (this.#worker !== undefined) throw new Error('this queue is running already');
    this.#worker = worker;
    this.#concurrency = concurrency;
    this.#schedulePump();
    return new Promise((resolve) => {
      this.#whenIdle.push(resolve);
      this.#settleIfIdle();
    });
  }

  /** Takes no more keys, starts none, and resolves when the running ones are done. */
  shutDown(): Promise<void> {
    this.#stopped = true;
    this.#timer?.timer.cancel();
    return new Promise((resolve) => {
      this.#whenIdle.push(resolve);
      this.#settleIfIdle();
    });
  }

  gauges(): WorkQueueGauges {
    const nowMs = this.#now();
    let unfinishedMs = 0;
    let longestRunningMs = 0;
    for (const { startedAtMs } of this.#running.values()) {
      unfinishedMs += nowMs - startedAtMs;
      longestRunningMs = Math.max(longestRunningMs, nowMs - startedAtMs);
    }
    return { depth: this.#depth(), running: this.#running.size, unfinishedMs, longestRunningMs };
  }

  #stateOf(key: string): KeyState {
    let state = this.#keys.get(key);
    if (state === undefined) {
      state = {
        phase: 'idle',
        addedAtMs: undefined,
        dueAtMs: undefined,
        restUntilMs: 0,
        startedAtMs: 0,
        failures: 0,
        retrying: false,
      };
      this.#keys.set(key, state);
    }
    return state;
  }

  #enqueueUnlessResting(key: string, state: KeyState): void {
    // The end of the rest was put on the heap when the rest began.
    if (state.restUntilMs > this.#now()) return;
    state.phase = 'queued';
    this.#waiting.push(key);
    this.#schedulePump();
  }

  /** Workers start in a microtask of their own, so that no caller of `add` runs a worker inside its own stack. */
  #schedulePump(): void {
    if (this.#pumpScheduled || this.#worker === undefined) return;
    this.#pumpScheduled = true;
    queueMicrotask(() => {
      this.#pumpScheduled = false;
      while (!this.#stopped && this.#running.size < this.#concurrency && this.#depth() > 0) this.#startNext();
    });
  }

  #startNext(): void {
    const key = this.#waiting[this.#waitingHead++];
    if (this.#waitingHead > 1024 && this.#waitingHead * 2 > this.#waiting.length) {
      this.#waiting = this.#waiting.slice(this.#waitingHead);
      this.#waitingHead = 0;
    }
    const state = key === undefined ? undefined : this.#keys.get(key);
    if (key === undefined || state === undefined || this.#worker === undefined) return;
    const nowMs = this.#now();
    this.#options.metrics?.started(nowMs - (state.addedAtMs ?? nowMs), this.#depth());
    state.phase = 'running';
    state.addedAtMs = undefined;
    state.startedAtMs = nowMs;
    state.retrying = false;
    this.#running.set(key, state);
    void this.#runOne(key, state, this.#worker);
  }

  async #runOne(key: string, state: KeyState, worker: Worker): Promise<void> {
    try {
      await worker(key);
      if (!state.retrying) state.failures = 0;
    } catch (error) {
      this.#options.onError(key, error);
      if (!state.retrying) this.addRateLimited(key);
    }
    const nowMs = this.#now();
    const runMs = nowMs - state.startedAtMs;
    this.#running.delete(key);
    this.#options.metrics?.finished(runMs);
    state.phase = 'idle';
    const restMs = this.#options.restMs?.(key, runMs) ?? 0;
    if (restMs > 0) {
      state.restUntilMs = nowMs + restMs;
      this.#wakeAt(state.restUntilMs, key);
    }
    if (state.addedAtMs !== undefined && !this.#stopped) this.#enqueueUnlessResting(key, state);
    else this.#dropIfIdle(key, state);
    this.#schedulePump();
    this.#settleIfIdle();
  }

  /** A key that nothing is known of takes no memory. */
  #dropIfIdle(key: string, state: KeyState): void {
    const idle = state.phase === 'idle' && state.addedAtMs === undefined && state.dueAtMs === undefined;
    if (idle && state.failures === 0 && state.restUntilMs <= this.#now()) this.#keys.delete(key);
  }

  #wakeAt(atMs: number, key: string): void {
    this.#due.push(atMs, key);
    this.#armTimer();
  }

  #armTimer(): void {
    const atMs = this.#due.nextAtMs();
    if (atMs === undefined || this.#stopped) return;
    if (this.#timer !== undefined) {
      if (this.#timer.atMs <= atMs) return;
      this.#timer.timer.cancel();
    }
    const fire = (): void => {
      this.#timer = undefined;
      this.#fireDue();
    };
    this.#timer = { atMs, timer: this.#options.runtime.setTimer(Math.max(0, atMs - this.#now()), fire) };
  }

  #fireDue(): void {
    const nowMs = this.#now();
    for (let key = this.#due.popDue(nowMs); key !== undefined; key = this.#due.popDue(nowMs)) {
      // The heap may hold entries that time has overtaken: what counts is the key's state.
      const state = this.#keys.get(key);
      if (state === undefined) continue;
      if (state.dueAtMs !== undefined && state.dueAtMs <= nowMs) {
        state.dueAtMs = undefined;
        this.add(key);
      }
      if (state.phase === 'idle' && state.addedAtMs !== undefined && state.restUntilMs <= nowMs) {
        this.#enqueueUnlessResting(key, state);
      }
      this.#dropIfIdle(key, state);
    }
    this.#armTimer();
  }

  #settleIfIdle(): void {
    if (!this.#stopped || this.#running.size > 0) return;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  #depth(): number {
    return this.#waiting.length - this.#waitingHead;
  }

  #now(): number {
    return this.#options.runtime.monotonicMs();
  }
}
