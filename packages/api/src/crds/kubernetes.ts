/**
 * The shapes of Kubernetes' own types that our kinds embed. The keys of a pod spec and of a container are all listed, so
 * that strict validation refuses a misspelt one; what is below them is kept as written and left to the pod's own admission.
 */
import {
  about,
  atomicMapOf,
  bool,
  int32,
  int64,
  list,
  listMap,
  mapOf,
  named,
  object,
  oneOf,
  openObject,
  type Properties,
  preserved,
  quantity,
  type StructuralSchema,
  str,
  time,
} from './schema.js';

/** `metav1.Condition`. */
export const condition: StructuralSchema = named(
  'StatusCondition',
  object(
    {
      type: str({
        maxLength: 316,
        pattern: String.raw`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$`,
      }),
      status: oneOf('True', 'False', 'Unknown'),
      reason: str({ minLength: 1, maxLength: 1024, pattern: '^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$' }),
      message: str({ maxLength: 32_768 }),
      lastTransitionTime: time(),
      observedGeneration: int64({ minimum: 0 }),
    },
    ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
  ),
);

/** A list of conditions, one of each type. */
export const conditions: StructuralSchema = listMap(condition, ['type']);

/** Where something is reached: the addressable of knative's duck types. */
export const addressable: StructuralSchema = named(
  'Addressable',
  object({ name: str(), url: str(), CACerts: str(), audience: str() }),
);

/** A key of a Secret in the same namespace. */
export const secretKeySelector: StructuralSchema = named(
  'SecretKeySelector',
  object({ name: str({ default: '' }), key: str(), optional: bool() }, ['key']),
);

const strings = list(str());
const name = str();

const envVar = named('EnvVar', openObject({ name, value: str(), valueFrom: preserved() }, ['name']));

const containerPort = named(
  'ContainerPort',
  openObject({ name, containerPort: int32(), protocol: str({ default: 'TCP' }), hostPort: int32(), hostIP: str() }, [
    'containerPort',
  ]),
);

const volumeMount = named(
  'VolumeMount',
  openObject({ name, mountPath: str(), subPath: str(), readOnly: bool() }, ['name', 'mountPath']),
);

const resources = named('ResourceRequirements', openObject({ limits: mapOf(quantity()), requests: mapOf(quantity()) }));

const containerProperties = {
  args: strings,
  command: strings,
  env: listMap(envVar, ['name']),
  envFrom: list(preserved()),
  image: str(),
  imagePullPolicy: str(),
  lifecycle: preserved(),
  livenessProbe: preserved(),
  name,
  ports: listMap(containerPort, ['containerPort', 'protocol']),
  readinessProbe: preserved(),
  resizePolicy: list(preserved()),
  resources,
  restartPolicy: str(),
  restartPolicyRules: list(preserved()),
  securityContext: preserved(),
  startupProbe: preserved(),
  stdin: bool(),
  stdinOnce: bool(),
  terminationMessagePath: str(),
  terminationMessagePolicy: str(),
  tty: bool(),
  volumeDevices: listMap(named('VolumeDevice', openObject({ devicePath: str() }, ['devicePath'])), ['devicePath']),
  volumeMounts: listMap(volumeMount, ['mountPath']),
  workingDir: str(),
} as const;

/** A container; its name is what tells it from the others. */
export const container: StructuralSchema = named('Container', object(containerProperties, ['name']));

/** A component's main container, which the controller names when the user does not. */
export const mainContainer: StructuralSchema = named('MainContainer', object(containerProperties));

const byName = (schema: StructuralSchema): StructuralSchema => listMap(schema, ['name']);
const namedItem = (type: string): StructuralSchema => named(type, openObject({ name }, ['name']));

const toleration = named(
  'Toleration',
  openObject({ key: str(), operator: str(), value: str(), effect: str(), tolerationSeconds: int64() }),
);

const topologySpreadConstraint = named(
  'TopologySpreadConstraint',
  openObject({ maxSkew: int32(), topologyKey: str(), whenUnsatisfiable: str(), labelSelector: preserved() }, [
    'maxSkew',
    'topologyKey',
    'whenUnsatisfiable',
  ]),
);

/** Lists and maps that a ServingRuntime also has beside its component configs. */
export const podFields: Properties = {
  affinity: preserved(),
  containers: byName(container),
  dnsPolicy: str(),
  hostIPC: bool(),
  hostNetwork: bool(),
  imagePullSecrets: listMap(named('LocalObjectReference', openObject({ name: str({ default: '' }) })), ['name']),
  schedulerName: str(),
  tolerations: list(toleration),
  volumes: byName(namedItem('Volume')),
};

/** The keys of a pod spec that a component accepts beside its own; none is required. */
export const componentPodFields: Properties = {
  ...podFields,
  activeDeadlineSeconds: int64(),
  automountServiceAccountToken: bool(),
  dnsConfig: preserved(),
  enableServiceLinks: bool(),
  hostAliases: listMap(named('HostAlias', openObject({ ip: str() }, ['ip'])), ['ip']),
  hostPID: bool(),
  hostUsers: bool(),
  hostname: str(),
  hostnameOverride: str(),
  initContainers: byName(container),
  nodeName: str(),
  nodeSelector: atomicMapOf(str()),
  os: preserved(),
  overhead: mapOf(quantity()),
  preemptionPolicy: str(),
  priority: int32(),
  priorityClassName: str(),
  readinessGates: list(named('PodReadinessGate', openObject({ conditionType: str() }, ['conditionType']))),
  resourceClaims: byName(namedItem('PodResourceClaim')),
  resources,
  restartPolicy: str(),
  runtimeClassName: str(),
  schedulingGates: byName(namedItem('PodSchedulingGate')),
  securityContext: preserved(),
  serviceAccount: str(),
  serviceAccountName: str(),
  setHostnameAsFQDN: bool(),
  shareProcessNamespace: bool(),
  subdomain: str(),
  terminationGracePeriodSeconds: int64(),
  topologySpreadConstraints: listMap(topologySpreadConstraint, ['topologyKey', 'whenUnsatisfiable']),
  workloadRef: preserved(),
};

/** Every key of a pod spec. */
export const podSpecFields: Properties = {
  ...componentPodFields,
  ephemeralContainers: byName(namedItem('EphemeralContainer')),
};

/** A pod template that is used as it stands. */
export const podTemplate: StructuralSchema = named(
  'PodTemplate',
  object({
    metadata: named('PodTemplateMeta', object({ labels: mapOf(str()), annotations: mapOf(str()) })),
    spec: about('The pod spec.', named('PodSpec', object(podSpecFields, ['containers']))),
  }),
);
