/** Arbitrary decoded rows and statuses: every legal state, and the foreign ones. */
import fc from 'fast-check';
import type {
  Carry,
  Condition,
  DecodedStatus,
  Index,
  InstanceRow,
  KeptOp,
  MigrationRecord,
  Operation,
  OperationBase,
  Phase,
  RetryBlock,
  RolloutHold,
  RowBase,
  RowState,
  Sec,
  Strategy,
  Termination,
} from '../status/rows.js';
import { phases, rolloutGates } from '../status/rows.js';
import { arbitraryWireOperation } from './wire.js';

/** Times of the years 0001 to 9998, most of them of our days. */
export const arbitrarySec: fc.Arbitrary<Sec> = fc.oneof(
  { weight: 9, arbitrary: fc.integer({ min: 1_700_000_000, max: 1_900_000_000 }) },
  { weight: 1, arbitrary: fc.integer({ min: -62_135_596_800, max: 253_370_764_799 }) },
);

export const arbitraryIndex: fc.Arbitrary<Index> = fc.oneof(
  { weight: 9, arbitrary: fc.nat(40) },
  { weight: 1, arbitrary: fc.nat(2_147_483_647) },
);

const text = fc.oneof(
  fc.constantFrom(
    '',
    'CrashLoopBackOff',
    'gpu-node-7',
    'back-off 40s restarting failed container',
    'größer als "10"\n',
  ),
  fc.string({ unit: 'binary', maxLength: 20 }),
);
const filled = text.map((value) => value || 'x');
const revision = fc.constantFrom('', 'chat-engine-0a1b2c3d', 'chat-engine-5d8f9c7a', 'chat-engine-ffffffff');
const namedRevision = revision.map((name) => name || 'chat-engine-00000000');
const int32 = fc.integer({ min: -2_147_483_648, max: 2_147_483_647 });
const count = fc.oneof({ weight: 9, arbitrary: fc.nat(16) }, { weight: 1, arbitrary: fc.nat(2_147_483_647) });

/** Members a newer version might add, with names that a careless copy loses. */
export const arbitraryCarry: fc.Arbitrary<Carry> = fc
  .array(
    fc.tuple(
      fc.constantFrom('futureField', 'hintTargetNodes', 'x.y/z', '__proto__', 'constructor', 'toString'),
      fc.jsonValue({ maxDepth: 1 }).map((value) => value ?? 'null'),
    ),
    { maxLength: 2 },
  )
  .map((members) => Object.fromEntries(members));

/** A carry for records that have none when there is nothing to carry. */
const filledCarry = arbitraryCarry.filter((carry) => Object.keys(carry).length > 0);

export const arbitraryCondition: fc.Arbitrary<Condition> = fc.record(
  {
    type: filled,
    status: fc.constantFrom('True', 'False', 'Unknown'),
    reason: text,
    message: text,
    lastTransitionTime: arbitrarySec,
    observedGeneration: fc.nat(9),
    carry: filledCarry,
  },
  { requiredKeys: ['type', 'status', 'reason', 'message', 'lastTransitionTime'] },
);

export const arbitraryTermination: fc.Arbitrary<Termination> = fc.record(
  {
    podName: text,
    containerName: text,
    reason: text,
    exitCode: int32,
    message: text,
    time: arbitrarySec,
    carry: filledCarry,
  },
  { requiredKeys: ['podName', 'containerName', 'reason', 'message', 'time'] },
);

export const arbitraryOperationBase: fc.Arbitrary<OperationBase> = fc.record(
  {
    id: text,
    startedAt: arbitrarySec,
    lastProgressAt: arbitrarySec,
    deadline: arbitrarySec,
    retryCount: int32,
    target: revision,
    reason: text,
    waiting: fc.constantFrom('', 'QuotaExceeded', 'Unschedulable', 'SourceUnrouted', 'ATokenOfTomorrow'),
    capacityRefusedAt: arbitrarySec,
    strategy: fc.constantFrom<Strategy>('SurgeThenDrain', 'RecreatePod', 'InPlaceIfPossible', 'InPlaceOnly'),
    carry: arbitraryCarry,
  },
  { requiredKeys: ['id', 'retryCount', 'target', 'reason', 'waiting', 'carry'] },
);

