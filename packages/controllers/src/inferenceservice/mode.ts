/** Which backend runs a component: the first word that says so, and where it stands. */
import { annotation, type Component } from '@omenative/api';
import { asRecord, asText, asTextMap, type JsonRecord } from '../shared/json.js';

export const deploymentModes = ['OMENative', 'RawDeployment', 'MultiNode', 'VirtualDeployment'] as const;
export type DeploymentMode = (typeof deploymentModes)[number];

/** The names that `kubectl ome` prints. */
export type ModeSource = 'ComponentAnnotation' | 'ServiceSpec' | 'LeaderWorkerShape' | 'Default';

export interface ResolvedMode {
  readonly mode: DeploymentMode;
  readonly source: ModeSource;
  /** Where the word stands, for people. */
  readonly from: string;
}

/**
 * Resolves the mode of one component. `own` is the component of the InferenceService, `runtime` the same component of its
 * runtime. An annotation that names no mode is passed over.
 */
export function resolveMode(
  component: Component,
  serviceSpec: JsonRecord,
  own: JsonRecord,
  runtime: JsonRecord,
): ResolvedMode {
  const ownWord = annotated(own);
  const runtimeWord = annotated(runtime);
  const spec = deploymentModes.find((mode) => mode === serviceSpec['deploymentMode']);
  // The annotations are one merged map: an unusable word of the service still hides that of the runtime.
  if (ownWord !== '') {
    const mode = deploymentModes.find((candidate) => candidate === ownWord);
    const from = `annotation ${annotation.deploymentMode} on spec.${component}`;
    if (mode !== undefined) return { mode, source: 'ComponentAnnotation', from };
  } else {
    const mode = deploymentModes.find((candidate) => candidate === runtimeWord);
    const from = `annotation ${annotation.deploymentMode} on the runtime's ${component}Config`;
    if (mode !== undefined) return { mode, source: 'ComponentAnnotation', from };
  }
  if (spec !== undefined) return { mode: spec, source: 'ServiceSpec', from: 'spec.deploymentMode' };
  if (isMultiPod(component, own) || isMultiPod(component, runtime)) {
    return { mode: 'OMENative', source: 'LeaderWorkerShape', from: `the leader and worker of the ${component}` };
  }
  return { mode: 'RawDeployment', source: 'Default', from: 'the default' };
}

/** Whether this side gives an Instance of the component more than one pod. A router is always a single pod. */
export function isMultiPod(component: Component, side: JsonRecord): boolean {
  return component !== 'router' && (isSet(side['leader']) || isSet(side['worker']));
}

/** The message that admission gives when engine and decoder go different ways; undefined when they agree. */
export function modeMismatch(engine: ResolvedMode, decoder: ResolvedMode): string | undefined {
  if (engine.mode === decoder.mode || (engine.mode !== 'OMENative' && decoder.mode !== 'OMENative')) return undefined;
  return (
    `InvalidDeploymentModeCombination: engine deploymentMode="${engine.mode}" does not match decoder deploymentMode=` +
    `"${decoder.mode}"; when either is OMENative, both must use the same value (engine: ${engine.from}; decoder: ${decoder.from})`
  );
}

function annotated(side: JsonRecord): string {
  return asText(asTextMap(asRecord(side)['annotations'])[annotation.deploymentMode]);
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}
