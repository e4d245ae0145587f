/**
 * The state of a row: which pairs of phase and operation are legal. Every other pair is `foreign`, kept as it was found.
 */
import type { InPlaceOp, Json, OperationBase, Phase, RecreateOp, RowState, Strategy, SurgeOp } from './rows.js';
import { formatTime } from './time.js';
import {
  type Building,
  carryOf,
  int32Of,
  type JsonObject,
  optionalInt32,
  optionalTime,
  textOf,
  type WireObject,
  withCarry,
} from './wire.js';

const strategies: readonly string[] = [
  'SurgeThenDrain',
  'RecreatePod',
  'InPlaceIfPossible',
  'InPlaceOnly',
] satisfies Strategy[];

const baseKeys: readonly string[] = [
  'id',
  'type',
  'step',
  'startedAt',
  'lastProgressAt',
  'deadline',
  'retryCount',
  'targetRevision',
  'reason',
  'waiting',
  'capacityRefusedAt',
  'strategy',
];
// What an operation has beside its base. All else, the legacy members of migrations too, is carried.
const plainKeys = new Set(baseKeys);
const claimKeys = new Set([...baseKeys, 'surgeIndex']);
const markerKeys = new Set([...baseKeys, 'requestUUID']);
const pairKeys = new Set([...baseKeys, 'surgeIndex', 'requestUUID']);

function isStrategy(text: string): text is Strategy {
  return strategies.includes(text);
}

function decodeBase(raw: JsonObject, at: string, known: ReadonlySet<string>): OperationBase {
  const base: Building<OperationBase> = {
    id: textOf(raw, 'id', at),
    retryCount: int32Of(raw, 'retryCount', at),
    target: textOf(raw, 'targetRevision', at),
    reason: textOf(raw, 'reason', at),
    waiting: textOf(raw, 'waiting', at),
    carry: carryOf(raw, known),
  };
  const startedAt = optionalTime(raw, 'startedAt', at);
  const lastProgressAt = optionalTime(raw, 'lastProgressAt', at);
  const deadline = optionalTime(raw, 'deadline', at);
  const capacityRefusedAt = optionalTime(raw, 'capacityRefusedAt', at);
  const strategy = textOf(raw, 'strategy', at);
  if (startedAt !== undefined) base.startedAt = startedAt;
  if (lastProgressAt !== undefined) base.lastProgressAt = lastProgressAt;
  if (deadline !== undefined) base.deadline = deadline;
  if (capacityRefusedAt !== undefined) base.capacityRefusedAt = capacityRefusedAt;
  if (isStrategy(strategy)) base.strategy = strategy;
  return base;
}

/** The operation in `raw`, with the members that tell its kind; `known` are the wire members that are not carried. */
function readOperation<const M extends object>(
  raw: JsonObject,
  at: string,
  known: ReadonlySet<string>,
  members: M,
): OperationBase & M {
  return Object.assign(decodeBase(raw, at, known), members);
}

/** The state of a row without an operation; undefined when the phase can't be without one. */
function restingState(phase: Phase): RowState | undefined {
  switch (phase) {
    case 'Ready':
      return { kind: 'ready' };
    case 'Pending':
      return { kind: 'pending' };
    case 'Failed':
      return { kind: 'failed' };
    case 'Creating':
    case 'Updating':
    case 'Restarting':
    case 'Migrating':
    case 'Deleting':
      return undefined;
  }
}

/** The state of a row with an operation; undefined when no legal row has this phase with this operation. */
function operatingState(phase: Phase, raw: JsonObject, at: string): RowState | undefined {
  const surgeIndex = optionalInt32(raw, 'surgeIndex', at);
  const requestUUID = textOf(raw, 'requestUUID', at);
  const strategy = textOf(raw, 'strategy', at);
  if (strategy !== '' && !isStrategy(strategy)) return undefined;
  if (surgeIndex !== undefined && surgeIndex < 0) return undefined;

  const type = textOf(raw, 'type', at);
  const step = textOf(raw, 'step', at);
  if (type === 'Migrate') {
    if (requestUUID === '') return undefined;
    if (phase === 'Migrating' && step === 'CreateSurge' && surgeIndex !== undefined) {
      return { kind: 'migrateFrom', op: readOperation(raw, at, pairKeys, { type, step, surgeIndex, requestUUID }) };
    }
    if (phase === 'Creating' && (step === 'CreateSurge' || step === 'SurgeTarget')) {
      return { kind: 'migrateTo', op: readOperation(raw, at, markerKeys, { type, step, requestUUID }) };
    }
    return undefined;
  }
  if (surgeIndex !== undefined) {
    if (type !== 'Update' || (step !== 'Surge' && step !== 'SurgeDrain')) return undefined;
    if (phase !== 'Updating' && phase !== 'Failed') return undefined;
    return { kind: 'gangFrom', phase, op: readOperation(raw, at, claimKeys, { type, step, surgeIndex }) };
  }
  if (type === 'Update') return updatingState(phase, step, raw, at);

  if (type === 'Create' && step === 'CreatePods' && (phase === 'Creating' || phase === 'Failed')) {
    const op = readOperation(raw, at, plainKeys, { type, step });
    return phase === 'Creating' ? { kind: 'creating', op } : { kind: 'failed', kept: op };
  }
  if (type === 'Restart' && step === 'Drain' && (phase === 'Restarting' || phase === 'Failed')) {
    const op = readOperation(raw, at, plainKeys, { type, step });
    return phase === 'Restarting' ? { kind: 'restarting', op } : { kind: 'failed', kept: op };
  }
  if (type === 'Delete' && step === 'Drain' && phase === 'Deleting') {
    return { kind: 'deleting', op: readOperation(raw, at, plainKeys, { type, step }) };
  }
  return undefined;
}