export const arbitraryRowBase: fc.Arbitrary<RowBase> = fc.record(
  {
    index: arbitraryIndex,
    incarnation: fc.oneof(
      { weight: 9, arbitrary: fc.nat(5) },
      { weight: 1, arbitrary: fc.integer({ min: Number.MIN_SAFE_INTEGER, max: Number.MAX_SAFE_INTEGER }) },
    ),
    activeOrdinal: fc.constantFrom(0, 1),
    running: revision,
    target: revision,
    readySince: arbitrarySec,
    lastFailure: arbitraryTermination,
    announced: fc.uniqueArray(fc.oneof(fc.constantFrom('GangSplitRisk@#1', 'DrainOverdue@delete-1'), text), {
      maxLength: 3,
    }),
    conditions: fc.array(arbitraryCondition, { maxLength: 2 }),
    published: fc.record({ pods: count, serving: count, available: count, admitted: fc.boolean() }),
    carry: arbitraryCarry,
  },
  {
    requiredKeys: [
      'index',
      'incarnation',
      'activeOrdinal',
      'running',
      'target',
      'announced',
      'conditions',
      'published',
      'carry',
    ],
  },
);

/** An operation of one of the types and steps given, with the members `more` adds to the base. */
function operation<T extends string, S extends string, M extends object>(
  type: T,
  steps: readonly S[],
  more: fc.Arbitrary<M>,
): fc.Arbitrary<Operation<T, S> & M> {
  return fc
    .tuple(arbitraryOperationBase, fc.constantFrom(...steps), more)
    .map(([base, step, members]) => ({ ...base, ...members, type, step }));
}

const nothing = fc.constant({});
const claim = fc.record({ surgeIndex: arbitraryIndex });
const request = fc.record({ requestUUID: fc.uuid() });
const pair = fc.record({ surgeIndex: arbitraryIndex, requestUUID: fc.uuid() });

const create = operation('Create', ['CreatePods'], nothing);
const restart = operation('Restart', ['Drain'], nothing);
const update = fc.oneof(
  operation('Update', ['InPlace'], nothing),
  operation('Update', ['Drain'], nothing),
  operation('Update', ['Surge', 'SurgeDrain', 'SurgeDrainSettle'], nothing),
);
const parked = operation('Update', ['Parked'], nothing);
const gangFrom = operation('Update', ['Surge', 'SurgeDrain'], claim);
const gangTo = operation('Update', ['GangSurgeTarget', 'GangSurgeTargetCleanup'], nothing);

/** What only foreign writers produce, each with the reading it must have. */
const foreign: fc.Arbitrary<Extract<RowState, { kind: 'foreign' }>> = fc
  .oneof(
    fc.record({ phase: fc.constantFrom<Phase>('Creating', 'Updating', 'Restarting', 'Migrating', 'Deleting') }),
    fc.record({ phase: fc.constantFrom<Phase>('Ready', 'Pending'), op: arbitraryWireOperation({}) }),
    fc.record({ phase: fc.constantFrom(...phases), op: arbitraryWireOperation({ type: 'Scale' }) }),
    fc.record({ phase: fc.constantFrom(...phases), op: arbitraryWireOperation({ step: 'WaitForTomorrow' }) }),
    fc.record({ phase: fc.constant<Phase>('Failed'), op: arbitraryWireOperation({ type: 'Migrate' }) }),
    fc.record({ phase: fc.constant<Phase>('Failed'), op: arbitraryWireOperation({ type: 'Delete' }) }),
    fc.record({
      phase: fc.constantFrom<Phase>('Creating', 'Restarting', 'Deleting'),
      op: arbitraryWireOperation({ type: 'Update', step: 'Surge', surgeIndex: 0 }),
    }),
  )
  .map((found: { readonly phase: Phase; readonly op?: Readonly<Record<string, unknown>> }) => {
    const type = found.op?.['type'];
    if (found.phase === 'Migrating' || type === 'Migrate') return { kind: 'foreign', ...found, readAs: 'migrate' };
    const creates = found.op === undefined ? found.phase === 'Creating' : type === 'Create' && found.phase !== 'Failed';
    return { kind: 'foreign', ...found, readAs: creates ? 'create' : 'nothing' };
  });

