/** A seeded generator (sfc32) whose whole state is four numbers, so that a fork of the world copies it. */

/** A span of milliseconds, both ends included. */
export type Range = readonly [minMs: number, maxMs: number];

export class Random {
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  private constructor(a: number, b: number, c: number, d: number) {
    this.#a = a;
    this.#b = b;
    this.#c = c;
    this.#d = d;
  }

  /** A generator for a seed and a stream name: equal arguments give equal numbers. */
  static seeded(seed: number, stream = ''): Random {
    let name = 0x811c9dc5;
    for (let i = 0; i < stream.length; i += 1) name = Math.imul(name ^ stream.charCodeAt(i), 0x01000193);
    const random = new Random(seed | 0, Math.floor(seed / 0x100000000) | 0, name | 0, 1);
    for (let i = 0; i < 12; i += 1) random.next();
    return random;
  }

  /** An independent generator at the same point. */
  clone(): Random {
    return new Random(this.#a, this.#b, this.#c, this.#d);
  }

  /** 32 random bits, as a non-negative integer. */
  next(): number {
    const t = (((this.#a + this.#b) | 0) + this.#d) | 0;
    this.#d = (this.#d + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (this.#c << 21) | (this.#c >>> 11);
    this.#c = (this.#c + t) | 0;
    return t >>> 0;
  }

  /** A number in [0, 1). */
  fraction(): number {
    return this.next() / 0x100000000;
  }

  /** A whole number of milliseconds in the span. */
  within(range: Range): number {
    const [min, max] = range;
    return min + Math.floor(this.fraction() * (max - min + 1));
  }

  /** True with the given probability. */
  chance(probability: number): boolean {
    return this.fraction() < probability;
  }
}
