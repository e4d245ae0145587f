/** Everything that happened to the pods of one owner, from the watch: what polling would miss. */
import type { Runtime } from '@omenative/kube';
import type { Api } from './api.js';
import { conditionOf, isServing, isTerminating, type Pod, pods } from './objects.js';
import { podText } from './picture.js';
import { RoutingHistory } from './routing.js';
import { type ChangeType, Stream } from './stream.js';

export interface PodChange {
  /** Milliseconds since the history began. */
  readonly atMs: number;
  readonly type: ChangeType;
  readonly pod: Pod;
  /** The same pod before; absent when it is new. */
  readonly before: Pod | undefined;
  /** Every pod that exists, terminating ones included, after this change. */
  readonly all: readonly Pod[];
}

export class PodHistory {
  readonly #runtime: Runtime;
  readonly #routing: RoutingHistory;
  readonly #startedAtMs: number;
  readonly #changes: PodChange[] = [];
  readonly #now = new Map<string, Pod>();
  readonly #listeners = new Set<(change: PodChange) => void>();
  #stream: Stream | undefined;

  private constructor(runtime: Runtime, routing: RoutingHistory) {
    this.#runtime = runtime;
    this.#routing = routing;
    this.#startedAtMs = runtime.monotonicMs();
  }

  /** Begins with the pods that exist now. `labelSelector` as the API takes it. */
  static async of(api: Api, labelSelector: string): Promise<PodHistory> {
    const history = new PodHistory(api.runtime, await RoutingHistory.of(api));
    history.#stream = await Stream.open(api, pods, labelSelector, (type, pod) => history.#take(type, pod));
    return history;
  }

  /** In the order of the API server. @throws Error when the watch broke, so that something may be missing. */
  get changes(): readonly PodChange[] {
    this.#stream?.check();
    return this.#changes;
  }

  /** The pods that exist, terminating ones included. */
  get pods(): readonly Pod[] {
    this.#stream?.check();
    return [...this.#now.values()];
  }

  /** @throws Error that tells the story when more than `limit` pods ever existed at once, terminating ones included. */
  expectAtMost(limit: number): void {
    const most = Math.max(this.pods.length, ...this.changes.map(({ all }) => all.length));
    if (most > limit) throw new Error(`${most} pods existed at once, and not ${limit}:\n${this.#story()}`);
  }

  /**
   * @throws Error naming a pod whose deletion was asked for while it was in rotation: before its gate was closed, before the
   * kubelet had taken `Ready` back, or before the last Service had taken it off its list.
   */
  expectDrainedBeforeDeletion(): void {
    for (const { pod, before } of this.changes) {
      if (!isTerminating(pod) || before === undefined || isTerminating(before)) continue;
      const { name, uid, resourceVersion } = pod.metadata;
      const because = [
        ...(isServing(before) ? ['its gate was open'] : []),
        ...(conditionOf(before, 'Ready')?.status === 'True' ? ['it was Ready'] : []),
        ...this.#routing.servicesOf(uid, Number(resourceVersion)).map((service) => `${service} listed it`),
      ];
      if (because.length > 0) {
        throw new Error(`the deletion of ${name} was asked for while ${because.join(', ')}:\n${this.#story()}`);
      }
    }
  }

  /** Resolves with the next change that is `such`. @throws Error naming `what` when there is none within `withinMs`. */
  next(what: string, withinMs: number, such: (change: PodChange) => boolean): Promise<PodChange> {
    return new Promise((resolve, reject) => {
      const listener = (change: PodChange): void => {
        if (!such(change)) return;
        timer.cancel();
        this.#listeners.delete(listener);
        resolve(change);
      };
      const timer = this.#runtime.setTimer(withinMs, () => {
        this.#listeners.delete(listener);
        reject(new Error(`not within ${withinMs / 1000} s: ${what}`));
      });
      this.#listeners.add(listener);
    });
  }

  close(): void {
    this.#stream?.close();
    this.#routing.close();
  }

  /** One line a change: when it was seen, how many pods there were then, and what was new. */
  #story(): string {
    return this.#changes
      .map(({ atMs, type, pod, all }) => `  ${(atMs / 1000).toFixed(2)} s  ${all.length} pods  ${type} ${podText(pod)}`)
      .join('\n');
  }

  #take(type: PodChange['type'], pod: Pod): void {
    const { uid } = pod.metadata;
    const before = this.#now.get(uid);
    if (type === 'DELETED') this.#now.delete(uid);
    else this.#now.set(uid, pod);
    const atMs = this.#runtime.monotonicMs() - this.#startedAtMs;
    const change = { atMs, type, pod, before, all: [...this.#now.values()] };
    this.#changes.push(change);
    for (const listener of this.#listeners) listener(change);
  }
}
