/**
 * Plays a replica forward in the ideal world, with the planner that the controller has, until nothing moves any more. What
 * comes of it is what the controller would do if nothing went wrong, and what it would then wait for.
 */
import type { DecodedStatus, Index, Sec } from '@omenative/api';
import { type Hold, isEqual, type Plan, plan, type Snapshot } from '@omenative/engine';
import { type Cost, Gauge } from './gauge.js';
import { IdealCluster } from './ideal-cluster.js';
import { type Step, StepRecorder } from './steps.js';

/** A wait along the way that another time would not have shown. */
export interface Pause {
  readonly hold: Hold;
  /** When it was first met. */
  readonly since: Sec;
  /** Instances that were held so, ascending; empty for the replica itself. */
  readonly instances: readonly Index[];
}

export interface Rehearsal {
  readonly steps: readonly Step[];
  readonly costs: ReadonlyMap<number, Cost>;
  /** Kinds of waits that were met and ended by themselves, in order. */
  readonly pauses: readonly Pause[];
  /** What stands in the end and that no time ends. */
  readonly waits: readonly Hold[];
  /** `gone`: the replica itself was removed. `endless`: it was still moving when the rehearsal was broken off; it has a limit. */
  readonly end: 'rest' | 'gone' | 'endless';
  readonly status: DecodedStatus;
  readonly startedAt: Sec;
  readonly endedAt: Sec;
}

/** Passes of one moment; a plan settles in a few. */
const maxPasses = 50;
/** Moments at which something could have changed and nothing did, after which nothing is taken to change any more. */
const maxIdleMoments = 100;
/** What a rehearsal may look at, in Instances times plans: some seconds of work. */
const maxWork = 400_000;
/** Seconds after which nobody waits for the end: thirty days. */
const horizonSec = 30 * 86_400;

export function rehearse(start: Snapshot): Rehearsal {
  return new Stage(start).play();
}

class Stage {
  readonly #cluster: IdealCluster;
  readonly #recorder: StepRecorder = new StepRecorder();
  readonly #gauge: Gauge;
  readonly #pauses: Map<Hold['is'], Pause> = new Map();
  readonly #startedAt: Sec;
  /** Instances looked at so far, each as often as it was. */
  #work = 0;

  constructor(start: Snapshot) {
    this.#cluster = new IdealCluster(start);
    this.#gauge = new Gauge(start.spec.runners.reduce((sum, runner) => sum + runner.size, 0));
    this.#startedAt = start.now;
    this.#recorder.read(start.status, start.now);
    this.#measure();
  }

  play(): Rehearsal {
    const cluster = this.#cluster;
    let idle = 0;
    while (this.#work < maxWork) {
      const before = cluster.snapshot(new Set());
      const last = this.#passes();
      if (cluster.isGone) return this.#report([], 'gone');
      const { nextAt } = cluster;
      const wakeAt = last.wakeAt === undefined ? undefined : Math.max(last.wakeAt, cluster.now + 1);
      const next = nextAt === undefined || wakeAt === undefined ? (nextAt ?? wakeAt) : Math.min(nextAt, wakeAt);
      const isIdle = nextAt === undefined && isEqual(before, cluster.snapshot(new Set()));
      idle = isIdle ? idle + 1 : 0;
      if (next === undefined || idle > maxIdleMoments) return this.#report(last.holds, 'rest');
      if (next - this.#startedAt > horizonSec) return this.#report(last.holds, 'endless');
      this.#notePauses(last.holds);
      cluster.tick(next - cluster.now);
      this.#measure();
    }
    return this.#report([], 'endless');
  }

  /** Plans and does, until a plan has nothing more to do at this moment. */
  #passes(): Plan {
    for (let pass = 1; ; pass += 1) {
      const before = this.#cluster.snapshot(new Set());
      this.#work += Math.max(10, before.status.rows.size);
      const made = planned(this.#cluster);
      this.#cluster.apply(made);
      this.#recorder.read(this.#cluster.status, this.#cluster.now);
      this.#measure();
      const isSettled = isEqual(before, this.#cluster.snapshot(new Set()));
      if (isSettled || pass >= maxPasses || this.#cluster.isGone) return made;
    }
  }

  #measure(): void {
    this.#gauge.read(this.#recorder.steps, this.#cluster);
  }

  #notePauses(holds: readonly Hold[]): void {
    for (const hold of holds) {
      const known = this.#pauses.get(hold.is);
      const instances = new Set(known?.instances);
      if (hold.index !== undefined) instances.add(hold.index);
      this.#pauses.set(hold.is, {
        hold: known?.hold ?? hold,
        since: known?.since ?? this.#cluster.now,
        instances: [...instances].toSorted((a, b) => a - b),
      });
    }
  }

  #report(waits: readonly Hold[], end: Rehearsal['end']): Rehearsal {
    return {
      steps: this.#recorder.steps,
      costs: this.#gauge.costs,
      pauses: [...this.#pauses.values()],
      waits,
      end,
      status: this.#cluster.status,
      startedAt: this.#startedAt,
      endedAt: this.#cluster.now,
    };
  }
}

/** A plan that has read what it needs to. */
function planned(cluster: IdealCluster): Plan {
  const first = plan(cluster.snapshot(new Set()));
  if (first.reads.length === 0) return first;
  return plan(cluster.snapshot(new Set(first.reads.map(({ index }) => index))));
}
