/** Total readers of foreign JSON: whatever an object holds, a read answers with the wanted type or with "nothing". */

export type JsonRecord = Readonly<Record<string, unknown>>;

/** `value` when it is a JSON object, else an empty one. */
export function asRecord(value: unknown): JsonRecord {
  return isRecord(value) ? value : {};
}

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** `value` when it is a list, else an empty one. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The objects of a list; other members are left out. */
export function asRecords(value: unknown): readonly JsonRecord[] {
  return asList(value).filter(isRecord);
}

/** `value` when it is text, else ''. */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** `value` when it is a safe integer. */
export function asInteger(value: unknown): number | undefined {
  return Number.isSafeInteger(value) ? (value as number) : undefined;
}

/** The members of a list that are text. */
export function asTexts(value: unknown): readonly string[] {
  return asList(value).filter((item) => typeof item === 'string');
}

/** The members of an object whose value is text: labels, annotations, selectors. */
export function asTextMap(value: unknown): Readonly<Record<string, string>> {
  const map: Record<string, string> = {};
  for (const [key, member] of Object.entries(asRecord(value))) if (typeof member === 'string') map[key] = member;
  return map;
}

/** The non-negative integer that `text` is, in canonical decimal form. */
export function parseCount(text: string | undefined): number | undefined {
  if (text === undefined || !/^(0|[1-9][0-9]*)$/.test(text)) return undefined;
  return asInteger(Number(text));
}

/** Deep equality of JSON-like values; a member that is `undefined` counts as absent. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, at) => sameJson(item, b[at]))
    );
  }
  if (!isRecord(a) || !isRecord(b)) return false;
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  for (const key of keys) if (!sameJson(a[key], b[key])) return false;
  return true;
}
