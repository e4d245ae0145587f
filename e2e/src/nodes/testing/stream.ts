/** A watch of one type in one namespace, from a list on, that says so when it breaks. */
import { collectionPath, type KubeObject, type ResourceType, type WatchHandle } from '@omenative/kube';
import type { Api } from './api.js';

export type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

export class Stream {
  readonly #watch: WatchHandle;
  #problem: string | undefined;

  private constructor(watch: (report: (problem: string) => void) => WatchHandle) {
    this.#watch = watch((problem) => {
      this.#problem ??= problem;
    });
  }

  /**
   * Calls `onChange` for each object that exists, as ADDED, and then for every change, in the order of the API server.
   * `labelSelector` as the API takes it.
   */
  static async open<T extends KubeObject>(
    api: Api,
    type: ResourceType<T>,
    labelSelector: string,
    onChange: (type: ChangeType, object: T) => void,
  ): Promise<Stream> {
    const { namespace } = api;
    const { items, resourceVersion } = await api.client.list(type, { namespace, labelSelector });
    for (const item of items) onChange('ADDED', item);
    const query = { watch: 'true', labelSelector, resourceVersion };
    return new Stream((report) =>
      api.transport.watch(
        { method: 'GET', path: collectionPath(type, namespace), query },
        {
          onOpen: () => {},
          onEvent: ({ type: how, object }) => {
            if (how === 'ERROR') report(`the watch of ${type.plural} failed: ${JSON.stringify(object)}`);
            else if (how !== 'BOOKMARK') onChange(how, object as T);
          },
          onEnd: ({ how }) => report(`the watch of ${type.plural} has ended: ${how}`),
        },
      ),
    );
  }

  /** @throws Error when the watch broke, so that something may be missing. */
  check(): void {
    if (this.#problem !== undefined) throw new Error(this.#problem);
  }

  close(): void {
    this.#watch.close();
  }
}
