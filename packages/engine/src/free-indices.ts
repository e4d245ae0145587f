/** Which indices a new Instance may get: a name is never given to two. */
import type { Index, InstanceRow } from '@omenative/api';
import type { Snapshot } from './snapshot.js';

/** Indices that a hand-over names: neither half may leave, and nobody else may take them. */
export function claims(rows: Iterable<InstanceRow>): readonly Index[] {
  return [...rows].flatMap((row) => (row.kind === 'gangFrom' || row.kind === 'migrateFrom' ? [row.op.surgeIndex] : []));
}

/** Indices that no row, claim, pod or write of ours on its way uses. The rows may grow meanwhile. */
export class FreeIndices {
  readonly #rows: ReadonlyMap<Index, InstanceRow>;
  readonly #used: Set<Index>;
  /** No lower index is free. */
  #from = 0;

  constructor(snapshot: Snapshot, rows: ReadonlyMap<Index, InstanceRow>) {
    this.#rows = rows;
    this.#used = new Set([...claims(rows.values()), ...snapshot.pods.keys(), ...snapshot.blind]);
  }

  lowest(): Index {
    while (this.#rows.has(this.#from) || this.#used.has(this.#from)) this.#from += 1;
    return this.#from;
  }

  /** The lowest one, which is not given away again. */
  take(): Index {
    const index = this.lowest();
    this.#used.add(index);
    return index;
  }
}
