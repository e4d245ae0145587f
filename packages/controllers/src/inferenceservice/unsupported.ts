/** Fields that are accepted and kept, and that this release does nothing with: said in a condition, never ignored in silence. */
import { asRecord, type JsonRecord } from '../shared/json.js';
import { declaredComponents, type InferenceServiceRecord } from './service-record.js';

const serviceFields = [
  'rollout.groups',
  'acceleratorSelector',
  'traffic',
  'placement',
  'routing',
  'replicaRefs',
  'ttlSecondsAfterCreation',
  'model.fineTunedWeights',
  'model.overlays',
];
const componentFields = ['acceleratorOverride', 'autoscalerPolicyRef', 'minAvailable', 'maxUnavailable'];

/** The paths of such fields that are set, sorted. */
export function unsupportedFields(service: InferenceServiceRecord): readonly string[] {
  const paths = serviceFields.filter((path) => isSet(service.spec, path)).map((path) => `spec.${path}`);
  for (const component of declaredComponents(service)) {
    for (const field of componentFields) {
      if (isSet(service.spec, `${component}.${field}`)) paths.push(`spec.${component}.${field}`);
    }
  }
  const mode = asRecord(service.spec['scalingPolicy'])['mode'];
  if (mode !== undefined && mode !== 'Independent') paths.push('spec.scalingPolicy.mode');
  return paths.toSorted();
}

function isSet(spec: JsonRecord, path: string): boolean {
  let at: unknown = spec;
  for (const name of path.split('.')) at = asRecord(at)[name];
  return at !== undefined && at !== null && !(Array.isArray(at) && at.length === 0);
}
