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
  type Building,
  carryOf,
  type JsonObject,
  oneOf,
  optionalCarryOf,
  optionalInt32,
  optionalInteger,
  optionalTime,
  requiredInt32,
  requiredText,
  textOf,
  type WireObject,
  withCarry,
} from './wire.js';

const conditionKeys = new Set(['type', 'status', 'reason', 'message', 'lastTransitionTime', 'observedGeneration']);

/** A metav1.Condition. A missing transition time, which no API server admits, reads as the epoch. */
export function decodeCondition(raw: JsonObject, at: string): Condition {
  const condition: Building<Condition> = {
    type: requiredText(raw, 'type', at),
    status: requiredText(raw, 'status', at),
    reason: textOf(raw, 'reason', at),
    message: textOf(raw, 'message', at),
    lastTransitionTime: optionalTime(raw, 'lastTransitionTime', at) ?? 0,
  };
  const observedGeneration = optionalInteger(raw, 'observedGeneration', at);
  const carry = optionalCarryOf(raw, conditionKeys);
  if (observedGeneration !== undefined) condition.observedGeneration = observedGeneration;
  if (carry !== undefined) condition.carry = carry;
  return condition;
}

export function encodeCondition(condition: Condition): Json {
  const wire: WireObject = {
    type: condition.type,
    status: condition.status,
    reason: condition.reason,
    message: condition.message,
    lastTransitionTime: formatTime(condition.lastTransitionTime),
  };
  if (condition.observedGeneration !== undefined) wire['observedGeneration'] = condition.observedGeneration;
  return withCarry(wire, condition.carry);
}

const terminationKeys = new Set(['podName', 'containerName', 'reason', 'exitCode', 'message', 'time']);

/** `lastFailure`. A time of 0, the epoch, stands for an absent one: it is older than every other time. */
export function decodeTermination(raw: JsonObject, at: string): Termination {
  const termination: Building<Termination> = {
    podName: textOf(raw, 'podName', at),
    containerName: textOf(raw, 'containerName', at),
    reason: textOf(raw, 'reason', at),
    message: textOf(raw, 'message', at),
    time: optionalTime(raw, 'time', at) ?? 0,
  };
  const exitCode = optionalInt32(raw, 'exitCode', at);
  const carry = optionalCarryOf(raw, terminationKeys);
  if (exitCode !== undefined) termination.exitCode = exitCode;
  if (carry !== undefined) termination.carry = carry;
  return termination;
}

export function encodeTermination(termination: Termination): Json {
  const wire: WireObject = { podName: termination.podName, reason: termination.reason };
  if (termination.containerName !== '') wire['containerName'] = termination.containerName;
  if (termination.exitCode !== undefined) wire['exitCode'] = termination.exitCode;
  if (termination.message !== '') wire['message'] = termination.message;
  if (termination.time !== 0) wire['time'] = formatTime(termination.time);
  return withCarry(wire, termination.carry);
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
  const block: Building<RetryBlock> = {
    target: requiredText(raw, 'targetRevision', at),
    state: oneOf(raw, 'state', at, blockStates),
    attempts: requiredInt32(raw, 'attemptsStarted', at),
    reason: textOf(raw, 'reason', at),
    carry: carryOf(raw, blockKeys),
  };
  const nextRetryAt = optionalTime(raw, 'nextRetryAt', at);
  const firstFailureAt = optionalTime(raw, 'firstFailureAt', at);
  const lastFailureAt = optionalTime(raw, 'lastFailureAt', at);
  if (nextRetryAt !== undefined) block.nextRetryAt = nextRetryAt;
  if (firstFailureAt !== undefined) block.firstFailureAt = firstFailureAt;
  if (lastFailureAt !== undefined) block.lastFailureAt = lastFailureAt;
  return block;
}

export function encodeRetryBlock(block: RetryBlock): Json {
  const wire: WireObject = { targetRevision: block.target, state: block.state, attemptsStarted: block.attempts };
  if (block.nextRetryAt !== undefined) wire['nextRetryAt'] = formatTime(block.nextRetryAt);
  if (block.firstFailureAt !== undefined) wire['firstFailureAt'] = formatTime(block.firstFailureAt);
  if (block.lastFailureAt !== undefined) wire['lastFailureAt'] = formatTime(block.lastFailureAt);
  if (block.reason !== '') wire['reason'] = block.reason;
  return withCarry(wire, block.carry);
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
  const record: Building<MigrationRecord> = {
    uuid: requiredText(raw, 'requestUUID', at),
    trigger: oneOf(raw, 'trigger', at, triggers),
    source: requiredInt32(raw, 'sourceInstance', at),
    fromNode: textOf(raw, 'fromNode', at),
    phase: requiredText(raw, 'phase', at),
    carry: carryOf(raw, allocated ? allocatedMigrationKeys : migrationKeys),
  };
  const allocatedAt = optionalTime(raw, 'allocatedAt', at);
  const startedAt = optionalTime(raw, 'startedAt', at);
  const deadline = optionalTime(raw, 'deadline', at);
  if (allocated) record.surge = surge;
  if (allocatedAt !== undefined) record.allocatedAt = allocatedAt;
  if (startedAt !== undefined) record.startedAt = startedAt;
  if (deadline !== undefined) record.deadline = deadline;
  return record;
}

export function encodeMigration(record: MigrationRecord): Json {
  const wire: WireObject = {
    requestUUID: record.uuid,
    trigger: record.trigger,
    sourceInstance: record.source,
    phase: record.phase,
  };
  if (record.surge !== undefined) wire['surgeInstance'] = record.surge;
  if (record.fromNode !== '') wire['fromNode'] = record.fromNode;
  if (record.allocatedAt !== undefined) wire['allocatedAt'] = formatTime(record.allocatedAt);
  if (record.startedAt !== undefined) wire['startedAt'] = formatTime(record.startedAt);
  if (record.deadline !== undefined) wire['deadline'] = formatTime(record.deadline);
  return withCarry(wire, record.carry);
}

const holdKeys = new Set(['gate', 'reason', 'target', 'since']);

/** `rolloutHold`. A missing `since`, which no API server admits, reads as the epoch. */
export function decodeRolloutHold(raw: JsonObject, at: string): RolloutHold {
  const hold: Building<RolloutHold> = {
    gate: oneOf(raw, 'gate', at, rolloutGates),
    reason: textOf(raw, 'reason', at),
    since: optionalTime(raw, 'since', at) ?? 0,
  };
  const target = textOf(raw, 'target', at);
  const carry = optionalCarryOf(raw, holdKeys);
  if (target !== '') hold.target = target;
  if (carry !== undefined) hold.carry = carry;
  return hold;
}

export function encodeRolloutHold(hold: RolloutHold): Json {
  const wire: WireObject = { gate: hold.gate, reason: hold.reason, since: formatTime(hold.since) };
  if (hold.target !== undefined) wire['target'] = hold.target;
  return withCarry(wire, hold.carry);
}
