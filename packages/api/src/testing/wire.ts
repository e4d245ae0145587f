/** Arbitrary wire statuses: whatever the schema of the resource admits, likely or not. */
import fc from 'fast-check';
import { phases, rolloutGates } from '../status/rows.js';

type WireObject = Readonly<Record<string, unknown>>;

const int32 = fc.oneof(
  { weight: 5, arbitrary: fc.nat(9) },
  { weight: 1, arbitrary: fc.integer({ min: -2_147_483_648, max: 2_147_483_647 }) },
);
const text = fc.oneof(
  fc.constantFrom('', 'x', 'back-off 40s restarting failed container'),
  fc.string({ maxLength: 8 }),
);
const filled = text.map((value) => value || 'x');

/** An RFC 3339 time with any fraction and zone. */
export const arbitraryTimeText: fc.Arbitrary<string> = fc
  .tuple(
    fc.integer({ min: -62_135_500_000, max: 253_370_000_000 }),
    fc.constantFrom('', '', '.5', '.000000001', '.999999'),
    fc.constantFrom('Z', 'Z', 'z', '+00:00', '-00:00', '+05:30', '-08:00', '+14:00'),
    fc.constantFrom('T', 'T', 't'),
  )
  .map(([seconds, fraction, zone, separator]) => {
    const local = new Date(seconds * 1000).toISOString().slice(0, 19);
    return `${local.replace('T', separator)}${fraction}${zone}`;
  });

/** An object whose `optional` members may be absent or null, with members nobody knows. */
function wireObject(required: Record<string, fc.Arbitrary<unknown>>, optional: Record<string, fc.Arbitrary<unknown>>) {
  const nullable = Object.fromEntries(
    Object.entries(optional).map(([key, value]) => [key, fc.option(value, { freq: 8 })]),
  );
  const unknown = fc
    .array(fc.tuple(fc.constantFrom('futureField', '__proto__', 'constructor'), fc.jsonValue({ maxDepth: 1 })), {
      maxLength: 1,
    })
    .map((members) => Object.fromEntries(members));
  return fc
    .tuple(fc.record({ ...required, ...nullable }, { requiredKeys: Object.keys(required) }), unknown)
    .map(([known, more]): WireObject => ({ ...more, ...known }));
}

const condition = wireObject(
  {
    type: fc.constantFrom('Ready', 'Available', 'RolloutStalled'),
    status: fc.constantFrom('True', 'False', 'Unknown'),
    reason: fc.constantFrom('AllInstancesReady', 'x'),
    message: text,
    lastTransitionTime: arbitraryTimeText,
  },
  { observedGeneration: fc.nat(9) },
);

const conditions = fc.uniqueArray(condition, { maxLength: 2, selector: (one) => one['type'] });
const textSet = fc.uniqueArray(text, { maxLength: 2 });

const termination = wireObject(
  { podName: text, reason: text },
  { containerName: text, exitCode: int32, message: text, time: arbitraryTimeText },
);

const operationMembers = {
  id: text,
  type: fc.constantFrom('Create', 'Update', 'Restart', 'Migrate', 'Delete'),
  step: fc.constantFrom(
    'CreatePods',
    'InPlace',
    'Drain',
    'Parked',
    'Surge',
    'SurgeDrain',
    'SurgeDrainSettle',
    'GangSurgeTarget',
    'GangSurgeTargetCleanup',
    'CreateSurge',
    'SurgeTarget',
    'WaitForTomorrow',
  ),
  startedAt: arbitraryTimeText,
  lastProgressAt: arbitraryTimeText,
};

/** An `operation` as the schema admits it, with the members in `fixed` as given. */
export function arbitraryWireOperation(fixed: WireObject): fc.Arbitrary<WireObject> {
  return wireObject(operationMembers, {
    deadline: arbitraryTimeText,
    retryCount: int32,
    targetRevision: text,
    reason: text,
    waiting: text,
    capacityRefusedAt: arbitraryTimeText,
    strategy: fc.constantFrom('', 'SurgeThenDrain', 'RecreatePod', 'InPlaceIfPossible', 'InPlaceOnly', 'BlueGreen'),
    surgeIndex: fc.integer({ min: -1, max: 9 }),
    fromNode: text,
    hintTargetNodes: fc.array(text, { maxLength: 2 }),
    requestUUID: fc.oneof(fc.uuid(), fc.constant('')),
  }).map((operation) => ({ ...operation, ...fixed }));
}

