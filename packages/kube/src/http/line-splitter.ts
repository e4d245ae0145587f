/** Cuts a byte stream into lines of text. Characters and lines may be split anywhere; a line may be of any length. */

const newline = 0x0a;

export class LineSplitter {
  /** Pieces of the line that has not ended yet. */
  #pieces: Buffer[] = [];

  /** Whether the bytes so far end in the middle of a line. */
  get isMidLine(): boolean {
    return this.#pieces.length > 0;
  }

  /** Calls `onLine` for each line that ends in this chunk, without its line end. */
  push(chunk: Buffer, onLine: (line: string) => void): void {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      onLine(this.#complete(chunk, start, end));
      start = end + 1;
    }
    if (start < chunk.length) this.#pieces.push(chunk.subarray(start));
  }

  /** Bytes become text only when the line is whole: a chunk may end within a character. */
  #complete(chunk: Buffer, start: number, end: number): string {
    if (this.#pieces.length === 0) return chunk.toString('utf8', start, end);
    const line = Buffer.concat([...this.#pieces, chunk.subarray(start, end)]).toString('utf8');
    this.#pieces = [];
    return line;
  }
}
