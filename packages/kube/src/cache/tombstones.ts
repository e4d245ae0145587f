/** Bounded memory of proved deletions: the difference between an object that is gone and one that is not seen yet. */
import type { ObjectKey } from '../resources.js';

/** Which object is proved gone, and the version at which its deletion was seen. */
export interface DeletionProof {
  readonly uid: string;
  readonly resourceVersion: string;
}

export class Tombstones {
  readonly #limit: number;
  readonly #proofs: Map<ObjectKey, DeletionProof> = new Map();

  /** Beyond `limit` proofs the oldest is given up: its absence then has to be proved by a live read. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  get(key: ObjectKey): DeletionProof | undefined {
    return this.#proofs.get(key);
  }

  set(key: ObjectKey, proof: DeletionProof): void {
    this.#proofs.delete(key);
    this.#proofs.set(key, proof);
    if (this.#proofs.size <= this.#limit) return;
    const oldest = this.#proofs.keys().next();
    if (oldest.done !== true) this.#proofs.delete(oldest.value);
  }

  /** The key lives again, or nobody asks about it any more. */
  delete(key: ObjectKey): void {
    this.#proofs.delete(key);
  }
}
