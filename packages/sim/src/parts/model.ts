/** The fields of pods, nodes and Services that the parts of the cluster read. */

import type { LabelSelector } from '../api/selectors.js';
import type { KubeObject } from '../base/object.js';

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string;
  readonly lastProbeTime?: string | null;
  readonly reason?: string;
  readonly message?: string;
  readonly observedGeneration?: number;
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly restartPolicy?: string;
  readonly ports?: readonly { readonly containerPort: number; readonly name?: string; readonly protocol?: string }[];
  readonly readinessProbe?: {
    readonly exec?: object;
    readonly periodSeconds?: number;
    readonly failureThreshold?: number;
  };
  readonly lifecycle?: {
    readonly preStop?: {
      readonly exec?: { readonly command?: readonly string[] };
      readonly sleep?: { readonly seconds: number };
    };
  };
}

export interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
  readonly tolerationSeconds?: number;
}

export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
  readonly matchFields?: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values?: readonly string[];
  }[];
}

export interface PodAffinityTerm {
  readonly labelSelector?: LabelSelector;
  readonly topologyKey: string;
  readonly namespaces?: readonly string[];
  readonly namespaceSelector?: LabelSelector;
}

export interface Affinity {
  readonly nodeAffinity?: {
    readonly requiredDuringSchedulingIgnoredDuringExecution?: {
      readonly nodeSelectorTerms: readonly NodeSelectorTerm[];
    };
  };
  readonly podAffinity?: { readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[] };
  readonly podAntiAffinity?: { readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PodAffinityTerm[] };
}

export interface SpreadConstraint {
  readonly maxSkew: number;
  readonly topologyKey: string;
  readonly whenUnsatisfiable: string;
  readonly labelSelector?: LabelSelector;
}

export interface PodSpec {
  readonly [key: string]: unknown;
  readonly nodeName?: string;
  readonly schedulerName?: string;
  readonly restartPolicy?: string;
  readonly hostname?: string;
  readonly subdomain?: string;
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly affinity?: Affinity;
  readonly topologySpreadConstraints?: readonly SpreadConstraint[];
  readonly tolerations?: readonly Toleration[];
  readonly schedulingGates?: readonly { readonly name: string }[];
  readonly readinessGates?: readonly { readonly conditionType: string }[];
  readonly terminationGracePeriodSeconds?: number;
}

export interface ContainerStatus {
  readonly name: string;
  readonly state: {
    readonly waiting?: { readonly reason: string; readonly message?: string };
    readonly running?: { readonly startedAt: string };
    readonly terminated?: TerminatedState;
  };
  readonly lastState: { readonly terminated?: TerminatedState };
  readonly ready: boolean;
  readonly started?: boolean;
  readonly restartCount: number;
  readonly image: string;
  readonly imageID: string;
  readonly containerID?: string;
}

export interface TerminatedState {
  readonly exitCode: number;
  readonly reason: string;
  readonly message?: string;
  readonly startedAt?: string;
  readonly finishedAt?: string;
  readonly containerID?: string;
}

export interface PodStatus {
  readonly phase: string;
  readonly reason?: string;
  readonly message?: string;
  readonly conditions?: readonly Condition[];
  readonly podIP?: string;
  readonly podIPs?: readonly { readonly ip: string }[];
  readonly containerStatuses?: readonly ContainerStatus[];
  readonly initContainerStatuses?: readonly ContainerStatus[];
  readonly qosClass?: string;
}

export interface Pod extends KubeObject {
  readonly spec: PodSpec;
  readonly status: PodStatus;
}

export interface Taint {
  readonly key: string;
  readonly value?: string;
  readonly effect: string;
  readonly timeAdded?: string;
}

export interface Node extends KubeObject {
  readonly spec: { readonly unschedulable?: boolean; readonly taints?: readonly Taint[] };
  readonly status: {
    readonly allocatable?: Readonly<Record<string, string>>;
    readonly capacity?: Readonly<Record<string, string>>;
    readonly conditions?: readonly Condition[];
  };
}

export interface ServicePort {
  readonly name?: string;
  readonly port: number;
  readonly protocol?: string;
  readonly targetPort?: number | string;
  readonly appProtocol?: string;
}

export interface Service extends KubeObject {
  readonly spec: {
    readonly selector?: Readonly<Record<string, string>>;
    readonly ports?: readonly ServicePort[];
    readonly clusterIP?: string;
    readonly publishNotReadyAddresses?: boolean;
    readonly type?: string;
  };
}

/** The condition of a type. */
export function conditionOf(conditions: readonly Condition[] | undefined, type: string): Condition | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** True for a pod whose phase is final. */
export function isTerminal(pod: Pod): boolean {
  return pod.status.phase === 'Succeeded' || pod.status.phase === 'Failed';
}

/** True for a pod whose Ready condition is True. */
export function isReady(pod: Pod): boolean {
  return conditionOf(pod.status.conditions, 'Ready')?.status === 'True';
}
