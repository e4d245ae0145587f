/**
 * Names that foreign objects take. Such an object is in no cache of ours, so that nothing tells when it goes: the name is
 * tried again after a while, and not on every pass.
 */
import type { Runtime } from '@omenative/kube';

/** Milliseconds between two tries of a name. */
export const nameRetryMs = 30_000;

export class NameHolds {
  readonly #runtime: Runtime;
  readonly #holds: Map<string, { readonly message: string; readonly untilMs: number }> = new Map();

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /** The name `key` was found taken now. */
  hold(key: string, message: string): void {
    this.#holds.set(key, { message, untilMs: this.#runtime.monotonicMs() + nameRetryMs });
  }

  /** What was found, while it is not yet time to try again. */
  message(key: string): string | undefined {
    const hold = this.#holds.get(key);
    if (hold === undefined || hold.untilMs > this.#runtime.monotonicMs()) return hold?.message;
    this.#holds.delete(key);
    return undefined;
  }
}
