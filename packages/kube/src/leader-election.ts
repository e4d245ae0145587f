/**
 * Makes at most one of several copies of a process work. What counts is the monotonic clock: we hold the lease for a
 * while after we asked for it, and believe that others do until it has stood unchanged for its duration before our eyes.
 */
import type { Client } from './client.js';
import { classify } from './errors.js';
import type { FenceState } from './fence.js';
import { claimed, type Lease, leases, released } from './lease.js';
import type { Runtime, Timer } from './runtime.js';

export interface LeaderElectionOptions {
  /** Not fenced by this election, and not held up by a rate limit. */
  readonly client: Client;
  readonly runtime: Runtime;
  readonly namespace: string;
  /** Name of the Lease. */
  readonly name: string;
  /** Unique to this process. */
  readonly identity: string;
  /** Milliseconds for which others wait before they take the lease of a silent holder. Above `renewDeadlineMs`. */
  readonly leaseDurationMs: number;
  /** Milliseconds after the last renewal at which a holder gives up. Above `retryPeriodMs` by more than its jitter. */
  readonly renewDeadlineMs: number;
  /** Milliseconds between two tries. */
  readonly retryPeriodMs: number;
  /** The lease is ours, and writes may start. */
  readonly onAcquired: () => void;
  /**
   * The lease is lost, and the fence was shut before this is called. Called at most once: an election that was lost is
   * over, and the process should end, since work that began under the lease may still be under way.
   */
  readonly onLost: (why: string) => void;
  /** Told of tries that failed, for the log. */
  readonly report: (message: string) => void;
}

const jitterFactor = 1.2;

/**
 * Checks what an election needs to be safe.
 *
 * @throws RangeError unless leaseDuration > renewDeadline > 1.2 × retryPeriod > 0.
 */
export function checkTiming(
  timing: Pick<LeaderElectionOptions, 'leaseDurationMs' | 'renewDeadlineMs' | 'retryPeriodMs'>,
): void {
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = timing;
  if (leaseDurationMs > renewDeadlineMs && renewDeadlineMs > jitterFactor * retryPeriodMs && retryPeriodMs > 0) return;
  throw new RangeError(
    `leader election: lease duration (${leaseDurationMs} ms) must be above the renew deadline (${renewDeadlineMs} ms), ` +
      `and that above ${jitterFactor} times the retry period (${retryPeriodMs} ms), which must be above zero`,
  );
}

/** A lease as somebody else left it, and since when we have seen it so. */
interface Observed {
  readonly record: string;
  readonly sinceMs: number;
}

export class LeaderElection {
  readonly #options: LeaderElectionOptions;
  readonly #client: Client;
  #state: 'idle' | 'candidate' | 'leader' | 'over' = 'idle';
  /** The lease as we last read or wrote it; undefined when it must be read. */
  #lease: Lease | undefined;
  #observed: Observed | undefined;
  /** Monotonic time at which our last successful claim was sent. */
  #claimedAtMs = 0;
  #timer: Timer | undefined;
  #deadline: Timer | undefined;
  #round: Promise<void> = Promise.resolve();

  /** @throws RangeError as `checkTiming` does. */
  constructor(options: LeaderElectionOptions) {
    checkTiming(options);
    this.#options = options;
    // The rounds are the retries; a request that repeated itself would outlast the deadline.
    this.#client = options.client.withRetry({ maxAttempts: 1, maxWaitMs: 0 });
  }

