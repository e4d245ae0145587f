/**
 * The bytes that a status has left. Trimming what crash safety needs is out of the question, so new operations wait for room:
 * a status that no longer fits into one object could not even record that they have ended.
 */
import {
  chosenEncoding,
  type DecodedStatus,
  defaultEncodeOptions,
  type InstanceRow,
  rowBytes,
  type StatusEncoding,
  statusBytes,
} from '@omenative/api';
import type { Hold } from './hold.js';
import type { Snapshot } from './snapshot.js';

/** Operations start only while the encoded status stays below this. etcd refuses 1.5 MiB. */
export const statusLimitBytes: number = 1024 * 1024;

/** Fewer rows than this fit whatever they say. */
const rowsThatAlwaysFit = 500;

/** What a row adds to columns beside its entry: its place in the index sets of a few groups. */
const columnBytes = 40;

/** The room of one pass. What is admitted is charged; what ends frees nothing before the next pass. */
export class StatusRoom {
  readonly #snapshot: Snapshot;
  readonly #rows: ReadonlyMap<number, InstanceRow>;
  #state: { readonly encoding: StatusEncoding; left: number } | undefined;
  #refused = 0;

  /** `rows` are those of the pass as decided so far: they are looked at when the first operation wants to start. */
  constructor(snapshot: Snapshot, rows: ReadonlyMap<number, InstanceRow>) {
    this.#snapshot = snapshot;
    this.#rows = rows;
  }

  /** Whether the rows that start an operation fit; they are charged when they do. */
  admits(rows: readonly InstanceRow[]): boolean {
    if (this.#rows.size + rows.length < rowsThatAlwaysFit) return true;
    this.#state ??= this.#measured();
    const { encoding, left } = this.#state;
    const cost = rows.reduce(
      (sum, row) => sum + bytesOf(row, encoding) - bytesOf(this.#rows.get(row.index), encoding),
      0,
    );
    if (cost > left) {
      this.#refused += 1;
      return false;
    }
    this.#state.left = left - cost;
    return true;
  }

  /** What waits for room; undefined when nothing does. */
  hold(): Hold | undefined {
    if (this.#refused === 0) return undefined;
    return {
      is: 'StatusBytes',
      text: `the status of ${this.#rows.size} Instance(s) has no room for more operations (limit ${statusLimitBytes} bytes): they start when others end; a component this large is better split`,
      wake: [{ on: 'pod', key: '*' }],
    };
  }

  #measured(): { readonly encoding: StatusEncoding; left: number } {
    const status: DecodedStatus = { ...this.#snapshot.status, rows: new Map(this.#rows) };
    const encoding = chosenEncoding(status, this.#snapshot.statusEncoding ?? defaultEncodeOptions);
    return { encoding, left: statusLimitBytes - statusBytes(status, encoding) };
  }
}

function bytesOf(row: InstanceRow | undefined, encoding: StatusEncoding): number {
  if (row === undefined) return 0;
  const { dense, entry } = rowBytes(row);
  return encoding === 'DenseV1' ? dense + 1 : entry + columnBytes;
}
