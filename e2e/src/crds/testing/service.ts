/** InferenceServices to try on an API server. */

export type Spec = Readonly<Record<string, unknown>>;

/** A multi-pod component that takes everything else from its runtime. */
export const gang: Spec = { leader: {}, worker: {} };
/** A component that declares its mode itself. */
export const native: Spec = { annotations: { 'ome.io/deploymentMode': 'OMENative' } };
/** The step that finishes a canary. */
export const step: Spec = { capacity: '100%', traffic: 100 };

/** An InferenceService that is fine but for `spec`. */
export function service(spec: Spec, name = 'refused'): object {
  return {
    apiVersion: 'ome.io/v1beta1',
    kind: 'InferenceService',
    metadata: { name },
    spec: { runtime: { name: 'vllm' }, engine: {}, ...spec },
  };
}

/** An engine with these update budgets. */
export const rolling = (rollingUpdate: Spec): Spec => ({
  engine: { lifecycle: { updateStrategy: { rollingUpdate } } },
});
/** Engine and decoder in one rollout group. */
export const rollout = (group: Spec, more: Spec = {}): Spec => ({
  deploymentMode: 'OMENative',
  decoder: {},
  rollout: { groups: [{ components: ['engine', 'decoder'], ...group }], ...more },
});
/** A service over an existing replica. */
export const fronting = (more: Spec): Spec => ({
  runtime: undefined,
  engine: undefined,
  replicaRefs: { engine: ['pool'] },
  ...more,
});
