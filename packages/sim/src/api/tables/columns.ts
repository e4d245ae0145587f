/** The columns of built-in resources, and how each cell is read. */

import { asList, asObject, asText, at, type JsonObject } from '../../base/json.js';
import type { KubeObject } from '../../base/object.js';
import type { Pod } from '../../parts/model.js';
import { age } from './age.js';
import { podCells } from './pods.js';

export interface TableColumn {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  /** 0 is always shown, 1 with `-o wide`. */
  readonly priority: number;
}

/** What a table of one resource shows. */
export interface TableShape {
  readonly columns: readonly TableColumn[];
  readonly cells: (object: KubeObject, nowMs: number) => readonly unknown[];
}

type Reader = (object: KubeObject, nowMs: number) => unknown;
type Entry = readonly [name: string, read: Reader, type?: 'wide' | 'integer'];

function column(name: string, type = 'string', priority = 0): TableColumn {
  return { name, type, format: name === 'Name' ? 'name' : '', description: '', priority };
}

function shape(...entries: readonly Entry[]): TableShape {
  return {
    columns: [
      column('Name'),
      ...entries.map(([name, , type]) =>
        column(name, type === 'integer' ? 'integer' : 'string', type === 'wide' ? 1 : 0),
      ),
    ],
    cells: (object, nowMs) => [object.metadata.name, ...entries.map(([, read]) => read(object, nowMs))],
  };
}

const AGE: Entry = ['Age', (object, nowMs) => age(object.metadata.creationTimestamp, nowMs)];

/** A reader of the value under a path; missing values show as `<none>`. */
function field(...path: readonly string[]): Reader {
  return (object) => at(object, ...path) ?? '<none>';
}

function count(...path: readonly string[]): Reader {
  return (object) => {
    const value = at(object, ...path);
    return Array.isArray(value) ? value.length : Object.keys(asObject(value)).length;
  };
}

const PODS: TableShape = {
  columns: [
    ...['Name', 'Ready', 'Status', 'Restarts', 'Age'].map((name) => column(name)),
    ...['IP', 'Node', 'Nominated Node', 'Readiness Gates'].map((name) => column(name, 'string', 1)),
  ],
  cells: (object, nowMs) => podCells(object as Pod, nowMs),
};

function servicePorts(object: KubeObject): string {
  const ports = asList(at(object, 'spec', 'ports')).map((port) => asObject(port));
  if (ports.length === 0) return '<none>';
  return ports.map((port) => `${String(port['port'])}/${asText(port['protocol'])}`).join(',');
}

function selectorText(...path: readonly string[]): Reader {
  return (object) => {
    const pairs = Object.entries(asObject(at(object, ...path)));
    return pairs.length === 0 ? '<none>' : pairs.map(([key, value]) => `${key}=${asText(value)}`).join(',');
  };
}

function nodeStatus(object: KubeObject): string {
  const conditions = asList(at(object, 'status', 'conditions')).map((one) => asObject(one));
  const ready = conditions.find((one) => one['type'] === 'Ready')?.['status'];
  const state = ready === undefined ? 'Unknown' : ready === 'True' ? 'Ready' : 'NotReady';
  return at(object, 'spec', 'unschedulable') === true ? `${state},SchedulingDisabled` : state;
}

function quotaText(which: 'requests' | 'limits'): Reader {
  return (object) => {
    const hard = asObject(at(object, 'status', 'hard'));
    const used = asObject(at(object, 'status', 'used'));
    const names = Object.keys(hard).filter((name) => name.startsWith('limits.') === (which === 'limits'));
    return names
      .toSorted()
      .map((name) => `${name}: ${asText(used[name])}/${asText(hard[name])}`)
      .join(', ');
  };
}

function endpointAddresses(object: KubeObject): string {
  const all = asList(object['endpoints']).flatMap((one) => asList(asObject(one)['addresses']).map(asText));
  if (all.length === 0) return '<unset>';
  return all.length > 3 ? `${all.slice(0, 3).join(',')} + ${all.length - 3} more...` : all.join(',');
}

function endpointPorts(object: KubeObject): string {
  const ports = asList(object['ports']).map((one) => String(asObject(one)['port']));
  return ports.length === 0 ? '<unset>' : ports.join(',');
}

function eventObject(object: KubeObject): string {
  const about = asObject(object['involvedObject']);
  return `${asText(about['kind']).toLowerCase()}/${asText(about['name'])}`;
}

