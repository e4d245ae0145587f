/** Which labels and annotations of an InferenceService reach its pods and its Services. */
import { annotation } from '@omenative/api';
import { filterKeys, isForPods } from '../inferencereplica/metadata-rules.js';

type TextMap = Readonly<Record<string, string>>;

/** Words to this controller about one component: they change what is made, and have no place on it. */
const componentVerbs: ReadonlySet<string> = new Set([
  annotation.deploymentMode,
  annotation.serviceType,
  'ome.io/load-balancer-ip',
]);

/** Families that speak to what scrapes, connects or mutates pods, and would mislead on a Service. */
const podOnlyPrefixes = [
  'prometheus.io/',
  'k8s.grafana.com/',
  'loki.grafana.com/',
  'networking.gke.io/',
  'rdma.ome.io/',
  'runtime.ome.io/',
];
const podOnly: ReadonlySet<string> = new Set([
  'ome.io/inject-model-init',
  'ome.io/inject-fine-tuned-adapter',
  'ome.io/inject-serving-sidecar',
]);

export interface CopiedAnnotations {
  /** The service's and the component's; the component's word wins. */
  readonly annotations: TextMap;
  /** Of those, the keys that only the service declares, sorted: their change must not roll the component. */
  readonly serviceOnlyKeys: readonly string[];
}

/** The annotations of a component's pods. `component` is the merged map of runtime and InferenceService. */
export function podAnnotations(service: TextMap, component: TextMap): CopiedAnnotations {
  const own = filterKeys(component, isCopied);
  const copied = filterKeys(service, isCopied);
  return {
    annotations: { ...copied, ...own },
    serviceOnlyKeys: Object.keys(copied)
      .filter((key) => own[key] === undefined)
      .toSorted(),
  };
}

/** Whether an annotation reaches the pods. */
function isCopied(key: string): boolean {
  return isForPods(key) && !componentVerbs.has(key);
}

/** The annotations of a component's Services. */
export function serviceAnnotations(service: TextMap, component: TextMap): TextMap {
  const copied = podAnnotations(service, component).annotations;
  return filterKeys(copied, (key) => !podOnly.has(key) && !podOnlyPrefixes.some((prefix) => key.startsWith(prefix)));
}
