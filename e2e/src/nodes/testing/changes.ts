/** Every change of any object that our controllers may write, in one namespace, from watches. */
import { collectionPath, type ResourceType, type WatchHandle } from '@omenative/kube';
import type { Api } from './api.js';
import {
  configMaps,
  controllerRevisions,
  endpointSlices,
  events,
  inferenceReplicas,
  inferenceServices,
  pods,
  type Stored,
  services,
  servingRuntimes,
} from './objects.js';

const watched: readonly ResourceType[] = [
  configMaps,
  controllerRevisions,
  endpointSlices,
  events,
  inferenceReplicas,
  inferenceServices,
  pods,
  services,
  servingRuntimes,
];

export class Changes {
  readonly #seen: string[] = [];
  readonly #watches: WatchHandle[] = [];

  private constructor() {}

  /** Begins now. */
  static async of(api: Api): Promise<Changes> {
    const changes = new Changes();
    for (const type of watched) {
      const { resourceVersion } = await api.client.list(type, { namespace: api.namespace, limit: 1 });
      const path = collectionPath(type, api.namespace);
      changes.#watches.push(
        api.transport.watch(
          { method: 'GET', path, query: { watch: 'true', resourceVersion } },
          {
            onOpen: () => {},
            onEvent: ({ type: how, object }) => changes.#seen.push(`${how} ${type.kind} ${nameOf(object)}`),
            onEnd: (end) => changes.#seen.push(`the watch of ${type.plural} has ended: ${end.how}`),
          },
        ),
      );
    }
    return changes;
  }

  /** Each as `MODIFIED Pod chat-engine-0-default-0`, in the order in which they were seen. */
  get seen(): readonly string[] {
    return this.#seen;
  }

  close(): void {
    for (const watch of this.#watches) watch.close();
  }
}

function nameOf(object: unknown): string {
  return (object as Partial<Stored>).metadata?.name ?? JSON.stringify(object);
}
