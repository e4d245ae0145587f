/**
 * What an operator can set for the whole installation, in the units of the code. An absent member turns its behaviour
 * off: every number in effect is one that somebody can read in the ConfigMap.
 */
import type { Component, Strategy } from '@omenative/api';
import type { IntOrPercent, LifecycleConfig } from '@omenative/engine';

/** The `lifecycle` document. */
export interface LifecycleSettings extends LifecycleConfig {
  /** Seconds one attempt of an Instance may take when neither InferenceService nor runtime says so. */
  readonly instanceReadyTimeoutSec?: number;
  readonly migrationCaps?: {
    readonly maxInFlight: number;
    readonly maxPerWindow: number;
    readonly windowSec: number;
  };
}

/** One component of `deploy.updateStrategy`. */
export interface UpdateStrategyDefault {
  readonly type?: Strategy;
  readonly maxSurge?: IntOrPercent;
  readonly maxUnavailable?: IntOrPercent;
}

/** The `deploy` document: defaults of InferenceService components. */
export interface DeployConfig {
  readonly minReadySeconds?: number;
  readonly terminationGracePeriodSeconds?: number;
  readonly defaultMinReplicas?: number;
  readonly updateStrategy: Readonly<Partial<Record<Component, UpdateStrategyDefault>>>;
}

/** The `ingress` document. */
export interface IngressConfig {
  /** `disabled`: requests enter by the Service named after the InferenceService. */
  readonly creation: 'disabled' | 'enabled';
}

/** The `omenativeStatus` document: how Instance rows are stored. */
export interface StatusEncodingConfig {
  readonly encoding: 'DenseV1' | 'ColumnarV2';
  /** Most rows that are written as columns, or read from them. */
  readonly maxDecodedInstances: number;
}

/** The `eventRecorder` document: how many Events of one object may follow each other. */
export interface EventRecorderConfig {
  readonly burst: number;
  readonly refillIntervalMs: number;
}

/** A budget of `podDisruptionBudget`; exactly one of the two. */
export type DisruptionBudget = { readonly minAvailable: IntOrPercent } | { readonly maxUnavailable: IntOrPercent };

export interface OperatorSettings {
  readonly lifecycle: LifecycleSettings;
  readonly deploy: DeployConfig;
  readonly ingress: IngressConfig;
  readonly omenativeStatus: StatusEncodingConfig;
  readonly eventRecorder?: EventRecorderConfig;
  /** Default budget of an OMENative component. */
  readonly disruptionBudget?: DisruptionBudget;
  /** Who may write projected InferenceReplicas, beside the controller itself. */
  readonly controllerIdentity: { readonly usernames: readonly string[]; readonly groups: readonly string[] };
  /** Resource names that count as GPUs in `PARALLELISM_SIZE`. */
  readonly acceleratorResources: readonly string[];
}
