/** What a scenario is made of. */
import type { Cluster, WorldOptions } from '@omenative/sim';
import type { Moment } from './replica-view.js';
import type { User } from './user.js';

type Act = (user: User, cluster: Cluster) => void;

/** Something that a user does who does not wait: after so many milliseconds, or at some moment of what is under way. */
export type Later = { readonly afterMs: number; readonly act: Act } | { readonly once: Moment; readonly act: Act };

export interface Step {
  readonly name: string;
  readonly act: Act;
  /** What follows while the step is under way. */
  readonly meanwhile?: readonly Later[];
  /**
   * `by timing`: where the step ends depends on how far things had come; what follows it does not. `in some life`: it ends
   * where it always does, but for how often an Instance was made on the way.
   */
  readonly ends?: 'by timing' | 'in some life';
  /** Milliseconds without a write after which the step has ended; longer than the longest pause in it. */
  readonly quietMs?: number;
  /** What must be so in the end: what is wrong, or undefined. */
  readonly proves?: (cluster: Cluster) => string | undefined;
}

export interface Scenario {
  readonly name: string;
  /** The listed behaviours that it proves, as titles of tests have them. */
  readonly ids?: string;
  readonly steps: readonly Step[];
  /** Live pods that the replica may have at most, by name. */
  readonly caps: Readonly<Record<string, number>>;
  /** The Service that requests are sent to; no request may fail from the end of the first step on. */
  readonly traffic?: string;
  /** Nothing may be left in the end. */
  readonly ends?: 'empty';
  readonly world?: Partial<WorldOptions>;
  /** Pods fail by themselves or by the user's hand: a request may fail, a replacement may go dark. */
  readonly podChaos?: true;
}

/** Images that can't be pulled, never get ready or crash, beside ones that are fine. */
export const world: Partial<WorldOptions> = {
  imageScripts: {
    bad: { pull: 'fail' },
    dark: { readyMs: 'never' },
    crash: { readyMs: 'never', exitMs: [500, 1500], exitCode: 1 },
  },
};
