/** What the spec of an InferenceReplica allows its controller, read by nobody's code but this. */
import type { KubeObject } from '@omenative/sim';

type Budget = number | string | undefined;

interface Spec {
  readonly replicas?: number;
  readonly paused?: boolean;
  readonly pacing?: { readonly partition?: number };
  readonly lifecycle?: {
    readonly updateStrategy?: {
      readonly type?: string;
      readonly rollingUpdate?: {
        readonly partition?: number;
        readonly maxSurge?: Budget;
        readonly maxUnavailable?: Budget;
      };
    };
  };
}

/** In Instances; an absent limit is infinite. */
export interface Allowance {
  readonly replicas: number;
  readonly surge: number;
  readonly unavailable: number;
  readonly partition: number;
  readonly isPaused: boolean;
}

export function allowanceOf(replica: KubeObject): Allowance {
  const spec = (replica['spec'] ?? {}) as Spec;
  const { replicas = 1, lifecycle, pacing } = spec;
  const strategy = lifecycle?.updateStrategy;
  const rolling = strategy?.rollingUpdate ?? {};
  const isSurge = (strategy?.type ?? 'SurgeThenDrain') === 'SurgeThenDrain';
  return {
    replicas,
    surge: instances(rolling.maxSurge, replicas),
    // An update that surges takes nothing out of service.
    unavailable: isSurge ? 0 : instances(rolling.maxUnavailable, replicas),
    partition: pacing?.partition ?? rolling.partition ?? 0,
    isPaused: spec.paused === true,
  };
}

function instances(budget: Budget, total: number): number {
  if (budget === undefined) return Number.POSITIVE_INFINITY;
  return typeof budget === 'number' ? budget : Math.ceil((total * Number.parseInt(budget, 10)) / 100);
}
