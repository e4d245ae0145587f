/**
 * Carries a plan's effects out, lane by lane: what takes pods out of rotation first, what puts them in last. A pass takes
 * its slice and leaves the rest: it is derived again.
 */
import type { Chain, Effect, EffectKey, Lane, Outcome } from '@omenative/engine';
import { isCreateKey, lanes } from '@omenative/engine';
import type { Limiter } from '../shared/limiter.js';
import type { ActContext } from './act/context.js';
import { createPod } from './act/create-pod.js';
import { deletePod } from './act/delete-pod.js';
import { refusalOf } from './act/fence.js';
import { gatePod } from './act/gate-pod.js';
import { ackMail } from './act/mail.js';
import { createRevision, deleteHeadless, deleteRevision, ensureHeadless, finalizer } from './act/objects.js';
import { isDone, type Result } from './act/outcome.js';
import { dropMarker, patchInPlace } from './act/patch-pod.js';

/** Chains of one pass that are under way at once; the requests of all passes have a limit of their own. */
const maxChainsAtOnce = 64;
/** Chains of the first waves of creates, while nobody knows whether they are taken. */
const slowStart: readonly number[] = [1, 2, 4, 8, 16, 32];

/** How much one pass may do. */
export interface Slice {
  /** Milliseconds after which nothing more is begun. */
  readonly maxMs: number;
  /** Effects begun at most. */
  readonly maxEffects: number;
}

export interface ActOptions {
  readonly context: ActContext;
  /** Shared by all passes: the requests in flight. */
  readonly limiter: Limiter;
  readonly slice: Slice;
  /** Told of each effect that was sent. */
  readonly onResult: (effect: Effect, result: Result) => void;
}

export interface ActReport {
  readonly outcomes: ReadonlyMap<EffectKey, Outcome>;
  /** The slice was used up: there is more to do now. */
  readonly isCut: boolean;
  /** An effect ended in a way that time or a new picture cures, and that no plan paces. */
  readonly isDisturbed: boolean;
  /** An effect was refused for a reason that the next plan paces: only that plan knows when to try again. */
  readonly isRefused: boolean;
}

/** Resolves when every effect that was begun has an outcome. Refusals are outcomes, not errors. */
export async function act(chains: readonly Chain[], options: ActOptions): Promise<ActReport> {
  const run = new Run(options);
  for (const lane of lanes) {
    const ofLane = chains.filter((chain) => chain.lane === lane);
    if (ofLane.length > 0) await run.lane(lane, ofLane);
  }
  return run.report();
}

class Run {
  readonly #options: ActOptions;
  readonly #startedAtMs: number;
  readonly #outcomes: Map<EffectKey, Outcome> = new Map();
  #begun = 0;
  #isCut = false;

  constructor(options: ActOptions) {
    this.#options = options;
    this.#startedAtMs = options.context.runtime.monotonicMs();
  }

  report(): ActReport {
    const disturbing: readonly Outcome['as'][] = ['conflict', 'guardFailed', 'transient', 'unknown', 'skipped'];
    const outcomes = [...this.#outcomes.values()];
    return {
      outcomes: this.#outcomes,
      isCut: this.#isCut,
      isDisturbed: outcomes.some((outcome) => disturbing.includes(outcome.as)),
      isRefused: outcomes.some((outcome) => !isDone(outcome) && !disturbing.includes(outcome.as)),
    };
  }

  async lane(lane: Lane, chains: readonly Chain[]): Promise<void> {
    let isStopped = false;
    let at = 0;
    const next = (): Chain | undefined => (isStopped || this.#isUsedUp(chains.length > at) ? undefined : chains[at++]);
    const runChain = async (chain: Chain): Promise<void> => {
      for (const effect of chain.effects) {
        if (isStopped || this.#isUsedUp(true)) return;
        const outcome = await this.#carryOut(effect);
        if (chain.stopLaneOn.includes(outcome.as)) isStopped = true;
        if (!isDone(outcome)) return;
      }
    };
    const worker = async (): Promise<void> => {
      for (let chain = next(); chain !== undefined; chain = next()) await runChain(chain);
    };
    // Creates start slowly: what the server refuses once, it would refuse for all.
    for (const wave of lane === 'create' && !this.#areCreatesTaken() ? slowStart : []) {
      const started = Array.from({ length: wave }, next).filter((chain) => chain !== undefined);
      if (started.length === 0) return;
      await Promise.all(started.map(runChain));
    }
    await Promise.all(Array.from({ length: Math.min(maxChainsAtOnce, chains.length - at) }, worker));
  }

  /** Whether the server has lately taken every pod that it was sent for this replica. */
  #areCreatesTaken(): boolean {
    const { inbox } = this.#options.context.observation.snapshot;
    const outcomes = [...inbox].flatMap(([key, outcome]) => (isCreateKey(key) ? [outcome] : []));
    return outcomes.length > 0 && outcomes.every(isDone);
  }

  /** Whether nothing more may be begun. `isMoreLeft` tells whether that leaves something undone. */
  #isUsedUp(isMoreLeft: boolean): boolean {
    const { slice, context } = this.#options;
    const elapsedMs = context.runtime.monotonicMs() - this.#startedAtMs;
    if (this.#begun < slice.maxEffects && elapsedMs < slice.maxMs) return false;
    this.#isCut ||= isMoreLeft;
    return true;
  }

  async #carryOut(effect: Effect): Promise<Outcome> {
    const { limiter, context, onResult } = this.#options;
    this.#begun++;
    const result = await limiter.run(() => send(context, effect));
    const outcome: Outcome = { as: result.as, detail: result.detail, at: Math.floor(context.runtime.nowMs() / 1000) };
    this.#outcomes.set(effect.key, outcome);
    onResult(effect, result);
    return outcome;
  }
}

/** Sends one effect, unless the fence has something against it. */
export async function send(context: ActContext, effect: Effect): Promise<Result> {
  const refusal = refusalOf(context, effect);
  if (refusal !== undefined) return { as: 'skipped', detail: refusal };
  switch (effect.do) {
    case 'createPod':
      return createPod(context, effect);
    case 'deletePod':
      return deletePod(context, effect);
    case 'gate':
      return gatePod(context, effect);
    case 'patchInPlace':
      return patchInPlace(context, effect);
    case 'dropMarker':
      return dropMarker(context, effect);
    case 'ackMail':
      return ackMail(context, effect);
    case 'finalizer':
      return finalizer(context, effect);
    case 'createRevision':
      return createRevision(context, effect);
    case 'deleteRevision':
      return deleteRevision(context, effect);
    case 'ensureHeadless':
      return ensureHeadless(context);
    case 'deleteHeadless':
      return deleteHeadless(context);
  }
}
