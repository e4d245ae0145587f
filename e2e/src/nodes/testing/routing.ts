/** Which pods the Services of a namespace have routed to, and when: a test of what was deleted can look back. */
import { label } from '@omenative/api';
import type { Api } from './api.js';
import { type EndpointSlice, endpointSlices } from './objects.js';
import { Stream } from './stream.js';

const headlessLabel = 'service.kubernetes.io/headless';

interface Version {
  /** Resource versions of one API server count up over all types. */
  readonly at: number;
  /** Absent: deleted. */
  readonly slice: EndpointSlice | undefined;
}

export class RoutingHistory {
  readonly #versions: Map<string, Version[]> = new Map();
  #stream: Stream | undefined;

  private constructor() {}

  /** Begins with the slices that exist now. */
  static async of(api: Api): Promise<RoutingHistory> {
    const history = new RoutingHistory();
    history.#stream = await Stream.open(api, endpointSlices, '', (type, slice) => {
      const { name, resourceVersion } = slice.metadata;
      const versions = history.#versions.get(name) ?? [];
      history.#versions.set(name, versions);
      versions.push({ at: Number(resourceVersion), slice: type === 'DELETED' ? undefined : slice });
    });
    return history;
  }

  /**
   * The Services that listed a pod as ready when the resource version `at` was made. Headless ones give addresses, and route
   * nothing.
   */
  servicesOf(podUid: string, at: number): readonly string[] {
    this.#stream?.check();
    return [...this.#versions.values()].flatMap((versions) => {
      const slice = versions.findLast((version) => version.at <= at)?.slice;
      if (slice === undefined || slice.metadata.labels?.[headlessLabel] !== undefined) return [];
      const lists = slice.endpoints?.some(({ targetRef, conditions }) => {
        return targetRef?.uid === podUid && conditions?.ready === true;
      });
      return lists === true ? [slice.metadata.labels?.[label.serviceName] ?? ''] : [];
    });
  }

  close(): void {
    this.#stream?.close();
  }
}
