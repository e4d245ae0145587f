/** Admission by somebody else than the server: what policies and webhooks are asked, and how they refuse. */

import type { KubeObject } from './object.js';

/** A write that is valid and about to be made, dry runs included. */
export interface Review {
  readonly operation: 'CREATE' | 'UPDATE';
  /** `pods`, `inferenceservices.ome.io`. */
  readonly resource: string;
  readonly subresource: string | undefined;
  readonly object: KubeObject;
  /** Absent at creation. */
  readonly old: KubeObject | undefined;
  readonly user: string;
}

/** Why a write is not admitted, as an API server puts it. */
export type Refusal =
  /** A ValidatingAdmissionPolicy said no: 403 or 422. */
  | {
      readonly is: 'denied';
      readonly policy: string;
      readonly binding: string;
      readonly reason: 'Forbidden' | 'Invalid';
      readonly message: string;
    }
  /** A webhook that must be asked does not answer: 500. */
  | { readonly is: 'unreachable'; readonly webhook: string; readonly url: string; readonly error: string };

/** Refuses a write, or lets it pass. Must depend on nothing but the review, so that a forked cluster decides alike. */
export type Admit = (review: Review) => Refusal | undefined;
