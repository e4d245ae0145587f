/** An informer of pods on a scripted wire, under virtual time, that writes down what it tells. */
import { Informer, type InformerOptions, type InformerProblem } from '../cache/informer.js';
import type { Change } from '../cache/store.js';
import type { ResourceType } from '../resources.js';
import type { ApiResponse } from '../transport.js';
import type { RawPod } from './objects.js';
import { failure, ScriptedTransport } from './scripted-transport.js';
import { VirtualRuntime } from './virtual-runtime.js';

const pods: ResourceType = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true };

/** Longer than any pause between two tries. */
export const longestPauseMs = 30_000;

/** How a server without the feature answers a streamed list. */
export const gateShut: ApiResponse = failure(
  422,
  'Invalid',
  'sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled',
);

export class InformerBench {
  readonly runtime: VirtualRuntime = new VirtualRuntime();
  readonly transport: ScriptedTransport = new ScriptedTransport();
  readonly problems: InformerProblem[] = [];
  readonly changes: Change<string>[] = [];
  /** Projects a pod to `name@resourceVersion`. */
  informer: Informer<string> = this.create();

  /** Replaces the informer. */
  create(options: Partial<InformerOptions<string>> = {}): Informer<string> {
    const { runtime, transport } = this;
    this.informer = new Informer<string>({
      transport,
      runtime,
      type: pods,
      project: (raw) => `${raw.metadata?.name}@${raw.metadata?.resourceVersion}`,
      report: (problem) => this.problems.push(problem),
      ...options,
    });
    this.informer.subscribe((change) => this.changes.push(change));
    return this.informer;
  }

  /** Starts, and answers the streamed list. */
  sync(held: readonly RawPod[] = [], resourceVersion = '100'): void {
    this.informer.start();
    this.streamList(held, resourceVersion);
  }

  streamList(held: readonly RawPod[], resourceVersion: string): void {
    this.transport.stream.open();
    for (const pod of held) this.transport.stream.send('ADDED', pod);
    this.transport.stream.endOfInitialEvents(resourceVersion);
  }

  /** Starts, and lets the server refuse the streamed list, so that pages are all there is. */
  startWithPages(): void {
    this.informer.start();
    this.transport.stream.end({ how: 'response', response: gateShut });
  }

  objects(): string[] {
    return [...this.informer.store.values()].toSorted();
  }

  /** Kinds of the problems reported since the last call. */
  kinds(): string[] {
    return this.problems.splice(0).map(({ kind }) => kind);
  }
}
