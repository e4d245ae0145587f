/** `status.placement`: what a multi-cluster control plane reports; a single cluster never writes it. */
import {
  bool,
  int32,
  int64,
  list,
  listMap,
  mapOf,
  named,
  object,
  oneOf,
  type StructuralSchema,
  set,
  str,
  time,
} from './schema.js';

const count = int32({ minimum: 0 });

const replicaFloor = named('ReplicaFloor', object({ component: str(), replicas: count }, ['component', 'replicas']));

const home = named(
  'PlacementHome',
  object(
    {
      inputDigest: str(),
      replicaFloors: listMap(replicaFloor, ['component'], { minItems: 1, maxItems: 3 }),
    },
    ['inputDigest', 'replicaFloors'],
  ),
);

const capacity = named(
  'PlacementCapacity',
  object(
    {
      demandFingerprint: str(),
      demandContract: str(),
      replicas: int64(),
      pools: listMap(
        named(
          'PlacementPool',
          object({ resourceName: str(), resourceFlavor: str() }, ['resourceName', 'resourceFlavor']),
        ),
        ['resourceName', 'resourceFlavor'],
      ),
    },
    ['demandFingerprint', 'replicas', 'pools'],
  ),
);

const allocation = named(
  'PlacementAllocation',
  object(
    {
      clusterUID: str(),
      originalReplicas: count,
      currentReplicas: count,
      desiredReplicas: count,
      weight: int64({ minimum: 0 }),
      matchingTerms: set(int32()),
      drainRequested: bool(),
      homeInputsPending: bool(),
      inventoryPending: bool(),
      matched: bool(),
      raceCandidate: bool(),
      replacementStartedAt: time(),
      capacity,
      currentHome: home,
      desiredHome: home,
    },
    ['clusterUID', 'originalReplicas', 'currentReplicas', 'desiredReplicas'],
  ),
);

const autoscaling = named(
  'PlacementAutoscaling',
  object({
    policies: listMap(named('PlacementPolicyDigest', object({ name: str(), portableDigest: str() }, ['name'])), [
      'name',
    ]),
    components: mapOf(named('PlacementScaler', object({ resolvedDigest: str(), ready: bool() }))),
    ready: bool(),
  }),
);

const rollout = named(
  'PlacementRollout',
  object({
    activeRunID: str(),
    activeGroups: list(
      named(
        'PlacementRolloutGroup',
        object({ source: oneOf('Inline', 'Policy'), policyName: str(), portableDigest: str() }, ['source']),
      ),
    ),
    lastRun: named('PlacementClosedRun', object({ outcome: str(), digest: str() }, ['outcome'])),
  }),
);

const candidate = named(
  'PlacementCandidate',
  object(
    {
      cluster: str(),
      phase: oneOf('Admitting', 'Placed', 'Admitted'),
      endpoint: str(),
      appliedPlanID: str(),
      admittedReplicas: int32(),
      readyReplicas: int32(),
      observationKnown: bool(),
      observationFailingSince: time(),
      allocation,
      autoscaling,
      rollout,
    },
    ['cluster'],
  ),
);

const plan = named(
  'PlacementPlan',
  object(
    {
      id: str(),
      sourceUID: str(),
      inputDigest: str(),
      revision: int64(),
      observedGeneration: int64(),
      requestedReplicas: int32(),
      assignedReplicas: int32(),
      unassignedReplicas: int32(),
      originalUnassignedReplicas: int32(),
      pauseSurge: bool(),
      adoptionDigest: str(),
      mode: str(),
      winner: str(),
      singleMove: named('PlacementMove', object({ cursor: str(), selected: str() })),
    },
    [
      'id',
      'sourceUID',
      'inputDigest',
      'revision',
      'observedGeneration',
      'requestedReplicas',
      'assignedReplicas',
      'unassignedReplicas',
      'originalUnassignedReplicas',
      'pauseSurge',
    ],
  ),
);

/** `status.placement`. */
export const placementStatus: StructuralSchema = named(
  'PlacementStatus',
  object({
    cluster: str(),
    endpoint: str(),
    phase: oneOf('Pending', 'Admitting', 'Racing', 'Placed', 'Failed'),
    candidates: listMap(candidate, ['cluster']),
    plan,
  }),
);
