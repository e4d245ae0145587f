/**
 * How the parts of an object are merged: which lists are maps by a key, which are sets, which are replaced as one. The
 * same tree serves strategic merge patches and server-side apply; custom resources derive theirs from their schema.
 */

export type MergeNode =
  /** Replaced as one. */
  | { readonly kind: 'atomic' }
  /** Unknown below: objects field by field, lists as one. */
  | { readonly kind: 'any' }
  | { readonly kind: 'object'; readonly fields: Readonly<Record<string, MergeNode>>; readonly rest: MergeNode }
  | { readonly kind: 'set' }
  | {
      readonly kind: 'map';
      /** The keys of server-side apply. */
      readonly keys: readonly string[];
      /** Values of keys that an item leaves out. */
      readonly keyDefaults?: Readonly<Record<string, unknown>>;
      /** The key of strategic merge patches; absent: the list is replaced by them. */
      readonly patchKey?: string;
      readonly item: MergeNode;
    };

export const ANY: MergeNode = { kind: 'any' };
export const ATOMIC: MergeNode = { kind: 'atomic' };
export const SET: MergeNode = { kind: 'set' };

/** An object with known fields; all others are `any`. */
function objectNode(fields: Readonly<Record<string, MergeNode>>): MergeNode {
  return { kind: 'object', fields, rest: ANY };
}

/** A list keyed by one field for apply and for strategic merge alike. */
export function keyed(key: string, item: MergeNode = ANY): MergeNode {
  return { kind: 'map', keys: [key], patchKey: key, item };
}

/** The node of a field of `node`. */
export function childNode(node: MergeNode, key: string): MergeNode {
  switch (node.kind) {
    case 'object':
      return node.fields[key] ?? node.rest;
    case 'any':
      return ANY;
    case 'atomic':
    case 'set':
    case 'map':
      return ATOMIC;
  }
}

/** Metadata merges alike in every resource. */
export const META: MergeNode = objectNode({
  ownerReferences: keyed('uid', ATOMIC),
  finalizers: SET,
  managedFields: ATOMIC,
});

const container = objectNode({
  env: keyed('name'),
  envFrom: ATOMIC,
  ports: {
    kind: 'map',
    keys: ['containerPort', 'protocol'],
    keyDefaults: { protocol: 'TCP' },
    patchKey: 'containerPort',
    item: ANY,
  },
  volumeMounts: keyed('mountPath'),
  volumeDevices: keyed('devicePath'),
  resizePolicy: ATOMIC,
  resources: objectNode({ claims: { kind: 'map', keys: ['name', 'request'], item: ANY } }),
});

/** `spec` of a pod, wherever it stands. */
const POD_SPEC: MergeNode = objectNode({
  containers: keyed('name', container),
  initContainers: keyed('name', container),
  ephemeralContainers: keyed('name', container),
  volumes: keyed('name'),
  imagePullSecrets: keyed('name'),
  hostAliases: keyed('ip'),
  topologySpreadConstraints: {
    kind: 'map',
    keys: ['topologyKey', 'whenUnsatisfiable'],
    patchKey: 'topologyKey',
    item: ANY,
  },
  schedulingGates: keyed('name'),
  resourceClaims: keyed('name'),
  nodeSelector: ATOMIC,
});

const conditions = keyed('type');

const POD_STATUS: MergeNode = objectNode({
  conditions,
  podIPs: { kind: 'map', keys: ['ip'], patchKey: 'ip', item: ANY },
  hostIPs: { kind: 'map', keys: ['ip'], patchKey: 'ip', item: ANY },
});

const template = objectNode({ metadata: META, spec: POD_SPEC });

/** The merge tree of a built-in resource by its id. */
export function builtInMergeNode(id: string): MergeNode {
  return BUILT_IN[id] ?? objectNode({ metadata: META });
}

const workload = objectNode({ metadata: META, spec: objectNode({ template }), status: objectNode({ conditions }) });

const BUILT_IN: Readonly<Record<string, MergeNode>> = {
  pods: objectNode({ metadata: META, spec: POD_SPEC, status: POD_STATUS }),
  services: objectNode({
    metadata: META,
    spec: objectNode({
      ports: {
        kind: 'map',
        keys: ['port', 'protocol'],
        keyDefaults: { protocol: 'TCP' },
        patchKey: 'port',
        item: ANY,
      },
      selector: ATOMIC,
      externalIPs: ATOMIC,
    }),
    status: objectNode({ conditions }),
  }),
  nodes: objectNode({
    metadata: META,
    spec: objectNode({ taints: ATOMIC, podCIDRs: SET }),
    status: objectNode({ conditions, addresses: keyed('type'), images: ATOMIC }),
  }),
  namespaces: objectNode({ metadata: META, status: objectNode({ conditions }) }),
  serviceaccounts: objectNode({
    metadata: META,
    secrets: keyed('name'),
    imagePullSecrets: { kind: 'atomic' },
  }),
  'deployments.apps': workload,
  'replicasets.apps': workload,
  'statefulsets.apps': workload,
  'daemonsets.apps': workload,
  'jobs.batch': workload,
  'controllerrevisions.apps': objectNode({ metadata: META, data: ATOMIC }),
  'endpointslices.discovery.k8s.io': objectNode({ metadata: META, endpoints: ATOMIC, ports: ATOMIC }),
  'poddisruptionbudgets.policy': objectNode({
    metadata: META,
    spec: objectNode({ selector: ATOMIC }),
    status: objectNode({ conditions }),
  }),
};
