/** From what a client sent to what would be stored: pruning, defaults, and the rules of its kind. */

import { asObject, asText, type JsonObject } from '../base/json.js';
import type { KubeObject } from '../base/object.js';
import { validateRules } from '../crd/cel.js';
import { applyDefaults, prune } from '../crd/prune.js';
import { validateSchema } from '../crd/validate.js';
import { badRequest, type FieldError } from './errors.js';
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
  if (bySchema.length > 0) return bySchema;
  return validateRules(celRoot(object), schema, '', old === undefined ? undefined : celRoot(old));
}

function body(object: KubeObject): JsonObject {
  return { ...object, metadata: { name: object.metadata.name } };
}

// Rules at the root may read the type, the name and the generateName, and nothing else of the metadata.
function celRoot(object: KubeObject): JsonObject {
  const { name, generateName } = object.metadata;
  return { ...asObject(object), metadata: generateName === undefined ? { name } : { name, generateName } };
}
