/** An InferenceService that stands for a workload somebody else runs: it is Ready by decree, and nothing is made for it. */
import { annotation } from '@omenative/api';
import type { JsonRecord } from '../shared/json.js';
import { mergeConditions } from './conditions.js';
import type { InferenceServiceRecord } from './service-record.js';

/** Only this word counts on the InferenceService itself; any other mode is chosen by a component. */
export function isVirtual(service: InferenceServiceRecord): boolean {
  return service.meta.annotations[annotation.deploymentMode] === 'VirtualDeployment';
}

export function virtualStatus(service: InferenceServiceRecord, nowText: string): JsonRecord {
  const { name, namespace } = service.meta;
  const message = `annotation ${annotation.deploymentMode} is VirtualDeployment: no workload is managed`;
  const ready = { type: 'Ready', status: 'True', reason: 'VirtualDeployment', message } as const;
  const url = `http://${name}.${namespace}.svc.cluster.local`;
  return {
    ...service.status,
    observedGeneration: service.generation,
    conditions: mergeConditions(service.status['conditions'], [ready], [], nowText),
    url,
    address: { url },
  };
}
