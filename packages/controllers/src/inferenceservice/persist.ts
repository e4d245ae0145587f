/** Writes the status of an InferenceService, when it has changed, over the version that it was worked out from. */
import { apiVersion } from '@omenative/api';
import { type Client, classify } from '@omenative/kube';
import type { Caches } from '../caches.js';
import { type JsonRecord, sameJson } from '../shared/json.js';
import { inferenceServiceType } from '../shared/resources.js';
import type { InferenceServiceRecord } from './service-record.js';

export interface PersistDeps {
  readonly client: Client;
  readonly caches: Pick<Caches, 'inferenceServices'>;
}

/** `stale`: the object has moved on, or no answer came; look again. `gone`: there is nothing to write to. */
export type Persisted = 'unchanged' | 'written' | 'stale' | 'gone';

/** @throws ApiError when the server refuses the status for good. */
export async function persistStatus(
  { client, caches }: PersistDeps,
  service: InferenceServiceRecord,
  status: JsonRecord,
): Promise<Persisted> {
  if (sameJson(service.status, status)) return 'unchanged';
  const { namespace, name, uid, resourceVersion } = service.meta;
  try {
    // A write of the status subresource takes metadata and status alone from what is sent.
    const object = {
      apiVersion,
      kind: 'InferenceService',
      metadata: { namespace, name, uid, resourceVersion },
      status,
    };
    caches.inferenceServices.takeIn(await client.replaceStatus(inferenceServiceType, object));
    return 'written';
  } catch (error) {
    switch (classify(error)) {
      case 'notFound':
        return 'gone';
      case 'conflict':
      case 'unknown':
      case 'unavailable':
      case 'throttled':
      case 'serverError':
      case 'fenced':
        return 'stale';
      case 'alreadyExists':
      case 'expired':
      case 'quota':
      case 'namespaceTerminating':
      case 'notPermitted':
      case 'unauthorized':
      case 'forbidden':
      case 'invalid':
      case 'badRequest':
      case 'unsupported':
      case 'tooLarge':
      case 'admissionUnavailable':
      case 'local':
        throw error;
    }
  }
}
