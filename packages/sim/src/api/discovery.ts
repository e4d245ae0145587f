/** What the API server says about itself. */

import type { JsonObject } from '../base/json.js';
import type { World } from '../base/world.js';
import type { SimRequest } from './call.js';
import { noSuchPath } from './errors.js';

export function discovery(_world: World, _request: SimRequest): JsonObject {
  throw noSuchPath();
}
