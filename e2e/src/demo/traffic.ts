/** Users of the Services: one request each so many milliseconds, sent wherever a lagging copy of the endpoints says. */
import type { Runtime, Timer } from '@omenative/kube';
import type { ProbeResult } from '@omenative/sim';

export interface Tally {
  sent: number;
  /** Requests that reached a pod whose container did not run. */
  failed: number;
  /** Requests for which there was no pod to send them to. */
  unrouted: number;
  /** Names of the pods that answered. */
  readonly answeredBy: Set<string>;
}

export interface TrafficOptions {
  readonly runtime: Runtime;
  /** Sends one request to a Service. */
  readonly send: (service: string) => ProbeResult;
  /** Milliseconds between two requests to the same Service. */
  readonly everyMs: number;
  /** Milliseconds before the first: a user, too, has to learn of a Service before using it. */
  readonly firstAfterMs: number;
}

export class Traffic {
  readonly #options: TrafficOptions;
  readonly #services: string[] = [];
  #timer: Timer | undefined;
  /** Since the beginning. */
  readonly total: Readonly<Tally> = emptyTally();
  /** Since the last `newPeriod`. */
  period: Readonly<Tally> = emptyTally();

  constructor(options: TrafficOptions) {
    this.#options = options;
  }

  /** Starts to send to these Services. */
  start(services: readonly string[]): void {
    this.#services.push(...services);
    const { runtime, firstAfterMs } = this.#options;
    this.#timer ??= runtime.setTimer(firstAfterMs, () => this.#send());
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  newPeriod(): void {
    this.period = emptyTally();
  }

  #send(): void {
    const { runtime, send, everyMs } = this.#options;
    for (const service of this.#services) {
      const result = send(service);
      count(this.total, result);
      count(this.period, result);
    }
    this.#timer = runtime.setTimer(everyMs, () => this.#send());
  }
}

function emptyTally(): Tally {
  return { sent: 0, failed: 0, unrouted: 0, answeredBy: new Set() };
}

function count(tally: Tally, result: ProbeResult): void {
  tally.sent += 1;
  if (result.ok) tally.answeredBy.add(result.pod);
  else if (result.why === 'refused') tally.failed += 1;
  else tally.unrouted += 1;
}
