/** Server-side apply. */

import type { JsonObject } from '../base/json.js';
import type { Call } from './call.js';
import { notImplemented } from './errors.js';

export function apply(_call: Call, _body: JsonObject): { readonly object: JsonObject; readonly created: boolean } {
  throw notImplemented('server-side apply');
}
