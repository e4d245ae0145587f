/** Every change of any object that our controllers may write, in one namespace, from watches. */
import type { ResourceType } from '@omenative/kube';
import type { Api } from './api.js';
import {
  configMaps,
  controllerRevisions,
  endpointSlices,
  events,
  inferenceReplicas,
  inferenceServices,
  pods,
  services,
  servingRuntimes,
} from './objects.js';
import { Stream } from './stream.js';

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
  readonly #streams: Stream[] = [];
  #hasBegun = false;

  private constructor() {}

  /** Begins now. */
  static async of(api: Api): Promise<Changes> {
    const changes = new Changes();
    for (const type of watched) {
      const stream = await Stream.open(api, type, '', (how, { metadata }) => {
        if (changes.#hasBegun) changes.#seen.push(`${how} ${type.kind} ${metadata?.name}`);
      });
      changes.#streams.push(stream);
    }
    changes.#hasBegun = true;
    return changes;
  }

  /** Each as `MODIFIED Pod chat-engine-0-default-0`, in the order in which they were seen. @throws Error when some are missing. */
  get seen(): readonly string[] {
    for (const stream of this.#streams) stream.check();
    return this.#seen;
  }

  close(): void {
    for (const stream of this.#streams) stream.close();
  }
}
