/** The Services of an InferenceService: one stable and one for each revision of a component, and one to enter by. */
import {
  annotation,
  apiVersion,
  type Component,
  label,
  managedByValue,
  revisionServiceName,
  selectorLabels,
  stableServiceName,
} from '@omenative/api';
import type { ServiceRecord } from '../inferencereplica/routing.js';
import { asRecord, asRecords, asText, type JsonRecord, sameJson } from '../shared/json.js';
import { type ServicePort, storedPorts, writtenPorts } from './ports.js';
import type { InferenceServiceRecord } from './service-record.js';

export interface DesiredService {
  readonly kind: 'stable' | 'revision' | 'external';
  readonly component: Component;
  readonly namespace: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly ownerReferences: readonly JsonRecord[];
  readonly selector: Readonly<Record<string, string>>;
  readonly ports: readonly ServicePort[];
  /** Chosen when the Service is created, and the user's from then on. */
  readonly atCreation: JsonRecord;
}

/** What the Services of one component have in common. */
export interface RoutedComponent {
  readonly service: InferenceServiceRecord;
  readonly component: Component;
  /** UID of the component's replica. */
  readonly replica: { readonly name: string; readonly uid: string };
  readonly podsPerInstance: 'one' | 'many';
  readonly ports: readonly ServicePort[];
  readonly annotations: Readonly<Record<string, string>>;
  /** Annotations of the component over those of the service: they choose the type at creation. */
  readonly words: Readonly<Record<string, string>>;
  readonly pairingProtocol: string;
}

/** The Service that users and peers send requests to. */
export function stableService(of: RoutedComponent): DesiredService {
  return {
    ...common(of),
    kind: 'stable',
    name: stableServiceName(of.service.meta.name, of.component),
    labels: selectorLabels(of.service.meta.name, of.component),
    selector: requestSelector(of),
    atCreation: typeAtCreation(of.words),
  };
}

/** The Service that routes to the pods of one revision: peers of a revision, drains and canaries go by it. */
export function revisionService(of: RoutedComponent, revisionHash: string): DesiredService {
  const owner = of.service.meta.name;
  return {
    ...common(of),
    kind: 'revision',
    name: revisionServiceName(owner, of.component, revisionHash),
    labels: {
      ...selectorLabels(owner, of.component),
      [label.revisionHash]: revisionHash,
      ...(of.pairingProtocol === '' ? {} : { [label.pairingProtocol]: of.pairingProtocol }),
    },
    selector: { ...requestSelector(of), [label.revisionHash]: revisionHash },
    atCreation: {},
  };
}

/** The Service named after the InferenceService, in front of the component that takes its requests. */
export function externalService(of: RoutedComponent): DesiredService {
  const owner = of.service.meta.name;
  return {
    ...common(of),
    kind: 'external',
    name: owner,
    labels: {
      [label.component]: 'external-service',
      [label.inferenceService]: owner,
      [label.managedBy]: managedByValue,
    },
    selector: requestSelector(of),
    atCreation: typeAtCreation(of.words),
  };
}

/** The object to create. */
export function newService(desired: DesiredService): JsonRecord {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name: desired.name,
      namespace: desired.namespace,
      labels: desired.labels,
      annotations: desired.annotations,
      ownerReferences: desired.ownerReferences,
    },
    spec: { ...desired.atCreation, selector: desired.selector, ports: writtenPorts(desired.ports, {}) },
  };
}

/**
 * The merge patch that puts drift right, for this very version of the Service; undefined when there is none. Addresses,
 * node ports and the type are left alone: they may have been handed out to somebody. So are metadata that we don't set.
 */
