/** Label and field selectors: parsing them, and matching objects. */

import { asObject, asText, at } from '../base/json.js';
import type { KubeObject } from '../base/object.js';
import { badRequest } from './errors.js';
import type { Resource } from './resource.js';

/** A test of an object. */
export type Matcher = (object: KubeObject) => boolean;

interface Requirement {
  readonly key: string;
  readonly operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
  readonly values: readonly string[];
}

/** A label selector as it stands in specs. */
export interface LabelSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

type Labels = Readonly<Record<string, unknown>>;

/** Whether labels satisfy a selector of a spec. An empty selector matches all. */
export function selectorMatches(selector: LabelSelector, labels: Labels): boolean {
  const equalities = Object.entries(selector.matchLabels ?? {}).every(([key, value]) => labels[key] === value);
  return (
    equalities &&
    (selector.matchExpressions ?? []).every(({ key, operator, values }) =>
      satisfies({ key, operator: operator as Requirement['operator'], values: values ?? [] }, labels),
    )
  );
}

function satisfies({ key, operator, values }: Requirement, labels: Labels): boolean {
  const value = labels[key];
  switch (operator) {
    case 'In':
      return typeof value === 'string' && values.includes(value);
    case 'NotIn':
      return typeof value !== 'string' || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
  }
}

/** The matcher of a `labelSelector` query parameter. */
function labelMatcher(text: string | undefined): Matcher | undefined {
  if (text === undefined || text.trim() === '') return undefined;
  const requirements = splitTerms(text).map(parseRequirement);
  return (object) => {
    const labels = object.metadata.labels ?? {};
    return requirements.every((requirement) => satisfies(requirement, labels));
  };
}

// Commas inside parentheses belong to a set, not between requirements.
function splitTerms(text: string): readonly string[] {
  return text.split(/,(?![^(]*\))/).map((term) => term.trim());
}

function parseRequirement(term: string): Requirement {
  const set = /^(\S+)\s+(in|notin)\s*\(([^)]*)\)$/.exec(term);
  if (set !== null) {
    const [, key = '', word, list = ''] = set;
    const values = list.split(',').map((value) => value.trim());
    return { key, operator: word === 'in' ? 'In' : 'NotIn', values };
  }
  const equality = /^([^=!\s]+)\s*(==|=|!=)\s*([^=!\s]*)$/.exec(term);
  if (equality !== null) {
    const [, key = '', operator, value = ''] = equality;
    return { key, operator: operator === '!=' ? 'NotIn' : 'In', values: [value] };
  }
  const presence = /^(!?)\s*([^=!\s]+)$/.exec(term);
  if (presence !== null) {
    const [, not, key = ''] = presence;
    return { key, operator: not === '!' ? 'DoesNotExist' : 'Exists', values: [] };
  }
  const found = term.split(/\s+/)[1] ?? term;
  throw badRequest(`unable to parse requirement: found '${found}', expected: in, notin, =, ==, !=, gt, lt`);
}

const FIELDS: Readonly<Record<string, readonly string[]>> = {
  pods: `spec.nodeName spec.restartPolicy spec.schedulerName spec.serviceAccountName
    status.phase status.podIP status.nominatedNodeName`.split(/\s+/),
  nodes: ['spec.unschedulable'],
  namespaces: ['status.phase'],
  secrets: ['type'],
  events: `involvedObject.kind involvedObject.namespace involvedObject.name involvedObject.uid
    involvedObject.apiVersion involvedObject.resourceVersion involvedObject.fieldPath
    reason reportingComponent source type`.split(/\s+/),
};

/** The matcher of a `fieldSelector` query parameter. */
function fieldMatcher(resource: Resource, text: string | undefined): Matcher | undefined {
  if (text === undefined || text === '') return undefined;
  const known = new Set([
    'metadata.name',
    ...(resource.namespaced ? ['metadata.namespace'] : []),
    ...(FIELDS[resource.id] ?? []),
    ...(resource.custom?.selectableFields ?? []).map((path) => path.replace(/^\./, '')),
  ]);
  const terms = text.split(',').map((term) => {
    const match = /^([^=!]+)(==|=|!=)(.*)$/.exec(term.trim());
    if (match === null) throw badRequest(`invalid selector: '${term}'; can't understand '${term}'`);
    const [, field = '', operator = '', value = ''] = match;
    if (!known.has(field)) throw badRequest(`field label not supported: ${field}`);
    return { field, value, wanted: operator !== '!=' };
  });
  return (object) => terms.every(({ field, value, wanted }) => (fieldValue(object, field) === value) === wanted);
}

function fieldValue(object: KubeObject, field: string): string {
  if (field === 'source') return asText(at(object, 'source', 'component'));
  if (field === 'reportingComponent') return asText(object['reportingComponent']);
  const value = at(asObject(object), ...field.split('.'));
  if (typeof value === 'boolean' || typeof value === 'number') return String(value);
  return asText(value) || (field === 'spec.unschedulable' ? 'false' : '');
}

/** Both matchers of a query as one; undefined when everything matches. */
export function queryMatcher(resource: Resource, query: Readonly<Record<string, string>>): Matcher | undefined {
  const labels = labelMatcher(query['labelSelector']);
  const fields = fieldMatcher(resource, query['fieldSelector']);
  if (labels === undefined || fields === undefined) return labels ?? fields;
  return (object) => labels(object) && fields(object);
}
