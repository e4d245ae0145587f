/**
 * A scenario under whatever weather a seed brings. Faults have an end; then the world must come to rest where it does without
 * them.
 */
import { outcomeOf } from './outcome.js';
import type { Scenario } from './scenario.js';
import { Storm, weatherOf } from './storm.js';
import { act, Failure, judge, newSimulation, play } from './story.js';
import { difference } from './sweep.js';

/** Milliseconds from the beginning of a step in which faults may strike. */
const stormMs = 20_000;

/** Where each step of a scenario ends when nothing goes wrong, by scenario. */
const fair = new Map<string, Promise<readonly string[]>>();

function fairOutcomes(scenario: Scenario): Promise<readonly string[]> {
  let outcomes = fair.get(scenario.name);
  if (outcomes === undefined) {
    outcomes = play(scenario, { seed: 1 }).then((played) => played.outcomes);
    fair.set(scenario.name, outcomes);
  }
  return outcomes;
}

/** @throws Failure, with the weather in its message. */
export async function endure(scenario: Scenario, seed: number): Promise<void> {
  const expected = await fairOutcomes(scenario);
  const weather = weatherOf(seed);
  const simulation = newSimulation(scenario, { seed });
  const storm = new Storm(simulation, weather, seed);
  try {
    for (const [at, step] of scenario.steps.entries()) {
      storm.rise();
      await act(simulation, step, (ms, done) => storm.run(ms, done));
      await storm.run(stormMs);
      await storm.calm();
      await simulation.settle(step.quietMs);
      judge(simulation, scenario, at);
      const ended = outcomeOf(simulation.cluster, step.ends);
      if (step.ends !== 'by timing' && ended !== expected[at]) {
        throw new Failure(
          `${scenario.name}, after "${step.name}": ended elsewhere than in fair weather:\n${difference(
            expected[at] ?? '',
            ended,
          )}\n${simulation.tail(150)}`,
        );
      }
      if (at === 0 && scenario.traffic !== undefined) simulation.startTraffic();
    }
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    throw new Failure(`seed ${seed}, weather ${JSON.stringify(weather)}\n${text}`);
  }
}
