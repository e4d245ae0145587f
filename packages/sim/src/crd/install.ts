/** Definitions that a cluster has from the beginning: copied and compiled once for all clusters of the process. */

import { customResourceDefinition } from '../api/kinds/small.js';
import { CRDS } from '../api/resources.js';
import { asObject, asText, freeze, type JsonObject, wireCopy } from '../base/json.js';
import type { KubeObject } from '../base/object.js';
import { rfc3339 } from '../base/time.js';
import type { World } from '../base/world.js';

const prepared = new WeakMap<JsonObject, JsonObject>();

/** Stores a CustomResourceDefinition as if it had just been created. The argument must not change afterwards. */
export function installDefinition(world: World, definition: JsonObject): void {
  let draft = prepared.get(definition);
  if (draft === undefined) {
    draft = freeze(customResourceDefinition.defaults(asObject(wireCopy(definition))));
    prepared.set(definition, draft);
  }
  const { name, labels, annotations } = asObject(draft['metadata']);
  const metadata = {
    name: asText(name),
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
    uid: world.newUid(),
    creationTimestamp: rfc3339(world.nowMs),
    generation: 1,
  };
  const object = customResourceDefinition.admitCreate(world, { ...draft, metadata });
  world.commit(CRDS, object as unknown as KubeObject, undefined, 'cluster');
}
