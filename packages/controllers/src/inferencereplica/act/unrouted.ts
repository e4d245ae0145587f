/**
 * The live proof that a pod is out of rotation, for those about to delete it: one read of the slices serves a whole wave of
 * deletions.
 */
import { label, managedByValue } from '@omenative/api';
import { type Client, labelQuery } from '@omenative/kube';
import { endpointSliceType } from '../../shared/resources.js';
import type { PodRecord } from '../pod-view.js';
import { type RoutingService, rotationOf, type SliceRecord, selects, sliceRecordOf } from '../routing.js';

const headlessLabel = 'service.kubernetes.io/headless';

export interface UnroutedOptions {
  readonly client: Client;
  readonly namespace: string;
  readonly owner: string;
  /** Services that the cache knows to route to the replica's pods. */
  readonly services: readonly Omit<RoutingService, 'slices'>[];
}

/** One wave of deletions. */
export class UnroutedGuard {
  readonly #options: UnroutedOptions;
  #slices: Promise<readonly SliceRecord[]> | undefined;

  constructor(options: UnroutedOptions) {
    this.#options = options;
  }

  /**
   * Why the pod may still get requests, for people; undefined when it is out of every Service that selects it, those that
   * the cache has not seen yet included.
   *
   * @throws ApiError or TransportError when the slices can't be read: then nothing is known, and nothing is deleted.
   */
  async objection(pod: PodRecord): Promise<string | undefined> {
    this.#slices ??= this.#list();
    const byService = groupByService(await this.#slices);
    const known = this.#options.services.map((service) => withSlices(service, byService.get(service.name)));
    const names = new Set(known.map((service) => service.name));
    // A Service that is in no cache yet is taken to select whatever its slices name.
    const unknown = [...byService]
      .filter(([name, slices]) => !names.has(name) && !slices.some(isHeadless))
      .map(([name, slices]): RoutingService => ({ name, selector: pod.meta.labels, slices, sign: 'ready' }));
    const services = [...known, ...unknown];
    const [rotation] = rotationOf([pod], services).values();
    if (rotation === 'out') return undefined;
    const routing = services.filter((service) => selects(service.selector, pod.meta.labels)).map(({ name }) => name);
    return rotation === 'in'
      ? `still routed by one of the Services ${routing.join(', ')}`
      : `one of the Services ${routing.join(', ')} has no EndpointSlice yet`;
  }

  async #list(): Promise<readonly SliceRecord[]> {
    const { client, namespace, owner } = this.#options;
    // Slices carry the labels of their Service.
    const labelSelector = labelQuery({ [label.managedBy]: managedByValue, [label.inferenceService]: owner });
    const slices: SliceRecord[] = [];
    let continueToken: string | undefined;
    do {
      const page = await client.list(endpointSliceType, {
        namespace,
        labelSelector,
        limit: 500,
        ...(continueToken === undefined ? {} : { continueToken }),
      });
      slices.push(...page.items.map(sliceRecordOf));
      continueToken = page.continueToken;
    } while (continueToken !== undefined);
    return slices;
  }
}

function groupByService(slices: readonly SliceRecord[]): ReadonlyMap<string, readonly SliceRecord[]> {
  const groups = new Map<string, SliceRecord[]>();
  for (const slice of slices) {
    const group = groups.get(slice.service);
    if (group === undefined) groups.set(slice.service, [slice]);
    else group.push(slice);
  }
  return groups;
}

function withSlices(
  service: Omit<RoutingService, 'slices'>,
  slices: readonly SliceRecord[] | undefined,
): RoutingService {
  return slices === undefined ? service : { ...service, slices };
}

function isHeadless(slice: SliceRecord): boolean {
  return slice.meta.labels[headlessLabel] !== undefined;
}
