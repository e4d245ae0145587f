/** Which names, labels and annotations the API server accepts, and how it says that it does not. */

import { asObject, type JsonObject } from '../base/json.js';
import type { FieldError } from './errors.js';
import type { Resource } from './resource.js';

const LABEL_TEXT =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SUBDOMAIN_TEXT =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_1035_TEXT =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const VALUE_TEXT =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const KEY_TEXT =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const LABEL_1035 = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
const KEY_NAME = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

/** All annotations of an object together, in bytes. */
const ANNOTATIONS_LIMIT = 256 * 1024;

/** The faults of a name of this resource. */
export function nameFaults(resource: Resource, name: string): readonly FieldError[] {
  const fault = nameFault(resource, name);
  if (fault === undefined) return [];
  return [{ field: 'metadata.name', type: 'Invalid', value: name, detail: fault }];
}

function nameFault(resource: Resource, name: string): string | undefined {
  switch (resource.id) {
    case 'services':
      if (name.length > 63) return 'must be no more than 63 characters';
      return LABEL_1035.test(name) ? undefined : LABEL_1035_TEXT;
    case 'namespaces':
      if (name.length > 63) return 'must be no more than 63 characters';
      return LABEL.test(name) ? undefined : LABEL_TEXT;
    case 'roles.rbac.authorization.k8s.io':
    case 'rolebindings.rbac.authorization.k8s.io':
    case 'clusterroles.rbac.authorization.k8s.io':
    case 'clusterrolebindings.rbac.authorization.k8s.io':
      return name.includes('/') || name.includes('%') ? `may not contain '/' or '%'` : undefined;
    default:
      if (name.length > 253) return 'must be no more than 253 characters';
      return SUBDOMAIN.test(name) ? undefined : SUBDOMAIN_TEXT;
  }
}

/** What is wrong with a name that must be a DNS label, as containers and hosts have; undefined when nothing is. */
export function labelFault(name: string): string | undefined {
  if (name.length > 63) return 'must be no more than 63 characters';
  return LABEL.test(name) ? undefined : LABEL_TEXT;
}

/** The faults of the metadata of a draft. */
export function metadataFaults(metadata: JsonObject): readonly FieldError[] {
  return [
    ...labelFaults(metadata['labels'], 'metadata.labels'),
    ...annotationFaults(metadata['annotations']),
    ...ownerFaults(metadata['ownerReferences']),
  ];
}

/** The faults of a map of labels, wherever it stands. */
export function labelFaults(labels: unknown, field: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const [key, value] of Object.entries(asObject(labels))) {
    const keyFault = qualifiedNameFault(key);
    if (keyFault !== undefined) errors.push({ field, type: 'Invalid', value: key, detail: keyFault });
    const text = String(value);
    if (text.length > 63) {
      errors.push({ field, type: 'Invalid', value: text, detail: 'must be no more than 63 characters' });
    } else if (!VALUE.test(text)) {
      errors.push({ field, type: 'Invalid', value: text, detail: VALUE_TEXT });
    }
  }
  return errors;
}

function qualifiedNameFault(key: string): string | undefined {
  const parts = key.split('/');
  const name = parts.at(-1) ?? '';
  if (parts.length > 2) return "a qualified name must consist of a prefix and a name, e.g. 'example.com/MyName'";
  if (parts.length === 2 && !SUBDOMAIN.test(parts[0] ?? '')) return `prefix part ${SUBDOMAIN_TEXT}`;
  if (name.length > 63) return 'name part must be no more than 63 characters';
  return KEY_NAME.test(name) ? undefined : KEY_TEXT;
}

function annotationFaults(annotations: unknown): readonly FieldError[] {
  const errors: FieldError[] = [];
  let bytes = 0;
  for (const [key, value] of Object.entries(asObject(annotations))) {
    bytes += key.length + String(value).length;
    const fault = qualifiedNameFault(key.toLowerCase());
    if (fault !== undefined) {
      errors.push({ field: 'metadata.annotations', type: 'Invalid', value: key, detail: fault });
    }
  }
  if (bytes > ANNOTATIONS_LIMIT) {
    const detail = `may not be more than ${ANNOTATIONS_LIMIT} bytes`;
    errors.push({ field: 'metadata.annotations', type: 'TooLong', detail });
  }
  return errors;
}

function ownerFaults(owners: unknown): readonly FieldError[] {
  if (!Array.isArray(owners)) return [];
  const errors: FieldError[] = [];
  const controllers = owners.filter((owner) => asObject(owner)['controller'] === true);
  for (const owner of owners) {
    for (const key of ['apiVersion', 'kind', 'name', 'uid']) {
      if (asObject(owner)[key]) continue;
      const field = `metadata.ownerReferences.${key}`;
      errors.push({ field, type: 'Invalid', value: '', detail: `${key} must not be empty` });
    }
  }
  if (controllers.length > 1) {
    const [first, second] = controllers.map((owner) => asObject(owner));
    const detail = `Only one reference can have Controller set to true. Found "true" in references for ${String(first?.['kind'])}/${String(first?.['name'])} and ${String(second?.['kind'])}/${String(second?.['name'])}`;
    errors.push({ field: 'metadata.ownerReferences', type: 'Invalid', value: owners, detail });
  }
  return errors;
}
