/** The page that the demo writes: at most a hundred columns, in colour where somebody sees it. */
import { styleText } from 'node:util';

/** Where the page goes: standard output, or a test's list. */
export interface Paper {
  write(text: string): unknown;
  /** Absent, or false: no colour. A terminal says no when the environment carries NO_COLOR. */
  hasColors?(): boolean;
}

type Style = Parameters<typeof styleText>[0];

const columns = 100;
const margin = '   ';
const topicColumns = 11;

export class Screen {
  readonly #paper: Paper;
  readonly #isColoured: boolean;

  constructor(paper: Paper) {
    this.#paper = paper;
    this.#isColoured = paper.hasColors?.() === true;
  }

  /** A title, and what there is to say about it, if anything. */
  heading(title: string, sentence: string): void {
    this.#write(`\n${this.#styled('bold', title)}`);
    if (sentence !== '') this.text(sentence);
  }

  /** A paragraph. */
  text(paragraph: string): void {
    for (const line of wrapped(paragraph, columns - margin.length)) this.#write(margin + line);
  }

  /** Something that was seen, `atMs` milliseconds from the beginning. */
  seen(atMs: number, topic: string, what: string): void {
    const time = `${(atMs / 1000).toFixed(1)}s`.padStart(6);
    const indent = ' '.repeat(margin.length + time.length + 2 + topicColumns);
    const [first = '', ...rest] = wrapped(what, columns - indent.length);
    const style: Style = topic === 'event' ? 'dim' : 'reset';
    this.#write(
      `${margin}${this.#styled('dim', time)}  ${this.#styled('cyan', topic.padEnd(topicColumns))}${this.#styled(style, first)}`,
    );
    for (const line of rest) this.#write(indent + this.#styled(style, line));
  }

  /** An expectation that was met. */
  met(what: string): void {
    this.#entry(`${margin}${this.#styled('green', '✓')} `, what, 5);
  }

  /** An expectation that was not. */
  unmet(expected: string, seen: string): void {
    const mark = this.#styled('red', '✗');
    this.#entry(`${margin}${mark} expected: `, expected, 14);
    this.#entry(`${margin}  seen:     `, seen, 14);
  }

  /** A row of a table of two columns. */
  row(name: string, value: string): void {
    this.#write(`${margin}${name.padEnd(15)}${value}`);
  }

  /** A block of lines that are to be copied: as they are, from the first column. */
  verbatim(lines: readonly string[]): void {
    this.#write('');
    for (const line of lines) this.#write(line);
    this.#write('');
  }

  #entry(lead: string, text: string, leadColumns: number): void {
    const [first = '', ...rest] = wrapped(text, columns - leadColumns);
    this.#write(lead + first);
    for (const line of rest) this.#write(' '.repeat(leadColumns) + line);
  }

  #styled(style: Style, text: string): string {
    // Whether there are colours was asked of our own paper, which need not be the process's output.
    return this.#isColoured && style !== 'reset' ? styleText(style, text, { validateStream: false }) : text;
  }

  #write(line: string): void {
    this.#paper.write(`${line.trimEnd()}\n`);
  }
}

/** The text in lines of at most `width` columns, broken at spaces where there are any. */
export function wrapped(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  lines.push(line);
  return lines;
}