const EVENTS: TableShape = {
  columns: [
    ...['Last Seen', 'Type', 'Reason', 'Object'].map((name) => column(name)),
    ...['Subobject', 'Source'].map((name) => column(name, 'string', 1)),
    column('Message'),
    ...['First Seen', 'Count', 'Name'].map((name) => column(name, 'string', 1)),
  ],
  cells: (object, nowMs) => [
    age(object['lastTimestamp'] ?? object['eventTime'], nowMs),
    object['type'],
    object['reason'],
    eventObject(object),
    asText(at(object, 'involvedObject', 'fieldPath')),
    asText(at(object, 'source', 'component')),
    asText(object['message']).trim(),
    age(object['firstTimestamp'] ?? object['eventTime'], nowMs),
    object['count'] ?? 1,
    object.metadata.name,
  ],
};

/** A number or a text, as text. */
function shown(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function readyText(object: KubeObject): string {
  return `${shown(at(object, 'status', 'readyReplicas') ?? 0)}/${shown(at(object, 'spec', 'replicas') ?? 0)}`;
}

const PLAIN: TableShape = shape(AGE);

const SHAPES: Readonly<Record<string, TableShape>> = {
  pods: PODS,
  events: EVENTS,
  services: shape(
    ['Type', field('spec', 'type')],
    ['Cluster-IP', field('spec', 'clusterIP')],
    ['External-IP', () => '<none>'],
    ['Port(s)', servicePorts],
    AGE,
    ['Selector', selectorText('spec', 'selector'), 'wide'],
  ),
  nodes: shape(
    ['Status', nodeStatus],
    ['Roles', () => '<none>'],
    AGE,
    ['Version', field('status', 'nodeInfo', 'kubeletVersion')],
    ['OS-Image', field('status', 'nodeInfo', 'osImage'), 'wide'],
  ),
  namespaces: shape(['Status', field('status', 'phase')], AGE),
  configmaps: shape(['Data', count('data'), 'integer'], AGE),
  secrets: shape(['Type', field('type')], ['Data', count('data'), 'integer'], AGE),
  serviceaccounts: shape(['Secrets', count('secrets'), 'integer'], AGE),
  resourcequotas: shape(['Request', quotaText('requests')], ['Limit', quotaText('limits')], AGE),
  'controllerrevisions.apps': shape(
    [
      'Controller',
      ({ metadata }) => {
        const owner = metadata.ownerReferences?.find((one) => one.controller === true);
        return owner === undefined
          ? '<none>'
          : `${owner.kind.toLowerCase()}.${owner.apiVersion.split('/')[0]}/${owner.name}`;
      },
    ],
    ['Revision', (object) => object['revision'] ?? 0, 'integer'],
    AGE,
  ),
  'deployments.apps': shape(
    ['Ready', readyText],
    ['Up-to-date', (object) => at(object, 'status', 'updatedReplicas') ?? 0, 'integer'],
    ['Available', (object) => at(object, 'status', 'availableReplicas') ?? 0, 'integer'],
    AGE,
  ),
  'endpointslices.discovery.k8s.io': shape(
    ['AddressType', (object) => object['addressType']],
    ['Ports', endpointPorts],
    ['Endpoints', endpointAddresses],
    AGE,
  ),
  'leases.coordination.k8s.io': shape(['Holder', field('spec', 'holderIdentity')], AGE),
  'poddisruptionbudgets.policy': shape(
    ['Min Available', (object) => shown(at(object, 'spec', 'minAvailable') ?? 'N/A')],
    ['Max Unavailable', (object) => shown(at(object, 'spec', 'maxUnavailable') ?? 'N/A')],
    ['Allowed Disruptions', (object) => at(object, 'status', 'disruptionsAllowed') ?? 0, 'integer'],
    AGE,
  ),
  'customresourcedefinitions.apiextensions.k8s.io': shape([
    'Created At',
    (object) => object.metadata.creationTimestamp,
  ]),
};

/** The table shape of a built-in resource by its id. */
export function builtInShape(id: string): TableShape {
  return SHAPES[id] ?? PLAIN;
}

/** A column of a definition in the form of a table. */
export function customColumn(columnObject: JsonObject): TableColumn {
  const priority = columnObject['priority'];
  return {
    name: asText(columnObject['name']),
    type: asText(columnObject['type']),
    format: asText(columnObject['format']),
    description: asText(columnObject['description']),
    priority: typeof priority === 'number' ? priority : 0,
  };
}
