/** The form an answer takes: as it is, or as a table for `kubectl get`. */

import type { JsonObject } from '../base/json.js';
import type { Resource } from './resource.js';

/** The body in the form the Accept header prefers. */
export function render(_resource: Resource, body: JsonObject, _accept: string | undefined): JsonObject {
  return body;
}
