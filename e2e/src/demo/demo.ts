/** The demo from its first line to its last: a cluster, a manager, a witness, the story, the numbers. */
import type { Log } from '@omenative/controllers';
import { Client, type Runtime } from '@omenative/kube';
import { EmbeddedCluster } from './embedded-cluster.js';
import { printFigures } from './figures.js';
import type { Flags } from './flags.js';
import { printCommands } from './keep.js';
import { chat, llama } from './manifests.js';
import { Narrator } from './narrator.js';
import { ScratchFolder } from './scratch-folder.js';
import type { Screen } from './screen.js';
import { runStep, type Step, StepFailed, type StepTools } from './step.js';
import type { Cast } from './story.js';
import { Traffic } from './traffic.js';
import { User } from './user.js';
import { Witness } from './witness.js';

export interface DemoOptions {
  readonly runtime: Runtime;
  readonly screen: Screen;
  readonly story: (cast: Cast) => readonly Step[];
  readonly after: Flags['after'];
  /** Aborted when somebody wants it to end. */
  readonly signal: AbortSignal;
}

/** Twenty requests a second to each Service, from when the news of it must have come through. */
const rhythm = { everyMs: 50, firstAfterMs: 500 };

/**
 * Resolves with the exit code: 0 when every step came out as it should, 1 when one did not, 130 when it was interrupted
 * before its end. By then everything that it started has ended.
 */
export async function runDemo(options: DemoOptions): Promise<number> {
  const { screen, signal, runtime } = options;
  const folder = new ScratchFolder();
  const demo = new Demo(options, folder, folder.openLog(runtime));
  try {
    await demo.run();
    await demo.stop();
    folder.remove();
    if (options.after === 'keep') screen.heading('Ended', 'The cluster, the manager and their files are gone.');
    return 0;
  } catch (error) {
    if (signal.aborted) {
      await demo.stop();
      folder.remove();
      screen.heading('Interrupted', 'Everything that was started has ended.');
      return 130;
    }
    if (error instanceof StepFailed) screen.unmet(error.expected, error.seen);
    else screen.unmet('no error', error instanceof Error ? error.message : String(error));
    screen.text(`What the manager said is in ${folder.logFile}`);
    await demo.stop();
    return 1;
  }
}

class Demo {
  readonly #options: DemoOptions;
  readonly #folder: ScratchFolder;
  readonly #log: Log;
  readonly #cluster: EmbeddedCluster;
  readonly #narrator: Narrator;
  readonly #traffic: Traffic;
  #witness: Witness | undefined;

  constructor(options: DemoOptions, folder: ScratchFolder, log: Log) {
    const { runtime, screen } = options;
    this.#options = options;
    this.#folder = folder;
    this.#log = log;
    this.#cluster = new EmbeddedCluster({ runtime, folder: folder.path, log });
    this.#narrator = new Narrator(screen, runtime);
    this.#traffic = new Traffic({
      runtime,
      ...rhythm,
      send: (service) => this.#cluster.send(service),
    });
  }

  /** Resolves at the end of the story or, when the cluster is kept, once somebody wants it to end. */
  async run(): Promise<void> {
    const { runtime, screen, story, signal, after } = this.#options;
    const beganMs = runtime.monotonicMs();
    screen.heading(
      'A simulated cluster and the real manager',
      'The API server, the nodes and the containers are simulated, in this process; the manager is the real one, and talks to them over HTTP. Whatever is told below was seen by the demo’s own watches.',
    );
    await this.#cluster.start();
    const witness = this.#startWitness();
    await witness.start();
    const user = new User(new Client({ transport: this.#cluster.connect('demo-user'), runtime }));
    const tools: StepTools = { runtime, screen, signal, flush: () => this.#narrator.flush() };
    for (const step of story({ user, witness, traffic: this.#traffic })) {
      this.#traffic.newPeriod();
      witness.ledger.newPeriod();
      await runStep(step, tools);
    }
    this.#traffic.stop();
    screen.heading('All steps came out as they should', '');
    printFigures(screen, { witness, traffic: this.#traffic, tookMs: runtime.monotonicMs() - beganMs });
    if (after === 'end') return;
    printCommands(screen, {
      kubeconfig: this.#cluster.kubeconfig,
      manifests: this.#folder.writeManifests('services', [...chat, ...llama]),
    });
    await aborted(signal);
  }

  /** Ends everything, whatever was started; safe to call at any time. */
  async stop(): Promise<void> {
    this.#traffic.stop();
    this.#witness?.stop();
    this.#narrator.flush();
    await this.#cluster.stop();
  }

  #startWitness(): Witness {
    this.#witness = new Witness({
      transport: this.#cluster.connect('demo-witness'),
      runtime: this.#options.runtime,
      tell: (news) => this.#narrator.tell(news),
      report: (problem) => this.#log('warn', `a watch of the demo: ${problem.message}`, { kind: problem.kind }),
    });
    return this.#witness;
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
