/**
 * Whether requests still reach a pod, as the cached Services and EndpointSlices tell it. The two are streams of their own,
 * not ordered with the pods': what they don't know is unknown, and an unknown pod is kept.
 */
import { label } from '@omenative/api';
import type { PodView, Uid } from '@omenative/engine';
import { asRecord, asRecords, asText, asTextMap, type JsonRecord } from '../shared/json.js';
import { metaOf, type ObjectMeta } from '../shared/meta.js';
import { withoutManagedFields } from '../shared/object-record.js';

/** A Service in the cache. */
export interface ServiceRecord {
  readonly meta: ObjectMeta;
  readonly isHeadless: boolean;
  readonly publishNotReadyAddresses: boolean;
  readonly hasPorts: boolean;
  readonly selector: Readonly<Record<string, string>>;
  /** The whole object, for those who correct its drift. */
  readonly raw: JsonRecord;
}

export interface EndpointView {
  readonly podName: string;
  /** '' when the slice does not say. */
  readonly podUid: Uid;
  /** An absent condition reads as true. */
  readonly ready: boolean;
  /** An absent condition reads as `ready`. */
  readonly serving: boolean;
  readonly terminating: boolean;
}

/** An EndpointSlice in the cache. */
export interface SliceRecord {
  readonly meta: ObjectMeta;
  /** '' for a slice that belongs to no Service. */
  readonly service: string;
  readonly endpoints: readonly EndpointView[];
}

export function serviceRecordOf(raw: unknown): ServiceRecord {
  const spec = asRecord(asRecord(raw)['spec']);
  return {
    meta: metaOf(asRecord(raw)),
    isHeadless: spec['clusterIP'] === 'None',
    publishNotReadyAddresses: spec['publishNotReadyAddresses'] === true,
    hasPorts: asRecords(spec['ports']).length > 0,
    selector: asTextMap(spec['selector']),
    raw: withoutManagedFields(asRecord(raw)),
  };
}

export function sliceRecordOf(raw: unknown): SliceRecord {
  const meta = metaOf(asRecord(raw));
  return {
    meta,
    service: meta.labels[label.serviceName] ?? '',
    endpoints: asRecords(asRecord(raw)['endpoints']).flatMap((endpoint) => {
      const target = asRecord(endpoint['targetRef']);
      const kind = asText(target['kind']);
      const conditions = asRecord(endpoint['conditions']);
      const ready = conditions['ready'] !== false;
      if ((kind !== '' && kind !== 'Pod') || asText(target['name']) === '') return [];
      return [
        {
          podName: asText(target['name']),
          podUid: asText(target['uid']),
          ready,
          serving: typeof conditions['serving'] === 'boolean' ? conditions['serving'] : ready,
          terminating: conditions['terminating'] === true,
        },
      ];
    }),
  };
}

/** The pod as routing sees it: by its labels. */
export interface RoutedPod {
  readonly view: Pick<PodView, 'name' | 'uid' | 'phase'>;
  readonly meta: Pick<ObjectMeta, 'labels'>;
}

/** How a Service's slices show that a pod gets requests. */
export interface RoutingService {
  readonly name: string;
  readonly selector: Readonly<Record<string, string>>;
  /** Absent: the Service has no slice that we know of. */
  readonly slices?: readonly SliceRecord[];
  /**
   * `ready`, terminating or not, for a Service that requests go through. `serving` for a headless Service that stands in for
   * one: it publishes addresses that are not ready, so that its `ready` is always true.
   */
  readonly sign: 'ready' | 'serving';
}

/**
 * In or out of rotation over all these Services. A pod that none of them selects is out, and so is one that has ended; a pod
 * of which one of them knows nothing is not in the map.
 */
export function rotationOf(
  pods: readonly RoutedPod[],
  services: readonly RoutingService[],
): ReadonlyMap<Uid, 'in' | 'out'> {
  const routed = new Map<RoutingService, ReadonlySet<string>>();
  for (const service of services) routed.set(service, routedPods(service));
  const rotation = new Map<Uid, 'in' | 'out'>();
  for (const pod of pods) {
    const selecting = services.filter((service) => selects(service.selector, pod.meta.labels));
    const isIn = selecting.some((service) => isListed(routed.get(service), pod));
    const hasEnded = pod.view.phase === 'Succeeded' || pod.view.phase === 'Failed';
    if (isIn && !hasEnded) rotation.set(pod.view.uid, 'in');
    else if (hasEnded || selecting.every((service) => service.slices !== undefined)) rotation.set(pod.view.uid, 'out');
  }
  return rotation;
}

/** UIDs, and names of endpoints without one, that the Service sends requests to. */
function routedPods(service: RoutingService): ReadonlySet<string> {
  const routed = new Set<string>();
  for (const slice of service.slices ?? []) {
    for (const endpoint of slice.endpoints) {
      if (service.sign === 'ready' ? endpoint.ready : endpoint.serving) routed.add(idOf(endpoint));
    }
  }
  return routed;
}

/** Pods that the slices of a headless Service publish and that are not going away. */
export function discoverableOf(pods: readonly RoutedPod[], slices: readonly SliceRecord[]): ReadonlySet<Uid> {
  const listed = new Set<string>();
  for (const slice of slices) {
    for (const endpoint of slice.endpoints) if (endpoint.ready && !endpoint.terminating) listed.add(idOf(endpoint));
  }
  return new Set(pods.filter((pod) => isListed(listed, pod)).map((pod) => pod.view.uid));
}

function idOf(endpoint: EndpointView): string {
  return endpoint.podUid === '' ? `name/${endpoint.podName}` : endpoint.podUid;
}

function isListed(ids: ReadonlySet<string> | undefined, pod: RoutedPod): boolean {
  return ids !== undefined && (ids.has(pod.view.uid) || ids.has(`name/${pod.view.name}`));
}

/** A Service without a selector selects nothing: its endpoints are somebody else's. */
export function selects(selector: Readonly<Record<string, string>>, labels: Readonly<Record<string, string>>): boolean {
  const terms = Object.entries(selector);
  return terms.length > 0 && terms.every(([key, value]) => labels[key] === value);
}
