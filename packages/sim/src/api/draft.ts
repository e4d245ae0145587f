/** From what a client sent to what would be stored: pruning, defaults, and the rules of its kind. */

import { asObject, asText, type JsonObject } from '../base/json.js';
import type { KubeObject } from '../base/object.js';
import { hasRules, validateRules } from '../crd/cel.js';
import { applyDefaults, prune } from '../crd/prune.js';
import { validateSchema } from '../crd/validate.js';
import { bodyObject, type Call } from './call.js';
import { badRequest, type FieldError, storageTooLarge } from './errors.js';
import { kindRules } from './kinds.js';
import { apiVersionOf, type Resource } from './resource.js';

/** A draft must say what it is, and say it right. */
export function checkType(resource: Resource, draft: JsonObject): void {
  const { apiVersion, kind } = draft;
  if (kind === undefined || kind === '') throw badRequest(`Object 'Kind' is missing in '${JSON.stringify(draft)}'`);
  if (kind !== resource.kind) {
    throw badRequest(
      `${asText(kind)} in version ${JSON.stringify(apiVersion)} cannot be handled as a ${resource.kind}: no kind matches`,
    );
  }
  if (apiVersion !== apiVersionOf(resource)) {
    throw badRequest(
      `the API version in the data (${asText(apiVersion)}) does not match the expected API version (${apiVersionOf(resource)})`,
    );
  }
}

/** What is done with fields the schema does not know: `?fieldValidation=`. */
export type UnknownFields = 'Strict' | 'Warn' | 'Ignore';

/** The draft with unknown fields dropped and defaults filled in. Strict: unknown fields are refused with 400. */
export function complete(resource: Resource, draft: JsonObject, unknown: UnknownFields): JsonObject {
  if (resource.custom === undefined) return kindRules(resource.id).defaults?.(draft) ?? draft;
  const dropped: string[] = [];
  const { schema } = resource.custom;
  const pruned = prune(draft, schema, (path) => dropped.push(path));
  if (unknown === 'Strict' && dropped.length > 0) {
    const texts = dropped.map((path) => `unknown field ${JSON.stringify(path)}`).join(', ');
    throw badRequest(
      `${resource.kind} in version ${JSON.stringify(resource.version)} cannot be handled as a ${resource.kind}: strict decoding error: ${texts}`,
    );
  }
  return applyDefaults(pruned, schema);
}

/** The broken rules of an object of this resource. `old` is absent at create. */
export function faults(resource: Resource, object: KubeObject, old: KubeObject | undefined): readonly FieldError[] {
  if (resource.custom === undefined) return kindRules(resource.id).faults?.(object, old) ?? [];
  const { schema } = resource.custom;
  const bySchema = validateSchema(body(object), schema, '', old === undefined ? undefined : body(old));
  if (bySchema.some((error) => BLOCKING.has(error.type))) return hasRules(schema) ? [...bySchema, UNCHECKED] : bySchema;
  return [...bySchema, ...validateRules(celRoot(object), schema, '', old === undefined ? undefined : celRoot(old))];
}

/** Faults after which the rules of a schema are not worth checking. */
const BLOCKING: ReadonlySet<FieldError['type']> = new Set([
  'Unsupported',
  'Required',
  'TooLong',
  'TooMany',
  'TypeInvalid',
]);

const UNCHECKED: FieldError = {
  field: '<nil>',
  type: 'Invalid',
  value: null,
  detail:
    'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
};

function body(object: KubeObject): JsonObject {
  return { ...object, metadata: { name: object.metadata.name } };
}

// Rules at the root may read the type, the name and the generateName, and nothing else of the metadata.
function celRoot(object: KubeObject): JsonObject {
  const { name, generateName } = object.metadata;
  return { ...asObject(object), metadata: generateName === undefined ? { name } : { name, generateName } };
}

/** What a call wants done with fields that are not known. */
export function unknownFields(call: Call): UnknownFields {
  const mode = call.query['fieldValidation'];
  return mode === 'Strict' || mode === 'Ignore' ? mode : 'Warn';
}

/** Throws the storage's refusal of an object that is too large. */
export function checkSize(call: Call, object: KubeObject): void {
  const bytes = JSON.stringify(object).length;
  if (bytes > call.world.options.maxObjectBytes) throw storageTooLarge(bytes);
}

/** The draft a request's body carries. A client may leave out the type where it can be only one. */
export function draftOf(call: Call): JsonObject {
  return { apiVersion: apiVersionOf(call.resource), kind: call.resource.kind, ...bodyObject(call) };
}
