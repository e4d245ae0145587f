/** The records of a status that are not rows: conditions, terminations, retry blocks, migrations, the rollout hold. */
import {
  type Condition,
  type Json,
  type MigrationRecord,
  type RetryBlock,
  type RolloutHold,
  rolloutGates,
  type Termination,
} from './rows.js';
import { formatTime } from './time.js';
import {
  carryOf,
  type JsonObject,
  oneOf,
  optionalCarry,
  optionalInt32,
  optionalInteger,
  optionalTime,
  requiredInt32,
  requiredText,
  textOf,
} from './wire.js';

/** A wire object under construction. */
export type WireObject = Record<string, Json>;

/** Sets `key` to the time, when there is one. */
export function putTime(wire: WireObject, key: string, seconds: number | undefined): void {
  if (seconds !== undefined) wire[key] = formatTime(seconds);
}

/** Sets `key`, unless the value is the one that absence stands for: '', 0 or false. */
export function putNonZero(wire: WireObject, key: string, value: string | number | boolean): void {
  if (value !== '' && value !== 0 && value !== false) wire[key] = value;
}

const conditionKeys = new Set(['type', 'status', 'reason', 'message', 'lastTransitionTime', 'observedGeneration']);

/** A metav1.Condition. A missing transition time, which no API server admits, reads as the epoch. */
export function decodeCondition(raw: JsonObject, at: string): Condition {
  const observedGeneration = optionalInteger(raw, 'observedGeneration', at);
  return {
    type: requiredText(raw, 'type', at),
    status: requiredText(raw, 'status', at),
    reason: textOf(raw, 'reason', at),
    message: textOf(raw, 'message', at),
    lastTransitionTime: optionalTime(raw, 'lastTransitionTime', at) ?? 0,
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    ...optionalCarry(raw, conditionKeys),
  };
}

export function encodeCondition(condition: Condition): Json {
  const wire: WireObject = {
    ...condition.carry,
    type: condition.type,
    status: condition.status,
    reason: condition.reason,
    message: condition.message,
    lastTransitionTime: formatTime(condition.lastTransitionTime),
  };
  if (condition.observedGeneration !== undefined) wire['observedGeneration'] = condition.observedGeneration;
  return wire;
}

const terminationKeys = new Set(['podName', 'containerName', 'reason', 'exitCode', 'message', 'time']);

/** `lastFailure`. A time of 0, the epoch, stands for an absent one: it is older than every other time. */
export function decodeTermination(raw: JsonObject, at: string): Termination {
  const exitCode = optionalInt32(raw, 'exitCode', at);
  return {
    podName: textOf(raw, 'podName', at),
    containerName: textOf(raw, 'containerName', at),
    reason: textOf(raw, 'reason', at),
    message: textOf(raw, 'message', at),
    time: optionalTime(raw, 'time', at) ?? 0,
    ...(exitCode === undefined ? {} : { exitCode }),
    ...optionalCarry(raw, terminationKeys),
  };
}

export function encodeTermination(termination: Termination): Json {
  const wire: WireObject = { ...termination.carry, podName: termination.podName, reason: termination.reason };
  putNonZero(wire, 'containerName', termination.containerName);
  if (termination.exitCode !== undefined) wire['exitCode'] = termination.exitCode;
  putNonZero(wire, 'message', termination.message);
  if (termination.time !== 0) putTime(wire, 'time', termination.time);
  return wire;
}

const blockStates = ['Backoff', 'Held', 'RetryInProgress'] as const;
const blockKeys = new Set([
  'targetRevision',
  'state',
  'attemptsStarted',
  'nextRetryAt',
  'firstFailureAt',
  'lastFailureAt',
  'reason',
]);