export function servicePatch(desired: DesiredService, stored: ServiceRecord): JsonRecord | undefined {
  const spec = asRecord(stored.raw['spec']);
  const { uid, resourceVersion } = stored.meta;
  const references = mergedOwners(desired.ownerReferences, stored);
  const metadata = {
    ...textMapChanges('labels', stored.meta.labels, desired.labels),
    ...textMapChanges('annotations', stored.meta.annotations, desired.annotations),
    ...(references === undefined ? {} : { ownerReferences: references }),
  };
  const change = {
    ...(sameJson(stored.selector, desired.selector) ? {} : { selector: wholeMap(stored.selector, desired.selector) }),
    ...(sameJson(storedPorts(spec), desired.ports) ? {} : { ports: writtenPorts(desired.ports, spec) }),
  };
  if (Object.keys(metadata).length === 0 && Object.keys(change).length === 0) return undefined;
  return {
    metadata: { ...metadata, uid, resourceVersion },
    ...(Object.keys(change).length === 0 ? {} : { spec: change }),
  };
}

function common(
  of: RoutedComponent,
): Pick<DesiredService, 'component' | 'namespace' | 'annotations' | 'ownerReferences' | 'ports'> {
  return {
    component: of.component,
    namespace: of.service.meta.namespace,
    annotations: of.annotations,
    ownerReferences: ownersOf(of),
    ports: of.ports,
  };
}

/**
 * The InferenceService is the controller. The replica is an owner too, so that the Service outlives it: when the
 * InferenceService is deleted, the garbage collector takes the Service only once the replica has drained its pods, and
 * until then requests still find those that serve. A foreground deletion is another wish: the garbage collector then
 * deletes Services and pods at once, whatever they are owned by.
 */
function ownersOf({ service, replica }: RoutedComponent): readonly JsonRecord[] {
  const { name, uid } = service.meta;
  return [
    { apiVersion, kind: 'InferenceService', name, uid, controller: true, blockOwnerDeletion: false },
    { apiVersion, kind: 'InferenceReplica', name: replica.name, uid: replica.uid, blockOwnerDeletion: false },
  ];
}

/** Requests go to one pod of an Instance: workers of a gang take none, whatever declared them. */
function requestSelector(of: RoutedComponent): Readonly<Record<string, string>> {
  const all = selectorLabels(of.service.meta.name, of.component);
  return of.podsPerInstance === 'many' ? { ...all, [label.runner]: 'leader' } : all;
}

function typeAtCreation(words: Readonly<Record<string, string>>): JsonRecord {
  const type = words[annotation.serviceType];
  const isKnown = type === 'ClusterIP' || type === 'NodePort' || type === 'LoadBalancer';
  const address = words['ome.io/load-balancer-ip'];
  return {
    ...(isKnown ? { type } : {}),
    ...(type === 'LoadBalancer' && address !== undefined ? { loadBalancerIP: address } : {}),
  };
}

/** The references with ours among them; undefined when they are already. Those of a replica that is gone are replaced. */
function mergedOwners(wanted: readonly JsonRecord[], stored: ServiceRecord): readonly JsonRecord[] | undefined {
  const held = asRecords(asRecord(stored.raw['metadata'])['ownerReferences']);
  if (
    wanted.every((reference) =>
      held.some((other) => isSameObject(reference, other) && reference['uid'] === other['uid']),
    )
  ) {
    return undefined;
  }
  return [...held.filter((other) => !wanted.some((reference) => isSameObject(reference, other))), ...wanted];
}

/** Whether two references name the same object, or an earlier one of its name. */
function isSameObject(a: JsonRecord, b: JsonRecord): boolean {
  return asText(a['kind']) === asText(b['kind']) && a['name'] === b['name'];
}

function textMapChanges(
  name: string,
  stored: Readonly<Record<string, string>>,
  wanted: Readonly<Record<string, string>>,
): JsonRecord {
  const changed = Object.entries(wanted).filter(([key, value]) => stored[key] !== value);
  return changed.length === 0 ? {} : { [name]: Object.fromEntries(changed) };
}

/** A merge patch leaves keys that it does not name, so that surplus ones have to be named. */
function wholeMap(stored: Readonly<Record<string, string>>, wanted: Readonly<Record<string, string>>): JsonRecord {
  const surplus = Object.keys(stored).filter((key) => wanted[key] === undefined);
  return { ...Object.fromEntries(surplus.map((key) => [key, null])), ...wanted };
}