  /** Begins to try; idempotent. */
  start(): void {
    if (this.#state !== 'idle') return;
    this.#state = 'candidate';
    this.#nextRound();
  }

  /** Whether the lease is ours now, by the monotonic clock: true until the renew deadline after the last renewal. */
  isHeld(): boolean {
    return this.#state === 'leader' && this.#sinceClaimMs() < this.#options.renewDeadlineMs;
  }

  /** For `Client.fenced`. */
  fence(): FenceState {
    if (this.isHeld()) return { open: true };
    const { namespace, name } = this.#options;
    const what = this.#state === 'leader' ? 'was not renewed in time' : 'is not held';
    return { open: false, why: `the lease ${namespace}/${name} ${what} by this process` };
  }

  /** The holder as last seen; undefined when unknown or nobody. */
  get holder(): string | undefined {
    const holder = this.#lease?.spec?.holderIdentity;
    return holder === '' ? undefined : holder;
  }

  /**
   * Ends the election; the fence is shut when this returns. Resolves once the lease was given up for the next holder to
   * take at once, or could not be: then it runs out by itself. Call it when no work is under way any more.
   */
  async release(): Promise<void> {
    this.#end();
    await this.#round;
    const { runtime, report } = this.#options;
    if (this.#lease === undefined || !this.#isOurs(this.#lease)) return;
    try {
      const lease = released(this.#lease, runtime.nowMs());
      this.#lease = await this.#client.replace(leases, lease, { deadlineMs: this.#requestDeadlineMs() });
    } catch (error) {
      report(`the lease could not be released and runs out by itself: ${messageOf(error)}`);
    }
  }

  #nextRound(): void {
    this.#round = this.#runRound();
  }

  async #runRound(): Promise<void> {
    await this.#tryOnce();
    if (this.#isOver()) return;
    const { runtime, retryPeriodMs } = this.#options;
    // A leader renews on the beat; candidates scatter, so that they do not all try at once.
    const jitter = this.#state === 'leader' ? 1 : 1 + (jitterFactor - 1) * runtime.random();
    this.#timer = runtime.setTimer(retryPeriodMs * jitter, () => this.#nextRound());
  }

  async #tryOnce(): Promise<void> {
    try {
      await this.#claim();
    } catch (error) {
      // Whatever went wrong, what we remember of the lease may be wrong too: read it before the next try.
      this.#lease = undefined;
      const as = classify(error);
      const isLostRace = as === 'conflict' || as === 'alreadyExists';
      if (!isLostRace) this.#options.report(`the lease was not ${this.#verb()}: ${messageOf(error)}`);
    }
  }

  async #claim(): Promise<void> {
    const { runtime, namespace, name, identity, leaseDurationMs: durationMs } = this.#options;
    const options = { deadlineMs: this.#requestDeadlineMs() };
    // Somebody else's lease is read anew each round; only our own is written from memory.
    if (this.#lease === undefined || !this.#isOurs(this.#lease)) this.#lease = await this.#read(options);
    if (this.#isOver()) return;
    const isTaken = this.#lease !== undefined && !this.#isOurs(this.#lease);
    if (this.#state === 'leader' && isTaken) {
      this.#lose(`it is held by ${this.holder ?? 'nobody'} now`);
      return;
    }
    if (isTaken && this.#isAlive(this.#lease)) return;
    // Before the request: the server's clock may start to count at any moment after this.
    const sentAtMs = runtime.monotonicMs();
    const claim = claimed(this.#lease, { namespace, name }, { identity, durationMs, nowMs: runtime.nowMs() });
    const isNew = claim.metadata?.resourceVersion === undefined;
    this.#lease = isNew
      ? await this.#client.create(leases, claim, options)
      : await this.#client.replace(leases, claim, options);
    this.#onClaimed(sentAtMs);
  }

  async #read(options: { readonly deadlineMs: number }): Promise<Lease | undefined> {
    const { namespace, name } = this.#options;
    try {
      return await this.#client.get(leases, { namespace, name }, options);
    } catch (error) {
      if (classify(error) === 'notFound') return undefined;
      throw error;
    }
  }

  /** Asked after each wait, in which anything may have happened. */
  #isOver(): boolean {
    return this.#state === 'over';
  }

  #isOurs(lease: Lease): boolean {
    return lease.spec?.holderIdentity === this.#options.identity;
  }

  /** Whether somebody else's lease has not yet stood unchanged for its duration. */
  #isAlive(lease: Lease | undefined): boolean {
    const { runtime, leaseDurationMs } = this.#options;
    const { holderIdentity = '', leaseDurationSeconds } = lease?.spec ?? {};
    if (holderIdentity === '') return false;
    const record = JSON.stringify(lease?.spec);
    if (this.#observed?.record !== record) this.#observed = { record, sinceMs: runtime.monotonicMs() };
    const durationMs = leaseDurationSeconds === undefined ? leaseDurationMs : leaseDurationSeconds * 1000;
    return runtime.monotonicMs() - this.#observed.sinceMs < durationMs;
  }

  #onClaimed(sentAtMs: number): void {
    if (this.#isOver()) return;
    const { runtime, renewDeadlineMs, onAcquired } = this.#options;
    const remainingMs = sentAtMs + renewDeadlineMs - runtime.monotonicMs();
    // An answer that comes after the deadline proves nothing about now.
    if (remainingMs <= 0) return;
    this.#claimedAtMs = sentAtMs;
    this.#deadline?.cancel();
    this.#deadline = runtime.setTimer(remainingMs, () =>
      this.#lose(`it was not renewed within ${renewDeadlineMs / 1000} s`),
    );
    if (this.#state === 'leader') return;
    this.#state = 'leader';
    onAcquired();
  }

  #lose(why: string): void {
    this.#end();
    this.#options.onLost(why);
  }

  #end(): void {
    this.#state = 'over';
    this.#timer?.cancel();
    this.#deadline?.cancel();
  }

  /** Leaves room for a second try before the deadline. */
  #requestDeadlineMs(): number {
    return this.#options.renewDeadlineMs / 2;
  }

  #sinceClaimMs(): number {
    return this.#options.runtime.monotonicMs() - this.#claimedAtMs;
  }

  #verb(): string {
    return this.#state === 'leader' ? 'renewed' : 'acquired';
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
