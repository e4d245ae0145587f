/** Sets of indexes as canonical text, `0-2,5`: closed ranges, ascending, merged where they touch. */
import type { Index } from './rows.js';
import { maxInt32, shown } from './wire.js';

/** All indexes from `first` to `last`, both included. */
export interface IndexRange {
  readonly first: Index;
  readonly last: Index;
}

export type IndexSetResult =
  | { readonly ok: true; readonly ranges: readonly IndexRange[] }
  | {
      readonly ok: false;
      readonly reason: 'range_syntax' | 'range_order' | 'range_overflow' | 'canonical_order';
      readonly message: string;
    };

const term = /^(0|[1-9][0-9]*)(?:-(0|[1-9][0-9]*))?$/;

function fault(reason: Extract<IndexSetResult, { ok: false }>['reason'], text: string, what: string): IndexSetResult {
  return { ok: false, reason, message: `${shown(text)} is not an index set: ${what}` };
}

/**
 * Reads an index set. It allocates one range a term, never one item an index, so that a short text that names two thousand
 * million indexes costs nothing. Only the canonical text of a set is accepted.
 */
export function parseIndexSet(text: string): IndexSetResult {
  const ranges: IndexRange[] = [];
  let previous: IndexRange | undefined;
  for (const part of text.split(',')) {
    const match = term.exec(part);
    if (match === null) return fault('range_syntax', text, `${shown(part)} is neither a number nor a range`);
    const first = Number(match[1]);
    const last = match[2] === undefined ? first : Number(match[2]);
    if (first > maxInt32 || last > maxInt32) return fault('range_overflow', text, `${part} goes beyond ${maxInt32}`);
    if (match[2] !== undefined && first >= last) return fault('range_order', text, `${part} does not ascend`);
    if (previous !== undefined && first <= previous.last) {
      return fault('range_order', text, `${part} does not come after ${previous.last}`);
    }
    if (previous !== undefined && first === previous.last + 1) {
      return fault('canonical_order', text, `${part} continues the range that ends with ${previous.last}`);
    }
    previous = { first, last };
    ranges.push(previous);
  }
  return { ok: true, ranges };
}

/** Writes one index set as canonical text, from indexes that come in ascending order. */
export class IndexSetWriter {
  #closed = '';
  #first: Index | undefined;
  #last = 0;

  /** Adds `index`, which is the last one added or comes after it. */
  add(index: Index): void {
    if (this.#first === undefined || index > this.#last + 1) {
      if (this.#first !== undefined) this.#closed = `${this.#closed}${this.#openTerm(this.#first)},`;
      this.#first = index;
    }
    this.#last = index;
  }

  /** The text so far; '' for none, which no field may hold. */
  text(): string {
    return this.#first === undefined ? '' : `${this.#closed}${this.#openTerm(this.#first)}`;
  }

  #openTerm(first: Index): string {
    return first === this.#last ? `${first}` : `${first}-${this.#last}`;
  }
}

/** The canonical text of a set of indexes given in any order, repeats allowed; '' for none, which no field may hold. */
export function printIndexSet(indexes: Iterable<Index>): string {
  const writer = new IndexSetWriter();
  for (const index of [...indexes].toSorted((a, b) => a - b)) writer.add(index);
  return writer.text();
}

/** How many indexes the ranges of one set hold. */
export function countIndexes(ranges: readonly IndexRange[]): number {
  return ranges.reduce((sum, range) => sum + range.last - range.first + 1, 0);
}
