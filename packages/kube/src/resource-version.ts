/**
 * The order of resourceVersions. A version is a decimal number in text, larger than a double can hold exactly, so it is
 * compared as text: by length, then digit by digit. The empty string, "nothing seen yet", is older than all.
 */

/** Negative when `a` is older than `b`, zero when they are the same, positive when `a` is newer. */
export function compareResourceVersions(a: string, b: string): number {
  if (a === b) return 0;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : 1;
}

/** Whether `a` is strictly newer than `b`. */
export function isNewer(a: string, b: string): boolean {
  return compareResourceVersions(a, b) > 0;
}

/** The newer of the two. */
export function newest(a: string, b: string): string {
  return isNewer(b, a) ? b : a;
}
