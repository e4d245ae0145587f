/** Whether this process is well, and whether it may be counted on: the answers of `/healthz` and `/readyz`. */
import { type Caches, informersOf } from '@omenative/controllers';
import { resourceName } from '@omenative/kube';

export interface Verdict {
  readonly ok: boolean;
  /** One line a check, for people. */
  readonly lines: readonly string[];
}

/** A loop that stalls so long can't renew a lease in time. */
const maxLoopP99Ms = 5000;
/** A stream is torn down and opened again long before this: a silence beyond it means that nothing helps any more. */
const maxCacheAgeMs = 600_000;

/** `loopP99Ms`: milliseconds by which the event loop was late, at the 99th percentile, since the last look. */
export function healthOf(caches: Caches | undefined, loopP99Ms: number): Verdict {
  const isLoopWell = loopP99Ms <= maxLoopP99Ms;
  const lines = [`${mark(isLoopWell)} event loop: p99 ${Math.round(loopP99Ms)} ms`];
  let isWell = isLoopWell;
  for (const informer of caches === undefined ? [] : informersOf(caches)) {
    const { lastActivityAgeMs, objects, synced } = informer.stats();
    const isFresh = !synced || lastActivityAgeMs <= maxCacheAgeMs;
    isWell &&= isFresh;
    lines.push(
      `${mark(isFresh)} cache of ${resourceName(informer.type)}: ${objects} objects, last heard of ${Math.round(lastActivityAgeMs / 1000)} s ago`,
    );
  }
  return { ok: isWell, lines };
}

/** Ready once every cache holds a first complete list, leader or not. */
export function readinessOf(caches: Caches | undefined): Verdict {
  if (caches === undefined) return { ok: false, lines: ['[-] starting'] };
  const waiting = informersOf(caches).filter((informer) => !informer.store.synced);
  if (waiting.length === 0) return { ok: true, lines: ['[+] caches'] };
  return {
    ok: false,
    lines: waiting.map((informer) => `[-] cache of ${resourceName(informer.type)}: not complete yet`),
  };
}

function mark(ok: boolean): string {
  return ok ? '[+]' : '[-]';
}
