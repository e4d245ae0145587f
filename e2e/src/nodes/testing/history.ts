/** Everything that happened to the pods of one owner, from the watch: what polling would miss. */
import { collectionPath, type Runtime, type WatchHandle } from '@omenative/kube';
import type { Api } from './api.js';
import { conditionOf, isServing, isTerminating, type Pod, pods } from './objects.js';
import { podText } from './picture.js';

export interface PodChange {
  /** Milliseconds since the history began. */
  readonly atMs: number;
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly pod: Pod;
  /** The same pod before; absent when it is new. */
  readonly before: Pod | undefined;
  /** Every pod that exists, terminating ones included, after this change. */
  readonly all: readonly Pod[];
}

export class PodHistory {
  readonly #runtime: Runtime;
  readonly #startedAtMs: number;
  readonly #changes: PodChange[] = [];
  readonly #now = new Map<string, Pod>();
  readonly #listeners = new Set<(change: PodChange) => void>();
  readonly #watch: WatchHandle;
  #problem: string | undefined;

  private constructor(api: Api, resourceVersion: string, labelSelector: string, first: readonly Pod[]) {
    this.#runtime = api.runtime;
    this.#startedAtMs = api.runtime.monotonicMs();
    for (const pod of first) this.#now.set(pod.metadata.uid, pod);
    this.#watch = api.transport.watch(
      {
        method: 'GET',
        path: collectionPath(pods, api.namespace),
        query: { watch: 'true', labelSelector, resourceVersion },
      },
      {
        onOpen: () => {},
        onEvent: ({ type, object }) => {
          if (type === 'ERROR') this.#problem = JSON.stringify(object);
          else if (type !== 'BOOKMARK') this.#take(type, object as Pod);
        },
        onEnd: (end) => {
          this.#problem ??= `the watch has ended: ${end.how}`;
        },
      },
    );
  }

  /** Begins with the pods that exist now. `labelSelector` as the API takes it. */
  static async of(api: Api, labelSelector: string): Promise<PodHistory> {
    const { items, resourceVersion } = await api.client.list(pods, { namespace: api.namespace, labelSelector });
    return new PodHistory(api, resourceVersion, labelSelector, items);
  }

  /** In the order of the API server. @throws Error when the watch broke, so that something may be missing. */
  get changes(): readonly PodChange[] {
    this.#check();
    return this.#changes;
  }

  /** The pods that exist, terminating ones included. */
  get pods(): readonly Pod[] {
    this.#check();
    return [...this.#now.values()];
  }

  /** @throws Error that tells the story when more than `limit` pods ever existed at once, terminating ones included. */
  expectAtMost(limit: number): void {
    const most = Math.max(this.pods.length, ...this.changes.map(({ all }) => all.length));
    if (most > limit) throw new Error(`${most} pods existed at once, and not ${limit}:\n${this.#story()}`);
  }

  /**
   * @throws Error naming a pod whose deletion was asked for while it was in rotation: before its gate was closed, and before
   * the kubelet had taken `Ready` back.
   */
  expectDrainedBeforeDeletion(): void {
    for (const { pod, before } of this.changes) {
      if (!isTerminating(pod) || before === undefined || isTerminating(before)) continue;
      if (isServing(before) || conditionOf(before, 'Ready')?.status === 'True') {
        throw new Error(`${pod.metadata.name} was in rotation when its deletion was asked for:\n${this.#story()}`);
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
    this.#watch.close();
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

  #check(): void {
    if (this.#problem !== undefined) throw new Error(`the history of the pods is not complete: ${this.#problem}`);
  }
}