/** A legal pair of phase, type and step is rare among all: make it common. */
const legalPairs = [
  ['Creating', 'Create', 'CreatePods'],
  ['Creating', 'Update', 'GangSurgeTarget'],
  ['Creating', 'Migrate', 'SurgeTarget'],
  ['Updating', 'Update', 'InPlace'],
  ['Updating', 'Update', 'Surge'],
  ['Updating', 'Update', 'Parked'],
  ['Failed', 'Update', 'SurgeDrain'],
  ['Restarting', 'Restart', 'Drain'],
  ['Migrating', 'Migrate', 'CreateSurge'],
  ['Deleting', 'Delete', 'Drain'],
] as const;

const state: fc.Arbitrary<WireObject> = fc.oneof(
  fc.record({ phase: fc.constantFrom(...phases), operation: fc.constantFrom(null, undefined) }),
  fc.record({ phase: fc.constantFrom(...phases), operation: arbitraryWireOperation({}) }),
  fc
    .constantFrom(...legalPairs)
    .chain(([phase, type, step]) =>
      fc.record({ phase: fc.constant(phase), operation: arbitraryWireOperation({ type, step }) }),
    ),
);

const row = fc
  .tuple(
    wireObject(
      { index: fc.integer({ min: -1, max: 30 }) },
      {
        incarnation: fc.maxSafeInteger(),
        runningRevision: text,
        targetRevision: text,
        podCount: int32,
        servingPodCount: int32,
        availablePodCount: int32,
        readyPodCount: int32,
        scheduledPodCount: int32,
        nodesOccupied: textSet,
        admitted: fc.boolean(),
        conditions,
        readySince: arbitraryTimeText,
        activeOrdinal: fc.constantFrom(0, 1),
        lastFailure: termination,
        announced: textSet,
      },
    ),
    state,
  )
  .map(([members, phaseAndOperation]): WireObject => ({ ...members, ...phaseAndOperation }));

const retryBlock = wireObject(
  {
    targetRevision: filled,
    state: fc.constantFrom('Backoff', 'Held', 'RetryInProgress'),
    attemptsStarted: int32,
  },
  { nextRetryAt: arbitraryTimeText, firstFailureAt: arbitraryTimeText, lastFailureAt: arbitraryTimeText, reason: text },
);

const migration = wireObject(
  {
    requestUUID: fc.uuid(),
    trigger: fc.constantFrom('Manual', 'Auto'),
    sourceInstance: int32,
    phase: fc.constantFrom('Accepted', 'SurgePending', 'Draining', 'Completed', 'Relocated', 'InProgress'),
    startedAt: arbitraryTimeText,
    deadline: arbitraryTimeText,
  },
  {
    surgeInstance: fc.integer({ min: -1, max: 9 }),
    allocatedAt: arbitraryTimeText,
    fromNode: text,
    hintTargetNodes: fc.array(text, { maxLength: 2 }),
    attempt: int32,
    reason: text,
    message: text,
    completedAt: arbitraryTimeText,
    succeeded: fc.boolean(),
  },
);

/** A `status` with dense rows as the schema admits it: a row in any phase may have any operation. */
export const arbitraryWireStatus: fc.Arbitrary<WireObject> = wireObject(
  {},
  {
    observedGeneration: fc.maxSafeInteger(),
    placementObservedGeneration: fc.integer({ min: 1, max: 9 }),
    replicas: int32,
    readyReplicas: int32,
    servingReplicas: int32,
    availableReplicas: int32,
    updatedReplicas: int32,
    updatedReadyReplicas: int32,
    currentRevision: text,
    updateRevision: text,
    collisionCount: int32,
    labelSelector: text,
    instanceStatuses: fc.uniqueArray(row, { maxLength: 6, selector: (one) => one['index'] }),
    retryBlocks: fc.uniqueArray(retryBlock, { maxLength: 2, selector: (one) => one['targetRevision'] }),
    migrations: fc.array(migration, { maxLength: 2 }),
    conditions,
    traffic: fc.array(fc.record({ revisionName: fc.constant('r'), percent: fc.nat(100) }), { maxLength: 1 }),
    coordinationGroupRef: text,
    rolloutHold: wireObject(
      { gate: fc.constantFrom(...rolloutGates), reason: text, since: arbitraryTimeText },
      { target: text },
    ),
  },
);
