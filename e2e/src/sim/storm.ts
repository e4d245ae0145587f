/**
 * Bad weather for managers, drawn from a seed: lagging caches, lost answers, late writes, throttling, forced relists, up to
 * three crashes, a second manager.
 */
import type { Faults } from '@omenative/sim';
import { Seeded } from './seeded.js';
import type { Simulation } from './simulation.js';

/** What a seed has drawn; printed with a failure. */
export interface Weather {
  readonly managers: 'one' | 'two, without a lease' | 'two, with a lease';
  readonly watchLagMs: readonly [number, number];
  readonly answerLost: number;
  readonly notApplied: number;
  readonly appliedLate: number;
  readonly throttled: number;
  readonly crashes: number;
  readonly relists: number;
  readonly staleServer: 'never' | 'once';
  readonly safetyPoll: 'on' | 'off';
}

export function weatherOf(seed: number): Weather {
  const draw = new Seeded(seed);
  return {
    managers: draw.pick(['one', 'one', 'two, without a lease', 'two, with a lease']),
    watchLagMs: draw.pick([
      [1, 40],
      [5, 500],
      [50, 3000],
    ]),
    answerLost: draw.pick([0, 0.03, 0.1]),
    notApplied: draw.pick([0, 0.03, 0.1]),
    appliedLate: draw.pick([0, 0, 0.03]),
    throttled: draw.pick([0, 0, 0.05]),
    crashes: draw.below(4),
    relists: draw.below(3),
    staleServer: draw.pick(['never', 'never', 'once']),
    safetyPoll: draw.pick(['on', 'off']),
  };
}

/** Milliseconds after which a write that is on its way has arrived. */
const lateMs = 60_000;

/** A storm over a simulation, until it is calmed. */
export class Storm {
  readonly #simulation: Simulation;
  readonly #weather: Weather;
  readonly #random: Seeded;
  #crashesLeft: number;
  #relistsLeft: number;
  #staleLeft: number;

  constructor(simulation: Simulation, weather: Weather, seed: number) {
    this.#simulation = simulation;
    this.#weather = weather;
    this.#random = new Seeded(seed * 7919 + 13);
    this.#crashesLeft = weather.crashes;
    this.#relistsLeft = weather.relists;
    this.#staleLeft = weather.staleServer === 'once' ? 1 : 0;
    simulation.invariants.lateWrites = weather.appliedLate > 0 ? 'possible' : 'none';
  }

  /** New processes, under the weather. */
  rise(): void {
    for (const manager of this.#simulation.managers) manager.kill();
    const count = this.#weather.managers === 'one' ? 1 : 2;
    for (let n = 0; n < count; n += 1) this.#start('stormy');
  }

  /** Lets time pass, with what the seed has in store, until `done` is so. */
  async run(ms: number, done: () => boolean = () => false): Promise<void> {
    const { cluster } = this.#simulation;
    const untilMs = cluster.nowMs + ms;
    while (cluster.nowMs < untilMs && !done()) {
      await this.#simulation.run(Math.min(untilMs - cluster.nowMs, 100 + this.#random.below(4000)), done);
      this.#strike();
    }
  }

  /**
   * Fair weather from here on, and every write that is on its way has arrived: the processes that lived through the storm go on. One that lost its lease has ended, and
   * another one is started in its place, as a Deployment would.
   */
  async calm(): Promise<void> {
    for (const manager of this.#simulation.managers) manager.sim.setFaults(fairFaults);
    if (this.#simulation.managers.length === 0 || this.#weather.managers === 'two, with a lease') this.#start('fair');
    await this.#simulation.run(this.#weather.appliedLate > 0 ? lateMs + 1000 : 0);
  }

  #strike(): void {
    const { managers, cluster } = this.#simulation;
    const victim = managers[this.#random.below(Math.max(1, managers.length))];
    if (victim === undefined) return;
    const dice = this.#random.below(4);
    if (dice === 0 && this.#crashesLeft > 0) {
      this.#crashesLeft -= 1;
      cluster.note(`${victim.name} is killed`);
      victim.kill();
      this.#start('stormy');
    } else if (dice === 1 && this.#relistsLeft > 0) {
      this.#relistsLeft -= 1;
      cluster.note(`the streams of ${victim.name} expire`);
      cluster.compact();
      victim.sim.expire();
    } else if (dice === 2 && this.#staleLeft > 0) {
      this.#staleLeft -= 1;
      cluster.note(`the API server of ${victim.name} falls behind`);
      victim.sim.fallBehind(cluster.nowMs + 8000);
    }
  }

  #start(weather: 'stormy' | 'fair'): void {
    const { managers, safetyPoll, watchLagMs, answerLost, notApplied, appliedLate, throttled } = this.#weather;
    this.#simulation.startManager({
      election: managers === 'two, with a lease' ? 'lease' : 'none',
      ...(safetyPoll === 'on' ? { safetyPollMs: 30_000 } : {}),
      faults:
        weather === 'fair' ? {} : { watchLagMs, answerLost, notApplied, appliedLate, throttled, lateMs: [100, lateMs] },
    });
  }
}

/** No fault; streams may still lag a little. */
const fairFaults: Partial<Faults> = { watchLagMs: [1, 40], answerLost: 0, notApplied: 0, appliedLate: 0, throttled: 0 };
