/** Tables as kubectl prints them: columns as wide as their widest cell, three spaces between, nothing behind the last. */

const gap = 3;

/** Lines of a table; empty without rows. An empty cell is printed as `-`. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  if (rows.length === 0) return [];
  const lines = [header, ...rows].map((row) => row.map((cell) => (cell === '' ? '-' : cell)));
  const widths = header.map((_, at) => Math.max(...lines.map((row) => (row[at] ?? '').length)));
  return lines.map((row) =>
    row
      .map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd((widths[at] ?? 0) + gap)))
      .join('')
      .trimEnd(),
  );
}

/** `0-3,7`: ascending numbers as ranges; '' for none. */
export function ranges(numbers: readonly number[]): string {
  const sorted = [...new Set(numbers)].toSorted((a, b) => a - b);
  const parts: [number, number][] = [];
  for (const number of sorted) {
    const last = parts.at(-1);
    if (last !== undefined && last[1] === number - 1) last[1] = number;
    else parts.push([number, number]);
  }
  return parts.map(([from, to]) => (from === to ? String(from) : `${from}-${to}`)).join(',');
}

/** A paragraph in lines of at most `width` characters, each after `indent` spaces. */
export function paragraph(text: string, indent: number, width = 110): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/).filter((part) => part !== '')) {
    if (line !== '' && line.length + 1 + word.length > width - indent) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  if (line !== '') lines.push(line);
  return lines.map((full) => `${' '.repeat(indent)}${full}`);
}
