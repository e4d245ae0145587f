/**
 * From the ConfigMap's data to settings. Each field is judged on its own: a bad one keeps its last good value and is
 * reported, the others take effect.
 */
import { type Component, canonicalJson, components, defaultMaxDecodedInstances } from '@omenative/api';
import { isRecord } from '../shared/json.js';
import { type DocumentKey, type Field, type FieldName, type FieldValues, fieldKey, fields } from './fields.js';
import { show, ValueError } from './readers.js';
import type { LifecycleSettings, OperatorSettings, UpdateStrategyDefault } from './settings.js';

/** A key whose value was not taken. */
export interface Rejection {
  /** `lifecycle.stuckPodGracePeriod`, or a whole document such as `deploy`. */
  readonly key: string;
  /** As written. */
  readonly value: string;
  /** What is wrong, and what to write instead. */
  readonly reason: string;
}

export interface Loaded {
  readonly values: FieldValues;
  readonly rejections: readonly Rejection[];
}

export type ConfigMapData = Readonly<Record<string, string>>;

/** Reads every field of `data`; one that cannot be read keeps its value of `lastGood`, or counts as not set. */
export function loadFields(data: ConfigMapData, lastGood?: FieldValues): Loaded {
  const rejections: Rejection[] = [];
  const documents = new Map<DocumentKey, unknown>();
  const broken = new Set<DocumentKey>();
  const values: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(fields) as [FieldName, Field<unknown>][]) {
    if (!documents.has(field.document)) {
      const document = parseDocument(field, data[field.document]);
      documents.set(field.document, document.json);
      if (document.rejection !== undefined) {
        rejections.push(document.rejection);
        broken.add(field.document);
      }
    }
    const found = broken.has(field.document) ? undefined : readField(field, documents.get(field.document));
    if (found?.rejection !== undefined) rejections.push(found.rejection);
    values[name] = found === undefined || found.rejection !== undefined ? lastGood?.[name] : found.value;
  }
  return { values: values as FieldValues, rejections };
}

/** The settings that `values` amount to; `rejections` tell the teardown message what it could not read. */
export function assemble({ values, rejections }: Loaded): OperatorSettings {
  const badDeadline = rejections.find((rejection) => rejection.key === fieldKey(fields.teardownDeadlineSec));
  const lifecycle = {
    stuckPodGraceSec: values.stuckPodGraceSec,
    unschedulableGraceSec: values.unschedulableGraceSec,
    abandonedReplacementGraceSec: values.abandonedReplacementGraceSec,
    scaleUpPodBatch: values.scaleUpPodBatch,
    scaleDownPodBatch: values.scaleDownPodBatch,
    scaleDownRequeueSec: values.scaleDownRequeueSec,
    repairBatch: values.repairBatch,
    revisionHistoryLimit: values.revisionHistoryLimit,
    retryBlockHistoryLimit: values.retryBlockHistoryLimit,
    updateRetry: values.updateRetry,
    forceDelete: values.forceDelete,
    teardownDeadlineSec: values.teardownDeadlineSec,
    teardownDeadlineInvalid: values.teardownDeadlineSec === undefined ? badDeadline?.value : undefined,
    gangScheduleTimeout: values.gangScheduleTimeout,
    requeue: values.requeue,
    autoMigrateMaxAttempts: values.autoMigrateMaxAttempts,
    instanceReadyTimeoutSec: values.instanceReadyTimeoutSec,
    migrationCaps: values.migrationCaps,
  };
  return {
    lifecycle: present<LifecycleSettings>(lifecycle),
    deploy: present({
      minReadySeconds: values.minReadySeconds,
      terminationGracePeriodSeconds: values.terminationGracePeriodSeconds,
      defaultMinReplicas: values.defaultMinReplicas,
      updateStrategy: strategyDefaults(values),
    }),
    ingress: { creation: values.disableIngressCreation === false ? 'enabled' : 'disabled' },
    omenativeStatus: {
      encoding: values.instanceStatusEncoding ?? 'DenseV1',
      // Columns that were written before DenseV1 was asked for must still be read, to be written anew.
      maxDecodedInstances: values.maxDecodedInstances ?? defaultMaxDecodedInstances,
    },
    ...(values.eventBurst === undefined || values.eventRefillMs === undefined
      ? {}
      : { eventRecorder: { burst: values.eventBurst, refillIntervalMs: values.eventRefillMs } }),
    ...(values.disruptionBudget === undefined ? {} : { disruptionBudget: values.disruptionBudget }),
    controllerIdentity: { usernames: values.controllerUsernames ?? [], groups: values.controllerGroups ?? [] },
    acceleratorResources: values.acceleratorResources ?? ['nvidia.com/gpu'],
  };
}

/** Whether two readings amount to the same. */
export function isSameSettings(a: OperatorSettings, b: OperatorSettings): boolean {
  return canonicalJson(a) === canonicalJson(b);
}

function strategyDefaults(values: FieldValues): Readonly<Partial<Record<Component, UpdateStrategyDefault>>> {
  const defaults: Partial<Record<Component, UpdateStrategyDefault>> = {};
  for (const component of components) {
    const of = present<UpdateStrategyDefault>({
      type: values[`${component}Strategy`],
      maxSurge: values[`${component}MaxSurge`],
      maxUnavailable: values[`${component}MaxUnavailable`],
    });
    if (Object.keys(of).length > 0) defaults[component] = of;
  }
  return defaults;
}

function parseDocument(
  field: Field<unknown>,
  text: string | undefined,
): { readonly json: unknown; readonly rejection?: Rejection } {
  if (text === undefined || text.trim() === '') return { json: undefined };
  const reject = (reason: string): { readonly json: unknown; readonly rejection: Rejection } => ({
    json: undefined,
    rejection: { key: field.document, value: shorten(text), reason },
  });
  try {
    const json: unknown = JSON.parse(text);
    if (field.path.length > 0 && !isRecord(json)) return reject('is not a JSON object');
    return { json };
  } catch (error) {
    return reject(
      `unable to parse ${field.document} config json: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function readField(
  field: Field<unknown>,
  document: unknown,
): { readonly value: unknown; readonly rejection?: Rejection } {
  let at: unknown = document;
  for (const [depth, name] of field.path.entries()) {
    if (at === undefined || at === null) return { value: undefined };
    if (!isRecord(at)) {
      const key = [field.document, ...field.path.slice(0, depth)].join('.');
      return { value: undefined, rejection: { key, value: shorten(show(at)), reason: 'is not an object' } };
    }
    at = at[name];
  }
  try {
    return { value: field.read(at) };
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    return { value: undefined, rejection: { key: fieldKey(field), value: shorten(show(at)), reason: error.message } };
  }
}

function shorten(text: string): string {
  const flat = text.replaceAll(/\s+/g, ' ');
  return flat.length <= 200 ? flat : `${flat.slice(0, 200)}…`;
}

type Present<T> = { readonly [K in keyof T]: Exclude<T[K], undefined> };

/** The members that are set. */
function present<T extends object>(members: { readonly [K in keyof T]: T[K] | undefined }): T {
  const kept: Partial<Present<T>> = {};
  for (const key of Object.keys(members) as (keyof T)[]) {
    const value = members[key];
    if (value !== undefined) (kept as Record<keyof T, unknown>)[key] = value;
  }
  return kept as T;
}
