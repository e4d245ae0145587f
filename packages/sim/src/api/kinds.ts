/** What the API server does for each built-in kind beyond what it does for all. */

import type { JsonObject } from '../base/json.js';
import type { KubeObject } from '../base/object.js';
import type { World } from '../base/world.js';
import type { FieldError } from './errors.js';
import { podRules } from './kinds/pod.js';
import { serviceRules } from './kinds/service.js';
import { configMap, controllerRevision, customResourceDefinition, namespace, node, secret } from './kinds/small.js';

export interface KindRules {
  /** Values for fields the client left out; at create and at update. */
  defaults?(draft: JsonObject): JsonObject;
  /** Whether the status a client sends with a creation is taken over; it is dropped unless `kept`. */
  readonly statusAtCreate?: 'kept';
  /** Values only the server chooses, once: addresses, first conditions. */
  admitCreate?(world: World, draft: JsonObject): JsonObject;
  /** What an update keeps of the stored object whatever the client sent. */
  prepareUpdate?(draft: JsonObject, old: KubeObject): JsonObject;
  /** The broken rules; `old` is absent at create. */
  faults?(object: KubeObject, old: KubeObject | undefined): readonly FieldError[];
}

const RULES: Readonly<Record<string, KindRules>> = {
  pods: podRules,
  services: serviceRules,
  namespaces: namespace,
  nodes: node,
  secrets: secret,
  configmaps: configMap,
  'controllerrevisions.apps': controllerRevision,
  'customresourcedefinitions.apiextensions.k8s.io': customResourceDefinition,
};

const NO_RULES: KindRules = {};

/** The rules of a built-in resource by its id. */
export function kindRules(id: string): KindRules {
  return RULES[id] ?? NO_RULES;
}
