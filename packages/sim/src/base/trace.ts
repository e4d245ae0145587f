/** What happened, for a person to read and for two runs to be compared by one hash. */

export interface TraceLine {
  readonly atMs: number;
  readonly text: string;
}

export class Trace {
  readonly #lines: TraceLine[];
  readonly #keep: number;
  #low: number;
  #high: number;

  /** `keep` is the number of lines remembered; the hash covers all of them. */
  constructor(keep: number, from?: Trace) {
    this.#keep = keep;
    this.#lines = from === undefined ? [] : [...from.#lines];
    this.#low = from === undefined ? 0x811c9dc5 : from.#low;
    this.#high = from === undefined ? 0x9dc5811c : from.#high;
  }

  add(atMs: number, text: string): void {
    this.#lines.push({ atMs, text });
    if (this.#lines.length > 2 * this.#keep) this.#lines.splice(0, this.#keep);
    this.#mix(`${atMs} ${text}\n`);
  }

  /** 16 hexadecimal digits over every line so far. */
  hash(): string {
    return hex(this.#high) + hex(this.#low);
  }

  /** The last lines, at most `limit`. */
  lines(limit: number): readonly TraceLine[] {
    return this.#lines.slice(Math.max(0, this.#lines.length - Math.min(limit, this.#keep)));
  }

  #mix(text: string): void {
    let low = this.#low;
    let high = this.#high;
    for (let i = 0; i < text.length; i += 1) {
      const code = text.charCodeAt(i);
      low = Math.imul(low ^ code, 0x01000193);
      high = Math.imul(high ^ code ^ (low >>> 16), 0x01000193);
    }
    this.#low = low;
    this.#high = high;
  }
}

function hex(value: number): string {
  return (value >>> 0).toString(16).padStart(8, '0');
}
