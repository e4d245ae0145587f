/**
 * Spaces status writes that tell of counts alone: in a rollout a replica's counters move many times a second, and everybody
 * who watches the service would hear of each.
 */
import type { Runtime } from '@omenative/kube';
import { asRecords, type JsonRecord, sameJson } from '../shared/json.js';

/** Milliseconds between two writes that tell of counts alone. */
const spacingMs = 1000;

export class WritePacing {
  readonly #runtime: Runtime;
  readonly #writtenAtMs: Map<string, number> = new Map();

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  /** Milliseconds until `after` may be written over `before`; 0 when it may now. `key` is `namespace/name`. */
  waitMs(key: string, before: JsonRecord, after: JsonRecord): number {
    const writtenAtMs = this.#writtenAtMs.get(key);
    if (writtenAtMs === undefined || !sameJson(headline(before), headline(after))) return 0;
    return Math.max(0, writtenAtMs + spacingMs - this.#runtime.monotonicMs());
  }

  written(key: string): void {
    this.#writtenAtMs.set(key, this.#runtime.monotonicMs());
  }

  forget(key: string): void {
    this.#writtenAtMs.delete(key);
  }
}

/** What somebody may wait for. */
function headline(status: JsonRecord): JsonRecord {
  return {
    observedGeneration: status['observedGeneration'],
    url: status['url'],
    modelStatus: status['modelStatus'],
    conditions: asRecords(status['conditions']).map((condition) => [condition['type'], condition['status']]),
  };
}
