/**
 * The gate of a new leader: no pass comes before every stream has passed the state that was there when the lease was won.
 * A cache that lags behind the last leader's writes would show healthy pods as missing.
 */
import { type Client, type Informer, isNewer, type Runtime, sleep } from '@omenative/kube';
import type { Log } from '../shared/log.js';

/** Milliseconds that an idle stream is given before it is started again: its next bookmark may be a minute away. */
const patienceMs = 1000;
const retryMs = 1000;

export interface TakeoverOptions {
  readonly client: Client;
  readonly runtime: Runtime;
  readonly log: Log;
  readonly informers: readonly Informer<unknown>[];
  /** Where the informers look; absent: all namespaces. */
  readonly namespace?: string;
  /** Whether the wait was called off. */
  readonly isStopped: () => boolean;
}

/** Resolves once all caches are at least as new as the moment of the call, or once it was called off. */
export async function whenCaughtUp(options: TakeoverOptions): Promise<void> {
  await Promise.all(options.informers.map((informer) => caughtUp(options, informer)));
}

async function caughtUp(options: TakeoverOptions, informer: Informer<unknown>): Promise<void> {
  const { client, runtime, log, isStopped, namespace } = options;
  const scope = namespace === undefined ? {} : { namespace };
  let head: string | undefined;
  while (head === undefined && !isStopped()) {
    try {
      // One item is enough: the list's own version is the state of the whole.
      head = (await client.list(informer.type, { ...scope, limit: 1 })).resourceVersion;
    } catch (error) {
      const what = error instanceof Error ? error.message : String(error);
      log('warn', `the head of ${informer.type.plural} could not be read; trying again: ${what}`, {});
      await sleep(runtime, retryMs);
    }
  }
  if (head === undefined) return;
  await informer.whenSynced();
  if (!isNewer(head, informer.store.position)) return;
  const timer = runtime.setTimer(patienceMs, () => informer.relistNotOlderThan(head));
  await new Promise<void>((resolve) => informer.whenAt(head, resolve));
  timer.cancel();
}
