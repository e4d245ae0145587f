/** Everything that acts in the cluster besides its clients. */

import type { Part } from '../base/world.js';
import { collector } from './collector.js';
import { definitions } from './definitions.js';
import { endpointSlices } from './endpoints.js';
import { kubelet } from './kubelet/kubelet.js';
import { namespaces } from './namespaces.js';
import { nodes } from './nodes.js';
import { podGroups } from './pod-groups.js';
import { proxy } from './proxy.js';
import { quotas } from './quotas.js';
import { scheduler } from './scheduler/scheduler.js';

export const PARTS: readonly Part[] = [
  scheduler,
  podGroups,
  kubelet,
  nodes,
  endpointSlices,
  proxy,
  collector,
  namespaces,
  quotas,
  definitions,
];
