/** How a report is printed: as a table for people, or whole, as JSON or YAML. */
import { stringify } from 'yaml';

export const formats = ['table', 'wide', 'json', 'yaml'] as const;
export type Format = (typeof formats)[number];

/** The text of a report, with its last newline. `lines` prints it for people. */
export function rendered<R>(
  report: R,
  format: Format,
  lines: (report: R, width: 'table' | 'wide') => readonly string[],
): string {
  switch (format) {
    case 'json':
      return `${JSON.stringify(report, null, 2)}\n`;
    case 'yaml':
      return stringify(report, { lineWidth: 0, aliasDuplicateObjects: false });
    case 'table':
    case 'wide':
      return `${lines(report, format).join('\n')}\n`;
  }
}
