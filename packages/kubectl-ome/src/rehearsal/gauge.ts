/** What steps cost while they are under way: Instances beyond the wanted count, and Instances that do not serve. */
import type { Index } from '@omenative/api';
import { isServing, isTerminating, type PodView } from '@omenative/engine';
import type { Step } from './steps.js';

/** Most, and fewest, at any one moment of a wave. */
export interface Cost {
  /** Instances that ran twice. */
  readonly surge: number;
  /** Instances that had served and did not, those that leave for good not counted. */
  readonly outOfService: number;
  /** Instances that served, of the whole replica. */
  readonly fewestServing: number;
}

/** A moment of a world. */
export interface Moment {
  readonly pods: readonly PodView[];
  /** Whether requests are sent to the pod. */
  isRouted(pod: PodView): boolean;
}

export class Gauge {
  /** Pods of one Instance. */
  readonly #size: number;
  readonly #costs: Map<number, Cost> = new Map();
  /** Steps whose Instance served when they began, by number. */
  readonly #served: Set<number> = new Set();
  readonly #known: Set<number> = new Set();
  /** Instances that served at the last moment: what a step does first, it may do in the moment that shows it. */
  #before: ReadonlySet<Index> | undefined;

  /** `size` is how many pods an Instance has. */
  constructor(size: number) {
    this.#size = size;
  }

  /** By wave. */
  get costs(): ReadonlyMap<number, Cost> {
    return this.#costs;
  }

  /** Measures a moment with these steps so far. */
  read(steps: readonly Step[], moment: Moment): void {
    const serving = this.#servingInstances(moment);
    for (const step of steps) {
      if (this.#known.has(step.number)) continue;
      this.#known.add(step.number);
      if ((this.#before ?? serving).has(step.instance)) this.#served.add(step.number);
    }
    this.#before = serving;
    const open = steps.filter((step) => step.ended === 'open');
    for (const wave of new Set(open.map((step) => step.wave))) {
      const ofWave = open.filter((step) => step.wave === wave);
      this.#note(wave, {
        surge: ofWave.filter((step) => this.#isDoubled(step, moment)).length,
        outOfService: ofWave.filter((step) => this.#isDark(step, serving)).length,
        fewestServing: serving.size,
      });
    }
  }

  #note(wave: number, now: Cost): void {
    const before = this.#costs.get(wave) ?? now;
    this.#costs.set(wave, {
      surge: Math.max(before.surge, now.surge),
      outOfService: Math.max(before.outOfService, now.outOfService),
      fewestServing: Math.min(before.fewestServing, now.fewestServing),
    });
  }

  /** An Instance serves when as many of its pods do as it has. Workers are not sent requests; they serve when they are ready. */
  #servingInstances(moment: Moment): ReadonlySet<Index> {
    const counts = new Map<Index, number>();
    for (const pod of moment.pods) {
      if (!isServing(pod) || (pod.runner !== 'worker' && !moment.isRouted(pod))) continue;
      counts.set(pod.index, (counts.get(pod.index) ?? 0) + 1);
    }
    return new Set([...counts].filter(([, count]) => count >= this.#size).map(([index]) => index));
  }

  #isDark(step: Step, serving: ReadonlySet<Index>): boolean {
    if (step.operation === 'Delete' || !this.#served.has(step.number)) return false;
    return !serving.has(step.instance) && (step.replacement === undefined || !serving.has(step.replacement));
  }

  #isDoubled(step: Step, moment: Moment): boolean {
    const live = moment.pods.filter((pod) => !isTerminating(pod));
    const own = live.filter((pod) => pod.index === step.instance).length;
    if (step.replacement === undefined) return own > this.#size;
    return own > 0 && live.some((pod) => pod.index === step.replacement);
  }
}
