/** Short names of long things, as people say them. */
import { type Rev, revisionHashOf } from '@omenative/api';

/** A revision by its eight digits, or by its name where it has none; `-` for none. */
export function shortRevision(rev: Rev | ''): string {
  return rev === '' ? '-' : revisionHashOf(rev) || rev;
}
