/**
 * Sends requests to a Service at a steady rate, each over a connection of its own, and remembers what became of them. A
 * kept connection would stay with the pod it was made to and say nothing about routing.
 */
import { get } from 'node:http';
import { type Runtime, sleep, type Timer } from '@omenative/kube';

const requestsPerSecond = 60;
/** A busy machine stands still for a second or two; a request that was sent to a pod which is gone is never answered. */
const timeoutMs = 5000;
/** Answers in a row after which the routes of the cluster's nodes are taken to be in place. */
const steadyAnswers = 20;

export interface FailedRequest {
  /** Milliseconds since the prober was started. */
  readonly atMs: number;
  readonly reason: string;
}

export interface ProbeReport {
  readonly sent: number;
  readonly failures: readonly FailedRequest[];
  /** How many answers carried each text. */
  readonly answers: ReadonlyMap<string, number>;
}

export class Prober {
  readonly #url: string;
  readonly #runtime: Runtime;
  readonly #startedAtMs: number;
  readonly #failures: FailedRequest[] = [];
  readonly #answers = new Map<string, number>();
  readonly #inFlight = new Set<Promise<void>>();
  #sent = 0;
  #timer: Timer | undefined;

  private constructor(url: string, runtime: Runtime) {
    this.#url = url;
    this.#runtime = runtime;
    this.#startedAtMs = runtime.monotonicMs();
  }

  /**
   * Waits until the address answers steadily, and starts. Addresses of pods and Services must be reachable from this
   * machine, as they are with `scripts/cluster`.
   *
   * @throws Error when it does not answer within `withinMs`.
   */
  static async start(url: string, runtime: Runtime, withinMs = 15_000): Promise<Prober> {
    await untilSteady(url, runtime, withinMs);
    const prober = new Prober(url, runtime);
    prober.#tick(0);
    return prober;
  }

  /** What has become of the requests that were answered so far, or failed. */
  report(): ProbeReport {
    return { sent: this.#sent, failures: [...this.#failures], answers: new Map(this.#answers) };
  }

  /** Sends no more, and waits for what is under way. */
  async stop(): Promise<ProbeReport> {
    this.#timer?.cancel();
    this.#timer = undefined;
    await Promise.all(this.#inFlight);
    return this.report();
  }

  /** Each request has its own due time, so that a busy moment of this process is made up for. */
  #tick(number: number): void {
    const dueMs = this.#startedAtMs + ((number + 1) * 1000) / requestsPerSecond;
    this.#timer = this.#runtime.setTimer(Math.max(0, dueMs - this.#runtime.monotonicMs()), () => {
      this.#tick(number + 1);
    });
    const atMs = Math.round(this.#runtime.monotonicMs() - this.#startedAtMs);
    this.#sent += 1;
    const request = requestOnce(this.#url).then(
      (text) => void this.#answers.set(text, (this.#answers.get(text) ?? 0) + 1),
      (error: Error) => void this.#failures.push({ atMs, reason: error.message }),
    );
    this.#inFlight.add(request);
    void request.finally(() => this.#inFlight.delete(request));
  }
}

/** `12 of 600 failed: 3.1 s ECONNREFUSED; …`. */
export function textOf({ sent, failures, answers }: ProbeReport): string {
  const some = failures.slice(0, 20).map(({ atMs, reason }) => `${(atMs / 1000).toFixed(1)} s ${reason}`);
  const texts = [...answers].map(([text, count]) => `${count} × "${text}"`);
  return `${failures.length} of ${sent} failed: ${some.join('; ')} (answers: ${texts.join(', ')})`;
}

/** The body of the answer to one request over a new connection. @throws Error saying what went wrong. */
export function requestOnce(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent: false, timeout: timeoutMs, headers: { connection: 'close' } }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const body = Buffer.concat(chunks).toString().trim();
        if (response.statusCode === 200) resolve(body);
        else reject(new Error(`status ${response.statusCode}: ${body.slice(0, 80)}`));
      });
    });
    request.on('timeout', () => request.destroy(new Error(`no answer within ${timeoutMs} ms`)));
    request.on('error', reject);
  });
}

async function untilSteady(url: string, runtime: Runtime, withinMs: number): Promise<void> {
  const deadlineMs = runtime.monotonicMs() + withinMs;
  let reason = '';
  for (let inARow = 0; inARow < steadyAnswers; ) {
    if (runtime.monotonicMs() > deadlineMs) {
      throw new Error(`${url} does not answer steadily from this machine within ${withinMs / 1000} s: ${reason}`);
    }
    try {
      await requestOnce(url);
      inARow += 1;
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error);
      inARow = 0;
      await sleep(runtime, 100);
    }
  }
}
