/** From what a request came to, to the outcome that the next plan reads. */
import type { Outcome } from '@omenative/engine';
import { ApiError, classify } from '@omenative/kube';

/** An outcome whose time is yet to be stamped. */
export interface Result {
  readonly as: Outcome['as'];
  readonly detail: string;
  /** Present when the answer named a salt problem that only a new revision name can solve. */
  readonly collision?: true;
  /** Present when our own account lacks a permission: nobody looks for that in a pod, so it has to be told. */
  readonly notPermitted?: true;
}

export const done: Result = { as: 'ok', detail: '' };

/** A chain goes on after these: what was wished is so. */
export function isDone(result: Pick<Result, 'as'>): boolean {
  return result.as === 'ok' || result.as === 'exists' || result.as === 'gone';
}

/** Sorts a refusal, or the lack of an answer, to a write. */
export function resultOf(error: unknown): Result {
  const result: Result = { as: outcomeOf(error), detail: wordsOf(error) };
  return classify(error) === 'notPermitted' ? { ...result, notPermitted: true } : result;
}

function outcomeOf(error: unknown): Outcome['as'] {
  const as = classify(error);
  switch (as) {
    case 'conflict':
    case 'quota':
    case 'namespaceTerminating':
    case 'throttled':
    case 'admissionUnavailable':
      return as;
    case 'alreadyExists':
      return 'nameTaken';
    case 'notFound':
      return 'gone';
    case 'forbidden':
    case 'invalid':
    case 'badRequest':
    case 'unsupported':
    case 'tooLarge':
      return 'invalid';
    case 'fenced':
      return 'skipped';
    // A write may have been applied behind a 5xx as well as behind silence.
    case 'serverError':
    case 'unknown':
      return 'unknown';
    case 'expired':
    // Judged as the pod's fault, a missing permission would fail Instances for good that can start once it is given.
    case 'notPermitted':
    case 'unauthorized':
    case 'unavailable':
      return 'transient';
    case 'local':
      throw error;
  }
}

/** The server's own words where there are some. */
export function wordsOf(error: unknown): string {
  if (error instanceof ApiError) return error.detail;
  return error instanceof Error ? error.message : String(error);
}
