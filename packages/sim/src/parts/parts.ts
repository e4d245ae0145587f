/** Everything that acts in the cluster besides its clients. */

import type { Part } from '../base/world.js';
import { collector } from './collector.js';
import { endpointSlices } from './endpoints.js';
import { kubelet } from './kubelet/kubelet.js';
import { namespaces } from './namespaces.js';
import { nodes } from './nodes.js';
import { proxy } from './proxy.js';
import { quotas } from './quotas.js';
import { scheduler } from './scheduler/scheduler.js';

export const PARTS: readonly Part[] = [scheduler, kubelet, nodes, endpointSlices, proxy, collector, namespaces, quotas];