export function decodeRetryBlock(raw: JsonObject, at: string): RetryBlock {
  const nextRetryAt = optionalTime(raw, 'nextRetryAt', at);
  const firstFailureAt = optionalTime(raw, 'firstFailureAt', at);
  const lastFailureAt = optionalTime(raw, 'lastFailureAt', at);
  return {
    target: requiredText(raw, 'targetRevision', at),
    state: oneOf(raw, 'state', at, blockStates),
    attempts: requiredInt32(raw, 'attemptsStarted', at),
    reason: textOf(raw, 'reason', at),
    ...(nextRetryAt === undefined ? {} : { nextRetryAt }),
    ...(firstFailureAt === undefined ? {} : { firstFailureAt }),
    ...(lastFailureAt === undefined ? {} : { lastFailureAt }),
    carry: carryOf(raw, blockKeys),
  };
}

export function encodeRetryBlock(block: RetryBlock): Json {
  const wire: WireObject = {
    ...block.carry,
    targetRevision: block.target,
    state: block.state,
    attemptsStarted: block.attempts,
  };
  putTime(wire, 'nextRetryAt', block.nextRetryAt);
  putTime(wire, 'firstFailureAt', block.firstFailureAt);
  putTime(wire, 'lastFailureAt', block.lastFailureAt);
  putNonZero(wire, 'reason', block.reason);
  return wire;
}

const triggers = ['Manual', 'Auto'] as const;
const migrationKeys = new Set([
  'requestUUID',
  'trigger',
  'sourceInstance',
  'fromNode',
  'phase',
  'allocatedAt',
  'startedAt',
  'deadline',
]);
const allocatedMigrationKeys = new Set([...migrationKeys, 'surgeInstance']);

/** A migration record. A negative `surgeInstance`, by which old writers meant "none", is carried: no surge is allocated. */
export function decodeMigration(raw: JsonObject, at: string): MigrationRecord {
  const surge = optionalInt32(raw, 'surgeInstance', at);
  const allocated = surge !== undefined && surge >= 0;
  const allocatedAt = optionalTime(raw, 'allocatedAt', at);
  const startedAt = optionalTime(raw, 'startedAt', at);
  const deadline = optionalTime(raw, 'deadline', at);
  return {
    uuid: requiredText(raw, 'requestUUID', at),
    trigger: oneOf(raw, 'trigger', at, triggers),
    source: requiredInt32(raw, 'sourceInstance', at),
    ...(allocated ? { surge } : {}),
    fromNode: textOf(raw, 'fromNode', at),
    phase: requiredText(raw, 'phase', at),
    ...(allocatedAt === undefined ? {} : { allocatedAt }),
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(deadline === undefined ? {} : { deadline }),
    carry: carryOf(raw, allocated ? allocatedMigrationKeys : migrationKeys),
  };
}

export function encodeMigration(record: MigrationRecord): Json {
  const wire: WireObject = {
    ...record.carry,
    requestUUID: record.uuid,
    trigger: record.trigger,
    sourceInstance: record.source,
    phase: record.phase,
  };
  if (record.surge !== undefined) wire['surgeInstance'] = record.surge;
  putNonZero(wire, 'fromNode', record.fromNode);
  putTime(wire, 'allocatedAt', record.allocatedAt);
  putTime(wire, 'startedAt', record.startedAt);
  putTime(wire, 'deadline', record.deadline);
  return wire;
}

const holdKeys = new Set(['gate', 'reason', 'target', 'since']);

/** `rolloutHold`. A missing `since`, which no API server admits, reads as the epoch. */
export function decodeRolloutHold(raw: JsonObject, at: string): RolloutHold {
  const target = textOf(raw, 'target', at);
  return {
    gate: oneOf(raw, 'gate', at, rolloutGates),
    reason: textOf(raw, 'reason', at),
    ...(target === '' ? {} : { target }),
    since: optionalTime(raw, 'since', at) ?? 0,
    ...optionalCarry(raw, holdKeys),
  };
}

export function encodeRolloutHold(hold: RolloutHold): Json {
  const wire: WireObject = { ...hold.carry, gate: hold.gate, reason: hold.reason };
  if (hold.target !== undefined) wire['target'] = hold.target;
  wire['since'] = formatTime(hold.since);
  return wire;
}