const states: { readonly [K in RowState['kind']]: fc.Arbitrary<Extract<RowState, { kind: K }>> } = {
  ready: fc.constant({ kind: 'ready' }),
  pending: fc.constant({ kind: 'pending' }),
  failed: fc
    .option(fc.oneof<fc.Arbitrary<KeptOp>[]>(create, update, restart), { nil: undefined })
    .map((kept) => ({ kind: 'failed', ...(kept === undefined ? {} : { kept }) })),
  creating: create.map((op) => ({ kind: 'creating', op })),
  updating: update.map((op) => ({ kind: 'updating', op })),
  parked: fc.record({ kind: fc.constant('parked'), phase: fc.constantFrom('Updating', 'Failed'), op: parked }),
  gangFrom: fc.record({ kind: fc.constant('gangFrom'), phase: fc.constantFrom('Updating', 'Failed'), op: gangFrom }),
  gangTo: fc.record({ kind: fc.constant('gangTo'), phase: fc.constantFrom('Creating', 'Failed'), op: gangTo }),
  restarting: restart.map((op) => ({ kind: 'restarting', op })),
  migrateFrom: operation('Migrate', ['CreateSurge'], pair).map((op) => ({ kind: 'migrateFrom', op })),
  migrateTo: operation('Migrate', ['CreateSurge', 'SurgeTarget'], request).map((op) => ({ kind: 'migrateTo', op })),
  deleting: operation('Delete', ['Drain'], nothing).map((op) => ({ kind: 'deleting', op })),
  foreign,
};

/** A row of one kind. */
export function arbitraryRowOfKind<K extends InstanceRow['kind']>(
  kind: K,
): fc.Arbitrary<RowBase & Extract<RowState, { kind: K }>> {
  return fc.tuple(arbitraryRowBase, states[kind]).map(([base, state]) => ({ ...base, ...state }));
}

/** A row of any kind, each as likely as the next. */
export const arbitraryRow: fc.Arbitrary<InstanceRow> = fc
  .tuple(arbitraryRowBase, fc.oneof<fc.Arbitrary<RowState>[]>(...Object.values(states)))
  .map(([base, state]) => ({ ...base, ...state }));

const retryBlock: fc.Arbitrary<RetryBlock> = fc.record(
  {
    target: namedRevision,
    state: fc.constantFrom('Backoff', 'Held', 'RetryInProgress'),
    attempts: int32,
    nextRetryAt: arbitrarySec,
    firstFailureAt: arbitrarySec,
    lastFailureAt: arbitrarySec,
    reason: text,
    carry: arbitraryCarry,
  },
  { requiredKeys: ['target', 'state', 'attempts', 'reason', 'carry'] },
);

const migration: fc.Arbitrary<MigrationRecord> = fc.record(
  {
    uuid: fc.uuid(),
    trigger: fc.constantFrom('Manual', 'Auto'),
    source: arbitraryIndex,
    surge: arbitraryIndex,
    fromNode: text,
    phase: fc.constantFrom('Accepted', 'SurgePending', 'SurgeReady', 'Draining', 'Completed', 'Failed', 'Relocated'),
    allocatedAt: arbitrarySec,
    startedAt: arbitrarySec,
    deadline: arbitrarySec,
    carry: arbitraryCarry,
  },
  { requiredKeys: ['uuid', 'trigger', 'source', 'fromNode', 'phase', 'carry'] },
);

const rolloutHold: fc.Arbitrary<RolloutHold> = fc.record(
  {
    gate: fc.constantFrom(...rolloutGates),
    reason: text,
    target: namedRevision,
    since: arbitrarySec,
    carry: filledCarry,
  },
  { requiredKeys: ['gate', 'reason', 'since'] },
);

const rowList = fc.uniqueArray(arbitraryRow, { maxLength: 8, selector: (row) => row.index });

/** Any status that could have been decoded: rows in any order, `order` naming each of them once. */
export const arbitraryStatus: fc.Arbitrary<DecodedStatus> = fc
  .tuple(
    rowList,
    fc.record(
      {
        observedGeneration: fc.nat(Number.MAX_SAFE_INTEGER),
        counters: fc.record({
          replicas: count,
          ready: count,
          serving: count,
          available: count,
          updated: count,
          updatedReady: count,
        }),
        labelSelector: text,
        rolloutHold,
        blocks: fc.array(retryBlock, { maxLength: 2 }),
        migrations: fc.array(migration, { maxLength: 2 }),
        conditions: fc.array(arbitraryCondition, { maxLength: 3 }),
        current: revision,
        update: revision,
        collisionCount: fc.nat(3),
        stored: fc.constantFrom('DenseV1', 'ColumnarV2'),
        carry: arbitraryCarry,
      },
      {
        requiredKeys: [
          'observedGeneration',
          'counters',
          'labelSelector',
          'blocks',
          'migrations',
          'conditions',
          'current',
          'update',
          'collisionCount',
          'stored',
          'carry',
        ],
      },
    ),
  )
  .map(([rows, rest]) => ({
    ...rest,
    rows: new Map(rows.map((row) => [row.index, row])),
    order: rows.map((row) => row.index),
  }));
