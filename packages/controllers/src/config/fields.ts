/** Every setting of the ConfigMap that is read: where it stands, and how its value is read. */

import type { Component, Strategy } from '@omenative/api';
import type { IntOrPercent } from '@omenative/engine';
import { isRecord } from '../shared/json.js';
import {
  boolean,
  budget,
  countOrPercent,
  durationMs,
  durationSec,
  group,
  integer,
  names,
  oneOf,
  optional,
  type Reader,
  ValueError,
} from './readers.js';
import type { DisruptionBudget, LifecycleSettings } from './settings.js';

/** A key of the ConfigMap; its value is one JSON document. */
export type DocumentKey =
  | 'lifecycle'
  | 'deploy'
  | 'ingress'
  | 'omenativeStatus'
  | 'eventRecorder'
  | 'podDisruptionBudget'
  | 'inferenceReplica'
  | 'acceleratorResources';

/** A part of a document that is right or wrong on its own. */
export interface Field<T> {
  readonly document: DocumentKey;
  /** Names from the root of the document; empty for the document itself. */
  readonly path: readonly string[];
  readonly read: Reader<T>;
}

function field<T>(document: DocumentKey, path: string, read: Reader<T>): Field<T> {
  return { document, path: path === '' ? [] : path.split('.'), read };
}

const strategies = oneOf('SurgeThenDrain', 'RecreatePod', 'InPlaceIfPossible', 'InPlaceOnly');

const rate: Reader<number> = optional((value) => {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 1) throw new ValueError('must be a number >= 1');
  return value;
});

const updateRetry = group(
  {
    maxAttempts: { name: 'maxAttempts', read: integer(1) },
    initialDelaySec: { name: 'initialDelay', read: durationSec },
    maxDelaySec: { name: 'maxDelay', read: durationSec },
    multiplier: { name: 'multiplier', read: rate },
  },
  (value) => (value.maxDelaySec < value.initialDelaySec ? 'maxDelay must not be shorter than initialDelay' : undefined),
);

const gangScheduleTimeout = group(
  { minSec: { name: 'min', read: durationSec }, maxSec: { name: 'max', read: durationSec } },
  (value) => (value.maxSec < value.minSec ? 'max must not be shorter than min' : undefined),
);

const disruptionBudget: Reader<DisruptionBudget> = optional((value) => {
  if (!isRecord(value)) throw new ValueError('must be an object with minAvailable or maxUnavailable');
  const minAvailable = budget(value['minAvailable']);
  const maxUnavailable = budget(value['maxUnavailable']);
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    throw new ValueError('minAvailable and maxUnavailable cannot both be set');
  }
  if (minAvailable !== undefined) return { minAvailable };
  return maxUnavailable === undefined ? undefined : { maxUnavailable };
});

/** Only one value is legal; the key exists because the documents of older installations carry it. */
const deploymentMode = oneOf('RawDeployment');

/** A value for each field, when it is set. */
interface ValueTypes extends Required<Omit<LifecycleSettings, 'teardownDeadlineInvalid'>>, StrategyTypes {
  readonly defaultDeploymentMode: 'RawDeployment';
  readonly minReadySeconds: number;
  readonly terminationGracePeriodSeconds: number;
  readonly defaultMinReplicas: number;
  readonly disableIngressCreation: boolean;
  readonly instanceStatusEncoding: 'DenseV1' | 'ColumnarV2';
  readonly maxDecodedInstances: number;
  readonly eventBurst: number;
  readonly eventRefillMs: number;
  readonly disruptionBudget: DisruptionBudget;
  readonly controllerUsernames: readonly string[];
  readonly controllerGroups: readonly string[];
  readonly acceleratorResources: readonly string[];
}

/** `engineStrategy`, `engineMaxSurge`, …: `deploy.updateStrategy` of each component. */
type StrategyTypes = { readonly [C in Component as `${C}Strategy`]: Strategy } & {
  readonly [C in Component as `${C}MaxSurge`]: IntOrPercent;
} & { readonly [C in Component as `${C}MaxUnavailable`]: IntOrPercent };