/** The state of a row with an Update that claims no other index. */
function updatingState(phase: Phase, step: string, raw: JsonObject, at: string): RowState | undefined {
  const type = 'Update';
  switch (step) {
    case 'InPlace':
      return openOrKept(phase, readOperation(raw, at, plainKeys, { type, step }));
    case 'Drain':
      return openOrKept(phase, readOperation(raw, at, plainKeys, { type, step }));
    case 'Surge':
    case 'SurgeDrain':
    case 'SurgeDrainSettle':
      return openOrKept(phase, readOperation(raw, at, plainKeys, { type, step }));
    case 'Parked':
      if (phase !== 'Updating' && phase !== 'Failed') return undefined;
      return { kind: 'parked', phase, op: readOperation(raw, at, plainKeys, { type, step }) };
    case 'GangSurgeTarget':
    case 'GangSurgeTargetCleanup':
      if (phase !== 'Creating' && phase !== 'Failed') return undefined;
      return { kind: 'gangTo', phase, op: readOperation(raw, at, plainKeys, { type, step }) };
    default:
      return undefined;
  }
}

function openOrKept(phase: Phase, op: InPlaceOp | RecreateOp | SurgeOp): RowState | undefined {
  if (phase === 'Updating') return { kind: 'updating', op };
  return phase === 'Failed' ? { kind: 'failed', kept: op } : undefined;
}

function foreignState(phase: Phase, raw: JsonObject | undefined): RowState {
  const type = raw?.['type'] ?? undefined;
  const op = raw === undefined ? {} : { op: raw };
  // A migration pins both of its indexes whatever else is wrong with them.
  if (phase === 'Migrating' || type === 'Migrate') return { kind: 'foreign', phase, ...op, readAs: 'migrate' };
  const creates = type === 'Create' || (phase === 'Creating' && raw === undefined);
  return { kind: 'foreign', phase, ...op, readAs: creates && phase !== 'Failed' ? 'create' : 'nothing' };
}

/** The state that `phase` and `operation` make together. A row whose index is negative is foreign whatever its state. */
export function decodeState(index: number, phase: Phase, operation: JsonObject | undefined, at: string): RowState {
  const legal = operation === undefined ? restingState(phase) : operatingState(phase, operation, at);
  return legal === undefined || index < 0 ? foreignState(phase, operation) : legal;
}

/** An operation of any type and step. */
export type AnyOperation = OperationBase & {
  readonly type: string;
  readonly step: string;
  readonly surgeIndex?: number;
  readonly requestUUID?: string;
};

function encodeOperation(op: AnyOperation): Json {
  const wire: WireObject = { id: op.id, type: op.type, step: op.step };
  if (op.startedAt !== undefined) wire['startedAt'] = formatTime(op.startedAt);
  if (op.lastProgressAt !== undefined) wire['lastProgressAt'] = formatTime(op.lastProgressAt);
  if (op.deadline !== undefined) wire['deadline'] = formatTime(op.deadline);
  if (op.retryCount !== 0) wire['retryCount'] = op.retryCount;
  if (op.target !== '') wire['targetRevision'] = op.target;
  if (op.reason !== '') wire['reason'] = op.reason;
  if (op.waiting !== '') wire['waiting'] = op.waiting;
  if (op.capacityRefusedAt !== undefined) wire['capacityRefusedAt'] = formatTime(op.capacityRefusedAt);
  if (op.strategy !== undefined) wire['strategy'] = op.strategy;
  if (op.surgeIndex !== undefined) wire['surgeIndex'] = op.surgeIndex;
  if (op.requestUUID !== undefined) wire['requestUUID'] = op.requestUUID;
  return withCarry(wire, op.carry);
}

/** The operation of a row that this version understands; undefined when it has none. */
export function operationOf(state: RowState): AnyOperation | undefined {
  switch (state.kind) {
    case 'ready':
    case 'pending':
    case 'foreign':
      return undefined;
    case 'failed':
      return state.kept;
    case 'creating':
    case 'updating':
    case 'parked':
    case 'gangFrom':
    case 'gangTo':
    case 'restarting':
    case 'migrateFrom':
    case 'migrateTo':
    case 'deleting':
      return state.op;
  }
}

/** The `operation` of a row on the wire; undefined when it has none. */
export function encodeOperationOf(state: RowState): Json {
  if (state.kind === 'foreign') return state.op;
  const op = operationOf(state);
  return op === undefined ? undefined : encodeOperation(op);
}
