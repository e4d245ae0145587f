/** The steps of a rehearsal as waves, with what each wave costs. */
import type { Index } from '@omenative/api';
import type { Rehearsal } from '../rehearsal/rehearse.js';
import type { Step } from '../rehearsal/steps.js';

/** Steps of one wave that are alike. */
export interface WaveReport {
  /** 0: under way already. The steps of a wave begin when some of the wave before have ended. */
  readonly wave: number;
  readonly operation: Step['operation'];
  /** Of an update. */
  readonly method?: NonNullable<Step['method']>;
  readonly instances: readonly Index[];
  /** The indices that take their places, in the same order; absent where an Instance keeps its index. */
  readonly replacements?: readonly Index[];
  /** Revisions. */
  readonly from?: string;
  readonly to?: string;
  readonly ends: Step['ended'];
  /** Instances that run twice at once, at most. */
  readonly surge: number;
  /** Instances that serve before and do not in between, at most at once. */
  readonly outOfService: number;
  /** Instances of the whole replica that serve, at the least. */
  readonly fewestServing: number;
}

/** In the order of waves; within one in the order of beginning. */
export function wavesOf({ steps, costs }: Rehearsal): readonly WaveReport[] {
  const groups = new Map<string, Step[]>();
  for (const step of steps) {
    const key = JSON.stringify([step.wave, step.operation, step.method, step.from, step.to, step.ended]);
    groups.set(key, [...(groups.get(key) ?? []), step]);
  }
  const reports = [...groups.values()].flatMap((group): WaveReport[] => {
    const [first] = group;
    if (first === undefined) return [];
    const cost = costs.get(first.wave);
    const replacements = group.flatMap(({ replacement }) => (replacement === undefined ? [] : [replacement]));
    return [
      {
        wave: first.wave,
        operation: first.operation,
        ...(first.method === undefined ? {} : { method: first.method }),
        instances: group.map((step) => step.instance),
        ...(replacements.length === 0 ? {} : { replacements }),
        ...(first.from === '' ? {} : { from: first.from }),
        ...(first.to === '' ? {} : { to: first.to }),
        ends: first.ended,
        surge: cost?.surge ?? 0,
        outOfService: cost?.outOfService ?? 0,
        fewestServing: cost?.fewestServing ?? 0,
      },
    ];
  });
  return reports.toSorted((a, b) => a.wave - b.wave);
}

/** What makes two rehearsals the same, steps that times tell apart not being different. */
export function signatureOf({ steps, waits, end }: Rehearsal): string {
  return JSON.stringify([
    steps.map(({ instance, operation, method, replacement, from, to, wave, ended }) => {
      return [instance, operation, method, replacement, from, to, wave, ended];
    }),
    waits.map((hold) => [hold.is, hold.index]),
    end,
  ]);
}