/** The settings by the name that the code knows them by. */
export const fields: { readonly [K in keyof ValueTypes]: Field<ValueTypes[K]> } = {
  instanceReadyTimeoutSec: field('lifecycle', 'instanceReadyTimeout', durationSec),
  stuckPodGraceSec: field('lifecycle', 'stuckPodGracePeriod', durationSec),
  unschedulableGraceSec: field('lifecycle', 'unschedulableGracePeriod', durationSec),
  abandonedReplacementGraceSec: field('lifecycle', 'abandonedReplacementGracePeriod', durationSec),
  scaleUpPodBatch: field('lifecycle', 'scaleUpPodBatchSize', integer(1)),
  scaleDownPodBatch: field('lifecycle', 'scaleDownPodBatchSize', countOrPercent),
  scaleDownRequeueSec: field('lifecycle', 'scaleDownRequeueInterval', durationSec),
  repairBatch: field('lifecycle', 'repairBatchSize', integer(1)),
  revisionHistoryLimit: field('lifecycle', 'revisionHistoryLimit', integer(1)),
  retryBlockHistoryLimit: field('lifecycle', 'retryBlockHistoryLimit', integer(1)),
  updateRetry: field('lifecycle', 'updateRetry', updateRetry),
  forceDelete: field(
    'lifecycle',
    'forceDelete',
    group({
      overdueSlackSec: { name: 'overdueSlack', read: durationSec },
      nodeUnreachableThresholdSec: { name: 'nodeUnreachableThreshold', read: durationSec },
    }),
  ),
  teardownDeadlineSec: field('lifecycle', 'teardown.deadline', durationSec),
  gangScheduleTimeout: field('lifecycle', 'gangScheduleTimeout', gangScheduleTimeout),
  requeue: field(
    'lifecycle',
    'requeue',
    group({ operationSec: { name: 'operation', read: durationSec }, gateSec: { name: 'gate', read: durationSec } }),
  ),
  autoMigrateMaxAttempts: field('lifecycle', 'autoMigrate.maxAttempts', integer(1)),
  migrationCaps: field(
    'lifecycle',
    'audit',
    group({
      maxInFlight: { name: 'maxInFlightMigrations', read: integer(1) },
      maxPerWindow: { name: 'maxMigrationsPerWindow', read: integer(1) },
      windowSec: { name: 'window', read: durationSec },
    }),
  ),
  defaultDeploymentMode: field('deploy', 'defaultDeploymentMode', deploymentMode),
  minReadySeconds: field('deploy', 'minReadySeconds', integer(0)),
  terminationGracePeriodSeconds: field('deploy', 'terminationGracePeriodSeconds', integer(0)),
  defaultMinReplicas: field('deploy', 'replicas.defaultMinReplicas', integer(1)),
  engineStrategy: field('deploy', 'updateStrategy.engine.type', strategies),
  engineMaxSurge: field('deploy', 'updateStrategy.engine.maxSurge', countOrPercent),
  engineMaxUnavailable: field('deploy', 'updateStrategy.engine.maxUnavailable', countOrPercent),
  decoderStrategy: field('deploy', 'updateStrategy.decoder.type', strategies),
  decoderMaxSurge: field('deploy', 'updateStrategy.decoder.maxSurge', countOrPercent),
  decoderMaxUnavailable: field('deploy', 'updateStrategy.decoder.maxUnavailable', countOrPercent),
  routerStrategy: field('deploy', 'updateStrategy.router.type', strategies),
  routerMaxSurge: field('deploy', 'updateStrategy.router.maxSurge', countOrPercent),
  routerMaxUnavailable: field('deploy', 'updateStrategy.router.maxUnavailable', countOrPercent),
  disableIngressCreation: field('ingress', 'disableIngressCreation', boolean),
  instanceStatusEncoding: field('omenativeStatus', 'instanceStatusEncoding', oneOf('DenseV1', 'ColumnarV2')),
  maxDecodedInstances: field('omenativeStatus', 'maxDecodedInstances', integer(1)),
  eventBurst: field('eventRecorder', 'burstSize', integer(1)),
  eventRefillMs: field('eventRecorder', 'refillInterval', durationMs),
  disruptionBudget: field('podDisruptionBudget', 'omeNative', disruptionBudget),
  controllerUsernames: field('inferenceReplica', 'controllerIdentity.usernames', names),
  controllerGroups: field('inferenceReplica', 'controllerIdentity.groups', names),
  acceleratorResources: field('acceleratorResources', '', names),
};

export type FieldName = keyof ValueTypes;
/** One value for each field; undefined where it is not set. */
export type FieldValues = { readonly [K in FieldName]: ValueTypes[K] | undefined };

/** `lifecycle.teardown.deadline`: a field's name for people. */
export function fieldKey(of: Field<unknown>): string {
  return [of.document, ...of.path].join('.');
}
