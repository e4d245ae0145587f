/** Nodes as a test or a demo describes them. */

import type { JsonObject } from '../base/json.js';

export interface NodeShape {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Cores. Default 16. */
  readonly cpu?: number;
  /** A quantity. Default `64Gi`. */
  readonly memory?: string;
  /** Pods it takes. Default 110. */
  readonly pods?: number;
  /** Extended resources: `{'nvidia.com/gpu': 8}`. */
  readonly extended?: Readonly<Record<string, number>>;
  readonly taints?: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
}

/** The Node object of a shape, Ready. */
export function nodeObject(shape: NodeShape): JsonObject {
  const capacity = {
    cpu: String(shape.cpu ?? 16),
    memory: shape.memory ?? '64Gi',
    pods: String(shape.pods ?? 110),
    ...Object.fromEntries(Object.entries(shape.extended ?? {}).map(([name, count]) => [name, String(count)])),
  };
  const labels = { 'kubernetes.io/hostname': shape.name, 'kubernetes.io/os': 'linux', ...shape.labels };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: shape.name, labels },
    spec: shape.taints === undefined ? {} : { taints: shape.taints },
    status: {
      capacity,
      allocatable: capacity,
      addresses: [{ type: 'Hostname', address: shape.name }],
      nodeInfo: {
        kubeletVersion: 'v1.34.4-simulated',
        osImage: 'simulated',
        containerRuntimeVersion: 'simulated',
        kernelVersion: 'simulated',
      },
    },
  };
}
