/** An InferenceService as this controller reads it. */
import { type Component, components } from '@omenative/api';
import { asInteger, asRecord, isRecord, type JsonRecord } from '../shared/json.js';
import type { ObjectMeta } from '../shared/meta.js';
import type { ObjectRecord } from '../shared/object-record.js';

export interface InferenceServiceRecord {
  readonly meta: ObjectMeta;
  readonly generation: number;
  readonly spec: JsonRecord;
  readonly status: JsonRecord;
}

export function inferenceServiceOf(record: ObjectRecord): InferenceServiceRecord {
  return {
    meta: record.meta,
    generation: asInteger(asRecord(record.raw['metadata'])['generation']) ?? 0,
    spec: asRecord(record.raw['spec']),
    status: asRecord(record.raw['status']),
  };
}

/** The components that are declared, an empty object counting, in the order they are worked on. */
export function declaredComponents(service: InferenceServiceRecord): readonly Component[] {
  return components.filter((component) => isRecord(service.spec[component]));
}

/** The component as declared; empty when it is not. */
export function componentOf(service: InferenceServiceRecord, component: Component): JsonRecord {
  return asRecord(service.spec[component]);
}
